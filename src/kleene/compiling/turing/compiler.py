"""Theorem 4.11 of Chiang's notes: a Turing machine becomes a simple RNN with rational weights.

`networks`, `inputs` and `judges` tell `kleene.check` what to run a Turing machine on and what to compare it with: the
networks of both constructions, and a reference if there is one.
"""

import contextlib
from collections.abc import Callable, Hashable
from typing import Any, Literal

from kleene.compiling.automata import Word, as_simple_rnn, some_words
from kleene.compiling.checking import REFERENCE
from kleene.compiling.turing.constructions import BOTTOM, LOAD, REWIND, Compact, Merged
from kleene.compiling.turing.floats import in_floats
from kleene.compiling.turing.formulas import StepFormulas
from kleene.errors import CompileError
from kleene.machines.turing_rnn.reading import TapeReading
from kleene.machines.turing_rnn.turing_rnn import TuringRNN
from kleene.notation.computations import Computation
from kleene.notation.console import Entry
from kleene.notation.exact import ExactMatrix
from kleene.programs.turing import TuringMachine

Construction = Literal["compact", "merged"]
Numbers = Literal["exact", "float32", "float64"]
MOST_MERGED = 5_000  # units; more would take minutes and gigabytes


def compile_turing(
    machine: TuringMachine, *, construction: Construction = "compact", dtype: Numbers = "exact"
) -> TuringRNN:
    """The network that runs the machine: configuration by configuration the same.

    "merged" takes one tick for each step, as in Chiang's notes. "compact" has a fifth of the units; it takes one more
    tick in all, and one more for every bump into the left end. Floating networks are exact as long as the tape stays
    within their limit, and refuse to go past it.

    >>> from kleene.programs.turing import TuringMachine
    >>> one = TuringMachine(transitions={("q", "1"): ("yes", "1", "R"), ("q", "_"): ("no", "_", "R")},
    ...                     start="q", accept="yes", reject="no")
    >>> network = compile_turing(one)
    >>> network.run("1") == one.run("1"), network.run("1").ticks
    (True, 4)
    """
    if construction not in ("compact", "merged"):
        raise CompileError(f"the construction is {construction!r}; it can be 'compact' or 'merged'")
    if dtype not in ("exact", "float32", "float64"):
        raise CompileError(f"the numbers are {dtype!r}; they can be 'exact', 'float32' or 'float64'")
    if construction == "merged":
        _refuse_if_huge(machine)
    base = 3 if dtype == "exact" else 4  # fourths are dyadic: floats hold them exactly
    end = end_symbol(machine.input_alphabet)
    made = Compact.of(machine, end, base) if construction == "compact" else Merged(machine, end, base)
    network = network_of(machine, made, lead=2 if construction == "compact" else 1)
    if dtype == "exact":
        return network
    return in_floats(network, dtype)


def _refuse_if_huge(machine: TuringMachine) -> None:
    """Refuse a merged network of too many units, because nearly all of its units are connected."""
    symbols = len(machine.tape_alphabet) + 1
    lefts = sum(move == "L" for _, _, move in machine.transitions.values())
    units = symbols * (5 * lefts + 4 * (len(machine.transitions) - lefts) + 8) + 4
    if units > MOST_MERGED:
        raise CompileError(
            f"the merged network of {machine.name} would have {units:,} units, and {MOST_MERGED:,} is the limit: its "
            f"weights grow with the square. construction='compact' has far fewer"
        )


def end_symbol(alphabet: tuple[str, ...]) -> str:
    """A symbol for the end of the input, which the alphabet does not have."""
    end = "⊣"
    while end in alphabet:
        end += "'"
    return end


def network_of(machine: TuringMachine, made: Compact | Merged, lead: int) -> TuringRNN:
    """The exact network of a construction's formulas."""
    accepted, rejected = made.halted(machine.accept), made.halted(machine.reject)
    step = made.formulas.step(made.start(), [accepted, rejected, -1 * accepted - rejected + 1])
    rnn = as_simple_rnn(
        step, activation="relu", alphabet=made.formulas.symbols, summary=f"the Turing machine {machine.name}"
    )
    inner = ExactMatrix.vstack([ExactMatrix.zeros(1, len(made.formulas.variables)), step.recurrent])
    outer = ExactMatrix.hstack([step.start, step.outer])
    return TuringRNN(rnn, inner, outer, _reading(machine, made, made.formulas, lead))


def _reading(machine: TuringMachine, made: Compact | Merged, formulas: StepFormulas, lead: int) -> TapeReading:
    states: dict[Hashable, int] = {state: code for code, state in enumerate(machine.states)}
    states |= dict.fromkeys((LOAD, REWIND), len(machine.states))
    symbols: dict[Hashable, int] = {symbol: code for code, symbol in enumerate((*machine.tape_alphabet, BOTTOM))}
    roles = made.roles()
    return TapeReading(
        states=machine.states,
        symbols=machine.tape_alphabet,
        blank=machine.blank,
        accept=machine.accept,
        reject=machine.reject,
        base=formulas.base,
        lead=lead,
        state_of=tuple(states.get(role.get("state"), -1) for role in roles),
        scanned_of=tuple(symbols.get(role.get("scanned"), -1) for role in roles),
        left_of=tuple(symbols.get(role.get("left"), -1) for role in roles),
        right_of=tuple(symbols.get(role.get("right"), -1) for role in roles),
    )


def networks(machine: TuringMachine, **options: Any) -> list[TuringRNN]:
    """The network of the construction in `options`; without one, of both, unless the merged one is too large."""
    if "construction" in options:
        return [compile_turing(machine, **options)]
    found = [compile_turing(machine, construction="compact", **options)]
    with contextlib.suppress(CompileError):
        found.append(compile_turing(machine, construction="merged", **options))
    return found


def inputs(machine: TuringMachine, entry: Entry | None, samples: int, max_length: int, seed: int) -> list[Word]:
    return some_words(machine.input_alphabet, samples, max_length, seed)


def judges(machine: TuringMachine, entry: Entry | None, reference: Callable[[Any], Any] | None) -> dict[str, Callable]:
    """The judge of whether the given reference, or the entry's own, accepts the same words."""
    reference = reference or (None if entry is None else entry.reference)

    def plain(word: Word, mine: Computation) -> str | None:
        assert reference is not None
        expected = "accept" if reference("".join(word)) else "reject"
        if mine.verdict in ("running", expected):
            return None
        return f"the verdict is {mine.verdict}, the plain reference says {expected}"

    return {} if reference is None else {REFERENCE: plain}
