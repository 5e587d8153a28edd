// A chart of curves that grow: a line and a band for each setting, axes with units, and the values at the pointer.

import { el, svg } from "../elements.js";

const [WIDE, TALL] = [440, 240];
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 12, 10, 38];
const COLOURS = 6;
const DASHES = ["", "7 4", "2 3", "9 3 2 3"]; // for settings beyond the colours

export function look(index) {
  return { "data-colour": index % COLOURS, "stroke-dasharray": DASHES[Math.floor(index / COLOURS) % DASHES.length] };
}

// `name` is that of the measurement in a test, `most` the top of the axis, or null for the largest value.
export function chart({ name, title, note, plan, most, show, onPoint }) {
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, class: "chart", role: "img", tabindex: 0 });
  const element = el(
    "section",
    { className: "card", "aria-labelledby": `chart-${name}` },
    el(
      "div",
      { className: "cardhead" },
      el("h2", { id: `chart-${name}`, textContent: title }),
      el("p", { className: "soft cardnote", textContent: note }),
    ),
    picture,
  );
  let tests = [];
  const across = (iteration) => LEFT + ((WIDE - LEFT - RIGHT) * iteration) / plan.iterations;

  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDE;
    if (!tests.length) return;
    const far = tests.map((test) => Math.abs(across(test.iteration) - at));
    onPoint(far.indexOf(Math.min(...far)));
  });
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || !tests.length) return;
    event.preventDefault();
    onPoint(step, true);
  });

  function draw(given, pointed) {
    tests = given;
    const highest = most ?? Math.max(1e-9, ...tests.flatMap((t) => t.settings.map((s) => s[name][2] ?? 0)));
    const top = most ?? ceiling(highest);
    const up = (value) => TALL - BOTTOM - (TALL - TOP - BOTTOM) * (value / top);
    const parts = axes(across, up, top, plan.iterations, show);
    plan.settings.forEach((_, index) => {
      const points = tests.map((t) => [across(t.iteration), ...t.settings[index][name]]).filter((p) => p[1] !== null);
      if (!points.length) return;
      const there = points.map(([x, , low]) => `${x.toFixed(1)} ${up(low).toFixed(1)}`);
      const back = points.map(([x, , , high]) => `${x.toFixed(1)} ${up(high).toFixed(1)}`).reverse();
      const line = points.map(([x, middle]) => `${x.toFixed(1)} ${up(middle).toFixed(1)}`);
      parts.push(svg("path", { class: "band", ...look(index), d: `M${[...there, ...back].join("L")}Z` }));
      parts.push(svg("path", { class: "curve", ...look(index), d: `M${line.join("L")}` }));
      const [x, middle] = points[points.length - 1];
      parts.push(svg("circle", { class: "tip", ...look(index), cx: x, cy: up(middle), r: 3.5 }));
    });
    if (pointed !== null && tests[pointed]) {
      const x = across(tests[pointed].iteration);
      parts.push(svg("line", { class: "pointed", x1: x, x2: x, y1: TOP, y2: TALL - BOTTOM }));
    }
    picture.replaceChildren(...parts);
    picture.setAttribute("aria-label", told(title, plan, tests[pointed ?? tests.length - 1], name, show));
  }
  return { element, draw };
}

// What one test has of a measurement, in words.
export function told(title, plan, test, name, show) {
  if (!test) return `${title}: no test yet`;
  const values = plan.settings.map((setting, index) => `${setting} ${show(test.settings[index][name][0])}`);
  return `${title} at iteration ${test.iteration.toLocaleString("en")}: ${values.join("; ")}`;
}

function axes(across, up, top, iterations, show) {
  const parts = [];
  for (let tick = 0; tick <= 4; tick++) {
    const value = (top * tick) / 4;
    parts.push(svg("line", { class: "rule", x1: LEFT, x2: WIDE - RIGHT, y1: up(value), y2: up(value) }));
    parts.push(svg("text", { x: LEFT - 8, y: up(value), class: "ytick" }, show(value)));
    const iteration = Math.round((iterations * tick) / 4);
    const anchor = tick === 4 ? "end" : "middle";
    const label = iteration.toLocaleString("en");
    parts.push(svg("text", { x: across(iteration), y: TALL - BOTTOM + 16, "text-anchor": anchor }, label));
  }
  parts.push(svg("text", { x: (LEFT + WIDE - RIGHT) / 2, y: TALL - 6, "text-anchor": "middle" }, "iterations"));
  return parts;
}

// A round number that is not below the value.
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].map((n) => n * power).find((round) => round >= value * 0.999) ?? value;
}
