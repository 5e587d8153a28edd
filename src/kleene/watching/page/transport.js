// The bar that moves through the steps: buttons, a slider over a small picture of the changes, play, and keys.

import { el, icon, iconButton } from "./elements.js";
import { between } from "./stage.js";
import { colour } from "./theme.js";

const SPEEDS = [
  ["0.5×", 1600],
  ["1×", 800],
  ["2×", 400],
  ["5×", 160],
  ["20×", 40],
];
const THUMB = 18; // pixels; the slider's style has the same

export function transport(host, stage, page) {
  const { document: content, changesIn, describe } = page;
  const slider = el("input", {
    type: "range",
    min: 0,
    max: content.steps - content.first,
    value: stage.now.step,
    step: 1,
    className: "slider",
    "aria-label": capital(content.step),
    oninput: () => go(Number(slider.value)),
  });
  const strip = el("canvas", { className: "strip", "aria-hidden": "true" });
  const label = el("output", { className: "where" });
  const play = el("button", { type: "button", className: "tool play", onclick: toggle });
  const speed = el(
    "select",
    { className: "speed", "aria-label": "Speed" },
    ...SPEEDS.map(([name, pause]) => el("option", { value: pause, textContent: name, selected: pause === 800 })),
  );
  let timer = 0;

  const range = () => [stage.now.least, stage.now.most];
  const go = (step) => stage.set({ step: between(step, ...range()) });
  const change = (direction, position = null) => {
    const [least, most] = range();
    for (let step = stage.now.step + direction; step >= least && step <= most; step += direction)
      if (changesIn(step, position)) return go(step);
    return go(direction > 0 ? most : least);
  };

  host.append(
    el(
      "div",
      { className: "buttons" },
      iconButton("first", "First step (Home)", () => go(range()[0])),
      iconButton("before", "Previous change (p)", () => change(-1)),
      iconButton("back", "Step back (←)", () => go(stage.now.step - 1)),
      play,
      iconButton("forward", "Step forward (→)", () => go(stage.now.step + 1)),
      iconButton("after", "Next change (n)", () => change(1)),
      iconButton("last", "Last step (End)", () => go(range()[1])),
    ),
    el("div", { className: "track" }, strip, slider),
    label,
    speed,
  );

  function toggle() {
    if (timer) return stop();
    if (stage.now.step >= range()[1]) go(range()[0]);
    timer = setTimeout(tick, Number(speed.value));
    stage.set({ playing: true });
    drawPlay();
  }
  function tick() {
    go(stage.now.step + 1);
    if (stage.now.step >= range()[1]) return stop();
    timer = setTimeout(tick, Number(speed.value));
  }
  function stop() {
    clearTimeout(timer);
    timer = 0;
    stage.set({ playing: false });
    drawPlay();
  }
  function drawPlay() {
    const name = timer ? "Pause (space)" : "Play (space)";
    play.replaceChildren(icon(timer ? "pause" : "play"));
    play.setAttribute("aria-label", name);
    play.title = name;
  }

  function draw() {
    const step = stage.now.step + content.first;
    slider.min = stage.now.least;
    slider.max = stage.now.most;
    slider.value = stage.now.step;
    slider.setAttribute("aria-valuetext", describe(stage.now.step));
    label.textContent = `${content.step} ${step} / ${stage.now.most + content.first}`;
    drawStrip(strip, stage, changesIn);
  }

  drawPlay();
  stage.onChange((changed) => {
    if (changed.has("step") || changed.has("least") || changed.has("most") || changed.has("theme")) draw();
  });
  addEventListener("resize", draw);
  const keys = {
    ArrowLeft: () => go(stage.now.step - 1),
    ArrowRight: () => go(stage.now.step + 1),
    Home: () => go(range()[0]),
    End: () => go(range()[1]),
    " ": toggle,
    n: () => change(1),
    p: () => change(-1),
    N: () => change(1, stage.now.position),
    P: () => change(-1, stage.now.position),
  };
  return { draw, keys, change };
}

function drawStrip(strip, stage, changesIn) {
  const wide = strip.clientWidth;
  const tall = strip.clientHeight;
  const scale = devicePixelRatio || 1;
  strip.width = wide * scale;
  strip.height = tall * scale;
  const pen = strip.getContext("2d");
  pen.scale(scale, scale);
  const [least, most] = [stage.now.least, stage.now.most];
  const counts = [];
  for (let step = least; step <= most; step++) counts.push(changesIn(step, null));
  const highest = Math.max(1, ...counts);
  const pitch = (wide - THUMB) / Math.max(1, most - least);
  const bar = between(pitch * 0.7, 1, 26);
  counts.forEach((count, index) => {
    const x = THUMB / 2 + index * pitch - bar / 2;
    const height = count ? 3 + (tall - 6) * Math.sqrt(count / highest) : 2;
    pen.fillStyle = colour(
      index + least === stage.now.step ? "accent" : index + least < stage.now.step ? "past" : "future",
    );
    pen.fillRect(x, tall - height, bar, height);
  });
}

export function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

// Keys work everywhere except where a person types, or where the key already does something.
export function listen(keys) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const tag = event.target.tagName;
    if (tag === "INPUT" && event.target.type !== "range" && event.target.type !== "checkbox") return;
    if (tag === "SELECT" || tag === "TEXTAREA") return;
    if (event.target.type === "range" && /^(Arrow|Home|End)/.test(event.key)) return;
    if (event.key === " " && (tag === "BUTTON" || tag === "SUMMARY" || event.target.type === "checkbox")) return;
    const name = event.shiftKey && event.key.startsWith("Arrow") ? `Shift${event.key}` : event.key;
    if (!keys[name]) return;
    event.preventDefault();
    keys[name]();
  });
}
