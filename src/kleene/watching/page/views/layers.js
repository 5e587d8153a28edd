// The view of a Transformer's run: positions are columns, variables are rows, and arcs say who attends to whom.

import { el } from "../elements.js";
import { unpack } from "../columns.js";
import { grid } from "./grid.js";
import { arcs } from "./arcs.js";
import { inspector } from "./inspector.js";
import { changeMap } from "./map.js";
import { insides } from "./insides.js";

export const layers = {
  filters: ["channels", "positions", "steps"],
  startPosition: (content) => Math.floor((content.positions.length - 1) / 2),

  async build(stage, page, host) {
    const content = page.document;
    const attention = await Promise.all(content.runs.map(readAttention));
    const moments = content.program ? await unpack(content.program.column) : null;
    const table = grid(stage, page);
    const bows = arcs(stage, page, attention, table);
    const inspected = inspector(stage, page, attention, moments);
    const map = changeMap(stage, page);
    const knows = Boolean(content.program) || attention.some((heads) => heads.size); // else there is nothing to tell
    const inside = content.network ? insides(stage, page) : null;
    const switcher = page.runs.length > 1 ? runSwitch(stage, page) : null;
    host.replaceChildren(
      el(
        "section",
        { className: "card stagecard", "aria-labelledby": "table-title" },
        el(
          "div",
          { className: "cardhead" },
          el("h2", { id: "table-title", textContent: "Run" }),
          table.caption,
          switcher,
        ),
        bows.chips,
        el(
          "div",
          { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Variables at every position" },
          bows.svg,
          table.element,
        ),
        table.folded,
      ),
      el("div", { className: "side" }, knows ? inspected.element : null, map.element),
      ...(inside ? [inside.element] : []),
    );
    return {
      draw(changed) {
        table.draw(changed);
        bows.draw(changed);
        inspected.draw(changed);
        map.draw(changed);
        if (inside) inside.draw(changed);
      },
      describe: (step) => described(page, step),
    };
  },
};

async function readAttention(run) {
  const found = new Map();
  for (const [name, head] of Object.entries(run.attention ?? {})) {
    const { array, shape } = await unpack(head.column);
    const steps = shape[shape.length - 1];
    found.set(name, (step, position) => head.values[array[position * steps + step]]);
  }
  return found;
}

function runSwitch(stage, page) {
  const choices = [...page.runs.map((run, index) => [String(index), run.source]), ["both", "both"]];
  const buttons = choices.map(([value, name]) =>
    el("button", { type: "button", textContent: name, onclick: () => stage.set({ shown: value }) }),
  );
  const draw = () =>
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(stage.now.shown === choices[i][0])));
  stage.onChange((changed) => changed.has("shown") && draw());
  draw();
  return el("div", { className: "switch", role: "group", "aria-label": "Which run" }, ...buttons);
}

const MOST_TOLD = 6;

function described(page, step) {
  if (step === 0) return page.document.first === 0 ? "The start, before the first layer." : "";
  const told = [];
  for (const channel of page.runs[0].channels) {
    if (channel.perStep) continue;
    for (let position = 0; position < page.width; position++)
      if (!channel.same(step, step - 1, position))
        told.push(
          `${channel.name} at ${position + page.document.firstPosition} becomes ${channel.text(step, position)}`,
        );
  }
  if (!told.length) return "Nothing changes.";
  const more = told.length - MOST_TOLD;
  return `${told.length} change${told.length === 1 ? "" : "s"}: ${told.slice(0, MOST_TOLD).join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
}
