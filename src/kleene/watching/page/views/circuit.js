// The view of a circuit: the modules that matter in this step and their wires, the registers, the memory, and the text.

import { el, svg } from "../elements.js";
import { unpack } from "../columns.js";

const WIDE = 104, TALL = 40, ACROSS = 62, DOWN = 16; // of a box, and between boxes

export const circuit = {
  filters: ["positions", "steps"],

  async build(stage, page, host) {
    const content = page.document;
    const run = page.runs[0];
    const values = await unpack(content.values);
    const blocks = content.source ? await unpack(content.blocks) : null;
    const valueOf = (step, module) => values.array[module * page.steps + step];
    const drawing = el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "The circuit of this step" });
    const memory = memoryTable(stage, page, run);
    const source = content.source ? sourceOf(content) : null;
    const said = el("p", { className: "headline" });
    host.replaceChildren(
      el("div", { className: "side" },
        el("section", { className: "card", "aria-labelledby": "circuit-title" },
          el("div", { className: "cardhead" }, el("h2", { id: "circuit-title", textContent: "Circuit" }), said), drawing),
        el("section", { className: "card", "aria-labelledby": "memory-title" },
          el("div", { className: "cardhead" }, el("h2", { id: "memory-title", textContent: "Registers and memory" }),
            el("p", { className: "soft cardnote", textContent: "lit cells changed in this step" })), memory.element)),
      el("div", { className: "side" }, ...(source ? [source.element] : [])));
    const describe = (step) => told(run, page, step);
    return {
      describe,
      draw(changed) {
        if (!["all", "step", "from", "to"].some((name) => changed.has(name))) return;
        const { step } = stage.now;
        said.textContent = describe(step);
        drawing.replaceChildren(step + content.first === 0
          ? el("p", { className: "soft", textContent: "The start: nothing has run yet." })
          : drawn(laidOut(run, content.wiring, step, valueOf)));
        memory.draw(changed);
        if (source) source.draw(blocks.array[step]);
      },
    };
  },
};

// The boxes of a step by columns: registers, modules behind their arguments, and registers again.
function laidOut(run, wiring, step, valueOf) {
  const registers = Array.from({ length: wiring.registers }, (_, number) => `r${number}`);
  const sources = [...registers, ...wiring.modules.map(([name]) => name)];
  const chosen = (connection) => sources[run.byName.get(connection).code(step, 0)];
  const inputs = new Map(wiring.modules.map(([name, , arity]) => [name, ["a", "b"].slice(0, arity).map((slot) => chosen(`${name}.${slot}`))]));
  const wanted = new Set();
  const want = (name) => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const input of inputs.get(name) ?? []) want(input);
  };
  for (const [name, kind] of wiring.modules) if (kind === "WRITE") want(name);
  for (const register of registers) want(chosen(`${register}.c`));
  const depth = new Map();
  const boxes = [];
  const place = (box, column) => {
    depth.set(box.key, column);
    boxes.push({ ...box, column });
  };
  const at = (name, moment) => (run.byName.get(name) ? run.byName.get(name).text(moment, 0) : "");
  for (const name of registers) if (wanted.has(name)) place({ key: name, label: name, value: at(name, step - 1), look: "register" }, 0);
  wiring.modules.forEach(([name, kind], module) => {
    if (!wanted.has(name)) return;
    const column = Math.max(0, ...inputs.get(name).map((input) => depth.get(input) ?? 0)) + (inputs.get(name).length ? 1 : 0);
    place({ key: name, label: name, value: kind === "WRITE" ? "" : String(valueOf(step, module)), look: kind === "WRITE" ? "writes" : kind === "READ" ? "readsbox" : "module" }, column);
  });
  const last = Math.max(1, ...boxes.map((box) => box.column)) + 1;
  for (const name of registers) {
    const same = at(name, step) === at(name, step - 1);
    boxes.push({ key: `${name}.c`, label: `${name} =`, value: at(name, step), look: same ? "register" : "register changed", column: last });
  }
  const wires = [...inputs].filter(([name]) => wanted.has(name)).flatMap(([name, found]) => found.map((input, slot) => [input, name, slot, found.length]));
  for (const name of registers) wires.push([chosen(`${name}.c`), `${name}.c`, 0, 1]);
  const rows = [];
  for (const box of boxes) {
    box.row = rows[box.column] ?? 0;
    rows[box.column] = box.row + 1;
  }
  return { boxes, wires, columns: last + 1, rows: Math.max(...rows.filter(Boolean)) };
}

function drawn({ boxes, wires, columns, rows }) {
  const corner = (box) => [box.column * (WIDE + ACROSS) + 2, box.row * (TALL + DOWN) + 2];
  const byKey = new Map(boxes.map((box) => [box.key, box]));
  const lines = wires.map(([from, to, slot, slots]) => {
    const [x, y] = corner(byKey.get(from));
    const [u, v] = corner(byKey.get(to));
    const [startX, startY, endX, endY] = [x + WIDE, y + TALL / 2, u, v + (TALL * (slot + 1)) / (slots + 1)];
    const bend = Math.max(30, (endX - startX) / 2);
    return svg("path", { class: "wire", d: `M${startX} ${startY}C${startX + bend} ${startY} ${endX - bend} ${endY} ${endX} ${endY}` });
  });
  const shapes = boxes.map((box) => {
    const [x, y] = corner(box);
    const label = svg("text", { x: x + 10, y: y + TALL / 2, class: "boxlabel" });
    label.textContent = box.label;
    const value = svg("text", { x: x + WIDE - 10, y: y + TALL / 2, class: "boxvalue" });
    value.textContent = box.value;
    return svg("g", { class: `box ${box.look}` }, svg("rect", { x, y, width: WIDE, height: TALL, rx: 9 }), label, value);
  });
  const [wide, tall] = [columns * (WIDE + ACROSS) - ACROSS + 4, rows * (TALL + DOWN) - DOWN + 4];
  return svg("svg", { class: "circuit", width: wide, height: tall, viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": "Modules and wires of this step" }, ...lines, ...shapes);
}

function memoryTable(stage, page, run) {
  const content = page.document;
  const memory = run.byName.get("memory");
  const registers = run.channels.filter((channel) => /^r\d+$/.test(channel.name));
  const element = el("table", { className: "grid plaincells" });
  const box = el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Memory and registers" }, element);
  let cells = [];

  function build() {
    const { from, to } = stage.now;
    const heads = registers.map((channel) => el("th", { scope: "col", textContent: channel.name }));
    for (let cell = from; cell <= to; cell++) heads.push(el("th", { scope: "col", textContent: cell + content.firstPosition }));
    cells = heads.map(() => el("td"));
    element.replaceChildren(el("caption", { className: "unseen", textContent: "The registers and the cells of the memory" }),
      el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, el("tr", {}, ...cells)));
    cells.slice(0, registers.length).forEach((cell) => cell.classList.add("registercell"));
  }

  function draw(changed) {
    if (["all", "from", "to"].some((name) => changed.has(name))) build();
    const { step, from } = stage.now;
    cells.forEach((cell, index) => {
      const [channel, position] = index < registers.length ? [registers[index], 0] : [memory, from + index - registers.length];
      cell.textContent = channel.text(step, position);
      cell.className = [index < registers.length ? "registercell" : "", step > 0 && !channel.same(step, step - 1, position) ? "lit" : ""].filter(Boolean).join(" ");
    });
  }

  return { element: box, draw };
}

function sourceOf(content) {
  const lines = content.source.map((text, index) =>
    el("span", { className: "line" }, el("span", { className: "no", textContent: index + 1, "aria-hidden": "true" }), `${text}\n`));
  const code = el("pre", { className: "code", tabIndex: 0, "aria-label": "The circuit's text" }, el("code", {}, ...lines));
  const element = el("section", { className: "card", "aria-labelledby": "source-title" },
    el("div", { className: "cardhead" }, el("h2", { id: "source-title", textContent: "Text" }), el("p", { className: "soft cardnote", textContent: "the block that ran is lit" })), code);
  return {
    element,
    draw(block) {
      const [first, last] = content.spans[block] ?? [-1, -2];
      lines.forEach((line, index) => (line.className = index === first ? "line ran wrote" : index > first && index <= last ? "line ran" : "line"));
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
        found.push(`${channel.positions ? `cell ${position + page.document.firstPosition}` : channel.name} becomes ${channel.text(step, position)}`);
  }
  return found.length ? found.join(", ") : "nothing changes";
}
