// The table of a run. It is built when a filter changes; a step touches only the cells whose text or look changes.

import { el } from "../elements.js";
import { fits } from "../filters.js";
import { beforeText, withoutOf } from "../editing.js";

const MOST_CELLS = 16000; // more are slow to lay out; the rest is reached by the filter of positions
const LIT = 1,
  QUIET = 2,
  WRONG = 4,
  CHOSEN = 8,
  MOVED = 16;

export function grid(stage, page) {
  const content = page.document;
  const element = el("table", { className: "grid" });
  const caption = el("p", { className: "soft cardnote" });
  const folded = el("p", { className: "soft folded" });
  let rows = []; // {channel, others, cells, texts, looks}
  let heads = [];
  let unfolded = page.runs[0].channels.length <= 14;
  let first = 0;

  const constant = new Set(
    page.runs[0].channels
      .filter((channel) => !channel.perStep && page.runs.every((run) => isConstant(run.byName.get(channel.name))))
      .map((c) => c.name),
  );

  function build() {
    const { from, to, channels, shown } = stage.now;
    const base = shown === "both" ? page.runs[0] : page.runs[Number(shown)];
    const others = shown === "both" ? page.runs.slice(1) : [];
    const fitting = base.channels.filter((channel) => fits(channel.name, channels));
    const visible = fitting.filter((channel) => unfolded || channels || !constant.has(channel.name));
    const columns = Math.max(1, Math.min(to - from + 1, Math.floor(MOST_CELLS / Math.max(1, visible.length))));
    first = from;
    heads = [];
    const top = el("tr", {}, el("th", { scope: "col", className: "corner", textContent: "position" }));
    for (let position = from; position < from + columns; position++) {
      const number = position + content.firstPosition;
      const button = el(
        "button",
        {
          type: "button",
          className: "position",
          title: `position ${number}: ${content.positions[position]}`,
          "aria-label": `Position ${number}, ${content.positions[position]}`,
          onclick: () => stage.set({ position }),
        },
        el("span", {
          className: content.positions[position].length > 2 ? "token long" : "token",
          textContent: content.positions[position],
        }),
        el("span", { className: "number", textContent: number }),
      );
      heads.push(button);
      top.append(el("th", { scope: "col" }, button));
    }
    rows = visible.map((channel) =>
      makeRow(
        channel,
        others.map((run) => run.byName.get(channel.name)),
        [base, ...others].map((run) => withoutOf(page, run, channel)),
        base,
        from,
        columns,
      ),
    );
    const kept = rows.filter((row) => !row.channel.perStep);
    const read = rows.filter((row) => row.channel.perStep);
    element.replaceChildren(
      el("caption", { className: "unseen", textContent: "The value of each variable at each position" }),
      columnWidths(visible, from, columns),
      el("thead", {}, top),
      el("tbody", {}, ...kept.map((row) => row.element)),
    );
    if (read.length)
      element.append(
        el(
          "tbody",
          { className: "read" },
          el(
            "tr",
            { className: "divider" },
            el("th", { scope: "rowgroup", colSpan: columns + 1 }, el("span", { textContent: "read by attention" })),
          ),
          ...read.map((row) => row.element),
        ),
      );
    drawFolded(fitting, visible, columns);
  }

  // Columns of a fixed width, and cells whose box does not depend on their text: a browser then lays out a changed cell
  // alone, and not the whole table.
  function columnWidths(visible, from, columns) {
    const crowded = columns > 40;
    element.classList.toggle("crowded", crowded);
    const value = Math.max(
      columns <= 14 ? (innerWidth > 1700 ? 58 : 46) : crowded ? 27 : 36,
      ...visible.map((channel) => Math.min(112, channel.longest * 8.6 + 12)),
    );
    const name = Math.min(
      innerWidth < 560 ? 118 : 190,
      26 +
        Math.max(8, ...visible.map((channel) => channel.name.length + (channel.name === page.runs[0].output ? 6 : 0))) *
          7.9,
    );
    const widths = [name];
    for (let position = from; position < from + columns; position++)
      widths.push(Math.max(value, Math.min(84, content.positions[position].length * 7.4 + 10)));
    element.style.width = `${widths.reduce((sum, wide) => sum + wide + 3, 3)}px`;
    return el(
      "colgroup",
      {},
      ...widths.map((wide) => {
        const column = el("col");
        column.style.width = `${wide}px`;
        return column;
      }),
    );
  }

  function makeRow(channel, others, without, base, from, columns) {
    const name = el("th", { scope: "row", title: channel.name }, el("span", { textContent: channel.name }));
    if (channel.name === base.output) name.append(el("span", { className: "tag", textContent: "output" }));
    const cells = Array.from({ length: channel.positions ? columns : 1 }, () => el("div"));
    const row = el(
      "tr",
      {},
      name,
      ...cells.map((cell, index) =>
        el("td", { onclick: () => stage.set({ position: from + index, picked: channel.name }) }, cell),
      ),
    );
    return { channel, others, without, element: row, cells, texts: [], looks: [], befores: [] };
  }

  function drawFolded(fitting, visible, columns) {
    folded.replaceChildren();
    const left = fitting.length - visible.length;
    if (left || (unfolded && constant.size && page.runs[0].channels.length > 14 && !stage.now.channels))
      folded.append(
        el(
          "button",
          {
            type: "button",
            className: "plain",
            onclick: () => {
              unfolded = !unfolded;
              build();
              drawCells();
              stage.set({ layout: (stage.now.layout ?? 0) + 1 });
            },
          },
          left ? `Show ${left} row${left === 1 ? "" : "s"} that never change` : "Hide rows that never change",
        ),
      );
    const hidden = stage.now.to - stage.now.from + 1 - columns;
    if (hidden > 0) folded.append(` ${hidden} more positions: filter by position to see them.`);
    if (!visible.length) folded.append("No channel fits the filter.");
  }

  function drawCells() {
    const { step, position } = stage.now;
    for (const row of rows) for (let index = 0; index < row.cells.length; index++) drawCell(row, index, step, position);
    heads.forEach((button, index) => {
      const chosen = String(first + index === position);
      if (button.getAttribute("aria-pressed") !== chosen) button.setAttribute("aria-pressed", chosen);
    });
  }

  function drawCell(row, index, step, chosen) {
    const { channel, others, without } = row;
    const position = first + index;
    const exists = step < channel.steps && !(channel.perStep && step === 0 && content.first === 0);
    let text = exists ? channel.text(step, position) : "";
    let look = chosen === position ? CHOSEN : 0;
    if (exists && !channel.perStep && step > 0 && !channel.same(step, step - 1, position)) look |= LIT;
    if (exists && channel.isQuiet(step, position)) look |= QUIET;
    for (const other of others) {
      const there = other && step < other.steps && exists ? other.text(step, position) : "";
      if (there !== text) look |= WRONG;
      text = `${text}\n${there}`;
    }
    const before = page.without ? beforeText([channel, ...others], without, step, position) : "";
    if (before) look |= MOVED;
    if ((row.befores[index] ?? "") !== before) row.cells[index].title = row.befores[index] = before;
    if (row.texts[index] !== text) row.cells[index].textContent = row.texts[index] = text;
    if (row.looks[index] !== look) {
      row.looks[index] = look;
      row.cells[index].className = classes(look, others.length);
    }
  }

  function draw(changed) {
    if (["all", "from", "to", "channels", "shown"].some((name) => changed.has(name))) build();
    if (["all", "from", "to", "channels", "shown", "step", "position"].some((name) => changed.has(name))) drawCells();
    const { step } = stage.now;
    caption.textContent =
      step + content.first === 0
        ? "the start, before the first layer"
        : `after ${content.step} ${step + content.first}; lit cells changed in it${page.without ? "; dashed cells differ from the run without the edits" : ""}${stage.now.shown === "both" ? `; ${page.runs[0].source} above, ${page.runs[1].source} below` : ""}`;
  }

  return {
    element,
    caption,
    folded,
    draw,
    centre: (position) => centreOf(heads[position - first]),
    range: () => [first, first + heads.length - 1],
  };
}

function classes(look, others) {
  const found = others ? ["two"] : [];
  if (look & LIT) found.push("lit");
  if (look & QUIET) found.push("quiet");
  if (look & WRONG) found.push("wrong");
  if (look & CHOSEN) found.push("chosen");
  if (look & MOVED) found.push("moved");
  return found.join(" ");
}

function isConstant(channel) {
  if (!channel) return false;
  for (let position = 0; position < channel.count; position++)
    for (let step = 1; step < channel.steps; step++) if (!channel.same(step, step - 1, position)) return false;
  return true;
}

function centreOf(button) {
  const box = button.getBoundingClientRect();
  return box.left + box.width / 2;
}
