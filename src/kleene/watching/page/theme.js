// Light or dark: the system's choice, until the switch is used.

import { iconButton } from "./elements.js";

export function themeSwitch(onSwitch) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  dark.addEventListener("change", onSwitch);
  return iconButton("theme", "Switch between light and dark", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    onSwitch();
  });
}

// A colour of the style sheet, for what is painted on a canvas.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
