"""Which ways of teaching make a Transformer keep its program's algorithm, and how much the networks look trained.

Plain Transformers are taught the same programs by strict interchange intervention training (InterpBench), by hints on
the trace, by both halves of these, and by outputs alone. Interchange accuracy and strictness are counted on held-out
pairs of words. The network that was taught by outputs alone is also what others are compared with: how far are the
weights, and the effects of components, of compiled, hidden and taught networks from those of an ordinarily trained one?
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.groundtruth.hide import hide, plain_network
from kleene.groundtruth.judging.circuit_networks import HIDING, judged_program
from kleene.groundtruth.realism import Realism, realism
from kleene.groundtruth.taught import SUBJECTS, KeptNetwork, file_of, teach_subjects
from kleene.pictures.interval_dots import interval_dots
from kleene.teaching.plain_lessons import METHODS
from kleene_papers.stored import Result, where
from kleene_papers.study import Size, Trained, Trial
from kleene_papers.tables import Table

REFERENCE = "none"  # the method of ordinary training
PAPER = {"finding": "all 86 networks of InterpBench have an interchange accuracy of 100% on held-out pairs"}
COUNTED = {"interchange": "inside", "strictness": "outside"}  # the circuit
LOOKS = ("weights", "effects", "zeros")


def make(size: Size, iterations: int | None = None) -> Trial:
    """Four programs with short words and two seeds; all subjects of `kleene.groundtruth.taught` at the full size."""
    if size == "quick":
        return trial(("hist", "shift", "count", "reverse"), 2, iterations or 3_000, longest=4)
    return trial(tuple(SUBJECTS), 4, iterations or 4_000)


def trial(subjects: Sequence[str], seeds: int, iterations: int, longest: int | None = None) -> Trial:
    """Each subject taught by every method; `longest` is the tokens of a word, in place of the subject's own."""
    options = {"seeds": seeds, "iterations": iterations} | ({} if longest is None else {"longest": longest})
    return Trial(paper=PAPER, measure=lambda taught: measure(taught, subjects, options))


def measure(taught: Trained, subjects: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
    """A row for each subject and method, and how networks look. Those that are in the folder `taught` stay."""
    networks, done = taught.folder / "taught", 0

    def tell(row: dict[str, Any]) -> None:
        nonlocal done
        done += 1
        taught.tell(done / (len(subjects) * len(METHODS)), f"{row['subject']}, {row['method']}")

    rows = teach_subjects(networks, subjects=subjects, on_row=tell, again=False, **options)
    looks = {name: likeness(networks, name).as_json() for name in whole_subjects(rows)}
    return {"rows": rows, "realism": looks, "summary": summary(rows)}


def whole_subjects(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The subjects that every way of teaching made a network of."""
    failed = {row["subject"] for row in rows if "best" not in row}
    return [name for name in dict.fromkeys(row["subject"] for row in rows) if name not in failed]


def likeness(folder: Path, name: str) -> Realism:
    """How far the networks of a subject are from the one that was taught by outputs alone."""
    kept = {method: KeptNetwork.load(folder / f"{file_of(name, method)}.safetensors") for method in METHODS}
    reference = kept.pop(REFERENCE)
    options = reference.options
    program = judged_program(SUBJECTS[name].program, options.get("vocab"), options["longest"])
    compiled = plain_network(program, max_length=options["longest"])
    words = reference.words()
    shown = {"compiled": compiled} | {way: hide(compiled, words=words, **more).network for way, more in HIDING.items()}
    shown |= {f"taught, {method}": one.network for method, one in kept.items()}
    return realism(shown, reference.network, words, name="ordinarily trained")


def summary(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each way of teaching: in how many subjects the best network keeps the algorithm."""
    lines = []
    for method in METHODS:
        some = [row for row in rows if row["method"] == method and "best" in row]
        whole = [row for row in some if all(found["right"] == found["pairs"] for found in row["best"].values())]
        inside = sum(row["best"]["interchange"]["right"] for row in some)
        pairs = sum(row["best"]["interchange"]["pairs"] for row in some)
        share = f"interchange accuracy {inside / max(pairs, 1):.1%}"
        lines.append(f"{method}: {len(whole)} of {len(some)} programs are kept, {share}")
    return lines


def share(row: Mapping[str, Any], what: str) -> float:
    """The share of a row's held-out swaps that its best network answers as the program does; NaN without a network."""
    counted = row["best"][what] if "best" in row else {"right": np.nan, "pairs": 1}
    return counted["right"] / counted["pairs"]


def tables(result: Result) -> list[Table]:
    """How well each way of teaching keeps each program, and how far networks are from the one taught by outputs."""
    rows, kinds = result["rows"], [(way, what) for way in METHODS for what in COUNTED]
    kept = [["InterpBench, 86 networks", "100%", *[""] * (len(kinds) - 1)]]
    for name in dict.fromkeys(row["subject"] for row in rows):
        found = (share(row, what) for way, what in kinds for row in where(rows, subject=name, method=way))
        kept.append([name, *("–" if np.isnan(one) else f"{one:.1%}" for one in found)])
    every = [one for found in result["realism"].values() for one in found["networks"]]
    looks = [
        [name, *(f"{np.mean([one[what] for one in where(every, name=name)]):.2f}" for what in LOOKS)]
        for name in dict.fromkeys(one["name"] for one in every)
    ]
    head = ["program", *(f"{way}, {COUNTED[what]}" for way, what in kinds)]
    return [
        Table(head, kept, "swaps as in the program"),
        Table(["network", *LOOKS], looks, "distance from ordinary training"),
    ]


def draw(result: Result, path: Path) -> Path:
    """Draw, for swaps inside the circuit and outside, the share in which each program's best networks keep it."""
    rows = [row for row in result["rows"] if "best" in row]
    panels = {}
    for what, place in COUNTED.items():
        dots: dict[str, dict[str, tuple[float, float, float]]] = {}
        for row in rows:
            kept = share(row, what)
            dots.setdefault(row["subject"], {})[row["method"]] = (kept, kept, kept)
        panels[f"{place} the circuit"] = dots
    title = "which ways of teaching keep a program's algorithm"
    return interval_dots(panels, path, across="share of swaps", title=title, limits=(0, 1.04))
