// Elements of the page. Text is only ever set as text, so nothing in a document can become markup.

const SVG = "http://www.w3.org/2000/svg";

// An element with properties, attributes ("aria-label", "role", "for") and children; a string child is text.
export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && !name.includes("-")) made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function svg(tag, given = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// Icons are drawn here, because no font has them all.
const ICONS = {
  first: "M5 4v12M16 4 7 10l9 6z",
  back: "M13 4 5 10l8 6z",
  play: "M6 3.5 16 10 6 16.5z",
  pause: "M6 4h3v12H6zM11.5 4h3v12h-3z",
  forward: "M7 4l8 6-8 6z",
  last: "M15 4v12M4 4l9 6-9 6z",
  before: "M10 4 4 10l6 6M16 4l-6 6 6 6",
  after: "M10 4l6 6-6 6M4 4l6 6-6 6",
  theme: "M10 3a7 7 0 1 0 0 14zM10 3.8a6.2 6.2 0 0 1 0 12.4v.8a7 7 0 0 0 0-14z",
  help: "M7.2 7.4a2.9 2.9 0 1 1 4.3 2.6c-1 .6-1.5 1-1.5 2.2M10 15.2v.4",
  filter: "M3 5h14M6 10h8M8.5 15h3",
};
const STROKED = new Set(["before", "after", "help", "filter", "first", "last"]);

export function icon(name) {
  const path = svg("path", { d: ICONS[name], class: STROKED.has(name) ? "stroked" : "filled" });
  return svg("svg", { viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" }, path);
}

export function iconButton(name, label, onclick) {
  return el("button", { type: "button", className: "tool", title: label, "aria-label": label, onclick }, icon(name));
}
