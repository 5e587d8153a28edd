// All tapes of a run at once: a row for each step, a column for each cell, a colour for each symbol, and the head's path.

import { el } from "../elements.js";
import { between } from "../stage.js";
import { colour } from "../theme.js";

const TALLEST = 420;

export function spaceTime(stage, page, run) {
  const tape = run.byName.get("tape");
  const head = run.byName.get("head");
  const content = page.document;
  const canvas = el("canvas", { className: "map", "aria-hidden": "true" });
  const legend = el("ul", { className: "legend" });
  const element = el(
    "section",
    { className: "card", "aria-labelledby": "time-title" },
    el(
      "div",
      { className: "cardhead" },
      el("h2", { id: "time-title", textContent: "The whole run" }),
      el("p", {
        className: "soft cardnote",
        textContent: "a row for each step, a column for each cell; the dark path is the head",
      }),
    ),
    canvas,
    legend,
  );
  const steps = tape.steps;
  const width = tape.count;
  const row = between(Math.floor(TALLEST / steps), 1, 14);
  const shown = Math.min(steps * row, 900);
  const symbols = [...new Set(tape.labels ?? [])].slice(0, 12);
  let painted = null;

  const shade = (code) => colour(`s${code % 8}`);
  legend.replaceChildren(
    ...symbols
      .map((symbol, code) =>
        code === content.blank ? null : el("li", {}, mark(code), el("span", { textContent: symbol })),
      )
      .filter(Boolean),
  );

  function mark(code) {
    const made = el("span", { className: "swatchbox" });
    made.style.background = `var(--s${code % 8})`;
    return made;
  }

  function go(event) {
    const box = canvas.getBoundingClientRect();
    const step = Math.floor(((event.clientY - box.top) / box.height) * steps);
    stage.set({ step: between(step, stage.now.least, stage.now.most) });
  }
  canvas.addEventListener("pointerdown", (event) => {
    go(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && go(event));

  function paintTapes(wide, tall, scale) {
    const made = el("canvas", { width: wide * scale, height: tall * scale });
    const pen = made.getContext("2d");
    pen.scale(scale, scale);
    pen.fillStyle = colour("cell");
    pen.fillRect(0, 0, wide, tall);
    const pitch = wide / width;
    const line = tall / steps;
    for (let step = 0; step < steps; step++) {
      for (let cell = 0; cell < width; cell++) {
        const code = tape.code(step, cell);
        if (code === content.blank || code < 0) continue;
        pen.fillStyle = shade(code);
        pen.fillRect(cell * pitch, step * line, pitch - Math.min(1, pitch / 6), line + (line < 3 ? 0.5 : -0.5));
      }
      if (!head) continue;
      pen.fillStyle = colour("ink");
      const at = head.code(step, 0) - content.firstPosition;
      const size = Math.max(1.5, Math.min(pitch, line) * 0.45);
      pen.fillRect(
        (at + 0.5) * pitch - size / 2,
        (step + 0.5) * line - Math.max(size, line) / 2,
        size,
        Math.max(size, line),
      );
    }
    return made;
  }

  function paint(afresh) {
    const scale = devicePixelRatio || 1;
    if (afresh || !painted) {
      const wide = canvas.clientWidth;
      if (!wide) return;
      canvas.width = wide * scale;
      canvas.height = shown * scale;
      canvas.style.height = `${shown}px`;
      painted = paintTapes(wide, shown, scale);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(painted, 0, 0);
    pen.scale(scale, scale);
    pen.strokeStyle = colour("accent");
    pen.lineWidth = 2;
    pen.strokeRect(1, (stage.now.step * shown) / steps, canvas.width / scale - 2, Math.max(shown / steps, 3));
  }

  addEventListener("resize", () => paint(true));
  return {
    element,
    draw(changed) {
      if (changed.has("all") || changed.has("theme")) paint(true);
      else if (changed.has("step")) paint(false);
    },
  };
}
