"""The experiments of "Training Neural Machines with Partial Traces", and one of ours with automaton states as hints."""

from dataclasses import dataclass
from typing import Any, Literal

from kleene.experiments.partial_trace_tables import NRAM, NTM
from kleene.teaching.catalog import lesson
from kleene.teaching.loop import Plan
from kleene.teaching.reports import interval

Size = Literal["quick", "full"]


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the text: what it shows, the plans that have to be run for it, and the text's numbers."""

    name: str
    shows: str
    plans: tuple[Plan, ...]
    paper: dict[str, Any]


def ntm_table(task: str, size: Size = "quick") -> Experiment:
    """Part of figure 9: hint kind × density × λ for a task of the NTM.

    Full size is the text's: 10 seeds a setting, 40 without hints, 100,000 iterations. The quick one has the strongest λ
    alone, two densities, 4 seeds and 1,000 iterations: enough to see whether hints help, not how much.
    """
    table = NTM[task]
    taught = lesson(task)
    if size == "full":
        grid: dict[str, Any] = {"densities": (1.0, 0.5, 0.1, 0.01), "strengths": table.strengths, "seeds": 10}
        schedule = {"iterations": 100_000, "test_every": 5_000}
        plans = (
            Plan.grid(taught, kinds=("none",), seeds=40, **schedule),
            Plan.grid(taught, kinds=tuple(table.rows), **grid, **schedule),
        )
    else:
        kinds = ("none", *table.rows)
        plans = (Plan.grid(taught, kinds=kinds, densities=(1.0, 0.1), seeds=4, iterations=1_000, test_every=250),)
    paper = {"baseline": table.baseline, "columns": table.columns, "rows": table.rows}
    return Experiment(f"figure-{table.figure}-{task}", f"which runs generalise, {task}, NTM", plans, paper)


def nram_errors(task: str, size: Size = "quick") -> Experiment:
    """Figures 7 and 12–17: the errors of the NRAM by kind of hint and difficulty."""
    taught = lesson(task)
    kinds = tuple(NRAM[task]) if size == "full" else ("none", "corners", "full")
    seeds = 20 if size == "full" else 6
    plan = Plan.grid(taught, kinds=kinds, strengths=(40.0,), seeds=seeds)
    return Experiment(f"figure-12-{task}", f"errors on the test set, {task}, NRAM", (plan,), dict(NRAM[task]))


def state_hints(language: str = "tomita_4", machine: str = "rnn", size: Size = "quick") -> Experiment:
    """Ours: how soon a recurrent network learns a regular language, by the share of an automaton's states revealed."""
    taught = lesson(f"dfa:{language}", machine)
    schedule = (
        {"iterations": 2_000, "test_every": 100} if size == "quick" else {"iterations": 10_000, "test_every": 100}
    )
    seeds = 6 if size == "quick" else 20
    plan = Plan.grid(taught, kinds=("none", "scattered"), densities=(0.1, 1.0), seeds=seeds, **schedule)
    return Experiment(f"state-hints-{language}-{machine}", f"{language} with states as hints, {machine}", (plan,), {})


def percent(hits: int, of: int) -> dict[str, Any]:
    """A share of runs in percent, with its 95% interval."""
    low, high = interval(hits, of)
    return {"percent": 100 * hits / of, "interval": [round(100 * low, 1), round(100 * high, 1)], "runs": of}
