// The view of a Neural Turing Machine: its tape, where its heads are, what they read and wrote, and its symbols.

import { el } from "../elements.js";
import { shortNumber } from "../recording.js";
import { heatMap } from "./heat.js";
import { keepInView, lightColumn, stepTable } from "./word.js";

const MOVED = 0.05; // a number of the tape that changed by more is marked
const MOST_CELLS = 64; // columns of the table; the heads' maps have all

export const memory = {
  filters: ["steps"],

  async build(stage, page, host) {
    const run = page.runs[0];
    const [read, write, output, tape] = ["read", "write", "output", "tape"].map((name) => run.byName.get(name));
    const cells = memoryTable(read, write, tape);
    const said = el("p", { className: "headline" });
    const rows = [
      {
        name: "output",
        at: (step) => (step + page.document.first === 0 ? "" : String(largest(output.row(step, 0))[0])),
      },
      {
        name: "probability",
        at: (step) => (step + page.document.first === 0 ? "" : largest(output.row(step, 0))[1].toFixed(2)),
      },
    ];
    const { element: symbols, columns } = stepTable(rows, page, stage, "input");
    const scroll = el(
      "div",
      { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Symbols in and out" },
      symbols,
    );
    const maps = [
      ["reads", read],
      ["writes", write],
    ].map(([name, head]) => headMap(name, head, page));
    host.classList.add("single");
    host.replaceChildren(
      card("symbols-title", "Symbols", null, scroll),
      card(
        "memory-title",
        "Tape",
        said,
        el(
          "div",
          { className: "scroll", tabIndex: 0, role: "region", "aria-label": "The tape, with the weights of the heads" },
          cells.element,
        ),
        cells.told,
      ),
      card(
        "heads-title",
        "Heads over the run",
        el("p", { className: "soft cardnote", textContent: "a row for each step, a column for each cell" }),
        el("div", { className: "pair" }, ...maps.map((map) => map.element)),
      ),
    );
    const describe = (step) => `reads ${place(read, step)}, writes to ${place(write, step)}`;
    return {
      describe,
      draw(changed) {
        if (changed.has("all") || changed.has("step")) {
          said.textContent = describe(stage.now.step);
          cells.draw(stage.now.step);
          lightColumn(columns, stage.now.step);
          keepInView(scroll, columns[stage.now.step][0]);
        }
        if (changed.has("all") || changed.has("theme")) maps.forEach((map) => map.paint());
      },
    };
  },
};

function card(id, title, note, ...inside) {
  return el(
    "section",
    { className: "card", "aria-labelledby": id },
    el("div", { className: "cardhead" }, el("h2", { id, textContent: title }), note),
    ...inside,
  );
}

function largest(numbers) {
  let best = 0;
  numbers.forEach((value, index) => (best = value > numbers[best] ? index : best));
  return [best, numbers[best]];
}

function place(head, step) {
  const [cell, weight] = largest(head.row(step, 0));
  return `cell ${cell} (${weight.toFixed(2)})`;
}

function memoryTable(read, write, tape) {
  const count = Math.min(tape.count, MOST_CELLS);
  const told = el("p", {
    className: "soft said",
    textContent:
      tape.count > count
        ? `The first ${count} of ${tape.count} cells. Point at a cell to read it.`
        : "Point at a cell to read it.",
  });
  const row = (name, look) => {
    const tds = Array.from({ length: count }, () => el("td"));
    return { tds, element: el("tr", { className: look }, el("th", { scope: "row", textContent: name }), ...tds) };
  };
  const [reads, writes] = [row("read by", "readrow"), row("written by", "writerow")];
  const dims = Array.from({ length: tape.size }, (_, index) => row(`number ${index}`, ""));
  const sums = dims.map((dim) => {
    const sum = el("td");
    dim.element.append(el("td", { className: "gap", "aria-hidden": "true" }), sum);
    return sum;
  });
  const top = el(
    "tr",
    {},
    el("th", { scope: "col", textContent: "cell" }),
    ...reads.tds.map((_, cell) => el("th", { scope: "col", textContent: cell })),
    el("td", { className: "gap" }),
    el("th", { scope: "col", textContent: "what is read" }),
  );
  const element = el(
    "table",
    { className: "memory" },
    el("caption", { className: "unseen", textContent: "The weights of the heads and the numbers in every cell" }),
    el("thead", {}, top),
    el("tbody", {}, reads.element, writes.element),
    el("tbody", {}, ...dims.map((dim) => dim.element)),
  );
  let entries = [];
  dims.forEach((dim, index) =>
    dim.tds.forEach((td, cell) =>
      td.addEventListener(
        "pointerenter",
        () => (told.textContent = `cell ${cell}, number ${index}: ${shortNumber(entries[cell][index])}`),
      ),
    ),
  );

  function draw(step) {
    const now = Array.from({ length: tape.count }, (_, cell) => tape.row(step, cell));
    const before = step > 0 ? Array.from({ length: tape.count }, (_, cell) => tape.row(step - 1, cell)) : now;
    entries = now;
    const most = Math.max(1e-6, ...now.flat().map(Math.abs));
    for (const [head, weights] of [
      [reads, read.row(step, 0)],
      [writes, write.row(step, 0)],
    ])
      head.tds.forEach((td, cell) =>
        shade(td, weights[cell], weights[cell], weights[cell] >= 0.005 ? weights[cell].toFixed(2) : ""),
      );
    const weights = read.row(step, 0);
    dims.forEach((dim, index) => {
      dim.tds.forEach((td, cell) =>
        shade(
          td,
          now[cell][index],
          Math.abs(now[cell][index]) / most,
          "",
          Math.abs(now[cell][index] - before[cell][index]) > MOVED * most,
        ),
      );
      const sum = before.reduce((total, numbers, cell) => total + weights[cell] * numbers[index], 0); // it reads before it writes
      shade(sums[index], sum, Math.abs(sum) / most, (Math.abs(sum) < 0.005 ? 0 : sum).toFixed(2));
    });
  }

  return { element, told, draw };
}

// The colour of a cell: stronger for larger numbers, and another for those below zero.
function shade(td, value, strength, text, moved = false) {
  const percent = Math.round(Math.min(1, strength) * 100);
  td.style.setProperty("--v", percent);
  if (td.textContent !== text) td.textContent = text;
  const look = [value < 0 ? "less" : "", text && percent > 55 ? "strong" : "", moved ? "moved" : "", text ? "" : "bare"]
    .filter(Boolean)
    .join(" ");
  if (td.className !== look) td.className = look;
}

function headMap(name, head, page) {
  const map = heatMap({
    rows: page.steps,
    columns: head.size,
    name: `Weights of the head that ${name}`,
    bands: [],
    tell: (step, cell, value) => `step ${step + page.document.first}, cell ${cell}: ${shortNumber(value)}`,
  });
  return {
    element: el("div", {}, el("h3", { textContent: name }), map.element),
    paint: () => map.paint((step, cell) => head.row(step, 0)[cell]),
  };
}
