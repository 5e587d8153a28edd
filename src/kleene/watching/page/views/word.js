// The view of a word that is read symbol by symbol: the word with what each symbol led to, and the automaton's diagram.

import { el } from "../elements.js";
import { shortNumber } from "../recording.js";
import { diagram } from "./diagram.js";
import { beforeText, withoutOf } from "../editing.js";

const MOST_UNITS = 16; // of a hidden layer, a row each

export const word = {
  filters: ["steps"],

  async build(stage, page, host) {
    const content = page.document;
    const [first, ...others] = page.runs.map((run) => rowsOf(run, page));
    const rows = [
      ...first,
      ...others.flatMap((found) =>
        found.map((row, index) => ({ ...row, differs: (step) => row.at(step) !== first[index]?.at(step) })),
      ),
    ];
    const state = page.runs[0].byName.get("state");
    const picture = state ? diagram(content, (step) => state.text(step, 0)) : null;
    const { element, columns } = stepTable(rows, page, stage);
    const said = el("p", { className: "headline" });
    const scroll = el(
      "div",
      { className: "scroll", tabIndex: 0, role: "region", "aria-label": "The word and what each symbol led to" },
      element,
    );
    host.classList.add("single");
    host.replaceChildren(
      el(
        "section",
        { className: "card", "aria-labelledby": "word-title" },
        el("div", { className: "cardhead" }, el("h2", { id: "word-title", textContent: "Word" }), said),
        scroll,
      ),
      ...(picture
        ? [
            el(
              "section",
              { className: "card", "aria-labelledby": "diagram-title" },
              el("div", { className: "cardhead" }, el("h2", { id: "diagram-title", textContent: "Diagram" })),
              picture.element,
            ),
          ]
        : []),
    );
    const describe = (step) => told(page.runs[0], step + content.first, step);
    return {
      describe,
      draw(changed) {
        if (!changed.has("all") && !changed.has("step")) return;
        const { step } = stage.now;
        said.textContent = describe(step);
        if (picture) picture.draw(step);
        lightColumn(columns, step);
        keepInView(scroll, columns[step][0]);
      },
    };
  },
};

// The rows of one run: [name, what stands in it after each step].
function rowsOf(run, page) {
  const name = (channel) => (page.runs.length > 1 ? `${channel} (${run.source})` : channel);
  return run.channels.flatMap((channel) => {
    if (channel.name === "symbol") return [];
    if (!channel.row)
      return [
        {
          name: name(channel.name),
          channel: channel.name,
          before: (step) => (page.without ? beforeText([channel], [withoutOf(page, run, channel)], step, 0) : ""),
          at: (step) =>
            channel.name === "accepting" ? (channel.text(step, 0) === "1" ? "✓" : "–") : channel.text(step, 0),
        },
      ];
    return Array.from({ length: Math.min(channel.size, MOST_UNITS) }, (_, unit) => ({
      name: name(`${channel.name} ${unit}`),
      at: (step) => shortNumber(Number(channel.row(step, 0)[unit].toFixed(4))),
    }));
  });
}

// A table with a column for each step and a row for each thing that a step has; `columns` are the cells by step.
export function stepTable(rows, page, stage, input = "symbol") {
  const symbols = page.runs[0].byName.get(input);
  const columns = [];
  const top = el("tr", {}, el("th", { scope: "col", className: "corner", textContent: input }));
  for (let step = 0; step < page.steps; step++) {
    const number = step + page.document.first;
    const symbol = number === 0 ? "start" : symbols.text(step, 0);
    const head = el(
      "th",
      { scope: "col" },
      el(
        "button",
        {
          type: "button",
          className: "position",
          onclick: () => stage.set({ step }),
          "aria-label": number === 0 ? "The start" : `${input} ${number}, ${symbol}`,
        },
        el("span", { className: symbol.length > 2 ? "token long" : "token", textContent: symbol }),
        el("span", { className: "number", textContent: number }),
      ),
    );
    columns.push([head]);
    top.append(head);
  }
  const body = rows.map((row) => {
    const line = el("tr", {}, el("th", { scope: "row", textContent: row.name }));
    for (let step = 0; step < page.steps; step++) {
      const text = row.differs?.(step) ? `≠ ${row.at(step)}` : row.at(step);
      const before = row.before?.(step);
      const cell = el("td", {
        textContent: text,
        title: before || undefined,
        "data-differs": row.differs?.(step),
        "data-moved": before ? "true" : undefined,
        onclick: () => stage.set({ step, picked: row.channel }),
      });
      columns[step].push(cell);
      line.append(cell);
    }
    return line;
  });
  const element = el(
    "table",
    { className: "grid plaincells" },
    el("caption", { className: "unseen", textContent: "What each step led to" }),
    el("thead", {}, top),
    el("tbody", {}, ...body),
  );
  return { element, columns };
}

// Light the column of a step, and dim those that are still to come.
export function lightColumn(columns, step) {
  columns.forEach((cells, number) =>
    cells.forEach((cell) => {
      const look = number === step ? (cell.tagName === "TD" ? "lit" : "now") : number > step ? "ahead" : "";
      if (cell.className !== look) cell.className = look;
    }),
  );
}

function told(run, number, step) {
  const state = run.byName.get("state");
  const accepting = run.byName.get("accepting");
  const verdict = accepting ? (accepting.text(step, 0) === "1" ? "accepting" : "not accepting") : "";
  if (number === 0) return state ? `starts in ${state.text(0, 0)}, ${verdict}` : `at the start, ${verdict}`;
  const read = `reads ${run.byName.get("symbol").text(step, 0)}`;
  if (!state) return `${read}: ${verdict}`;
  const from = step > 0 ? `${state.text(step - 1, 0)} ` : "";
  return `${from}${read}, goes to ${state.text(step, 0)}: ${verdict}`;
}

export function keepInView(box, cell) {
  if (!cell) return;
  const left = cell.offsetLeft - box.scrollLeft;
  if (left < 120 || left + cell.offsetWidth > box.clientWidth - 40)
    box.scrollLeft = cell.offsetLeft - box.clientWidth / 2;
}
