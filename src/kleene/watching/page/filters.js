// Filters by channel, position and step, as far as a view has them, in the words of the command line:
// `token, ptr_*`, `0-39`, `10-20`.

import { el } from "./elements.js";
import { between } from "./stage.js";

export function filters(stage, content, wanted) {
  const field = (name, label, placeholder, apply) => {
    const input = el("input", {
      type: "text",
      id: `filter-${name}`,
      placeholder,
      autocomplete: "off",
      spellcheck: false,
    });
    input.addEventListener("input", () => {
      const understood = apply(input.value.trim());
      input.setAttribute("aria-invalid", String(!understood));
    });
    return el("label", { className: "field", htmlFor: `filter-${name}` }, el("span", { textContent: label }), input);
  };
  const last = content.positions.length - 1 + content.firstPosition;
  const fields = {
    channels: field("channels", "Channels", "token, ptr_*", (typed) => {
      stage.set({ channels: typed });
      return true;
    }),
    positions: field("positions", "Positions", `${content.firstPosition}-${last}`, (typed) => {
      const span = spanOf(typed, content.firstPosition, last);
      if (!span) return false;
      const [from, to] = span.map((position) => position - content.firstPosition);
      stage.set({ from, to, position: between(stage.now.position, from, to) });
      return true;
    }),
    steps: field("steps", `${content.step}s`, `${content.first}-${content.steps}`, (typed) => {
      const span = spanOf(typed, content.first, content.steps);
      if (!span) return false;
      const [least, most] = span.map((step) => step - content.first);
      stage.set({ least, most, step: between(stage.now.step, least, most) });
      return true;
    }),
  };
  return el("div", { className: "filters", hidden: true, id: "filters" }, ...wanted.map((name) => fields[name]));
}

// "3-7", "3-" and "5" as a first and a last number; everything where nothing is typed; null where it makes no sense.
export function spanOf(typed, least, most) {
  if (!typed) return [least, most];
  const found = /^(\d+)\s*(?:(-)\s*(\d+)?)?$/.exec(typed);
  if (!found) return null;
  const first = Number(found[1]);
  const last = found[3] ? Number(found[3]) : found[2] ? most : first;
  return first > most || last < first || last < least ? null : [Math.max(first, least), Math.min(last, most)];
}

// Whether a channel's name fits what was typed: names or patterns with *, or a part of a name.
export function fits(name, typed) {
  const patterns = typed.split(/[,\s]+/).filter(Boolean);
  if (!patterns.length) return true;
  return patterns.some((pattern) => {
    if (!pattern.includes("*")) return name.toLowerCase().includes(pattern.toLowerCase());
    const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`, "i").test(name);
  });
}
