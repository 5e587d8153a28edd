"""Ours: what the paper on partial traces leaves open for the NTM: readings of DyckWords, and tape decoders."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from kleene.errors import InputError, did_you_mean
from kleene.pictures.plots import generalisation_grids, grouped_bars
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene_papers.stored import Result
from kleene_papers.study import Size, Study, Trained, Trial
from kleene_papers.tables import Table
from kleene_papers.traces.ntm import NTM, SWEEP

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
) -> Trial:
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
    return Trial(plans, paper, partial(by_choice, names), swept=True)


def tape_decoders(size: Size = "quick", iterations: int | None = None, first_seed: int = 0) -> Trial:
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
    paper = {"value": NTM["copy"].rows["value"][0], "addr+val": NTM["copy"].rows["addr+val"][0]}
    return Trial(plans, paper, partial(by_choice, DECODERS), swept=True)


def by_choice(names: Iterable[str], taught: Trained) -> dict[str, Any]:
    """The runs that generalise at the last and at some test, by what was chosen and kind of hint."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for name, report in zip(names, taught.reports, strict=True):
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


def choices(*results: Result) -> list[Table]:
    """How many seeds generalise at the last test, and at some test, by what was chosen; the paper's share in %."""
    found = []
    for result in results:
        seeds, rows = result.provenance.seeds or [0, 0], result["choices"]
        kinds = _kinds(result)
        paper = [f"{result.paper[kind]:g}%" if kind in result.paper else "not printed" for kind in kinds]
        lines = [
            [name, *(f"{row[k]['generalised']} ({row[k]['at_some_test']})" for k in kinds)]
            for name, row in rows.items()
        ]
        found.append(Table(["", *kinds], [["paper", *paper], *lines], f"seeds {seeds[0]} to {seeds[1]}"))
    return found


def draw_readings(*given: Any) -> Path:
    """Draw, for the first result, a row of shares for the paper and for each reading; return the path, the last."""
    result, *_, path = given
    kinds = _kinds(result)
    rows = [
        [result.paper.get(kind) for kind in kinds],
        *([found[kind] for kind in kinds] for found in _shares(result).values()),
    ]
    labels = {"across": f"kind of hint, all given, λ = {STRENGTH}", "up": ""}
    return generalisation_grids(["paper", *result["choices"]], kinds, {"": rows}, path, title=result.shows, **labels)


def draw_choices(result: Result, path: Path) -> Path:
    """Draw a group of bars for the paper and for each choice, with a bar for each kind of hint; return the path."""
    shares, kinds = _shares(result), _kinds(result)
    groups = ["paper", *(name.replace(", ", ",\n") for name in shares)]
    bars = {kind: [result.paper.get(kind) or 0.0, *(found[kind] for found in shares.values())] for kind in kinds}
    return grouped_bars(groups, bars, path, up="% of runs that generalise", title=result.shows)


def _kinds(result: Result) -> list[str]:
    return [*next(iter(result["choices"].values()))]


def _shares(result: Result) -> dict[str, dict[str, float]]:
    """The share of runs that generalise at the last test in %, by choice and kind of hint."""
    return {
        name: {kind: 100 * row["generalised"] / row["seeds"] for kind, row in rows.items()}
        for name, rows in result["choices"].items()
    }


STUDIES = (
    Study(
        "ours-dyck-readings",
        "NTM, DyckWords: runs that generalise, by how the paper's text is read",
        choices,
        draw_readings,
        dyck_readings,
        of=("ours-dyck-readings", "ours-dyck-readings-2000"),
        takes=SWEEP,
        quick="765 s by the clock",
        full="382 s beside other runs",
        formerly="ntm-dyck-readings",
    ),
    Study(
        "ours-tape-decoders",
        "NTM, Copy with value hints: runs that generalise, by the decoder of the tape",
        choices,
        draw_choices,
        tape_decoders,
        takes=SWEEP,
        quick="215 s by the clock",
        formerly="ntm-decoders",
    ),
)
