"""What the compiler makes of Turing machines of the library, compiled here and now: nothing stored has it."""

from collections.abc import Callable
from typing import Any

import kleene
from kleene.errors import CompileError
from kleene.programs.turing.library import get
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
