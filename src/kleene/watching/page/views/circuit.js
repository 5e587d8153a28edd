// The view of a circuit: the modules that matter in this step and their wires, the registers, the memory, and the text.

import { el } from "../elements.js";
import { beforeText, withoutOf } from "../editing.js";
import { unpack } from "../columns.js";
import { drawn, laidOut } from "./wires.js";

export const circuit = {
  filters: ["positions", "steps"],

  async build(stage, page, host) {
    const content = page.document;
    const run = page.runs[0];
    const values = await unpack(content.values);
    const blocks = content.source ? await unpack(content.blocks) : null;
    const valueOf = (step, module) => values.array[module * page.steps + step];
    const drawing = el("div", {
      className: "scroll",
      tabIndex: 0,
      role: "region",
      "aria-label": "The circuit of this step",
    });
    const memory = memoryTable(stage, page, run);
    const source = content.source ? sourceOf(content) : null;
    const said = el("p", { className: "headline" });
    host.replaceChildren(
      el(
        "div",
        { className: "side" },
        el(
          "section",
          { className: "card", "aria-labelledby": "circuit-title" },
          el("div", { className: "cardhead" }, el("h2", { id: "circuit-title", textContent: "Circuit" }), said),
          drawing,
        ),
        el(
          "section",
          { className: "card", "aria-labelledby": "memory-title" },
          el(
            "div",
            { className: "cardhead" },
            el("h2", { id: "memory-title", textContent: "Registers and memory" }),
            el("p", { className: "soft cardnote", textContent: "lit cells changed in this step" }),
          ),
          memory.element,
        ),
      ),
      el("div", { className: "side" }, ...(source ? [source.element] : [])),
    );
    const describe = (step) => told(run, page, step);
    return {
      describe,
      draw(changed) {
        if (!["all", "step", "from", "to"].some((name) => changed.has(name))) return;
        const { step } = stage.now;
        said.textContent = describe(step);
        drawing.replaceChildren(
          step + content.first === 0
            ? el("p", { className: "soft", textContent: "The start: nothing has run yet." })
            : drawn(laidOut(run, content.wiring, step, valueOf)),
        );
        memory.draw(changed);
        if (source) source.draw(blocks.array[step]);
      },
    };
  },
};

function memoryTable(stage, page, run) {
  const content = page.document;
  const memory = run.byName.get("memory");
  const registers = run.channels.filter((channel) => /^r\d+$/.test(channel.name));
  const element = el("table", { className: "grid plaincells" });
  const box = el(
    "div",
    { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Memory and registers" },
    element,
  );
  let cells = [];

  function build() {
    const { from, to } = stage.now;
    const heads = registers.map((channel) => el("th", { scope: "col", textContent: channel.name }));
    for (let cell = from; cell <= to; cell++)
      heads.push(el("th", { scope: "col", textContent: cell + content.firstPosition }));
    cells = heads.map((_, index) => {
      const isRegister = index < registers.length;
      const picked = isRegister ? registers[index].name : "memory";
      const position = isRegister ? stage.now.position : from + index - registers.length;
      return el("td", { onclick: () => stage.set({ picked, position }) });
    });
    element.replaceChildren(
      el("caption", { className: "unseen", textContent: "The registers and the cells of the memory" }),
      el("thead", {}, el("tr", {}, ...heads)),
      el("tbody", {}, el("tr", {}, ...cells)),
    );
    cells.slice(0, registers.length).forEach((cell) => cell.classList.add("registercell"));
  }

  function draw(changed) {
    if (["all", "from", "to"].some((name) => changed.has(name))) build();
    const { step, from } = stage.now;
    cells.forEach((cell, index) => {
      const [channel, position] =
        index < registers.length ? [registers[index], 0] : [memory, from + index - registers.length];
      cell.textContent = channel.text(step, position);
      cell.title = page.without ? beforeText([channel], [withoutOf(page, run, channel)], step, position) : "";
      cell.className = [
        index < registers.length ? "registercell" : "",
        step > 0 && !channel.same(step, step - 1, position) ? "lit" : "",
        cell.title ? "moved" : "",
      ]
        .filter(Boolean)
        .join(" ");
    });
  }

  return { element: box, draw };
}

function sourceOf(content) {
  const lines = content.source.map((text, index) =>
    el(
      "span",
      { className: "line" },
      el("span", { className: "no", textContent: index + 1, "aria-hidden": "true" }),
      `${text}\n`,
    ),
  );
  const code = el(
    "pre",
    { className: "code", tabIndex: 0, "aria-label": "The circuit's text" },
    el("code", {}, ...lines),
  );
  const element = el(
    "section",
    { className: "card", "aria-labelledby": "source-title" },
    el(
      "div",
      { className: "cardhead" },
      el("h2", { id: "source-title", textContent: "Text" }),
      el("p", { className: "soft cardnote", textContent: "the block that ran is lit" }),
    ),
    code,
  );
  return {
    element,
    draw(block) {
      const [first, last] = content.spans[block] ?? [-1, -2];
      lines.forEach(
        (line, index) =>
          (line.className = index === first ? "line ran wrote" : index > first && index <= last ? "line ran" : "line"),
      );
      if (first >= 0) code.scrollTop = Math.max(0, lines[first].offsetTop - 40);
    },
  };
}

function told(run, page, step) {
  if (step === 0) return page.document.first === 0 ? "the start" : "";
  const found = [];
  for (const channel of run.channels) {
    if (channel.perStep) continue;
    for (let position = 0; position < (channel.positions ? page.width : 1); position++)
      if (!channel.same(step, step - 1, position))
        found.push(
          `${channel.positions ? `cell ${position + page.document.firstPosition}` : channel.name} becomes ${channel.text(step, position)}`,
        );
  }
  return found.length ? found.join(", ") : "nothing changes";
}
