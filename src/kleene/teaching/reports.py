"""What a plan came to: for each setting, how many seeds generalise, when they first did, and how sure that is."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from kleene.teaching.loop import Plan, Progress

Z = 1.96  # 95 of 100


@dataclass(frozen=True)
class Report:
    """The measurements of a plan, as tests by runs by lengths."""

    plan: Plan
    progress: Progress

    def settings(self) -> list[dict[str, Any]]:
        """A row for each setting.

        `generalised` is how many seeds do so at the last test and `interval` the 95% interval (Wilson) of the share;
        `first_hit` is for each seed the iteration of the first test that it passed, or None; `diverged` names the seeds
        whose loss stopped being a number.
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
            for run, (setting, seed) in enumerate((s, seed) for s in self.plan.settings for seed in self.plan.seeds)
        ]

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


def interval(hits: int, of: int) -> tuple[float, float]:
    """The 95% interval of a share, after Wilson: sensible for few seeds, and for none or all of them.

    >>> low, high = interval(9, 10)
    >>> round(low, 2), round(high, 2)
    (0.6, 0.98)
    """
    share, spread = hits / of, Z * Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = Z * sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)
