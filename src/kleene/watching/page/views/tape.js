// The view of a Turing machine: its tape with the head, what the step did, the diagram, and all tapes of the run at once.

import { el } from "../elements.js";
import { diagram } from "./diagram.js";
import { spaceTime } from "./spacetime.js";
import { beforeText, withoutOf } from "../editing.js";

const WINDOW = 61; // cells that are shown around the head

export const tape = {
  filters: ["positions", "steps"],

  async build(stage, page, host) {
    const content = page.document;
    const [run, other] = page.runs;
    const state = run.byName.get("state");
    const picture = diagram(content, (step) => state.text(Math.min(step, state.steps - 1), 0));
    const cells = tapeTable(stage, page, run);
    const beneath = other ? tapeTable(stage, page, other, run) : null;
    const said = el("p", { className: "headline" });
    const map = spaceTime(stage, page, run);
    const describe = (step) => told(run, step, content);
    host.classList.add("taped");
    host.replaceChildren(
      el(
        "section",
        { className: "card wide", "aria-labelledby": "tape-title" },
        el("div", { className: "cardhead" }, el("h2", { id: "tape-title", textContent: "Tape" }), said),
        ...(beneath ? [el("p", { className: "soft cardnote", textContent: run.source })] : []),
        cells.element,
        ...(beneath ? [el("p", { className: "soft cardnote under", textContent: other.source }), beneath.element] : []),
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
      el("div", { className: "side" }, map.element),
    );
    return {
      describe,
      draw(changed) {
        if (changed.has("all") || changed.has("step") || changed.has("from") || changed.has("to")) {
          said.textContent = describe(stage.now.step);
          cells.draw();
          if (beneath) beneath.draw();
          if (picture) picture.draw(stage.now.step);
        }
        map.draw(changed);
      },
    };
  },
};

// The tape of a run; what differs from another run of the same word is marked.
function tapeTable(stage, page, run, compared = null) {
  const content = page.document;
  const numbers = el("tr");
  const symbols = el("tr");
  const body = el(
    "table",
    { className: "tape" },
    el("caption", { className: "unseen", textContent: "The cells of the tape around the head" }),
    el("thead", {}, numbers),
    el("tbody", {}, symbols),
  );
  const name = el("span", { className: "statechip" });
  const element = el(
    "div",
    { className: "scroll", tabIndex: 0, role: "region", "aria-label": `Tape of the ${run.source}` },
    body,
  );
  let first = -1;
  let tds = [],
    ths = [];
  let texts = [],
    looks = [];
  const [state, head, tape] = ["state", "head", "tape"].map((channel) => run.byName.get(channel));
  const before = (channel, step, cell) =>
    page.without ? beforeText([channel], [withoutOf(page, run, channel)], step, cell) : "";
  const differs = (channel, step, cell) => {
    const there = compared?.byName.get(channel.name);
    return Boolean(there) && (step >= there.steps || channel.text(step, cell) !== there.text(step, cell));
  };

  function build(start, end) {
    first = start;
    texts = [];
    looks = [];
    ths = [];
    tds = [];
    for (let cell = start; cell <= end; cell++) {
      ths.push(el("th", { scope: "col", textContent: cell + content.firstPosition }));
      tds.push(el("td", { onclick: () => stage.set({ position: cell, picked: "tape" }) }));
    }
    numbers.replaceChildren(...ths);
    symbols.replaceChildren(...tds);
  }

  function draw() {
    if (!tape) return;
    const step = Math.min(stage.now.step, tape.steps - 1);
    const { from, to } = stage.now;
    const at = head ? head.code(step, 0) - content.firstPosition : 0;
    const width = Math.min(WINDOW, to - from + 1);
    let start = first < from || first + width - 1 > to ? from : first;
    if (tds.length !== width) start = Math.max(from, Math.min(to - width + 1, at - (width >> 1)));
    if (at < start + 4 || at > start + width - 5) start = Math.max(from, Math.min(to - width + 1, at - (width >> 1)));
    if (start !== first || tds.length !== width) build(start, start + width - 1);
    for (let index = 0; index < tds.length; index++) {
      const cell = first + index;
      const isBlank = tape.code(step, cell) === content.blank;
      const text = isBlank ? "" : tape.text(step, cell);
      const wrote = step > 0 && !tape.same(step, step - 1, cell);
      const look = [
        cell === at ? "head" : "",
        wrote ? "lit" : "",
        isBlank ? "blank" : "",
        differs(tape, step, cell) ? "wrong" : "",
        before(tape, step, cell) ? "moved" : "",
      ]
        .filter(Boolean)
        .join(" ");
      if (texts[index] !== text) tds[index].textContent = texts[index] = text;
      if (looks[index] !== look) {
        tds[index].className = looks[index] = look;
        tds[index].title = before(tape, step, cell);
        ths[index].className = cell === at ? "head" : "";
      }
    }
    const under = tds[at - first];
    if (under) {
      if (state)
        name.textContent = `${state.text(step, 0)}${differs(state, step, 0) || differs(head, step, 0) ? " ≠" : ""}`;
      name.title = [state, head].map((channel) => before(channel, step, 0)).find(Boolean) ?? "";
      name.classList.toggle("moved", Boolean(name.title));
      if (name.parentElement !== under) under.append(name);
      keepCentred(element, under);
    }
    if (under && texts[at - first] !== undefined && under.firstChild === name) under.prepend(texts[at - first]);
  }

  return { element, draw };
}

function keepCentred(box, cell) {
  const left = cell.offsetLeft - box.scrollLeft;
  if (left < 60 || left > box.clientWidth - 100) box.scrollLeft = cell.offsetLeft - box.clientWidth / 2;
}

function told(run, step, content) {
  const [state, head, tape] = ["state", "head", "tape"].map((channel) => run.byName.get(channel));
  if (step >= state.steps) return "halted";
  if (step === 0) return content.first === 0 ? `starts in ${state.text(0, 0)}` : `in ${state.text(0, 0)}`;
  const from = head.code(step - 1, 0) - content.firstPosition;
  const moved = head.code(step, 0) - content.firstPosition - from;
  const read = tape.text(step - 1, from);
  const wrote = tape.text(step, from);
  const writing = read === wrote ? `reads ${read}` : `reads ${read}, writes ${wrote}`;
  const moving = moved > 0 ? "moves right" : moved < 0 ? "moves left" : "stays";
  const next = state.same(step, step - 1, 0) ? `stays in ${state.text(step, 0)}` : `goes to ${state.text(step, 0)}`;
  return `${state.text(step - 1, 0)} ${writing}, ${moving}, ${next}`;
}
