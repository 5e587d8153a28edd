// Light or dark: the system's choice, until the switch is used.

import { iconButton } from "./elements.js";

export function themeSwitch(onSwitch) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const switched = () => {
    colours.clear();
    onSwitch();
  };
  dark.addEventListener("change", switched);
  return iconButton("theme", "Switch between light and dark", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    switched();
  });
}

// A colour of the style sheet, for what is painted on a canvas. It is asked for once, because asking is slow.
const colours = new Map();

export function colour(name) {
  if (!colours.has(name))
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colours.get(name);
}
