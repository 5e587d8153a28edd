// The page: reads the document, builds the view of its kind, and joins it to transport, filters and keys.

import { el, iconButton } from "./elements.js";
import { recorded, countChanges } from "./recording.js";
import { createStage, between } from "./stage.js";
import { linked, keepLinked } from "./linking.js";
import { themeSwitch } from "./theme.js";
import { transport, listen, capital } from "./transport.js";
import { filters } from "./filters.js";
import { helpDialog } from "./help.js";
import { editing, isEdited, readWithout } from "./editing.js";
import { views } from "./views/registry.js";

async function open() {
  const content = JSON.parse(document.getElementById("document").textContent);
  const view = views[content.view];
  if (content.version !== 1 || !view) throw new Error(`no view of ${content.view}, version ${content.version}`);
  const runs = await Promise.all(content.runs.map(recorded));
  const steps = content.steps - content.first + 1;
  const width = Math.max(1, content.positions.length);
  const counts = countChanges(runs[0], steps, width);
  const { step, position } = linked(content);
  const stage = createStage({
    step: between(step ?? 0, 0, steps - 1),
    position: between(position ?? view.startPosition?.(content) ?? 0, 0, width - 1),
    least: 0,
    most: steps - 1,
    from: 0,
    to: width - 1,
    channels: "",
    shown: runs.length > 1 ? "both" : "0",
    playing: false,
    theme: 0,
  });
  const changesIn = (at, where) => {
    if (where !== null) return counts[at * width + where];
    let sum = 0;
    for (let p = 0; p < width; p++) sum += counts[at * width + p];
    return sum;
  };
  const without = await readWithout(content);
  const page = { document: content, runs, without, counts, steps, width, changesIn };
  const host = document.getElementById("main");
  const shown = await view.build(stage, page, host);
  const edited = editing(stage, page);
  if (edited) host.prepend(edited);
  page.describe = (at) => {
    const edit = isEdited(content, at + content.first) ? " An edit is made here." : "";
    return `${capital(content.step)} ${at + content.first} of ${content.steps}. ${shown.describe(at)}${edit}`;
  };
  const dialog = helpDialog(Boolean(view.startPosition), Boolean(edited?.querySelector("form")));
  const found = filters(stage, content, view.filters);
  drawTop(content, runs, stage, found, dialog);
  const bar = transport(document.getElementById("bar"), stage, page);
  document.getElementById("bar").append(found);
  document.body.append(dialog);
  listen({
    ...bar.keys,
    "?": () => dialog.showModal(),
    e: () => document.getElementById("edit-value")?.focus(),
    ShiftArrowLeft: () => stage.set({ position: between(stage.now.position - 1, stage.now.from, stage.now.to) }),
    ShiftArrowRight: () => stage.set({ position: between(stage.now.position + 1, stage.now.from, stage.now.to) }),
  });
  keepLinked(stage, content);
  addEventListener("hashchange", () => {
    const to = linked(content);
    stage.set({
      step: between(to.step ?? stage.now.step, stage.now.least, stage.now.most),
      position: between(to.position ?? stage.now.position, stage.now.from, stage.now.to),
    });
  });
  say(stage, page);
  bar.draw();
  shown.draw(new Set(["all"]));
  stage.onChange((changed) => shown.draw(changed));
  document.documentElement.dataset.ready = "true";
}

function drawTop(content, runs, stage, found, dialog) {
  const says = el(
    "p",
    { className: "says" },
    el("span", { className: "input", textContent: content.input || "no input" }),
    el("span", { className: "gives", textContent: "gives", "aria-hidden": "true" }),
    el("strong", { textContent: content.answer }),
  );
  const facts = [content.kind, `${content.steps} ${content.step}${content.steps === 1 ? "" : "s"}`, ...content.facts];
  const about = el("p", { className: "facts" }, facts.join(" · "));
  if (runs.length > 1)
    about.append(
      " ",
      el("span", {
        className: content.different ? "badge wrong" : "badge right",
        textContent: content.different ? `≠ ${content.different}` : "✓ network equals program in every entry",
      }),
    );
  const filter = iconButton("filter", "Filter", () => {
    found.hidden = !found.hidden;
    filter.setAttribute("aria-expanded", String(!found.hidden));
    if (!found.hidden) found.querySelector("input").focus();
  });
  filter.setAttribute("aria-expanded", "false");
  filter.setAttribute("aria-controls", "filters");
  document.getElementById("top").append(
    el("div", { className: "name" }, el("h1", { textContent: content.title }), says, about),
    el(
      "div",
      { className: "tools" },
      filter,
      themeSwitch(() => stage.set({ theme: stage.now.theme + 1 })),
      iconButton("help", "Keys (?)", () => dialog.showModal()),
    ),
  );
}

// Tell a screen reader what each step does, once it stands still.
function say(stage, page) {
  const live = document.getElementById("live");
  let timer = 0;
  stage.onChange((changed) => {
    if (!changed.has("step") && !changed.has("playing")) return;
    clearTimeout(timer);
    if (!stage.now.playing) timer = setTimeout(() => (live.textContent = page.describe(stage.now.step)), 300);
  });
}

open().catch((error) => {
  document
    .getElementById("main")
    .replaceChildren(el("p", { className: "card", textContent: `This page cannot be shown: ${error.message}` }));
  throw error;
});
