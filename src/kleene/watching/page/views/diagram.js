// The diagram of a machine's states: where it is now is lit, and so is the arrow by which it came.

import { el, svg } from "../elements.js";

export function diagram(content, stateAt) {
  const found = content.diagram;
  if (!found)
    return content.undrawn
      ? { element: el("p", { className: "soft", textContent: content.undrawn }), draw: () => {} }
      : null;
  const [left, top, wide, tall] = found.box;
  const numbers = new Map(found.nodes.map((node, number) => [node.name, number]));
  const arrows = new Map(found.arrows.map((arrow) => [`${arrow.source} ${arrow.target}`, drawArrow(arrow)]));
  const nodes = found.nodes.map(drawNode);
  const drawing = svg(
    "svg",
    { class: "diagram", viewBox: `${left} ${top} ${wide} ${tall}`, role: "img", "aria-label": found.title },
    arrowLine(found.start, "edge"),
    ...arrows.values(),
    ...nodes,
  );
  drawing.style.maxWidth = `${Math.round(wide * 1.25)}px`;
  drawing.style.minWidth = `${Math.round(wide * 0.62)}px`;
  let lit = [];

  function draw(step) {
    for (const [made, look] of lit) made.classList.remove(look);
    lit = [];
    const light = (made, look) => {
      if (!made) return;
      made.classList.add(look);
      lit.push([made, look]);
    };
    const now = numbers.get(stateAt(step));
    light(nodes[now], "now");
    keepInSight();
    if (step === 0) return;
    const before = numbers.get(stateAt(step - 1));
    if (before !== now) light(nodes[before], "was");
    light(arrows.get(`${before} ${now}`), "taken");
  }

  function keepInSight() {
    const node = drawing.querySelector(".now");
    if (!node || box.scrollWidth <= box.clientWidth) return;
    const [at, frame] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
    if (at.left < frame.left + 30 || at.right > frame.right - 30)
      box.scrollLeft += (at.left + at.right - frame.left - frame.right) / 2;
  }

  const note = content.undrawn ? el("p", { className: "soft folded", textContent: content.undrawn }) : null;
  const box = el(
    "div",
    { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Diagram of the states" },
    drawing,
  );
  return { element: el("div", {}, box, note), draw };
}

function arrowLine({ curve, head }, look) {
  const [a, b, c, d, e, f, g, h] = curve;
  return svg(
    "g",
    { class: look },
    svg("path", { d: `M${a} ${b}C${c} ${d} ${e} ${f} ${g} ${h}` }),
    svg("polygon", { points: head.join(" ") }),
  );
}

function drawArrow(arrow) {
  const group = arrowLine(arrow, "edge");
  const [x, y] = arrow.at;
  const height = 15;
  const first = y - ((arrow.lines.length - 1) * height) / 2;
  const widest = Math.max(...arrow.lines.map((line) => line.length)) * 7.2 + 8;
  group.append(
    svg("rect", {
      x: x - widest / 2,
      y: y - (arrow.lines.length * height) / 2,
      width: widest,
      height: arrow.lines.length * height,
      rx: 4,
    }),
  );
  arrow.lines.forEach((line, row) => {
    const text = svg("text", { x, y: first + row * height, class: "label" });
    text.textContent = line;
    group.append(text);
  });
  const title = svg("title");
  title.textContent = arrow.all;
  group.append(title);
  return group;
}

function drawNode(node) {
  const [x, y] = node.at;
  const radius = 23;
  const shape = (inset) =>
    svg("rect", {
      x: x - node.half + inset,
      y: y - radius + inset,
      width: 2 * (node.half - inset),
      height: 2 * (radius - inset),
      rx: radius - inset,
    });
  const group = svg(
    "g",
    { class: `node${node.accepting ? " accepting" : ""}${node.rejecting ? " rejecting" : ""}` },
    shape(0),
  );
  if (node.accepting) group.append(shape(4));
  const text = svg("text", { x, y, class: "statename" });
  text.textContent = node.label;
  const title = svg("title");
  title.textContent = node.name;
  group.append(text, title);
  return group;
}
