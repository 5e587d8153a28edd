// A small map of the run: a row for each step, a column for each position, darker where more changes.

import { el } from "../elements.js";
import { between } from "../stage.js";
import { colour } from "../theme.js";

export function changeMap(stage, page) {
  const { steps, width, counts, document: content } = page;
  const canvas = el("canvas", { className: "map", "aria-hidden": "true" });
  const element = el(
    "section",
    { className: "card", "aria-labelledby": "map-title" },
    el(
      "div",
      { className: "cardhead" },
      el("h2", { id: "map-title", textContent: "Where it happens" }),
      el("p", {
        className: "soft cardnote",
        textContent: `a row for each ${content.step}, a column for each position`,
      }),
    ),
    canvas,
  );
  const most = Math.max(
    1,
    counts.reduce((a, b) => Math.max(a, b), 0),
  );
  const row = between(Math.floor(220 / steps), 2, 12);

  function go(event) {
    const box = canvas.getBoundingClientRect();
    const { least, most: last, from, to } = stage.now;
    const step = Math.floor(((event.clientY - box.top) / box.height) * steps);
    const position = Math.floor(((event.clientX - box.left) / box.width) * width);
    stage.set({ step: between(step, least, last), position: between(position, from, to) });
  }
  canvas.addEventListener("pointerdown", (event) => {
    go(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && go(event));

  // The counts alone, painted once: a step then only moves the marks above them.
  function paintCounts(wide, tall, scale) {
    const made = el("canvas", { width: wide * scale, height: tall * scale });
    const pen = made.getContext("2d");
    pen.scale(scale, scale);
    const pitch = wide / width;
    const gap = Math.min(1, pitch / 4, row / 4);
    pen.fillStyle = colour("cell");
    pen.fillRect(0, 0, wide, tall);
    pen.fillStyle = colour("map");
    for (let step = 1; step < steps; step++)
      for (let position = 0; position < width; position++) {
        const count = counts[step * width + position];
        if (!count) continue;
        pen.globalAlpha = 0.25 + 0.75 * Math.sqrt(count / most);
        pen.fillRect(position * pitch + gap, step * row + gap, pitch - 2 * gap, row - 2 * gap);
      }
    return made;
  }

  let painted = null;
  function paint(afresh) {
    const scale = devicePixelRatio || 1;
    const tall = steps * row;
    if (afresh || !painted) {
      const wide = canvas.clientWidth;
      if (!wide) return;
      canvas.width = wide * scale;
      canvas.height = tall * scale;
      canvas.style.height = `${tall}px`;
      painted = paintCounts(wide, tall, scale);
    }
    const wide = canvas.width / scale;
    const pen = canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.globalAlpha = 1;
    pen.drawImage(painted, 0, 0);
    pen.scale(scale, scale);
    pen.strokeStyle = pen.fillStyle = colour("accent");
    pen.lineWidth = 2;
    pen.strokeRect(1, stage.now.step * row, wide - 2, Math.max(row, 3));
    pen.globalAlpha = 0.18;
    pen.fillRect((stage.now.position * wide) / width, 0, wide / width, tall);
  }

  addEventListener("resize", () => paint(true));
  return {
    element,
    draw(changed) {
      if (changed.has("all") || changed.has("theme")) paint(true);
      else if (changed.has("step") || changed.has("position")) paint(false);
    },
  };
}
