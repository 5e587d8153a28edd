// Arcs from the positions that a head reads to the positions that read them: faint for all, strong for the chosen one.

import { el, svg } from "../elements.js";

const COLOURS = 6;
const DASHES = ["", "7 4", "2 4"]; // heads beyond the colours differ by their dashes
const TALLEST = 120;

export function arcs(stage, page, attention, table) {
  const heads = [...(attention[0]?.keys() ?? [])];
  const queried = heads.filter((name) => /where/.test(page.document.program?.heads?.[name] ?? ""));
  const on = new Set((queried.length ? queried : heads).slice(0, 4));
  const drawing = svg("svg", {
    class: "arcs",
    role: "img",
    "aria-label": "Attention: arcs from each position to those that read it",
  });
  const paths = new Map(heads.map((name, index) => [name, makePaths(index)]));
  for (const { all, own } of paths.values()) drawing.append(all, own);
  const chips = el(
    "div",
    { className: "chips", role: "group", "aria-label": "Heads whose arcs are drawn" },
    ...heads.map((name, index) => chip(name, index)),
  );
  let centres = new Map();

  function makePaths(index) {
    const look = {
      "data-colour": index % COLOURS,
      "stroke-dasharray": DASHES[Math.floor(index / COLOURS) % DASHES.length],
    };
    return { all: svg("path", { class: "arc", ...look }), own: svg("path", { class: "arc own", ...look }) };
  }

  function chip(name, index) {
    const button = el(
      "button",
      {
        type: "button",
        className: "chip",
        "data-colour": index % COLOURS,
        title: page.document.program?.heads?.[name] ?? name,
        "aria-pressed": String(on.has(name)),
        onclick: () => {
          on.has(name) ? on.delete(name) : on.add(name);
          button.setAttribute("aria-pressed", String(on.has(name)));
          drawArcs();
        },
      },
      el("span", { className: "swatch" }),
      el("span", { textContent: name }),
    );
    return button;
  }

  function measure() {
    centres = new Map();
    const [from, to] = table.range();
    const left = drawing.getBoundingClientRect().left;
    for (let position = from; position <= to; position++) centres.set(position, table.centre(position) - left);
    drawing.setAttribute("width", table.element.offsetWidth);
  }

  function drawArcs() {
    const { step, position, shown } = stage.now;
    const found = attention[shown === "both" ? 0 : Number(shown)];
    const first = page.document.firstPosition;
    let highest = 0;
    const bows = [];
    for (const name of heads) {
      const all = [],
        own = [];
      if (on.has(name))
        for (const [reader, x] of centres)
          for (const read of found.get(name)(step, reader) ?? []) {
            const from = centres.get(read - first);
            if (from === undefined) continue;
            const bow = { from, to: x, height: heightOf(from, x) };
            highest = Math.max(highest, bow.height);
            (reader === position ? own : all).push(bow);
          }
      bows.push([name, all, own]);
    }
    const tall = Math.max(26, Math.ceil(highest) + 12);
    if (Number(drawing.getAttribute("height")) < tall) drawing.setAttribute("height", tall); // it grows, so that nothing jumps
    const base = Number(drawing.getAttribute("height")) - 2;
    for (const [name, all, own] of bows) {
      paths.get(name).all.classList.toggle("dense", all.length > 30);
      paths.get(name).all.setAttribute("d", all.map((bow) => pathOf(bow, base)).join(""));
      paths.get(name).own.setAttribute("d", own.map((bow) => pathOf(bow, base) + tipOf(bow, base)).join(""));
    }
  }

  function draw(changed) {
    if (!heads.length) return;
    if (["all", "from", "to", "channels", "shown", "layout"].some((name) => changed.has(name))) {
      drawing.setAttribute("height", 26);
      measure();
    }
    if (["all", "from", "to", "channels", "shown", "layout", "step", "position"].some((name) => changed.has(name)))
      drawArcs();
  }

  addEventListener("resize", () => heads.length && (measure(), drawArcs()));
  if (!heads.length) drawing.setAttribute("height", 0);
  return { svg: drawing, chips: heads.length ? chips : null, draw };
}

function heightOf(from, to) {
  return Math.min(TALLEST, 12 + Math.sqrt(Math.abs(to - from)) * 5);
}

function pathOf({ from, to, height }, base) {
  if (from === to)
    return `M${from - 6} ${base}C${from - 12} ${base - 24} ${from + 12} ${base - 24} ${from + 6} ${base}`;
  const lift = base - height * 1.3;
  return `M${from} ${base}C${from} ${lift} ${to} ${lift} ${to} ${base - 3}`;
}

// The arrow's point, at the position that reads.
function tipOf({ from, to }, base) {
  const x = from === to ? to + 6 : to;
  return `M${x - 4} ${base - 8}L${x} ${base - 1}L${x + 4} ${base - 8}`;
}
