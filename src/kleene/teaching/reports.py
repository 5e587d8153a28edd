"""The report of a plan: for each setting how many seeds generalise, when they first did, and a 95% interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kleene.notation.shares import interval
from kleene.teaching.plan import Plan, Progress
from kleene.traces.markup import Table, html_text

Row = dict[str, Any]


@dataclass(frozen=True)
class TeachingReport:
    """The measurements of a plan, as tests by runs by lengths."""

    plan: Plan
    progress: Progress

    def settings(self) -> list[dict[str, Any]]:
        """A row for each setting.

        `generalised` is the number of seeds that generalise at the last test, and `interval` the 95% interval (Wilson)
        of their share. `first_hit` has for each seed the iteration of the first test that it passed, or None.
        `diverged` lists the seeds whose loss became NaN or infinite.
        """
        return [self._row(n, setting) for n, setting in enumerate(self.plan.settings)]

    def _row(self, number: int, setting: dict[str, Any]) -> dict[str, Any]:
        seeds = self.plan.seeds
        runs = slice(number * len(seeds), (number + 1) * len(seeds))
        last = {name: array[runs] for name, array in self.progress.tests[-1].items() if array.ndim}
        generalised = int(last["generalises"].sum())
        passed = np.stack([test["generalises"][runs] for test in self.progress.tests])
        at = [int(test["iteration"]) for test in self.progress.tests]
        ever = [int(passed[:, n].argmax()) if passed[:, n].any() else None for n in range(len(seeds))]
        by_length = np.nanmean(last["accuracy_by_length"], axis=0)
        further = {
            name: _rounded(array.mean(axis=0))
            for name, array in last.items()
            if name not in ("generalises", "accuracy_by_length", "alive", "loss", "accuracy")
        }
        return {
            "hints": setting["kind"],
            "density": setting["density"],
            "strength": setting["strength"],
            "seeds": len(seeds),
            "generalised": generalised,
            "interval": [round(bound, 4) for bound in interval(generalised, len(seeds))],
            "first_hit": [None if n is None else at[n] for n in ever],
            "accuracy_by_length": {str(n): round(float(a), 4) for n, a in zip(self.plan.lesson.lengths, by_length)},
            "loss": _rounded(last["loss"][last["alive"]].mean() if last["alive"].any() else np.nan),
            "diverged": [seed for seed, alive in zip(seeds, last["alive"]) if not alive],
            "iterations_per_second": self.rate,
        } | further

    @property
    def rate(self) -> float:
        """Runs times iterations a second, tests and compilation included."""
        return round(self.plan.runs * self.progress.iteration / max(self.progress.seconds, 1e-9), 1)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each test and run, for a table."""
        return [
            {"iteration": int(test["iteration"]), "seed": seed, **setting, **_run_facts(self.plan, test, run)}
            for test in self.progress.tests
            for run, (setting, seed) in enumerate(self.plan.pairs)
        ]

    def best_run(self, setting: int | None = None) -> int:
        """The index of the most accurate run of a setting, or of all, in the last test.

        A run that generalises is preferred. Among equally accurate runs the one with the lowest loss is taken; a
        diverged run only where all diverged.
        """
        seeds, last = len(self.plan.seeds), self.progress.tests[-1]
        runs = range(self.plan.runs) if setting is None else range(setting * seeds, (setting + 1) * seeds)
        accuracy, loss = last["accuracy_by_length"].mean(axis=-1), last["loss"]

        def rank(run: int) -> tuple[bool, bool, float, float]:
            fit = bool(last["alive"][run]), bool(last["generalises"][run])
            return *fit, float(accuracy[run]), -float(loss[run])

        return max(runs, key=rank)

    def title(self, run: int) -> str:
        """The kind of hints of a run, its density and strength where the kind has several, and its seed."""
        setting = self.plan.settings[run // len(self.plan.seeds)]
        shown = "no hints" if setting["kind"] == "none" else setting["kind"]
        alike = [other for other in self.plan.settings if other["kind"] == setting["kind"]]
        if len(alike) > 1:
            shown += f", {setting['density']:g}, λ={setting['strength']:g}"
        return f"{shown} (seed {self.plan.seeds[run % len(self.plan.seeds)]})"

    def table(self) -> Table:
        """A table with a row for each setting."""
        return table_of([self.as_json()])

    @property
    def runs(self) -> Any:
        """The runs as `Runs`, to filter, group, pivot and draw, as `kleene.results` has those of a folder."""
        from kleene.runs.table import Runs  # drawing is slow to import

        return Runs.of_files({self.plan.lesson.name: self.content()})

    def content(self) -> dict[str, Any]:
        """All that is kept of it: the plan, what `as_json` has, and `rows`."""
        return {"plan": self.plan.facts()} | self.as_json() | {"rows": self.rows()}

    @property
    def speed(self) -> str:
        """The rate in words."""
        return f"{f'{self.rate:,.0f}' if self.rate >= 10 else f'{self.rate:g}'} seed·iterations a second"

    def __str__(self) -> str:
        return f"{self.table()}\n{self.speed}"

    def _repr_html_(self) -> str:
        return self.table().html() + html_text(self.speed)

    def __repr__(self) -> str:
        name, done = self.plan.lesson.name, self.progress.iteration
        return f"<TeachingReport of {self.plan.runs} runs of {name}: {done:,} iterations>"

    def as_json(self) -> dict[str, Any]:
        return {
            "lesson": self.plan.lesson.name,
            "iterations": self.progress.iteration,
            "seconds": round(self.progress.seconds, 2),
            "iterations_per_second": self.rate,
            "settings": self.settings(),
        }


def _run_facts(plan: Plan, test: dict[str, np.ndarray], run: int) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for name, array in test.items():
        if name == "accuracy_by_length":
            facts |= {f"accuracy_at_{n}": _rounded(a) for n, a in zip(plan.lesson.lengths, array[run])}
        elif array.ndim == 1:
            facts[name] = _rounded(array[run])
    return facts


def _rounded(value: Any) -> Any:
    value = np.asarray(value)
    if value.dtype == bool:
        return bool(value)
    if value.ndim:
        return [_rounded(v) for v in value]
    return None if np.isnan(value) else round(float(value), 6)


def summary_of(test: Mapping[str, np.ndarray]) -> str:
    """A test in one line: means over the runs that have not diverged, and the number of those that have."""
    alive = test["alive"]
    if not alive.any():
        return f"all {len(alive)} runs diverged"
    loss, accuracy = (test[name][alive].mean() for name in ("loss", "accuracy"))
    diverged = "" if alive.all() else f", {(~alive).sum()} diverged"
    return f"loss {loss:.3f}, accuracy {accuracy:.0%}, {test['generalises'].sum()} of {len(alive)} generalise{diverged}"


def table_of(results: Sequence[Mapping[str, Any]]) -> Table:
    """A table with a row for every setting of every result. A language model has a text in place of hints.

    "unigrams" is the perplexity of a model that knows only the frequency of each word; a model above it has learned
    nothing. "right" is the mean over all tests, and "first" the iteration by which half of the seeds had generalised.
    """
    settings = [(result, row) for result in results for row in result["settings"]]
    texts_alone = all("perplexity" in row for _, row in settings)
    diverged = any(row["diverged"] for _, row in settings)
    rows = [_words(result, row, texts_alone, diverged) for result, row in settings]
    return replace(Table.of_records(rows, "·"), narrow=True) if rows else Table(["lesson"], [])


def _words(result: Mapping[str, Any], row: Row, texts_alone: bool, diverged: bool) -> dict[str, str]:
    """The cells of a setting. What they lack is a dot in the table, or no column at all if all rows lack it."""
    tasks = {setting.get("task") for setting in result["settings"]}
    words = {"lesson": f"{result['lesson']} {row['task']}" if len(tasks) > 1 else result["lesson"]}
    if texts_alone:
        words["text"] = "·" if row["hints"] == "none" else row["hints"]
    else:
        words |= {"hints": row["hints"], "density": f"{row['density']:g}", "λ": f"{row['strength']:g}"}
    if "perplexity" not in row:  # a language model does not generalise or not
        low, high = row["interval"]
        words["generalise (95%)"] = f"{row['generalised']} of {row['seeds']} ({100 * low:.0f}–{high:.0%})"
        words["first"] = _median_hit(row)
    words["right"] = f"{np.mean([*row['accuracy_by_length'].values()]):.1%}"
    words["loss"] = "·" if row["loss"] is None else f"{row['loss']:.4f}"
    if "perplexity" in row:
        words["perplexity"] = f"{row['perplexity']:,.1f}" if row["perplexity"] else "·"
    if row.get("unigram_perplexity"):
        words["unigrams"] = f"{row['unigram_perplexity']:,.1f}"
    return words | {"diverged": str(len(row["diverged"]))} if diverged else words


def _median_hit(row: Row) -> str:
    """The median iteration at which seeds first generalised; a dot if half of them or more never did."""
    hits = sorted(hit for hit in row["first_hit"] if hit is not None)
    return f"{hits[row['seeds'] // 2]:,}" if len(hits) * 2 > row["seeds"] else "·"
