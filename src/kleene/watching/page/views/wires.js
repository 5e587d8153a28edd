// The modules and wires of one step of a circuit, placed in columns and drawn.

import { svg } from "../elements.js";

const WIDE = 104,
  TALL = 40,
  ACROSS = 62,
  DOWN = 16; // of a box, and between boxes

// The boxes of a step by columns: registers, modules behind their arguments, and registers again.
export function laidOut(run, wiring, step, valueOf) {
  const registers = Array.from({ length: wiring.registers }, (_, number) => `r${number}`);
  const sources = [...registers, ...wiring.modules.map(([name]) => name)];
  const chosen = (connection) => sources[run.byName.get(connection).code(step, 0)];
  const inputs = new Map(
    wiring.modules.map(([name, , arity]) => [
      name,
      ["a", "b"].slice(0, arity).map((slot) => chosen(`${name}.${slot}`)),
    ]),
  );
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
  for (const name of registers)
    if (wanted.has(name)) place({ key: name, label: name, value: at(name, step - 1), look: "register" }, 0);
  wiring.modules.forEach(([name, kind], module) => {
    if (!wanted.has(name)) return;
    const column =
      Math.max(0, ...inputs.get(name).map((input) => depth.get(input) ?? 0)) + (inputs.get(name).length ? 1 : 0);
    place(
      {
        key: name,
        label: name,
        value: kind === "WRITE" ? "" : String(valueOf(step, module)),
        look: kind === "WRITE" ? "writes" : kind === "READ" ? "readsbox" : "module",
      },
      column,
    );
  });
  const last = Math.max(1, ...boxes.map((box) => box.column)) + 1;
  for (const name of registers) {
    const same = at(name, step) === at(name, step - 1);
    boxes.push({
      key: `${name}.c`,
      label: `${name} =`,
      value: at(name, step),
      look: same ? "register" : "register changed",
      column: last,
    });
  }
  const wires = [...inputs]
    .filter(([name]) => wanted.has(name))
    .flatMap(([name, found]) => found.map((input, slot) => [input, name, slot, found.length]));
  for (const name of registers) wires.push([chosen(`${name}.c`), `${name}.c`, 0, 1]);
  const rows = [];
  for (const box of boxes) {
    box.row = rows[box.column] ?? 0;
    rows[box.column] = box.row + 1;
  }
  return { boxes, wires, columns: last + 1, rows: Math.max(...rows.filter(Boolean)) };
}

export function drawn({ boxes, wires, columns, rows }) {
  const corner = (box) => [box.column * (WIDE + ACROSS) + 2, box.row * (TALL + DOWN) + 2];
  const byKey = new Map(boxes.map((box) => [box.key, box]));
  const lines = wires.map(([from, to, slot, slots]) => {
    const [x, y] = corner(byKey.get(from));
    const [u, v] = corner(byKey.get(to));
    const [startX, startY, endX, endY] = [x + WIDE, y + TALL / 2, u, v + (TALL * (slot + 1)) / (slots + 1)];
    const bend = Math.max(30, (endX - startX) / 2);
    return svg("path", {
      class: "wire",
      d: `M${startX} ${startY}C${startX + bend} ${startY} ${endX - bend} ${endY} ${endX} ${endY}`,
    });
  });
  const shapes = boxes.map((box) => {
    const [x, y] = corner(box);
    const label = svg("text", { x: x + 10, y: y + TALL / 2, class: "boxlabel" });
    label.textContent = box.label;
    const value = svg("text", { x: x + WIDE - 10, y: y + TALL / 2, class: "boxvalue" });
    value.textContent = box.value;
    return svg(
      "g",
      { class: `box ${box.look}` },
      svg("rect", { x, y, width: WIDE, height: TALL, rx: 9 }),
      label,
      value,
    );
  });
  const [wide, tall] = [columns * (WIDE + ACROSS) - ACROSS + 4, rows * (TALL + DOWN) - DOWN + 4];
  return svg(
    "svg",
    {
      class: "circuit",
      width: wide,
      height: tall,
      viewBox: `0 0 ${wide} ${tall}`,
      role: "img",
      "aria-label": "Modules and wires of this step",
    },
    ...lines,
    ...shapes,
  );
}
