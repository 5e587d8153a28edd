// What happened at the chosen position: the source lines that ran, the rules that fired, and what the heads read.

import { el } from "../elements.js";

export function inspector(stage, page, attention, moments) {
  const content = page.document;
  const program = content.program;
  const title = el("h2", { id: "inspector-title" });
  const note = el("p", { className: "soft cardnote" });
  const fired = el("ul", { className: "fired" });
  const reads = el("ul", { className: "reads" });
  const lines = new Map();
  const code = program?.blocks.length ? makeCode(program, lines) : null;
  const element = el(
    "section",
    { className: "card", "aria-labelledby": "inspector-title" },
    el("div", { className: "cardhead" }, title, note),
    code,
    fired,
    reads,
  );
  let lit = [];

  function momentAt(step, position) {
    if (!moments) return null;
    const steps = moments.shape[moments.shape.length - 1];
    return program.moments[moments.array[position * steps + step]] ?? null;
  }

  function drawCode(moment) {
    for (const line of lit) line.className = "line";
    const wrote = new Set((moment?.writes ?? []).map(([, line]) => line));
    lit = (moment?.lines ?? []).map((number) => lines.get(number)).filter(Boolean);
    lit.forEach((line) => (line.className = wrote.has(Number(line.dataset.line)) ? "line ran wrote" : "line ran"));
    const written = lit.filter((line) => line.classList.contains("wrote"));
    if (code && lit.length) keepInSight(code, written.length ? written : lit);
  }

  function drawFired(moment, step, position) {
    const at = new Map((moment?.writes ?? []).map(([name, line]) => [name, line]));
    const cases = (moment?.cases ?? []).map((number) => program.cases[number]);
    const told = cases.map((found) => [found, ...valuesOf(found.variable, step, position)]);
    told.sort((one, other) => Number(one[1] === one[2]) - Number(other[1] === other[2])); // first what changed
    fired.replaceChildren(
      ...told.map(([found, before, after]) => {
        const effect = before === null ? "" : before === after ? `stays ${after}` : `${before} → ${after}`;
        return el(
          "li",
          {},
          el(
            "div",
            { className: "rule" },
            el("code", { textContent: found.writes }),
            el("span", { className: before === after ? "effect soft" : "effect hot", textContent: effect }),
          ),
          el("div", {
            className: "soft",
            textContent: `where ${found.where}${at.get(found.variable) ? ` · line ${at.get(found.variable)}` : ""}`,
          }),
        );
      }),
    );
  }

  function valuesOf(name, step, position) {
    const channel = runShown().byName.get(name);
    if (!channel || step === 0 || step >= channel.steps) return [null, null];
    return [channel.text(step - 1, position), channel.text(step, position)];
  }

  function runShown() {
    return page.runs[stage.now.shown === "both" ? 0 : Number(stage.now.shown)];
  }

  function drawReads(step, position) {
    const found = attention[stage.now.shown === "both" ? 0 : Number(stage.now.shown)];
    const items = [];
    for (const [name, read] of found) {
      const from = read(step, position);
      const channel = runShown().byName.get(name);
      if (!channel || step + content.first === 0) continue;
      const places = !from.length
        ? "nowhere"
        : from.length > 8
          ? `${from.length} positions`
          : `position${from.length > 1 ? "s" : ""} ${from.join(", ")}`;
      items.push(
        el(
          "li",
          {},
          el("code", { textContent: name }),
          el("b", { textContent: channel.text(step, position) }),
          el("span", { className: "soft", textContent: `from ${places}` }),
        ),
      );
    }
    reads.replaceChildren(...items);
    reads.hidden = !items.length;
  }

  function draw(changed) {
    if (!["all", "step", "position", "shown"].some((name) => changed.has(name))) return;
    const { step, position } = stage.now;
    title.textContent = `Position ${position + content.firstPosition}`;
    const moment = momentAt(step, position);
    const quiet =
      step + content.first === 0
        ? "no layer has run yet"
        : !program
          ? ""
          : moment?.cases.length
            ? `${moment.cases.length} rule${moment.cases.length === 1 ? "" : "s"} fired`
            : "no rule fired";
    note.textContent = [content.positions[position], quiet].filter(Boolean).join(" · ");
    drawCode(moment);
    drawFired(moment, step, position);
    drawReads(step, position);
  }

  return { element, draw };
}

function makeCode(program, lines) {
  const blocks = program.blocks.map((block) => {
    const rows = block.lines.map((text, index) => {
      const number = block.first + index;
      const line = el(
        "span",
        { className: "line", "data-line": number },
        el("span", { className: "no", textContent: number, "aria-hidden": "true" }),
        `${text}\n`,
      );
      lines.set(number, line);
      return line;
    });
    return el("code", {}, ...rows);
  });
  return el("pre", { className: "code", tabIndex: 0, "aria-label": `Source, ${program.file}` }, ...blocks);
}

// Scroll the source, and only the source, so that the lines are seen; from the first on, where not all of them fit.
function keepInSight(box, lines) {
  const top = lines[0].offsetTop;
  const last = lines[lines.length - 1];
  const bottom = last.offsetTop + last.offsetHeight;
  if (top >= box.scrollTop && bottom <= box.scrollTop + box.clientHeight) return;
  const spare = Math.max(24, (box.clientHeight - (bottom - top)) / 2);
  box.scrollTop = Math.max(0, top - spare);
}
