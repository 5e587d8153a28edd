"""What the compiler makes of programs of the library, compiled here and now: nothing stored has it."""

from collections.abc import Callable
from typing import Any

import kleene
from kleene.errors import CompileError
from kleene.explaining import anatomy
from kleene.kinds import TRANSFORMERS
from kleene.naming import find_program
from kleene.programs.turing.library import get
from kleene_papers.stored import stored, where
from kleene_papers.tables import Table

MACHINES = {
    "sipser": "Sipser's {1^(2^m)}",
    "palindrome": "palindromes",
    "increment": "increment",
    "anbncn": "aⁿbⁿcⁿ",
    "universal": "a universal machine, 27 states, 18 symbols",
}
CONSTRUCTIONS = ("merged", "compact")
FLOATS = ("float32", "float64")
EXPRESSED = {  # the program, what it does, the layers that ALTA says it takes, and those that it takes
    "parity_relative": ("parity, sequential", "N − 1 (absolute positions)", "N − 1 (absolute), N (relative)"),
    "parity_sum_modulo": ("parity, sum and modulo", "1", "1"),
    "addition": ("addition of N digits", "N + 2", "N + 3"),
    "subleq": ("SUBLEQ, 16 registers, −16..16", "", "3 an instruction"),
    "scan_shift_reduce": ("SCAN by shift-reduce parsing", "", "{layers} at most"),
}


def turing_sizes() -> str:
    """Hidden units of machines, and the recurrent weights that are not 0."""

    def size(network: Any) -> str:
        return f"{network.size.hidden_units:,} ({network.rnn.recurrent.nonzeros:,})"

    ways = {name: {"construction": name} for name in CONSTRUCTIONS}
    return _compiled("hidden units (recurrent weights that are not 0)", ways, size)


def turing_cells() -> str:
    """How many cells of the tape a network of floats holds."""
    ways = {f"{c}, {d}": {"construction": c, "dtype": d} for d in FLOATS for c in CONSTRUCTIONS}
    return _compiled("cells of the tape", ways, lambda network: str(network.reading.cells))


def _compiled(title: str, ways: dict[str, dict[str, str]], shown: Callable[[Any], str]) -> str:
    """A line for each machine, and a column for each way of compiling it."""

    def cell(name: str, options: dict[str, Any]) -> str:
        try:
            return shown(kleene.compile(get(name).build(), **options))
        except CompileError:
            return "refused"

    lines = [[words, *(cell(name, options) for options in ways.values())] for name, words in MACHINES.items()]
    return Table([title, *ways], lines).markdown()


def programs_expressed() -> str:
    """Layers, rules and hidden units of ALTA's programs; SCAN's layers are measured."""
    (measured,) = where(stored("bench-scan-2-cores").rows, what="scan_shift_reduce: layers, most")

    def row(name: str, title: str, theirs: str, ours: str) -> list[str]:
        program = find_program(name, TRANSFORMERS)[0]
        rules = sum(cost.rules for cost in anatomy(program, []).costs)
        units = kleene.compile(program).size.hidden_units
        return [title, theirs, ours.format(layers=measured["ours"]), f"{rules:,}", f"{units:,}"]

    head = ["program", "layers, ALTA", "layers here", "transition rules", "hidden units, compact"]
    return Table(head, [row(name, *rest) for name, rest in EXPRESSED.items()]).markdown()
