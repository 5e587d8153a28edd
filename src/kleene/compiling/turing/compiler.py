"""Theorem 4.11 of Chiang's notes: a Turing machine becomes a simple RNN, with rational weights or in floating point.

In floating point the tape may be as long as every sum stays exact, in any order. The stacks are fractions in base 4, so
all numbers of a run are dyadic: integers times some 2^-m. A float holds such a number exactly if it needs no more bits
than the float has. It holds every partial sum of a row exactly if the absolute values of the row's terms add up to no
more than that. Up to a depth of the stacks that is proven here nothing is rounded. The run checks the depth after every
tick and refuses to go past it. (In base 3 longer tapes would fit, but every step rounds, and how the errors add up is
only known by trying.)

`networks`, `inputs` and `judges` tell `kleene.check` what to run a Turing machine on and what to compare it with: the
networks of both constructions, and a reference if there is one.
"""

import contextlib
from collections.abc import Callable, Hashable
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any, Literal

import numpy as np

from kleene.compiling.automata import Word, as_simple_rnn, some_words
from kleene.compiling.checking import REFERENCE
from kleene.compiling.turing.constructions import BOTTOM, LOAD, REWIND, Compact, Merged
from kleene.compiling.turing.formulas import StepFormulas
from kleene.errors import CompileError
from kleene.machines.rnn.exact_floats import NONE, exponents
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


def in_floats(network: TuringRNN, numbers: str) -> TuringRNN:
    """The same network in a floating type; the reading's `limit` is the depth of stacks up to which it is exact."""
    reading = replace(network.reading, limit=tape_limit(network, np.finfo(numbers).nmant + 1))
    if reading.cells < 1:
        raise CompileError(f"in {numbers} this machine would not have a single cell; compile it with dtype='exact'")
    return replace(network, rnn=network.rnn.to_float(numbers), reading=reading)


def tape_limit(network: TuringRNN, bits: int, *, most_looks: int = 4_000) -> int:
    """How deep the stacks may be so that no sum of the network needs more than `bits` bits.

    A set of configurations is judged by the largest value of each variable in any of them, which gives a lower bound.
    The set with the smallest bound is split, until it is a single kind of configuration. A machine with too many kinds
    gets the bound that was proven after looking at about `most_looks` sets.
    """
    rows, parts = _Rows(network), _parts(network.reading)
    waiting: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    looks = 0
    while looks < most_looks and len(waiting[0][2]) < len(parts):
        _, _, chosen = heappop(waiting)
        looks += len(parts[len(chosen)])
        for part in parts[len(chosen)]:
            further = (*chosen, part)
            # Among sets with the same bound the smallest comes first.
            heappush(waiting, (rows.deepest(bits, _most(network.reading, further, parts)), -len(further), further))
    return waiting[0][0]


def _parts(reading: TapeReading) -> list[list[int]]:
    """The variables that make a kind of configuration: state, scanned symbol, tops of the stacks; -1 is none."""
    roles = list(enumerate(zip(reading.state_of, reading.scanned_of)))
    states = [k for k, (state, _) in roles if state >= 0]
    symbols = [k for k, (state, symbol) in roles if state < 0 <= symbol]  # none where one variable stands for both
    return [states, symbols or [-1], [-1, *reading.left_stack], [-1, *reading.right_stack]]


def _most(reading: TapeReading, chosen: tuple[int, ...], parts: list[list[int]]) -> np.ndarray:
    """The largest value of each variable where the first parts are chosen and the others are free."""
    most = np.zeros(len(reading.state_of) + 1)  # the last is for -1
    most[[*reading.left_stack, *reading.right_stack]] = 1 / reading.base
    most[[*chosen, *(k for part in parts[len(chosen) :] for k in part)]] = 1
    return most[:-1]


class _Rows:
    """The network's rows with the exponents of their weights: how coarse and how large their terms are.

    Matrices are stored by column, because only a few variables and units can be other than 0 at a time.
    """

    def __init__(self, network: TuringRNN):
        reading, weights = network.reading, {n: w.to_float() for n, w in network.rnn.weights().items()}
        self.stacked = np.zeros(len(reading.state_of), dtype=bool)
        self.stacked[[*reading.left_stack, *reading.right_stack]] = True
        resting = weights["inputs"] + weights["bias"]
        self.highest, self.largest = resting.max(axis=1), np.abs(resting).max(axis=1)
        self.rest_exponent = exponents(resting).min(axis=1)
        self.inner = np.ascontiguousarray(network.inner.to_float().T)
        self.inner_exponents = exponents(self.inner)
        later = [network.outer.to_float(), weights["readout"], weights["recurrent"]]
        self.later = np.ascontiguousarray(np.concatenate(later).T)
        self.later_exponents = exponents(self.later)
        before = len(later[0]) + len(later[1])  # rows that nothing is added to
        self.later_largest = np.append(np.zeros(before), self.largest)
        self.later_rest = np.append(np.full(before, NONE), self.rest_exponent)

    def deepest(self, bits: int, most: np.ndarray) -> int:
        """The depth of stacks up to which all sums are exact, if no variable is larger than in `most`.

        A unit is a multiple of 2^plain, because of its coarser terms, and of 2^(fine − 2 depth), because of its stack.
        """
        # Other states' variables are exactly 0 here, and so are their terms.
        there = np.flatnonzero(most)
        weights, exponents, most, stacked = (
            part[there] for part in (self.inner, self.inner_exponents, most, self.stacked)
        )
        units = np.maximum(most @ np.maximum(weights, 0) + self.highest, 0)
        fine = exponents[stacked].min(axis=0)
        plain = np.minimum(exponents[~stacked].min(axis=0), self.rest_exponent)
        inner = _depth(bits, most @ np.abs(weights) + self.largest, fine, plain)
        live = np.flatnonzero(units)
        # The run has checked by then that its stacks are no finer than the depth allows.
        held = np.maximum(fine[live], 0)
        later = self.later_exponents[live]
        sizes = units[live] @ np.abs(self.later[live]) + self.later_largest
        thin = (later + held[:, None]).min(axis=0, initial=NONE)
        thick = np.minimum((later + plain[live][:, None]).min(axis=0, initial=NONE), self.later_rest)
        return min(inner, _depth(bits, sizes, thin, thick))


def _depth(bits: int, sizes: np.ndarray, fine: np.ndarray, plain: np.ndarray) -> int:
    """The largest depth at which each size is at most 2^bits times what its terms are multiples of."""
    needed = np.ceil(np.log2(np.maximum(sizes, 2.0**-900)))
    if (needed[plain < NONE // 2] > bits + plain[plain < NONE // 2]).any():
        return 0
    stacks = fine < NONE // 2
    return int(((bits + fine - needed)[stacks] // 2).min(initial=NONE))
