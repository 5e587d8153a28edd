"""ALTA's trace supervision on parity: Table 2 and figure 4, with the hyperparameters of Table 1 at full size.

The MLP of each of three programs is taught on pairs from its runs on words of up to 20 bits, put back into the compiled
Transformer, and run on words of up to 40. The original program and its minimal version are beside it.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kleene.explaining.programs.learnable import learnable
from kleene.pictures.plots import Line, Panel, line_panels
from kleene.programs.alta import Program
from kleene.programs.alta.library import parity
from kleene.teaching.lesson import Lesson
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Learner, Plan
from kleene.teaching.reports import TeachingReport
from kleene_papers.stored import Result
from kleene_papers.study import Size, Trained, Trial
from kleene_papers.tables import Table

LONGEST, FARTHEST = 20, 40  # bits in training and in the tests
COLUMNS = ("length <= 20", "length > 20", "ones > 20")


@dataclass(frozen=True)
class Supervised:
    """A row of Table 2: the program, its hyperparameters (Table 1, and for a CPU), and the paper's accuracies in %."""

    title: str
    program: Program
    full: Mapping[str, Any]
    quick: Mapping[str, Any]
    steps: Mapping[Size, int]
    paper: tuple[int, int, int]

    @property
    def start(self) -> list[int]:
        """The tokens in front of the bits."""
        return [parity.START] if self.program.input_range == 3 else []

    def words(self, longest: int, count: int, seed: int) -> list[list[int]]:
        """Words of up to so many bits, `count` with each number of ones."""
        return [self.start + row for row in bits(longest, count, seed)]


LARGE = {"depth": 4, "hidden": 4_096, "rate": 1e-4, "optimiser": "adam"}
SMALL = {"depth": 2, "hidden": 128, "rate": 1e-2, "optimiser": "adafactor"}
MEDIUM = {"depth": 2, "hidden": 256, "rate": 1e-3, "optimiser": "adam"}


def rows() -> dict[str, Supervised]:
    """The rows of Table 2, by the name of the program.

    ALTA's program for sum and modulo stores the number of ones as a category, because its MLP found that easier than a
    number. Here the compiled expansion gives the MLP the number as a category, so the one-layer program is taught.
    """
    longest = {"most_ones": FARTHEST}
    found = (
        Supervised("Sequential (Relative)", parity.relative(), SMALL, SMALL,
                   {"full": 50_000, "quick": 2_000}, (100, 100, 100)),
        Supervised("Sequential (Absolute)", parity.absolute(positions=FARTHEST), LARGE, MEDIUM,
                   {"full": 50_000, "quick": 4_000}, (100, 52, 51)),
        Supervised("Sum + Modulo", parity.sum_modulo(**longest), LARGE, MEDIUM,
                   {"full": 400_000, "quick": 2_000}, (100, 78, 50)),
    )  # fmt: skip
    return {row.program.name: row for row in found}


def bits(longest: int, count: int, seed: int) -> list[list[int]]:
    """Rows of 1 to `longest` bits: `count` with each number of ones, of random length, as in ALTA's data.

    >>> sorted({sum(row) for row in bits(3, 2, seed=0)}), max(map(len, bits(3, 2, seed=0))) <= 3
    ([0, 1, 2, 3], True)
    """
    rng, found = random.Random(seed), []
    for ones in range(longest + 1):
        for _ in range(count):
            length = rng.randint(max(1, ones), longest)
            row = [1] * ones + [0] * (length - ones)
            rng.shuffle(row)
            found.append(row)
    return found


def measure(row: Supervised, taught: Lesson, learners: Learner, train: int, tests: int) -> dict[str, Any]:
    """The accuracies of every seed, of the program and of its minimal version, on words that neither has seen."""
    words = row.words(FARTHEST, tests, seed=1)
    found = learnable(row.program, row.words(LONGEST, train, seed=0), words)
    truth = [word.count(1) % 2 for word in words]
    right: dict[str, list[list[bool]]] = {"original": [], "minimal": [], "taught": []}
    right["original"].append([output[-1] == parity for output, parity in zip(found.expected, truth)])
    right["minimal"].append([bool(output) and output[-1] == parity for output, parity in zip(found.found, truth)])
    for run in range(len(jax.tree.leaves(learners.model)[0])):
        model = jax.tree.map(lambda leaf, run=run: leaf[run], learners.model)
        outputs = taught.machine.bare(model).run_batch(words, record=False).outputs
        right["taught"].append([output[-1] == parity for output, parity in zip(outputs, truth)])
    lengths = [len(word) - len(row.start) for word in words]
    ones = [word.count(1) for word in words]
    groups = {COLUMNS[0]: np.array(lengths) <= LONGEST, COLUMNS[1]: np.array(lengths) > LONGEST,
              COLUMNS[2]: np.array(ones) > LONGEST}  # fmt: skip
    return {
        which: {
            "table": {name: [_percent(np.array(r)[mask]) for r in runs] for name, mask in groups.items()},
            "by_length": _by(lengths, runs),
            "by_ones": _by(ones, runs),
        }
        for which, runs in right.items()
    } | {"words": len(words)}


def _percent(right: np.ndarray) -> float:
    return round(100 * float(np.mean(right)), 2)


def _by(keys: Sequence[int], runs: Sequence[Sequence[bool]]) -> dict[str, list[float]]:
    """The accuracy of each run in % for each key."""
    at = np.array(keys)
    return {str(key): [_percent(np.array(right)[at == key]) for right in runs] for key in sorted(set(keys))}


def summary(paper: Mapping[str, Any], measured: Mapping[str, Any]) -> list[str]:
    """A line for each program: our accuracies, the mean and the range over seeds, beside the paper's."""
    lines = []
    for title, found in measured.items():
        parts = []
        for column in COLUMNS:
            ours, minimal = found["taught"]["table"][column], found["minimal"]["table"][column][0]
            spread = f"{np.mean(ours):.0f}% ({min(ours):.0f}–{max(ours):.0f})"
            parts.append(f"{column}: {spread}, minimal {minimal:.0f}%, paper {paper[title][column]}%")
        lines.append(f"{title}, {len(ours)} seeds: {'; '.join(parts)}")
    return lines


def table_2(result: Result) -> list[Table]:
    """Table 2: the mean of our seeds, with the lowest and the highest, the minimal version, and the paper's numbers."""

    def cells(title: str, row: dict[str, Any]) -> list[str]:
        runs = row["taught"]["table"].values()
        taught = (f"{np.mean(values):.1f}% ({min(values):.1f}–{max(values):.1f})" for values in runs)
        minimal = ", ".join(f"{values[0]:.0f}" for values in row["minimal"]["table"].values())
        return [title, *taught, minimal, ", ".join(map(str, result.paper[title].values()))]

    head = ["program", "length ≤ 20", "length > 20", "ones > 20", "minimal version", "ALTA"]
    return [Table(head, [cells(*row) for row in result["rows"].items()], "Table 2")]


def draw(result: Result, path: Path) -> Path:
    """Draw figure 4, accuracy by length and by number of ones, with the range over seeds; return the path."""
    panels = {}
    for across, key in (("length", "by_length"), ("number of ones", "by_ones")):
        for name, found in result["rows"].items():
            lines = {
                "original program": _line(found["original"][key], 0, dashed=True),
                "minimal version": _line(found["minimal"][key], 1),
                "taught by trace supervision": _line(found["taught"][key], 2),
            }
            panels[f"{name}, by {across}"] = Panel(lines, across, "right, %", limits=(-4, 104))
    return line_panels(panels, path, title=result.shows)


def _line(found: Mapping[str, Sequence[float]], colour: int, *, dashed: bool = False) -> Line:
    values = np.array([*found.values()])
    low, high = (values.min(axis=1), values.max(axis=1)) if values.shape[1] > 1 else ((), ())
    return Line([int(key) for key in found], values.mean(axis=1), low, high, colour=colour, dashed=dashed)


def trace_supervision(
    size: Size = "quick",
    iterations: int | None = None,
    *,
    seeds: int | None = None,
    tests: int | None = None,
    names: Sequence[str] | None = None,
) -> Trial:
    """Table 2 and figure 4, or of it the programs with these `names`; `tests` words with each number of ones.

    Full size is the paper's Table 1: four hidden layers of 4,096 units, 50,000 steps, for sum and modulo 400,000, and 3
    seeds. The quick one has two hidden layers of 256 units, a higher rate, 2,000 to 4,000 steps and 4 seeds; the
    program with relative positions has the paper's hyperparameters in both.
    """
    chosen, train = tuple(row for name, row in rows().items() if names is None or name in names), 200
    seeds, tests = seeds or (3 if size == "full" else 4), tests or (100 if size == "full" else 10)
    plans, lessons = [], []
    for row in chosen:
        options = row.full if size == "full" else row.quick
        made = lesson(row.program, "mlp", words=row.words(LONGEST, train, seed=0), longest=LONGEST, answer="last",
                      **options)  # fmt: skip
        lessons.append(made)
        total = iterations or row.steps[size]
        plans.append(Plan.grid(made, kinds=("full",), seeds=seeds, iterations=total, test_every=max(1, total // 2)))
    paper = {row.title: dict(zip(COLUMNS, row.paper)) for row in rows().values()}

    def each(number: int, report: TeachingReport, learners: Learner) -> dict[str, Any]:
        return measure(chosen[number], lessons[number], learners, train, tests)

    def found(taught: Trained) -> dict[str, Any]:
        measured = {row.title: one for row, one in zip(chosen, taught.each)}
        return {"rows": measured, "summary": summary(paper, measured)}

    return Trial(tuple(plans), paper, found, each)
