// The box above a live run: it takes an input, says what is wrong with it or with the file, and loads new documents.

import { el } from "../elements.js";
import { follow } from "./events.js";
import { keep, kept, restore } from "./keeping.js";
import { linkedEdits, linkEdits } from "../linking.js";

const start = JSON.parse(document.getElementById("live-data").textContent);
const before = kept();
let dirty = Boolean(before?.typed); // whether something is typed that has not been run

const field = el("input", {
  id: "live-input",
  type: "text",
  value: before?.typed ?? start.input,
  autocomplete: "off",
  spellcheck: false,
  autocapitalize: "off",
  "aria-describedby": "live-problem",
  oninput: () => (dirty = true),
});
const state = el("span", { className: "live-state", role: "status" });
const wrong = el("p", { id: "live-problem", className: "live-wrong", role: "alert" });
const form = el(
  "form",
  { className: "live-form", onsubmit: send },
  el("label", { htmlFor: "live-input", textContent: "Input" }),
  field,
  el("button", { type: "submit", className: "plain", textContent: "Run" }),
  state,
);
const trouble = el("div", { className: "live-trouble", role: "alert", hidden: true });
document.getElementById("console").append(form, wrong, trouble);
restore(before);
show(start);
follow(show, lost);
const linked = linkedEdits();
// A page that was opened by a link asks for the link's edits; one that was loaded again shows those of the server.
if (!before && linked.length && linked.join("\n") !== start.edits.join("\n")) run(field.value, linked);
else linkEdits(start.edits);
addEventListener("kleene-run", (event) => run(event.detail.input, event.detail.edits));

function show(now) {
  if (now.page !== start.page) {
    keep(dirty ? field.value : null);
    location.reload();
    return "over";
  }
  state.textContent = now.running ? "running…" : now.problem ? "" : "live";
  state.dataset.state = now.running ? "running" : now.problem ? "wrong" : "live";
  if (!dirty && !now.problem) field.value = now.input;
  const isInput = now.problem?.of === "input";
  const isEdit = now.problem?.of === "edit";
  wrong.textContent = isInput || isEdit ? now.problem.message : "";
  field.setAttribute("aria-invalid", String(isInput));
  if (isEdit) linkEdits(start.edits);
  trouble.hidden = !now.problem || isInput || isEdit;
  trouble.replaceChildren(...(trouble.hidden ? [] : told(now.problem)));
  if (!start.page && !document.getElementById("waiting"))
    document.getElementById("main").append(
      el("p", { id: "waiting", className: "card wide soft", textContent: "No run has succeeded yet." }),
    );
  document.documentElement.dataset.live = now.running ? "running" : now.problem ? now.problem.of : "good";
}

function told(problem) {
  const place = problem.file ? [el("strong", { textContent: `${problem.file}, line ${problem.line}` })] : [];
  const line = problem.text ? [el("code", { textContent: problem.text.trim() })] : [];
  const stays = el("p", { className: "soft", textContent: "The page shows the last run that succeeded." });
  const message = el("p", { className: "live-message", textContent: problem.message });
  return [...place, message, ...line, ...(start.page ? [stays] : [])];
}

function send(event) {
  event.preventDefault();
  run(field.value, start.edits);
}

async function run(input, edits) {
  dirty = false;
  linkEdits(edits);
  try {
    const answer = await fetch("input", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ input, edits }),
    });
    if (!answer.ok) wrong.textContent = (await answer.json()).problem;
  } catch {
    lost(true);
  }
}

function lost(isLost) {
  if (!isLost) return;
  state.textContent = "kleene does not answer; is it still running?";
  state.dataset.state = "wrong";
  document.documentElement.dataset.live = "lost";
}
