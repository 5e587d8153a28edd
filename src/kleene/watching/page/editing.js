// Interventions: the edits of the run, what they changed, and on a live page a form that makes another one.

import { el } from "./elements.js";
import { recorded } from "./recording.js";

const MOST_CHOICES = 64; // more values are typed

// The runs without the edits, beside those with them; null where there are none.
export async function readWithout(content) {
  if (!content.edits) return null;
  return Promise.all(content.runs.map((run) => (run.without ? recorded({ ...run, channels: run.without }) : null)));
}

// Whether an entry of a channel differs from that of the run without the edits.
export function differs(channel, other, step, position) {
  if (!other) return false;
  const exists = [channel, other].map((one) => step < one.steps && (!one.positions || position < one.count));
  if (!exists[0] || !exists[1]) return exists[0] !== exists[1];
  return channel.text(step, position) !== other.text(step, position);
}

// The channel of the same run without the edits; undefined where there is none.
export function withoutOf(page, run, channel) {
  return page.without?.[page.runs.indexOf(run)]?.byName.get(channel.name);
}

// What an entry was without the edits, in words; empty where it is the same.
export function beforeText(channels, others, step, position) {
  if (!channels.some((one, place) => one && differs(one, others[place], step, position))) return "";
  const found = others.map((one) => (one && step < one.steps ? one.text(step, position) : "nothing"));
  return `without the edits: ${[...new Set(found)].join(" and ")}`;
}

// Whether an edit is made in a step, read from what was typed: parity@3,5=1, state@2-4=q, done=1.
export function isEdited(content, step) {
  return (content.edits ?? []).some((text) => {
    const found = /^[^@=]*@(\d+)(?:-(\d+))?[,=]/.exec(text);
    return found ? step >= Number(found[1]) && step <= Number(found[2] ?? found[1]) : true;
  });
}

// How many entries differ, and the first step in which one does.
export function countDifferent(run, without) {
  let count = 0;
  let first = null;
  for (const channel of run.channels) {
    const other = without.byName.get(channel.name);
    for (let step = 0; step < channel.steps; step++)
      for (let position = 0; position < channel.count; position++)
        if (differs(channel, other, step, position)) {
          count++;
          if (first === null || step < first) first = step;
        }
  }
  return { count, first };
}

const live = () => {
  const data = document.getElementById("live-data");
  return data ? JSON.parse(data.textContent) : null;
};

// The card of the edits. A page of a file has it if there are some, a live page always.
export function editing(stage, page) {
  const content = page.document;
  const now = live();
  const edits = content.edits ?? [];
  const editable = page.runs[0].channels.filter((channel) => (content.editable ?? []).includes(channel.name));
  if (!edits.length && !(now && editable.length)) return null;
  const send = (changed) => {
    const value = document.getElementById("live-input")?.value ?? content.input;
    dispatchEvent(new CustomEvent("kleene-run", { detail: { input: value, edits: changed } }));
  };
  const list = el(
    "ul",
    { className: "edits", "aria-label": "Edits" },
    ...edits.map((text, index) =>
      el(
        "li",
        { className: "edit" },
        el("code", { textContent: text }),
        now
          ? el("button", {
              type: "button",
              className: "plain",
              textContent: "Remove",
              "aria-label": `Remove the edit ${text}`,
              onclick: () => send(edits.filter((_, other) => other !== index)),
            })
          : null,
      ),
    ),
  );
  const parts = [
    el(
      "div",
      { className: "cardhead" },
      el("h2", { id: "edits-title", textContent: "Interventions" }),
      el("p", { className: "soft cardnote", id: "edits-note", textContent: told(page, edits) }),
    ),
    edits.length ? list : null,
    now && editable.length ? form(stage, page, editable, (text) => send([...edits, text])) : null,
  ];
  return el("section", { className: "card wide editcard", "aria-labelledby": "edits-title" }, ...parts);
}

function told(page, edits) {
  const content = page.document;
  if (!edits.length) return "Set a value anywhere in the run, and see what changes after it.";
  const said = [];
  page.runs.forEach((run, index) => {
    const without = page.without?.[index];
    if (!without) return said.push(`${run.source}: there is no run without the edits to compare with`);
    const { count, first } = countDifferent(run, without);
    const many = `${count.toLocaleString("en")} entr${count === 1 ? "y differs" : "ies differ"}`;
    const where = count ? `, the first after ${content.step} ${first + content.first}` : "";
    return said.push(`${run.source}: ${many} from that${where}`);
  });
  const known = content.before !== null && content.before !== undefined;
  const before = known ? `Without the edit${edits.length === 1 ? "" : "s"} it gives ${content.before}. ` : "";
  return `${before}${said.join("; ")}.`;
}

function form(stage, page, editable, send) {
  const content = page.document;
  const field = (label, input) =>
    el("label", { className: "field", htmlFor: input.id }, el("span", { textContent: label }), input);
  const channel = el(
    "select",
    { id: "edit-channel" },
    ...editable.map((one) => el("option", { value: one.name, textContent: one.name })),
  );
  const number = (id, most) => el("input", { type: "number", id, min: 0, max: most, step: 1, required: true });
  const step = number("edit-step", content.steps);
  const last = content.firstPosition + page.width - 1;
  const position = number("edit-position", last);
  const where = field("position", position);
  const value = el("span", { className: "field" });
  const chosen = () => editable.find((one) => one.name === channel.value);

  function choices(one) {
    if (one.kind === "category" && (one.size ?? 0) <= MOST_CHOICES)
      return one.labels ?? Array.from({ length: one.size }, (_, code) => String(code));
    if (one.kind === "number" && one.declared && one.declared.length <= MOST_CHOICES) return one.declared.map(String);
    return null;
  }
  function fillValue() {
    const one = chosen();
    const found = choices(one);
    const at = stage.now.step < one.steps ? one.text(stage.now.step, stage.now.position) : "";
    const input = found
      ? el("select", { id: "edit-value" }, ...found.map((name) => el("option", { value: name, textContent: name })))
      : el("input", { type: "text", id: "edit-value", autocomplete: "off", spellcheck: false, required: true });
    const other = found?.find((name) => name !== at);
    if (other !== undefined) input.value = other;
    value.replaceChildren(el("label", { htmlFor: "edit-value", textContent: "to" }), input);
    where.hidden = !one.positions;
    position.required = one.positions;
  }
  function follow() {
    const least = chosen().perStep ? 1 : 0;
    step.value = Math.max(least, stage.now.step + content.first);
    step.min = least;
    position.value = stage.now.position + content.firstPosition;
    fillValue();
  }
  channel.addEventListener("change", () => {
    stage.set({ picked: channel.value });
    follow();
  });
  stage.onChange((changed) => {
    if (changed.has("picked") && editable.some((one) => one.name === stage.now.picked))
      channel.value = stage.now.picked;
    if (changed.has("picked") || changed.has("step") || changed.has("position")) follow();
  });
  const made = el(
    "form",
    {
      className: "editform",
      onsubmit: (event) => {
        event.preventDefault();
        const place = chosen().positions ? `${step.value},${position.value}` : step.value;
        send(`${channel.value}@${place}=${document.getElementById("edit-value").value}`);
      },
    },
    field("set", channel),
    field(`after ${content.step}`, step),
    where,
    value,
    el("button", { type: "submit", className: "plain", id: "edit-set", textContent: "Set and run on" }),
    el("p", { className: "soft edithint", textContent: "Click a cell to choose it, or press e." }),
  );
  follow();
  return made;
}
