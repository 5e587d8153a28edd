"""Figures 10 and 11 of the paper on partial traces: how many runs of the NRAM completed, and how long training took."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kleene.pictures.plots import grouped_bars
from kleene_papers.stored import Result, stored
from kleene_papers.study import Study
from kleene_papers.tables import Table
from kleene_papers.traces.nram import ALL, FIGURES, KINDS, name_of

# Figure 10: the runs of the paper that completed, by task and kind of hint. How many were begun it does not say.
COMPLETED: dict[str, dict[str, int]] = {
    "permute": {"none": 36, "single_hint": 24, "corners": 29, "single_timestep": 21, "registers": 48, "modules": 48,
                "full": 26},
    "swap": {"none": 44, "single_hint": 38, "corners": 23, "single_timestep": 52, "registers": 58, "modules": 58,
             "full": 33},
    "increment": {"none": 58, "single_hint": 28, "corners": 36, "single_timestep": 29, "registers": 73, "modules": 107,
                  "full": 32},
    "list_k": {"none": 41, "single_hint": 22, "corners": 22, "single_timestep": 28, "registers": 54, "modules": 54,
               "full": 44, "noisy_full": 36},
    "merge": {"none": 13, "single_hint": 12, "corners": 9, "single_timestep": 12, "full": 21},
    "permute_noise": {"none": 12, "single_hint": 14, "corners": 17, "single_timestep": 13, "full": 14},
}  # fmt: skip

# Figure 11: the mean time until training ended, in seconds, on the authors' machine.
SECONDS: dict[str, dict[str, float]] = {
    "permute": {"none": 6290.29, "single_hint": 5565.22, "corners": 4468.85, "single_timestep": 6259.05,
                "registers": 6618.12, "modules": 6523.16, "full": 4919.33},
    "swap": {"none": 5505.22, "single_hint": 3700.64, "corners": 6195.75, "single_timestep": 2662.35,
             "registers": 5774.61, "modules": 5781.99, "full": 4110.14},
    "increment": {"none": 3500.13, "single_hint": 4318.20, "corners": 3199.86, "single_timestep": 4042.18,
                  "registers": 3839.18, "modules": 2335.99, "full": 3758.99},
    "list_k": {"none": 5880.11, "single_hint": 6574.59, "corners": 6601.16, "single_timestep": 5076.17,
               "registers": 6185.54, "modules": 6183.74, "full": 3216.01},
}  # fmt: skip


def completed(result: Result) -> dict[str, int]:
    """How many runs of a task did not diverge, by kind of hint."""
    return {row["hints"]: row["seeds"] - len(row["diverged"]) for row in result.rows}


def completed_of_begun(*results: Result) -> tuple[int, int]:
    """How many runs did not diverge, and how many were begun."""
    return sum(sum(completed(one).values()) for one in results), sum(row["seeds"] for r in results for row in r.rows)


def updates(result: Result) -> dict[str, float]:
    """The mean number of updates until training ended, by kind of hint."""
    return {row["hints"]: row["updates"] for row in result.rows}


def tables_of_completed(*results: Result) -> list[Table]:
    """How many runs completed beside the paper's; the results are those of `ALL`."""

    def beside(title: str, ours: Iterable[Any], paper: Iterable[Any]) -> list[str]:
        return [title, *(str(cell) for pair in zip(ours, paper) for cell in pair)]

    def shares(found: Iterable[Result]) -> list[str]:
        return ["{} of {}".format(*completed_of_begun(one)) for one in found]

    paper, stated = [COMPLETED[task] for task in FIGURES], [completed(one) for one in results[1::2]]
    rows = [beside(kind, (c.get(kind, "") for c in stated), (c.get(kind, "") for c in paper)) for kind in KINDS]
    rows.append(beside("together", shares(results[1::2]), (sum(runs.values()) for runs in paper)))
    rows.append(beside("together, as the paper trains", shares(results[::2]), [""] * len(FIGURES)))
    head = [cell for title, _ in FIGURES.values() for cell in (title, "paper")]
    return [Table(["hints", *head], rows, "runs that completed")]


def draw_completed(*given: Any) -> Path:
    """Draw how many runs completed by task, with a bar for each kind of hint, and return the path, given last."""
    *results, path = given
    found = {title: completed(one) for (title, _), one in zip(FIGURES.values(), results[1::2])}
    kinds = list(dict.fromkeys(kind for runs in found.values() for kind in runs))
    bars = {kind: [runs.get(kind, 0) for runs in found.values()] for kind in kinds}
    return grouped_bars(
        list(found), bars, path, across="task", up="runs that completed", title="runs that completed, of 20"
    )


def tables_of_times(*results: Result) -> list[Table]:
    """Updates until training ended and the paper's seconds, both also as a share of those without hints."""
    head, columns = ["hints"], []
    for task, result in zip(TIMED, results, strict=True):
        found, seconds = updates(result), SECONDS[task]
        head += [f"{FIGURES[task][0]}, updates", "paper, seconds"]
        columns.append([f"{found[kind]:.0f} ({found[kind] / found['none']:.0%})" for kind in KINDS[:-1]])
        columns.append([f"{seconds[kind]:,.0f} ({seconds[kind] / seconds['none']:.0%})" for kind in KINDS[:-1]])
    return [Table(head, [[kind, *cells] for kind, *cells in zip(KINDS, *columns)], "until training ended")]


TIMED = tuple(task for task in FIGURES if task in SECONDS)
STUDIES = (
    Study(
        "traces-figure-10", "how many runs of the NRAM completed (Partial Traces)", tables_of_completed,
        draw_completed, of=ALL,
    ),
    Study(
        "traces-figure-11", "how long training of the NRAM took (Partial Traces)", tables_of_times,
        of=tuple(map(name_of, TIMED)),
    ),
)  # fmt: skip


def nrams_completed(variant: str = "", *tasks: str) -> tuple[int, int]:
    """For pages: how many runs of these tasks, or of all, did not diverge, and how many were begun."""
    return completed_of_begun(*(stored(name_of(task, variant)) for task in tasks or FIGURES))


WORDS = (nrams_completed,)
