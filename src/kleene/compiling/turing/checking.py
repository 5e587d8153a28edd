"""What Turing machines are checked on, and by whom: both constructions, and a reference if there is one."""

import contextlib
from collections.abc import Callable
from typing import Any

from kleene.compiling.automata.checking import Word, some_words
from kleene.compiling.checking import REFERENCE
from kleene.compiling.turing.compiler import compile_turing
from kleene.errors import CompileError
from kleene.machines.turing_rnn import TuringRNN
from kleene.notation.computations import Computation
from kleene.notation.console import Entry
from kleene.programs.turing import TuringMachine


def networks(machine: TuringMachine, **options: Any) -> list[TuringRNN]:
    """The network of the construction that was named, or of both, unless the second is too large."""
    if "construction" in options:
        return [compile_turing(machine, **options)]
    found = [compile_turing(machine, construction="compact", **options)]
    with contextlib.suppress(CompileError):
        found.append(compile_turing(machine, construction="merged", **options))
    return found


def inputs(machine: TuringMachine, entry: Entry | None, samples: int, max_length: int, seed: int) -> list[Word]:
    return some_words(machine.input_alphabet, samples, max_length, seed)


def judges(machine: TuringMachine, entry: Entry | None, reference: Callable[[Any], Any] | None) -> dict[str, Callable]:
    """Whether the reference that was given or is the entry's own accepts the same words."""
    reference = reference or (None if entry is None else entry.reference)

    def plain(word: Word, mine: Computation) -> str | None:
        assert reference is not None
        expected = "accept" if reference("".join(word)) else "reject"
        if mine.verdict in ("running", expected):
            return None
        return f"the verdict is {mine.verdict}, the plain reference says {expected}"

    return {} if reference is None else {REFERENCE: plain}
