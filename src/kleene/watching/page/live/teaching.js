// The page of a plan that is being taught: its curves grow with each test, and stay when it has ended.

import { el } from "../elements.js";
import { themeSwitch } from "../theme.js";
import { chart, look, told } from "./chart.js";
import { follow } from "./events.js";
import { headsCard } from "./heads.js";

const plan = JSON.parse(document.getElementById("live-data").textContent);
const tests = [];
let pointed = null;
const number = (value) => (value === null ? "–" : String(Number(value.toPrecision(3))));
const percent = (value) => (value === null ? "–" : `${Math.round(value * 100)}%`);
const MEASURES = [
  {
    name: "loss",
    title: "Loss",
    note: "mean of the seeds since the test before; band: lowest to highest",
    show: number,
  },
  {
    name: "accuracy",
    title: "Accuracy in training",
    note: "mean of the seeds; band: lowest to highest",
    most: 1,
    show: percent,
  },
  {
    name: "generalises",
    title: "Share that generalises",
    note: "of the seeds, in tests; band: 95% interval",
    most: 1,
    show: percent,
  },
].map((measure) => ({ most: null, ...measure }));

const state = el("p", { className: "facts", role: "status", textContent: "compiling; the first test is yet to come" });
const said = el("output", {
  className: "pointed-at card wide",
  textContent: "Point at a curve, or focus it and use ← →, to read its values.",
});
const charts = MEASURES.map((measure) => chart({ ...measure, plan, onPoint: point }));
const heads = plan.program ? headsCard(plan) : null;
const rows = el("tbody");
const table = el(
  "details",
  { className: "reveal", ontoggle: fillTable },
  el("summary", { textContent: "All values as a table" }),
  el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "All values" }, tableOf(rows)),
);

document.getElementById("top").append(
  el(
    "div",
    { className: "name" },
    el("h1", { textContent: `Teaching ${plan.lesson}` }),
    el(
      "p",
      { className: "says" },
      el("strong", { id: "iteration", textContent: "0" }),
      ` of ${plan.iterations.toLocaleString("en")} iterations`,
    ),
    state,
  ),
  el(
    "div",
    { className: "tools" },
    themeSwitch(() => heads?.draw()),
  ),
);
document
  .getElementById("main")
  .append(
    legend(),
    ...charts.map((one) => one.element),
    said,
    ...(heads ? [heads.element] : []),
    el("section", { className: "card wide" }, table),
  );
draw();
follow(take, (isLost) => {
  if (isLost) state.textContent = "kleene does not answer; the run may have been stopped. What it measured stays here.";
});
document.documentElement.dataset.ready = "true";

function take(entry) {
  if (entry.over) {
    state.textContent = `the run has ended${entry.line ? `: ${entry.line}` : ""}`;
    document.documentElement.dataset.live = "over";
    return "over";
  }
  if (tests.some((test) => test.iteration === entry.test.iteration)) return null;
  tests.push(entry.test);
  if (entry.heads) heads?.add(entry.test.iteration, entry.heads);
  document.getElementById("iteration").textContent = entry.test.iteration.toLocaleString("en");
  const diverged = entry.test.settings.reduce((sum, setting) => sum + setting.diverged, 0);
  state.textContent = `${tests.length} tests in ${entry.seconds} s${diverged ? `; ${diverged} runs diverged` : ""}`;
  document.documentElement.dataset.tests = tests.length;
  draw();
  if (table.open) rows.append(rowOf(entry.test));
  return null;
}

function draw() {
  charts.forEach((one) => one.draw(tests, pointed));
}

function point(at, isStep = false) {
  const last = tests.length - 1;
  pointed = isStep ? Math.max(0, Math.min(last, (pointed ?? last) + at)) : at;
  said.textContent = MEASURES.map((m) => told(m.title, plan, tests[pointed], m.name, m.show)).join(". ");
  draw();
}

function legend() {
  const entries = plan.settings.map((name, index) => {
    const swatch = el("span", { className: "swatch filled" });
    swatch.dataset.colour = look(index)["data-colour"];
    return el("li", {}, swatch, name);
  });
  const seeds = el("li", { className: "soft", textContent: `${plan.seeds} seed${plan.seeds === 1 ? "" : "s"} each` });
  return el("ul", { className: "legend wide", "aria-label": "Settings" }, ...entries, seeds);
}

function tableOf(body) {
  const names = ["iteration", ...plan.settings.flatMap((s) => MEASURES.map((m) => `${s}: ${m.title.toLowerCase()}`))];
  const head = el("tr", {}, ...names.map((name) => el("th", { scope: "col", textContent: name })));
  return el("table", { className: "values" }, el("thead", {}, head), body);
}

function rowOf(test) {
  const values = test.settings.flatMap((setting) => MEASURES.map((m) => m.show(setting[m.name][0])));
  const first = el("th", { scope: "row", textContent: test.iteration.toLocaleString("en") });
  return el("tr", {}, first, ...values.map((value) => el("td", { textContent: value })));
}

function fillTable() {
  if (table.open) rows.replaceChildren(...tests.map(rowOf));
}
