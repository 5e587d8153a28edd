// The list of keys, in a dialog.

import { el } from "./elements.js";

const KEYS = [
  ["← →", "a step back, a step forward"],
  ["Shift ← →", "the position before, the position after", "positions"],
  ["Space", "play and pause"],
  ["Home End", "the first step, the last step"],
  ["n p", "the next and the previous step in which something changes"],
  ["N P", "the same, at the chosen position", "positions"],
  ["e", "choose a value to set there", "edits"],
  ["?", "these keys"],
];

export function helpDialog(choosesPositions, takesEdits) {
  const there = { positions: choosesPositions, edits: takesEdits };
  const rows = KEYS.filter(([, , only]) => !only || there[only]).map(([keys, meaning]) =>
    el(
      "div",
      { className: "key" },
      el("dt", {}, ...keys.split(" ").map((key) => el("kbd", { textContent: key }))),
      el("dd", { textContent: meaning }),
    ),
  );
  const dialog = el(
    "dialog",
    { className: "help", "aria-labelledby": "help-title" },
    el("h2", { id: "help-title", textContent: "Keys" }),
    el("dl", {}, ...rows),
    el("p", {
      className: "soft",
      textContent: "The address of the page is a link to the step and the position that it shows.",
    }),
    el("form", { method: "dialog" }, el("button", { className: "plain", textContent: "Close" })),
  );
  return dialog;
}
