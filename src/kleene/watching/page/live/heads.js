// Where the heads of the best run are on one word, after any of the tests, beside those of the program.

import { el } from "../elements.js";
import { heatMap } from "../views/heat.js";

const HEADS = [
  ["read", "reads"],
  ["write", "writes"],
];

export function headsCard(plan) {
  const [steps, cells] = plan.program.shape;
  const note = el("p", { className: "soft cardnote" });
  const slider = el("input", {
    type: "range",
    id: "heads-slider",
    className: "plainslider",
    min: 0,
    max: 0,
    value: 0,
    oninput: () => draw(),
  });
  const row = (title, which) =>
    HEADS.map(([head, verb]) => {
      const map = heatMap({
        rows: steps,
        columns: cells,
        name: `${title}: weights of the head that ${verb}`,
        bands: [],
        tell: (step, cell, value) => `step ${step + 1}, cell ${cell}: ${value.toFixed(2)}`,
      });
      const heading = el("h3", { textContent: `${title} ${verb}` });
      return { head, which, map, element: el("div", {}, heading, map.element) };
    });
  const learned = row("best run", "learned");
  const program = row("program", "program");
  const element = el(
    "section",
    { className: "card wide", "aria-labelledby": "heads-title", hidden: true },
    el("div", { className: "cardhead" }, el("h2", { id: "heads-title", textContent: "Heads" }), note),
    el("div", { className: "heads-when" }, el("label", { htmlFor: "heads-slider", textContent: "After test" }), slider),
    el("div", { className: "pair" }, ...learned.map((one) => one.element)),
    el("div", { className: "pair" }, ...program.map((one) => one.element)),
  );
  const found = []; // [iteration, heads] after each test that has them
  const read = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const paint = (one, heads) => {
    const bytes = read(heads[one.head]);
    one.map.paint((step, cell) => bytes[step * cells + cell] / 255);
  };

  function draw() {
    if (!found.length) return;
    const [iteration, heads] = found[Number(slider.value)];
    const when = `iteration ${iteration.toLocaleString("en")}`;
    const word = plan.word.join(" ");
    note.textContent = `${heads.title}, ${when}, on ${word}; a row for each step, a column for each cell`;
    slider.setAttribute("aria-valuetext", `iteration ${iteration}`);
    for (const one of learned) paint(one, heads);
    for (const one of program) paint(one, plan.program);
  }
  return {
    element,
    draw,
    add(iteration, heads) {
      if (found.some(([known]) => known === iteration)) return;
      const atEnd = Number(slider.value) === found.length - 1 || !found.length;
      found.push([iteration, heads]);
      element.hidden = false;
      slider.max = found.length - 1;
      if (atEnd) slider.value = found.length - 1;
      draw();
    },
  };
}
