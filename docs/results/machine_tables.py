"""Tables of automata.md that nothing stored has: what the compiler makes of Turing machines, compiled here and now."""

from collections.abc import Callable

from tables import markdown  # beside this file

import kleene
from kleene.errors import CompileError
from kleene.programs.turing.library import get

MACHINES = {
    "sipser": "Sipser's {1^(2^m)}",
    "palindrome": "palindromes",
    "increment": "increment",
    "anbncn": "aⁿbⁿcⁿ",
    "universal": "a universal machine, 27 states, 18 symbols",
}
CONSTRUCTIONS = ("merged", "compact")
FLOATS = ("float32", "float64")


def sizes() -> str:
    """Hidden units of machines, and the recurrent weights that are not 0."""

    def cell(name: str, construction: str) -> str:
        try:
            network = kleene.compile(get(name).build(), construction=construction)
        except CompileError:
            return "refused: too large"
        return f"{network.size.hidden_units:,} ({network.rnn.recurrent.nonzeros:,})"

    head = ["hidden units (recurrent weights that are not 0)", *CONSTRUCTIONS]
    return markdown(head, [[title, *(cell(name, c) for c in CONSTRUCTIONS)] for name, title in MACHINES.items()])


def cells() -> str:
    """How many cells of the tape a network of floats holds."""

    def cell(name: str, construction: str, dtype: str) -> str:
        try:
            return str(kleene.compile(get(name).build(), construction=construction, dtype=dtype).reading.cells)
        except CompileError:
            return "refused"

    kinds = [(construction, dtype) for dtype in FLOATS for construction in CONSTRUCTIONS]
    head = ["cells of the tape", *(f"{construction}, {dtype}" for construction, dtype in kinds)]
    return markdown(head, [[title, *(cell(name, *kind) for kind in kinds)] for name, title in MACHINES.items()])


TABLES: dict[str, Callable[[], str]] = {"Turing machines, sizes": sizes, "Turing machines, floats": cells}
