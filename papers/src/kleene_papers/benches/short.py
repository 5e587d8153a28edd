"""The tables of the pages on the five texts, which are shorter than those of the pages on results."""

from collections.abc import Iterable
from typing import Any

import kleene
from kleene.explaining import anatomy
from kleene.kinds import TRANSFORMERS
from kleene.naming import find_program
from kleene_papers.stored import stored, where
from kleene_papers.tables import Table, share

NTM = {
    "Copy (9a)": "traces-figure-9a",
    "RepeatCopyTwice (9b)": "traces-figure-9b",
    "DyckWords, online (9c)": "traces-figure-9c",
    "DyckWords, after the word (9c)": "traces-figure-9c-after",
    "Flip3rd (9d)": "traces-figure-9d",
    "RepeatFlip3d (9e)": "traces-figure-9e",
}
FEW_KINDS = {"none": "none", "corners": "corners", "single_hint": "a single hint an example", "full": "full"}
EXPRESSED = {  # the program, what it does, the layers that ALTA says it takes, and those that it takes
    "parity_relative": ("parity, sequential", "N − 1 (absolute positions)", "N − 1 (absolute), N (relative)"),
    "parity_sum_modulo": ("parity, sum and modulo", "1", "1"),
    "addition": ("addition of N digits", "N + 2", "N + 3"),
    "subleq": ("SUBLEQ, 16 registers, −16..16", "", "3 an instruction"),
    "scan_shift_reduce": ("SCAN by shift-reduce parsing", "", "{layers} at most"),
}


def programs_expressed() -> str:
    """Layers, rules and hidden units of programs, which are compiled here and now; SCAN's layers are measured."""
    (measured,) = where(stored("bench-scan-2-cores").rows, what="scan_shift_reduce: layers, most")

    def row(name: str, title: str, theirs: str, ours: str) -> list[str]:
        program = find_program(name, TRANSFORMERS)[0]
        rules = sum(cost.rules for cost in anatomy(program, []).costs)
        units = kleene.compile(program).size.hidden_units
        return [title, theirs, ours.format(layers=measured["ours"]), f"{rules:,}", f"{units:,}"]

    head = ["program", "layers, ALTA", "layers here", "transition rules", "hidden units, compact"]
    return Table(head, [row(name, *rest) for name, rest in EXPRESSED.items()]).markdown()


def trace_supervision_in_short() -> str:
    """ALTA's Table 2, means of the seeds alone."""
    found = stored("alta-table-2")

    def means(table: dict[str, list[float]], digits: int) -> str:
        return ", ".join(f"{sum(values) / len(values):.{digits}f}" for values in table.values())

    lines = [
        [name, means(row["taught"]["table"], 1), means(row["minimal"]["table"], 0),
         ", ".join(map(str, found.paper[name].values()))]
        for name, row in found["rows"].items()
    ]  # fmt: skip
    return Table(["program", "taught, ours", "minimal version, ours", "taught, ALTA"], lines).markdown()


def figure_9_in_short() -> str:
    """Runs without hints, and with the kinds of hints that are best where all are given with λ = 1."""
    head = ["task", "no hints, paper", "no hints, ours (95%)"]
    head += ["best with all hints and λ = 1, paper", "best, ours (95%)"]
    return Table(head, [_at_best(*item) for item in NTM.items()]).markdown()


def _at_best(title: str, name: str) -> list[str]:
    found, (bare,) = stored(name), where(stored(name).rows, hints="none")
    place = found.paper["columns"].index([1.0, 1.0])
    theirs = [(kind, cells[place], f"{cells[place]:g}%") for kind, cells in found.paper["rows"].items() if cells[place]]
    full = [row for kind in found.paper["rows"] for row in where(found.rows, hints=kind, density=1, strength=1)]
    ours = [(row["hints"], row["generalised"], _share(row)) for row in full]
    without = "not printed" if found.paper["baseline"] is None else f"{found.paper['baseline']:g}%"
    return [title, without, _share(bare), _best(theirs), _best(ours)]


def _share(row: Any) -> str:
    return share(row["generalised"], row["seeds"], row["interval"])


def _best(cells: Iterable[tuple[str, float, str]]) -> str:
    """The kinds with the highest number, and how it is shown."""
    known = list(cells)
    top = max(number for _, number, _ in known)
    kinds = [kind for kind, number, _ in known if number == top]
    return f"{', '.join(kinds)}: {next(shown for _, number, shown in known if number == top)}"


def increment_in_short() -> str:
    """Figure 14, Increment in our variant, a few kinds of hints."""
    found = stored("traces-figure-14-stated")
    lines = [[title, f"{found['errors'][kind]:.1f}%", f"{found.paper[kind]:.1f}%"] for kind, title in FEW_KINDS.items()]
    return Table(["hints", "ours", "the paper"], lines).markdown()
