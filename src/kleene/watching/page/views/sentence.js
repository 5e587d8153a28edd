// The view of a sentence in a language model: arcs and a matrix say which words interact, bars what comes next.

import { el, svg } from "../elements.js";
import { unpack } from "../columns.js";
import { keepInView } from "./word.js";

const LEAST = 0.06; // of the largest; weaker ties are not drawn
const TALLEST = 130;

export const sentence = {
  filters: ["steps"],

  async build(stage, page, host) {
    const content = page.document;
    const { array } = await unpack(content.matrix);
    const count = content.words.length;
    const tie = (a, b) => array[b * count + a];
    let most = 1e-9;
    for (const value of array) if (value > most) most = value;
    const words = content.words.map((word, place) =>
      el("button", { type: "button", textContent: word, onclick: () => go(place) }),
    );
    const go = (place) =>
      stage.set({ step: Math.min(stage.now.most, Math.max(stage.now.least, place + 1 - content.first)) });
    const chosen = () => stage.now.step + content.first - 1;
    const ties = svg("svg", {
      class: "arcs",
      height: TALLEST,
      role: "img",
      "aria-label": "Arcs between words that interact",
    });
    const row = el("div", { className: "sentence", role: "group", "aria-label": "Words" }, ...words);
    const scroll = el(
      "div",
      { className: "scroll", tabIndex: 0, role: "region", "aria-label": "The sentence" },
      ties,
      row,
    );
    const matrix = pairTable(content.words, tie, most);
    const next = el("ol", { className: "next" });
    const nextTitle = el("p", { className: "soft cardnote" });
    host.replaceChildren(
      el(
        "div",
        { className: "side" },
        card(
          "sentence-title",
          "Sentence",
          content.measure,
          scroll,
          content.note ? el("p", { className: "soft folded", textContent: content.note }) : null,
        ),
        card(
          "pairs-title",
          "Every pair",
          "larger numbers: the two words change each other's effect more",
          el(
            "div",
            { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Every pair of words" },
            matrix.element,
          ),
        ),
      ),
      el(
        "div",
        { className: "side" },
        el(
          "section",
          { className: "card", "aria-labelledby": "next-title" },
          el("div", { className: "cardhead" }, el("h2", { id: "next-title", textContent: "Next word" }), nextTitle),
          next,
        ),
      ),
    );

    function drawTies() {
      const left = ties.getBoundingClientRect().left;
      const at = words.map((button) => {
        const box = button.getBoundingClientRect();
        return box.left + box.width / 2 - left;
      });
      ties.setAttribute("width", row.offsetWidth);
      const found = [];
      for (let a = 0; a < count; a++)
        for (let b = a + 1; b < count; b++) if (tie(a, b) / most >= LEAST) found.push([a, b, tie(a, b) / most]);
      found.sort((one, other) => one[2] - other[2]);
      const own = ([a, b]) => a === chosen() || b === chosen();
      ties.replaceChildren(
        ...[...found.filter((pair) => !own(pair)), ...found.filter(own)].map(([a, b, share]) => {
          const lift = TALLEST - Math.min(TALLEST - 6, 20 + Math.sqrt(at[b] - at[a]) * 5.6) * 1.25;
          const path = svg("path", {
            class: own([a, b]) ? "tie own" : "tie",
            "stroke-width": 0.8 + 6 * share,
            opacity: own([a, b]) ? 0.35 + 0.65 * share : 0.12 + 0.4 * share,
            d: `M${at[a]} ${TALLEST - 2}C${at[a]} ${lift} ${at[b]} ${lift} ${at[b]} ${TALLEST - 2}`,
          });
          const title = svg("title");
          title.textContent = `${content.words[a]} – ${content.words[b]}: ${tie(a, b).toFixed(2)}`;
          path.append(title);
          return path;
        }),
      );
    }

    function drawNext() {
      const found = content.next[stage.now.step];
      const highest = Math.max(1e-9, ...found.map(([, share]) => share));
      nextTitle.textContent = chosen() < 0 ? "before the first word" : `after “${content.words[chosen()]}”`;
      next.replaceChildren(
        ...found.map(([word, share]) => {
          const bar = el("span", { className: "bar-of" });
          bar.style.width = `${(100 * share) / highest}%`;
          return el(
            "li",
            {},
            el("span", { className: "said-word", textContent: word }),
            bar,
            el("span", { className: "share", textContent: share.toFixed(3) }),
          );
        }),
      );
    }

    addEventListener("resize", drawTies);
    return {
      describe: (step) => described(content, tie, step + content.first - 1, step),
      draw(changed) {
        if (!changed.has("all") && !changed.has("step")) return;
        words.forEach((button, place) => {
          button.setAttribute("aria-pressed", String(place === chosen()));
          button.classList.toggle("ahead", place > chosen());
        });
        keepInView(scroll, words[Math.max(0, chosen())]);
        drawTies();
        drawNext();
        matrix.draw(chosen());
      },
    };
  },
};

function card(id, title, note, ...inside) {
  return el(
    "section",
    { className: "card", "aria-labelledby": id },
    el(
      "div",
      { className: "cardhead" },
      el("h2", { id, textContent: title }),
      el("p", { className: "soft cardnote", textContent: note }),
    ),
    ...inside,
  );
}

function pairTable(words, tie, most) {
  const tops = words.map((word) => el("th", { scope: "col", textContent: word }));
  const sides = words.map((word) => el("th", { scope: "row", textContent: word }));
  const cells = words.map((_, a) => words.map((_, b) => pairCell(tie(a, b), most, words.length <= 30)));
  const element = el(
    "table",
    { className: "pairs" },
    el("caption", { className: "unseen", textContent: "How much each pair of words interacts" }),
    el("thead", {}, el("tr", {}, el("td", { className: "unseen" }), ...tops)),
    el("tbody", {}, ...words.map((_, a) => el("tr", {}, sides[a], ...cells[a]))),
  );
  return {
    element,
    draw(chosen) {
      words.forEach((_, a) => {
        tops[a].className = sides[a].className = a === chosen ? "own" : "";
        words.forEach((_, b) => cells[a][b].classList.toggle("own", a === chosen || b === chosen));
      });
    },
  };
}

function pairCell(value, most, numbers) {
  if (!Number.isFinite(value)) return el("td", { textContent: numbers ? "·" : "" });
  const share = Math.max(0, value) / most;
  const cell = el("td", {
    textContent: numbers ? value.toFixed(2) : "",
    title: value.toFixed(3),
    className: share > 0.62 ? "strong" : "",
  });
  cell.style.setProperty("--v", Math.round(share * 100));
  return cell;
}

function described(content, tie, chosen, step) {
  const [word, share] = content.next[step][0] ?? ["", 0];
  const following = word ? `the likeliest next word is ${word} (${share.toFixed(2)})` : "no word is predicted yet";
  if (chosen < 0) return `before the first word, ${following}`;
  let best = -1;
  content.words.forEach((_, other) => {
    if (other !== chosen && Number.isFinite(tie(chosen, other)) && (best < 0 || tie(chosen, other) > tie(chosen, best)))
      best = other;
  });
  const tied = best < 0 ? "" : ` interacts most with ${content.words[best]} (${tie(chosen, best).toFixed(2)});`;
  return `${content.words[chosen]}${tied} ${following}`;
}
