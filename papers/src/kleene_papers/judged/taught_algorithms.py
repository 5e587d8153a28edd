"""Which ways of teaching make a Transformer keep its program's algorithm, and how much the networks look trained.

Plain Transformers are taught the same programs by strict interchange intervention training (InterpBench), by hints on
the trace, by both halves of these, and by outputs alone. Interchange accuracy and strictness are counted on held-out
pairs of words. The network that was taught by outputs alone is also what others are compared with: how far are the
weights, and the effects of components, of compiled, hidden and taught networks from those of an ordinarily trained one?
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kleene.files import make_folder
from kleene.groundtruth.hide import hide, plain_network
from kleene.groundtruth.judging.circuits import HIDING, judged_program
from kleene.groundtruth.realism import Realism, realism
from kleene.groundtruth.taught import SUBJECTS, KeptNetwork, file_of, teach_subjects
from kleene.teaching.plain_lessons import METHODS
from kleene.teaching.plan import Plan
from kleene_papers.experiment import Size, Watch, described, keep

REFERENCE = "none"  # the method of ordinary training
PAPER = {"finding": "all 86 networks of InterpBench have an interchange accuracy of 100% on held-out pairs"}


@dataclass(frozen=True)
class TaughtAlgorithms:
    """Subjects of `kleene.groundtruth.taught`, each taught by every method."""

    subjects: tuple[str, ...]
    seeds: int
    iterations: int
    longest: int | None = None  # tokens of a word, in place of the subject's own
    name: str = "taught-algorithms"
    shows: str = "interchange accuracy by way of teaching, and how much networks of known algorithm look trained"
    plans: tuple[Plan, ...] = ()  # none: see `run`
    paper: dict[str, Any] = field(default_factory=lambda: PAPER)

    def run(self, folder: Any, *, watch: Watch | None = None) -> dict[str, Any]:
        """The result, which the folder holds as `taught-algorithms.json` and `.svg`; networks that are there stay."""
        folder, begun, done = make_folder(folder), time.process_time(), 0

        def tell(row: dict[str, Any]) -> None:
            nonlocal done
            done += 1
            if watch is not None:
                watch(done / (len(self.subjects) * len(METHODS)), f"{row['subject']}, {row['method']}")

        networks = folder / "taught"
        options: dict[str, Any] = {} if self.longest is None else {"longest": self.longest}
        options |= {"seeds": self.seeds, "iterations": self.iterations, "again": False}
        rows = teach_subjects(networks, subjects=self.subjects, on_row=tell, **options)
        looks = {name: likeness(networks, name) for name in whole_subjects(rows)}
        content = described(self, []) | {"rows": rows, "realism": {name: one.as_json() for name, one in looks.items()}}
        content |= {"seconds": round(time.process_time() - begun, 1)}
        content["summary"] = summary(rows)
        keep(content, folder)
        for name in [*looks][:1]:
            looks[name].draw(folder / f"{self.name}.svg")
        return content


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


def experiments(size: Size, iterations: int | None = None) -> dict[str, Any]:
    """The experiment by its name."""
    quick = TaughtAlgorithms(("hist", "shift", "count", "reverse"), 2, iterations or 3_000, longest=4)
    full = TaughtAlgorithms(tuple(SUBJECTS), 4, iterations or 4_000)
    return {quick.name: lambda: quick if size == "quick" else full}
