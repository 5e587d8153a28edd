// A heat map on a canvas: orange above zero, blue below, so that it can be read without telling red from green.

import { el } from "../elements.js";
import { colour } from "../theme.js";

const LARGEST = 4096; // pixels of a canvas on a side

export function heatMap({ rows, columns, name, bands, tell }) {
  const cell = Math.max(
    1,
    Math.min(14, Math.floor(640 / Math.max(columns, 1)), Math.floor(LARGEST / Math.max(rows, columns))),
  );
  const canvas = el("canvas", {
    className: "heat",
    width: columns * cell,
    height: rows * cell,
    role: "img",
    "aria-label": `${name}, ${rows} by ${columns}`,
  });
  const said = el("p", { className: "soft said", textContent: "Point at a cell to read it." });
  let valueAt = () => 0;
  canvas.style.width = `${columns * cell}px`;
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.min(columns - 1, Math.floor(((event.clientX - box.left) / box.width) * columns));
    const row = Math.min(rows - 1, Math.floor(((event.clientY - box.top) / box.height) * rows));
    if (row >= 0 && column >= 0) said.textContent = tell(row, column, valueAt(row, column));
  });

  function paint(value) {
    valueAt = value;
    let most = 0;
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) most = Math.max(most, Math.abs(value(row, column)) || 0);
    const pen = canvas.getContext("2d");
    pen.globalAlpha = 1;
    pen.fillStyle = colour("cell");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    const gap = cell > 5 ? 1 : 0;
    const above = colour("above"),
      below = colour("below");
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) {
        const found = value(row, column);
        const share = Math.abs(found) / most;
        if (!(share > 0.004)) continue;
        pen.globalAlpha = 0.08 + 0.92 * Math.min(1, share);
        pen.fillStyle = found > 0 ? above : below;
        pen.fillRect(column * cell, row * cell, cell - gap, cell - gap);
      }
    pen.globalAlpha = 0.5;
    pen.fillStyle = colour("soft");
    for (const [, start] of bands) if (start) pen.fillRect(0, start * cell - 0.5, canvas.width, 1);
  }

  const names =
    bands.length && cell >= 6
      ? el(
          "div",
          { className: "bands", "aria-hidden": "true" },
          ...bands.map(([band, start], index) => {
            const stop = index + 1 < bands.length ? bands[index + 1][1] : rows;
            const made = el("span", { textContent: (stop - start) * cell >= 12 ? band : "" });
            made.style.height = `${(stop - start) * cell}px`;
            return made;
          }),
        )
      : null;
  const box = el("div", { className: "heatbox", tabIndex: 0, role: "group", "aria-label": name }, names, canvas);
  return { element: el("div", {}, box, said), paint };
}
