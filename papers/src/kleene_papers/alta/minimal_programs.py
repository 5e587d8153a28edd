"""Minimal programs: ALTA, section 4 and Appendix D, as one table of rule counts and of what generalises.

Nothing is taught. A program's minimal version for its training inputs is compared with the program on test inputs:
parity from 20 bits to 40, addition from 3 digits to 50, SCAN on its published splits and on splits of maximum compound
divergence that are computed here.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kleene.data import data_folder
from kleene.errors import InputError
from kleene.explaining.programs.data_sets import InputSource, inputs_of
from kleene.explaining.programs.learnable import learnable
from kleene.explaining.programs.splits import learnable_on_split
from kleene.naming import find
from kleene.pictures.plots import Line, Panel, line_panels
from kleene.tasks.scan_splits import PUBLISHED, scan_split
from kleene_papers.stored import Result
from kleene_papers.study import Size, Trained, Trial
from kleene_papers.tables import Table

# ALTA, section 4.1, Appendices D.2 and D.4; its SCAN program is not ours, and a count for a split is not given.
PAPER = {
    "minimal_rules": {"parity_relative": 7, "parity_sum_modulo": 31, "addition": 884},
    "generalises": {"parity_relative": True, "parity_absolute": False, "parity_sum_modulo": False, "addition": True},
    "scan": "fewer than 2,000 rules; generalises on the length split and on splits of maximum compound divergence",
}
PARITIES = ("parity_relative", "parity_absolute", "parity_sum_modulo")
MCD = ("mcd:0", "mcd:1", "mcd:2")
SCANS = ("scan", "scan_shift_reduce")


@dataclass(frozen=True)
class Ranges:
    """Training and test inputs of a program by their length, and how many are drawn of each length."""

    program: str
    train: str
    test: str
    train_samples: int
    test_samples: int


def measured(ranges: Sequence[Ranges], scans: Sequence[tuple[str, str]], taught: Trained) -> dict[str, Any]:
    """The learnability of programs on ranges of inputs, and of SCAN programs on splits."""
    done: dict[str, Any] = {"programs": [], "scan": []}
    tasks = [("programs", one.program, lambda one=one: on_ranges(one)) for one in ranges]
    tasks += [("scan", f"{p} on {s}", lambda p=p, s=s: on_split(p, s)) for p, s in scans]
    for number, (kind, line, measure) in enumerate(tasks):
        taught.tell(number / len(tasks), line)
        done[kind].append(timed(measure))
    return done | {"summary": summary(done)}


def timed(measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a function measures, with the CPU time that it took."""
    begun = time.process_time()
    return measure() | {"seconds": round(time.process_time() - begun, 1)}


KEPT = ("program", "rules", "minimal_rules", "generalises", "train", "test", "agree", "by_length")


def on_ranges(case: Ranges) -> dict[str, Any]:
    """The learnability of a program on ranges of lengths."""
    found = find(case.program)
    source = InputSource(found.subject, found.entry)
    train = inputs_of(source, case.train, samples=case.train_samples, seed=0)
    test = inputs_of(source, case.test, samples=case.test_samples, seed=1)
    told = learnable(found.subject, train, test, length=source.length()).as_json()
    paper = PAPER["minimal_rules"].get(case.program)
    return {key: told[key] for key in KEPT} | {"ranges": [case.train, case.test], "paper_rules": paper}


def on_split(program: str, split: str) -> dict[str, Any]:
    """The learnability of a SCAN program on a split."""
    told = learnable_on_split(program, split).as_json()
    return {key: told[key] for key in (*KEPT, "split", "divergences", "command")}


def summary(content: dict[str, Any]) -> list[str]:
    """A line for each program and data set."""
    lines = []
    for row in content["programs"]:
        paper = "" if row["paper_rules"] is None else f" (ALTA: {row['paper_rules']:,})"
        train, test = row["ranges"]
        lines.append(f"{row['program']}, {train}: {_counts(row)}{paper}; {test}: {_verdict(row)}")
    for row in content["scan"]:
        far = f"divergences {row['divergences']['atom']:.3f} and {row['divergences']['compound']:.3f}"
        lines.append(f"{row['program']} on {row['split']} ({far}): {_counts(row)}; {_verdict(row)}")
    return lines


def _counts(row: dict[str, Any]) -> str:
    return f"{row['minimal_rules']:,} of {row['rules']:,} rules"


def _verdict(row: dict[str, Any]) -> str:
    return f"{row['agree']:,} of {row['test']:,} right{', generalises' if row['generalises'] else ''}"


def tables(result: Result) -> list[Table]:
    """Minimal versions of programs on ranges of lengths, and of both SCAN programs split by split."""
    head = ["program", "training inputs", "minimal rules", "ALTA's", "of", "test inputs", "right"]
    found = [Table(head, [_on_ranges(row) for row in result["programs"]], "Minimal programs")]
    rows = result["scan"]
    rules = {row["program"]: row["rules"] for row in rows}
    head = ["split", "different training commands", "atom", "compound"]
    head += [cell for program in rules for cell in (f"`{program}`: rules of {rules[program]:,}", "right")]
    splits = [[*_on_split(split, rows, [*rules])] for split in dict.fromkeys(row["split"] for row in rows)]
    return [*found, Table(head, splits, "SCAN's splits")]


def _on_ranges(row: dict[str, Any]) -> list[str]:
    unit = "digits" if row["program"] == "addition" else "bits"
    trained, tested = (f"{of.replace('length<=', 'up to ')} {unit}" for of in row["ranges"])
    paper = "" if row["paper_rules"] is None else f"{row['paper_rules']:,}"
    rules = (f"{row['minimal_rules']:,}", paper, f"{row['rules']:,}")
    return [f"`{row['program']}`", f"{trained}: {row['train']:,}", *rules, f"{tested}: {row['test']:,}", _agreed(row)]


def _on_split(split: str, rows: Sequence[dict[str, Any]], programs: Sequence[str]) -> Iterator[str]:
    found = {row["program"]: row for row in rows if row["split"] == split}
    first = next(iter(found.values()))
    far = first["divergences"]
    yield from (f"`{split}`", f"{first['train']:,}", f"{far['atom']:.3f}", f"{far['compound']:.3f}")
    for row in map(found.get, programs):
        yield from ("", "") if row is None else (f"{row['minimal_rules']:,}", _agreed(row))


def _agreed(row: dict[str, Any]) -> str:
    return "all" if row["generalises"] else f"{row['agree']:,} of {row['test']:,}"


def draw(result: Result, path: Path) -> Path:
    """Draw agreement by length, and on SCAN by compound divergence, a point for each split; return the path."""
    panels = {}
    for title, across, names, first in (("Parity", "bits", PARITIES, 0), ("Addition", "digits", ("addition",), 5)):
        rows = [row for row in result["programs"] if row["program"] in names]
        lines = {row["program"]: _by_length(row, colour) for colour, row in enumerate(rows, start=first)}
        if lines:
            panels[title] = Panel(lines, across, "minimal version right, %", marks="o", limits=(-4, 104))
    lines = {}
    for colour, name in enumerate(SCANS, start=3):
        points = sorted((100 * row["divergences"]["compound"], _percent(row)) for row in result["scan"]
                        if row["program"] == name)  # fmt: skip
        if points:
            lines[name] = Line([x for x, _ in points], [y for _, y in points], colour=colour, joined=False)
    if lines:
        panels["SCAN's splits"] = Panel(
            lines, "compound divergence, %", "minimal version right, %", marks="o", limits=(-4, 104)
        )
    return line_panels(panels, path, title=result.shows)


def _by_length(row: dict[str, Any], colour: int) -> Line:
    shares = {int(n): 100 * right / of for n, (right, of) in row["by_length"].items()}
    return Line(list(shares), list(shares.values()), colour=colour)


def _percent(row: dict[str, Any]) -> float:
    return 100 * row["agree"] / row["test"]


def minimal_programs(size: Size = "quick") -> Trial:
    """What is measured. Quick has fewer test inputs and `scan` on two splits; without SCAN's data, on a computed one.

    Full size has `scan` on all splits, and `scan_shift_reduce`, which takes longer, on those that ALTA speaks of.
    """
    full = size == "full"
    samples = 1_000 if full else 50
    ranges = tuple(Ranges(name, "length<=20", "length<=40", samples, samples) for name in PARITIES)
    ranges += (Ranges("addition", "length<=3", "length<=50", 1_000, 200 if full else 10),)
    return Trial(paper=PAPER, measure=partial(measured, ranges, scans(size)))


def scans(size: Size) -> list[tuple[str, str]]:
    """The SCAN programs with their splits."""
    full, published = size == "full", _published()
    if full and not published:
        data_folder("scan")  # its error says what to get
    if not full:
        return [("scan", split) for split in (*(("length",) if published else ()), "mcd:0")]
    found = [("scan", split) for split in (*PUBLISHED, *MCD)]
    return found + [("scan_shift_reduce", split) for split in ("length", *MCD)]


def _published() -> bool:
    try:
        scan_split("length")
    except InputError:
        return False
    return True
