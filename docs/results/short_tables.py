"""The tables of the pages on the five texts, which are shorter than those of the pages on results; see tables.py."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from benchmark_rows import rows  # these two lie beside this file
from tables import NTM, baseline, hinted, markdown, share, stored

import kleene
from kleene.explaining import anatomy
from kleene.kinds import TRANSFORMERS
from kleene.naming import find_program

FEW_KINDS = {"none": "none", "corners": "corners", "single_hint": "a single hint an example", "full": "full"}
EXPRESSED = {  # the program, what it does, the layers that ALTA says it takes, and those that it takes
    "parity_relative": ("parity, sequential", "N − 1 (absolute positions)", "N − 1 (absolute), N (relative)"),
    "parity_sum_modulo": ("parity, sum and modulo", "1", "1"),
    "addition": ("addition of N digits", "N + 2", "N + 3"),
    "subleq": ("SUBLEQ, 16 registers, −16..16", "", "3 an instruction"),
    "scan_shift_reduce": ("SCAN by shift-reduce parsing", "", "{layers} at most"),
}


def expressed() -> str:
    """Layers, rules and hidden units of programs, which are compiled here and now; SCAN's layers are measured."""
    measured = rows("scan-2-cores")

    def row(name: str, title: str, theirs: str, ours: str) -> list[str]:
        program = find_program(name, TRANSFORMERS)[0]
        rules = sum(cost.rules for cost in anatomy(program, []).costs)
        layers = ours.format(layers=measured.get(f"{name}: layers, most", {}).get("ours"))
        return [title, theirs, layers, f"{rules:,}", f"{kleene.compile(program).size.hidden_units:,}"]

    head = ["program", "layers, ALTA", "layers here", "transition rules", "hidden units, compact"]
    return markdown(head, [row(name, *rest) for name, rest in EXPRESSED.items()])


def supervision() -> str:
    """ALTA's Table 2, means of the seeds alone."""
    content = stored("parity-trace-supervision")

    def means(table: dict[str, list[float]], digits: int) -> str:
        return ", ".join(f"{np.mean(values):.{digits}f}" for values in table.values())

    rows = [
        [name, means(row["taught"]["table"], 1), means(row["minimal"]["table"], 0), *_listed(content["paper"][name])]
        for name, row in content["rows"].items()
    ]
    return markdown(["program", "taught, ours", "minimal version, ours", "taught, ALTA"], rows)


def _listed(row: dict[str, Any]) -> list[str]:
    return [", ".join(map(str, row.values()))]


def best(cells: Iterable[tuple[str, float, str]]) -> str:
    """The kinds with the highest number, and how it is shown."""
    known = list(cells)
    top = max(number for _, number, _ in known)
    kinds = [kind for kind, number, _ in known if number == top]
    return f"{', '.join(kinds)}: {next(shown for _, number, shown in known if number == top)}"


def hints_at_best() -> str:
    """Runs without hints, and with the kinds of hints that are best where all are given with λ = 1: figure 9."""

    def row(title: str, name: str) -> list[str]:
        content = stored(name)
        paper, bare = content["paper"], baseline(content)
        place = paper["columns"].index([1.0, 1.0])
        theirs = [(kind, cells[place], f"{cells[place]:g}%") for kind, cells in paper["rows"].items() if cells[place]]
        ours = [
            (row["hints"], row["generalised"], share(row["generalised"], row["seeds"], row["interval"]))
            for kind in paper["rows"]
            for row in hinted(content, kind)
            if (row["density"], row["strength"]) == (1, 1)
        ]
        without = "not printed" if paper["baseline"] is None else f"{paper['baseline']:g}%"
        return [title, without, share(bare["generalised"], bare["seeds"], bare["interval"]), best(theirs), best(ours)]

    head = ["task", "no hints, paper", "no hints, ours (95%)"]
    head += ["best with all hints and λ = 1, paper", "best, ours (95%)"]
    return markdown(head, [row(*item) for item in NTM.items()])


def increment() -> str:
    """Figure 12, Increment in our variant, a few kinds of hints."""
    content = stored("figure-12-increment-stated")
    rows = [[title, *(f"{content[of][kind]:.1f}%" for of in ("errors", "paper"))] for kind, title in FEW_KINDS.items()]
    return markdown(["hints", "ours", "the paper"], rows)


def copy() -> str:
    """Copy on two cores: machines that pass the last test, from when on, and how sharp the reading head is."""
    content = stored("copy-500")

    def cells(row: dict[str, Any]) -> list[str]:
        reached = [hit for hit in row["first_hit"] if hit is not None]
        passed = (
            f"{row['generalised']} of {row['seeds']} ({100 * row['interval'][0]:.0f}–{100 * row['interval'][1]:.0f}%)"
        )
        first = str(reached[0]) if min(reached) == max(reached) else f"{min(reached)} to {max(reached)}"
        return [row["hints"], passed, f"{len(reached)} of {row['seeds']}, first at {first}", f"{row['peak']:.3f}"]

    head = ["hints", f"pass after {content['iterations']} iterations (95%)", "pass at some test", "read peak"]
    return markdown(head, [cells(row) for row in content["settings"]])


TABLES: dict[str, Callable[[], str]] = {
    "programs expressed": expressed,
    "trace supervision, in short": supervision,
    "figure 9, in short": hints_at_best,
    "figure 12, in short": increment,
    "Copy on two cores": copy,
}
