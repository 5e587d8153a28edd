"""Ours: how fast a recurrent network learns a regular language, by the share of an automaton's states revealed."""

from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.plots import until_reached
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene_papers.stored import Result
from kleene_papers.study import NOT_MEASURED, Size, Study, Trained, Trial
from kleene_papers.tables import Table
from kleene_papers.traces.nram import SWEPT

LANGUAGES = ("tomita_2", "tomita_3", "tomita_4", "tomita_5", "tomita_7")
TIMES = {  # of the quick size, and of the full one
    "tomita_3-rnn": (NOT_MEASURED, "92 s on 2 cores"),
    "tomita_4-rnn": ("21 s", "98 s on 2 cores"),
    "tomita_4-lstm": ("42 s", NOT_MEASURED),
    "tomita_5-rnn": (NOT_MEASURED, "81 s on 2 cores"),
    "tomita_7-rnn": (NOT_MEASURED, "82 s on 2 cores"),
    "tomita_5-lstm": (NOT_MEASURED, "306 s on 2 cores"),
}
STORED = ("tomita_3-rnn", "tomita_4-rnn", "tomita_5-rnn", "tomita_7-rnn", "tomita_5-lstm")
SHARES = ("0", "10", "100")


def taught(language: str, machine: str, size: Size, iterations: int | None = None, first_seed: int = 0) -> Trial:
    """A network is taught a language without its automaton's states, with a tenth of them, and with all."""
    total = iterations or (2_000 if size == "quick" else 10_000)
    schedule: dict[str, Any] = {"iterations": total, "test_every": min(100, total)}
    schedule |= {"seeds": 6 if size == "quick" else 20, "first_seed": first_seed}
    hinted = lesson(f"dfa:{language}", machine)
    plan = Plan.grid(hinted, kinds=("none", "scattered"), densities=(0.1, 1.0), **schedule)
    return Trial((plan,), measure=examples_needed, swept=True)


def examples_needed(found: Trained) -> dict[str, Any]:
    """The number of examples that each seed had seen when it first passed all tests, by share of states in %."""
    (report,) = found.reports
    batch, examples, lines = report.plan.lesson.facts()["batch"], {}, []
    for row in report.settings():
        share, needed = f"{100 * row['density']:g}", [hit and hit * batch for hit in row["first_hit"]]
        examples[share] = needed
        reached = [seen for seen in needed if seen is not None]
        half = f"half of them within {np.median(reached):,.0f} examples" if reached else "none"
        lines.append(f"{share}% of the states: {len(reached)} of {len(needed)} seeds got all tests right, {half}")
    return {"examples": examples, "summary": lines}


def _titled(result: Result) -> str:
    """`tomita_4, RNN`"""
    language, machine = result.study.removeprefix("ours-states-").rsplit("-", 1)
    return f"{language}, {machine.upper()}"


def states_learned(result: Result, share: str) -> tuple[int, float]:
    """How many seeds passed every test at some time, and the examples that half of these had seen by then.

    `share` is that of the states, in %.
    """
    reached = [examples for examples in result["examples"][share] if examples is not None]
    return len(reached), float(np.median(reached)) if reached else np.nan


def tables_of_states(*results: Result) -> list[Table]:
    """Seeds that passed every test at some time, and the examples that half of these had seen by then."""

    def cell(result: Result, share: str) -> str:
        seeds, half = states_learned(result, share)
        return f"{seeds} of {len(result['examples'][share])}" + (f", {half:,.0f} examples" if seeds else "")

    rows = [[_titled(one), *(cell(one, share) for share in SHARES), f"{one.seconds or 0:.0f} s"] for one in results]
    return [Table(["language, network", "no states", "10% of them", "all", "time"], rows, "states as hints")]


def draw_states(*given: Any) -> Path:
    """Draw the medians and the 10th to the 90th percentile of seeds, open where seeds never passed.

    The results come first, then the path, which is returned.
    """
    *results, path = given
    most = max(plan["iterations"] * plan["lesson"]["batch"] for one in results for plan in one.plans)
    series = {_titled(one): one["examples"] for one in results}
    labels = {"across": "% of the states revealed", "up": "examples until all tests are right"}
    return until_reached(series, path, cap=most, title="examples until all tests are right", **labels)


def _study(language: str, machine: str) -> Study:
    name = f"{language}-{machine}"
    quick, full = TIMES.get(name, (NOT_MEASURED, NOT_MEASURED))
    return Study(
        f"ours-states-{name}",
        f"examples until a network has learned {language}, by the share of states revealed, {machine.upper()} (ours)",
        tables_of_states,
        draw_states,
        lambda size, **given: taught(language, machine, size, **given),
        takes=SWEPT,
        formerly=f"states-{name}",
        quick=quick,
        full=full,
    )


STUDIES = (
    Study(
        "ours-states",
        "examples until networks have learned a language, by the share of states revealed (ours)",
        tables_of_states,
        draw_states,
        of=tuple(f"ours-states-{name}" for name in STORED),
    ),
    *(_study(language, machine) for language in LANGUAGES for machine in ("rnn", "lstm")),
)

WORDS = (states_learned,)
