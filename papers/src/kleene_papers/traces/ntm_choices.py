"""Ours: what the paper on partial traces leaves open for the NTM: readings of DyckWords, and tape decoders."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from kleene.errors import InputError, did_you_mean
from kleene.pictures.plots import generalisation_grids, grouped_bars
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport
from kleene_papers.experiment import Experiment, Size, SweptExperiment
from kleene_papers.traces.partial_traces import NTM

STRENGTH = 0.3  # the strongest λ at which the paper's table of DyckWords is readable in every row
COMPARED = ("none", "corner")
# Variant and longest word of each reading of DyckWords (`kleene.tasks.sequences.VARIANTS`). The paper's training length
# of 5 may be symbols or, which is our reading, pairs.
READINGS = {
    "words of 10": ("pairs", 10),
    "words of 5": ("pairs", 5),
    "never negative": ("walks", 5),
    "forgiving": ("forgiving", 5),
    "corners at turns": ("turns", 5),
    "online": ("online", 5),
    "online, never negative": ("online_walks", 5),
    "online, words of 10": ("online", 10),
}
QUICK = ("words of 5", "never negative", "online")
DECODERS = {"affine": None, "tanh": 20}  # hidden units of the decoder of value hints


def dyck_readings(
    size: Size = "quick",
    iterations: int | None = None,
    first_seed: int = 0,
    *,
    readings: tuple[str, ...] = (),
    seeds: int = 10,
) -> Experiment:
    """How many runs generalise on DyckWords by reading of the task, all hints given, λ = 0.3.

    Full size is the paper's 100,000 iterations and all kinds of hints; the quick one has 1,000, corners, and three of
    the readings. With `readings`, only these are run.
    """
    if missing := [name for name in readings if name not in READINGS]:
        raise InputError(f"there is no reading {missing[0]!r} of DyckWords; {did_you_mean(missing[0], READINGS)}")
    names = readings or (tuple(READINGS) if size == "full" else QUICK)
    kinds = (*COMPARED, "address", "read") if size == "full" else COMPARED
    total = iterations or (100_000 if size == "full" else 1_000)
    plans = tuple(
        Plan.grid(
            lesson("dyck_words", hints=kinds, variant=variant, longest=longest, lengths=range(1, 2 * longest + 1)),
            kinds=kinds,
            strengths=(STRENGTH,),
            seeds=seeds,
            first_seed=first_seed,
            iterations=total,
            test_every=max(1, total // 10),
        )
        for variant, longest in map(READINGS.__getitem__, names)
    )
    table = NTM["dyck_words"]
    place = table.columns.index((1.0, STRENGTH))
    paper = {kind: row[place] for kind, row in table.rows.items()}
    title = "runs that generalise in %, readings of dyck_words, NTM"
    name = "-".join(["dyck-readings", *(READINGS[reading][0] for reading in readings)])
    return SweptExperiment(name, title, plans, paper, draw_readings, further=partial(runs_beside, names))


def draw_readings(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw a row of percentages for the paper and for each reading, with a column for each kind of hint."""
    assert experiment.further is not None
    return draw_readings_of(experiment.further(reports)["choices"], experiment.paper, path, title=experiment.shows)


def draw_readings_of(choices: Any, paper: Any, path: Path, *, title: str) -> Path:
    """Draw the "choices" of the JSON file of readings below the paper's numbers, where it has them; return the path."""
    kinds = list(next(iter(choices.values())))
    rows = [[paper.get(kind) for kind in kinds]]
    rows += [[100 * found[kind]["generalised"] / found[kind]["seeds"] for kind in kinds] for found in choices.values()]
    labels = {"across": f"kind of hint, all given, λ = {STRENGTH}", "up": ""}
    return generalisation_grids(["paper", *choices], kinds, {"": rows}, path, title=title, **labels)


def tape_decoders(size: Size = "quick", iterations: int | None = None, first_seed: int = 0) -> Experiment:
    """How many runs generalise on Copy with value hints, by the decoder of these hints: affine, or a tanh network."""
    total = iterations or (100_000 if size == "full" else 500)
    kinds = ("value", "addr+val") if size == "full" else ("value",)
    plans = tuple(
        Plan.grid(
            lesson("copy", hints=kinds, lengths=range(1, 11), **({} if hidden is None else {"decoder": hidden})),
            kinds=kinds,
            seeds=10,
            first_seed=first_seed,
            iterations=total,
            test_every=max(1, total // 10),
        )
        for hidden in DECODERS.values()
    )
    title = "runs that generalise in %, copy with value hints by tape decoder, NTM"
    paper = {"value": NTM["copy"].rows["value"][0], "addr+val": NTM["copy"].rows["addr+val"][0]}
    return SweptExperiment("tape-decoders", title, plans, paper, draw_choices, further=partial(runs_beside, DECODERS))


def runs_beside(names: Iterable[str], reports: list[TeachingReport]) -> dict[str, Any]:
    """The runs that generalise at the last and at some test, by what was chosen and kind of hint."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for name, report in zip(names, reports, strict=True):
        found[name] = {
            row["hints"]: {
                "generalised": row["generalised"],
                "at_some_test": sum(hit is not None for hit in row["first_hit"]),
                "seeds": row["seeds"],
            }
            for row in report.settings()
        }
    lines = [
        f"{name}: " + ", ".join(f"{kind} {r['generalised']} of {r['seeds']}" for kind, r in rows.items())
        for name, rows in found.items()
    ]
    return {"choices": found, "summary": lines}


def draw_choices(experiment: Experiment, reports: list[TeachingReport], path: Path) -> Path:
    """Draw a group of bars for each choice, with a bar for each kind of hint, and return the path."""
    assert experiment.further is not None
    choices = experiment.further(reports)["choices"]
    return draw_shares_by_choice(choices, experiment.paper, path, title=experiment.shows)


def draw_shares_by_choice(choices: Any, paper: Any, path: Path, *, title: str) -> Path:
    """Draw the "choices" of the JSON file of such an experiment beside the paper's numbers; return the path."""
    kinds = list(next(iter(choices.values())))
    groups = ["paper", *(name.replace(", ", ",\n") for name in choices)]
    bars = {
        kind: [
            paper.get(kind) or 0.0,
            *(100 * rows[kind]["generalised"] / rows[kind]["seeds"] for rows in choices.values()),
        ]
        for kind in kinds
    }
    return grouped_bars(groups, bars, path, up="% of runs that generalise", title=title)


def experiments(size: Size = "quick", iterations: int | None = None, first_seed: int = 0) -> dict[str, Any]:
    """A function without arguments for each experiment, by name."""
    return {
        "ntm-dyck-readings": lambda: dyck_readings(size, iterations, first_seed),
        "ntm-decoders": lambda: tape_decoders(size, iterations, first_seed),
    }
