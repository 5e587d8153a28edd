"""Simplicity by rules and by layers: ALTA, section 4.1, "Simplicity Bias", measured over the whole library.

ALTA finds that Transformers taught parity end to end do not behave like the program with the fewest rules, but like the
one with the fewest layers. Here every program of the library is measured by its rules, by those of its minimal version
for short inputs, and by the layers that inputs of some lengths need. Where several programs compute one function, both
orders are compared. What networks did that were taught end to end is added where the folder holds the results of
`alta-table-3` or `alta-table-6`.
"""

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.explaining.programs.data_sets import InputSource, inputs_of
from kleene.explaining.programs.minimal import minimal
from kleene.pictures.plots import Line, Panel, line_panels
from kleene.programs.alta.library import addition_decoded, entries
from kleene_papers.interdependence.word_pairs import rank_correlation
from kleene_papers.stored import FOLDER, Result
from kleene_papers.study import Size, Trained, Trial
from kleene_papers.tables import Table

FAMILIES = {  # programs that compute the same function
    "parity": ("parity_relative", "parity_absolute", "parity_sum_modulo", "parity_sum_modulo_steps"),
    "addition": ("addition", "addition_decoded"),
    "SCAN": ("scan", "scan_shift_reduce"),
}
PAPER = {
    "minimal_rules": {"parity_relative": 7, "parity_sum_modulo": 31},
    "finding": "taught end to end, Transformers behave like parity_sum_modulo, which has more rules and fewer layers",
}
LENGTHS = (5, 10, 20, 40)
TRAINED = (20, 10, 9)  # the first of these lengths that a program takes is the longest of its training inputs
TIMED, TOGETHER = 500, 50  # random inputs of a length, of which that with the most layers counts; and at once
DECODED, PAIRS = 3, 1_000  # digits of the numbers that the decoder adds, and pairs of each number of digits
LEARNED, FOLLOWED = 99.0, 90.0  # percent right, from which training inputs count as learned, and tests as solved


def measured(samples: int, programs: Sequence[str], taught: Trained) -> dict[str, Any]:
    """The library measured with so many random inputs of each length."""
    rows = []
    for number, name in enumerate(programs):
        taught.tell(number / len(programs), name)
        rows.append(decoder_row() if name == "addition_decoded" else program_row(name, samples))
    found = {"programs": rows, "families": families(rows), "correlation": correlation(rows)}
    found |= {"end_to_end": end_to_end(taught.folder)}
    return found | {"summary": summary(found)}


def program_row(name: str, samples: int) -> dict[str, Any]:
    """The rules of a program of the library, of its minimal version, and its layers by length."""
    entry = entries()[name]
    program = entry.build()
    source = InputSource(program, entry)
    longest = next(n for n in (*TRAINED, 5) if _takes(source, n))
    train = inputs_of(source, f"length<={longest}", samples=samples, seed=0)
    layers, rng = {}, random.Random(0)
    for length in sorted({*LENGTHS, longest}):
        if _takes(source, length):
            inputs = [source.draw(rng, length) for _ in range(min(samples, TIMED))]
            blocks = (inputs[first : first + TOGETHER] for first in range(0, len(inputs), TOGETHER))
            layers[str(length)] = max(trace.steps for block in blocks for trace in program.run_batch(block))
    kept = len(minimal(program, train).rules)
    facts = {"program": name, "rules": len(program.rules()), "minimal_rules": kept, "longest": longest}
    return facts | {"train": len(train), "layers": layers, "at": layers[str(longest)]}


def _takes(source: InputSource, length: int) -> bool:
    try:
        return length in source.widths(length).values()
    except InputError:
        return False


def decoder_row() -> dict[str, Any]:
    """The same of the program that writes out a sum digit by digit: one layer for each digit that it writes.

    What it reads last is its prompt with the whole sum, so these are its inputs.
    """
    program, digits, rng = addition_decoded.build(), 20, random.Random(0)
    inputs = []
    for size in range(1, DECODED + 1):
        for _ in range(PAIRS):
            a, b = (rng.randrange(10**size) for _ in range(2))
            written = [int(digit) for digit in reversed(f"{a + b:0{digits + 1}d}")]
            inputs.append([*addition_decoded.prompt(a, b, digits), *written])
    kept = len(minimal(program, inputs).rules)
    layers = {str(length): length + 1 for length in LENGTHS if length <= digits}
    facts = {"program": "addition_decoded", "rules": len(program.rules()), "minimal_rules": kept, "longest": DECODED}
    return facts | {"train": len(inputs), "layers": layers, "at": layers[str(digits)]}


def families(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the programs for one function: which has the fewest rules, which the fewest layers, and whether it is one."""
    found = []
    for name, members in FAMILIES.items():
        some = [row for row in rows if row["program"] in members]
        if len(some) < 2:
            continue
        rules, layers = ([r["program"] for r in some if r[key] == min(one[key] for one in some)]
                         for key in ("minimal_rules", "at"))  # fmt: skip
        found.append({"function": name, "fewest_rules": rules, "fewest_layers": layers, "same": rules == layers})
    return found


def correlation(rows: Sequence[dict[str, Any]]) -> float | None:
    """The rank correlation of minimal rules and layers over the programs; None where one of them does not vary."""
    return rank_correlation(np.array([r["minimal_rules"] for r in rows]), np.array([r["at"] for r in rows]))


def end_to_end(folder: Path) -> dict[str, dict[str, Any]]:
    """How many kinds of networks learned the training inputs of a function, and which of these solve the test.

    The test is more ones than seen for parity, and that of the split for SCAN. The minimal program with the fewest
    rules solves it (of SCAN, the length split), that with the fewest layers does not. Functions whose file the folder
    lacks are left out.
    """
    found = {}
    for function, (file, entry, measured) in TAUGHT.items():
        if (folder / file).is_file():
            networks = [measured(row) for row in Result.load(folder / file)[entry]]
            learned = [(name, solved) for name, trained, solved in networks if trained >= LEARNED]
            solving = [name for name, solved in learned if solved >= FOLLOWED]
            found[function] = {"networks": len(networks), "learned": len(learned), "as_fewest_rules": solving}
    return found


def _parity(row: dict[str, Any]) -> tuple[str, float, float]:
    """A network's name, and how many words of the training lengths and with more ones are right, in percent."""
    return row["row"], row["accuracy_within"]["ours"], row["accuracy_many_ones"]["ours"]


def _scan(row: dict[str, Any]) -> tuple[str, float, float]:
    """A network's name, and how many training and test commands are right, in percent."""
    return row["cell"], row["training_match"], row["ours"]


TAUGHT = {"parity": ("alta-table-3.json", "rows", _parity), "SCAN": ("alta-table-6.json", "cells", _scan)}


def follow_fewest_rules() -> dict[str, dict[str, Any]]:
    """How many of the networks of the stored Tables 3 and 6 follow the program with the fewest rules."""
    return end_to_end(FOLDER)


def summary(content: dict[str, Any]) -> list[str]:
    """A line for each program, each function, and what networks did."""
    lines = []
    for row in content["programs"]:
        layers = ", ".join(f"{count} at {length}" for length, count in row["layers"].items())
        lines.append(
            f"{row['program']}: {row['rules']:,} rules, {row['minimal_rules']:,} up to length {row['longest']}; "
            f"layers {layers}"
        )
    for row in content["families"]:
        rules, layers = (" and ".join(row[key]) for key in ("fewest_rules", "fewest_layers"))
        lines.append(f"{row['function']}: fewest rules {rules}, fewest layers {layers}")
    if content["correlation"] is not None:
        lines.append(f"rank correlation of minimal rules and layers: {content['correlation']:.2f}")
    for function, found in content["end_to_end"].items():
        lines.append(
            f"{function} taught end to end: {found['learned']} of {found['networks']} networks learned the training "
            f"inputs, and {len(found['as_fewest_rules'])} of these solve the test, as the program with the fewest rules"
        )
    return [*lines, f"ALTA: {PAPER['finding']}"]


def tables(result: Result) -> list[Table]:
    """The rules of each program, of its minimal version for inputs up to a length, and its layers by length."""

    def cells(row: dict[str, Any]) -> list[str]:
        layers = ", ".join(f"{count} at {length}" for length, count in row["layers"].items())
        counts = (f"{row['rules']:,}", f"{row['minimal_rules']:,}", f"{row['longest']}")
        return [f"`{row['program']}`", *counts, layers]

    head = ["program", "rules", "minimal", "up to length", "layers"]
    return [Table(head, [cells(row) for row in result["programs"]], "Rules and layers")]


def draw(result: Result, path: Path) -> Path:
    """Draw rules against layers, with a line through the programs for one function, and return the path."""
    panels = {}
    for title, key in (("Minimal programs", "minimal_rules"), ("Whole programs", "rules")):
        lines = {}
        for colour, (name, rows) in enumerate(_by_family(result["programs"]).items()):
            points = sorted((row["at"], row[key]) for row in rows)
            lines[name] = Line([x for x, _ in points], [y for _, y in points], colour=colour, joined=name in FAMILIES)
        panels[title] = Panel(lines, "layers", "rules", marks="o", log=True, log_across=True)
    return line_panels(panels, path, title=result.shows)


def _by_family(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The rows by the function that their programs compute; those that are alone are "others"."""
    member = {name: family for family, names in FAMILIES.items() for name in names}
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(member.get(row["program"], "others"), []).append(row)
    return found


def simplicity_bias(size: Size = "quick") -> Trial:
    """What is measured: the whole library, with 1,000 inputs of each length, or 50 at the quick size."""
    programs = (*entries(), "addition_decoded")
    return Trial(paper=PAPER, measure=partial(measured, 1_000 if size == "full" else 50, programs))
