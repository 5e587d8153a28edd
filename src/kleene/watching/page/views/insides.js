// The inside of the network, on demand: the residual stream at this step, and every matrix of weights.

import { el } from "../elements.js";
import { unpack } from "../columns.js";
import { shortNumber } from "../recording.js";
import { heatMap } from "./heat.js";

export function insides(stage, page) {
  const { network, positions, firstPosition } = page.document;
  const dimension = (index) => {
    const segment = network.segments.find(([, start, stop]) => index >= start && index < stop);
    if (!segment) return `feature ${index}`;
    const [name, start, stop] = segment;
    return stop - start === 1 ? name : `${name} = ${index - start}`;
  };
  const stream = residualStream(stage, network, dimension, positions, firstPosition);
  const element = el(
    "section",
    { className: "card wide", "aria-labelledby": "inside-title" },
    el("div", { className: "cardhead" }, el("h2", { id: "inside-title", textContent: "Inside the network" })),
    stream.element,
    weights(network, dimension, page.document, stage),
  );
  return { element, draw: stream.draw };
}

function residualStream(stage, network, dimension, positions, firstPosition) {
  if (!network.stream) return { element: tooLarge("The residual stream"), draw: () => {} };
  let data = null;
  const width = network.segments[network.segments.length - 1][2];
  const map = heatMap({
    rows: width,
    columns: positions.length,
    name: "Residual stream",
    bands: network.segments.map(([name, start]) => [name, start]),
    tell: (row, column, value) => `${dimension(row)} at position ${column + firstPosition}: ${shortNumber(value)}`,
  });
  const box = el(
    "details",
    { className: "reveal" },
    el("summary", { textContent: "Residual stream" }),
    el("p", {
      className: "soft",
      textContent:
        "A column for each position, a row for each dimension: heads' dimensions as attention left them, the others as the MLP left them.",
    }),
    map.element,
  );
  const paint = () => {
    if (!data || !box.open) return;
    const [, dims, steps] = data.shape;
    map.paint((row, column) => data.array[(column * dims + row) * steps + stage.now.step]);
  };
  box.addEventListener("toggle", async () => {
    data ??= await unpack(network.stream);
    paint();
  });
  return { element: box, draw: (changed) => (changed.has("step") || changed.has("theme")) && paint() };
}

function weights(network, dimension, content, stage) {
  if (!network.weights) return tooLarge("The weights");
  const called = (kind, index) =>
    kind === "residual" || kind === "feature" ? dimension(index) : kind ? `${kind} ${index}` : "";
  const parts = network.weights.map((matrix) => {
    const [columns, rows] = matrix.column.shape;
    const box = el(
      "details",
      { className: "reveal" },
      el(
        "summary",
        {},
        el("span", { textContent: matrix.name }),
        el("span", { className: "soft", textContent: ` ${rows} × ${columns}` }),
      ),
    );
    let shown = null;
    box.addEventListener("toggle", async () => {
      if (!box.open || shown) return;
      const { array } = await unpack(matrix.column);
      shown = heatMap({
        rows,
        columns,
        name: matrix.name,
        bands: [],
        tell: (row, column, value) =>
          [called(matrix.rows, row), called(matrix.columns, column)].filter(Boolean).join(", ") +
          `: ${shortNumber(value)}`,
      });
      box.append(shown.element);
      const paint = () => shown.paint((row, column) => matrix.values[array[column * rows + row]]);
      paint();
      stage.onChange((changed) => changed.has("theme") && paint());
    });
    return box;
  });
  return el(
    "details",
    { className: "reveal" },
    el("summary", { textContent: "Weights" }),
    el("div", { className: "matrices" }, ...parts),
  );
}

function tooLarge(what) {
  return el("p", {
    className: "soft",
    textContent: `${what} of this run would make the page too large; show fewer steps or positions.`,
  });
}
