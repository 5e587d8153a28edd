"""Theorem 4.4: a finite automaton becomes a simple recurrent network with integer weights.

A hidden unit stands for a transition (q, a). It is 1 just after the transition was taken, and so marks the state that
was entered. By Lemma 4.5 a recurrent step of two layers becomes a simple recurrent network with one more unit. The
theorem and the lemma are in Chiang's notes.

`inputs`, `judges` and `extracted_difference` tell `kleene.check` what to run an automaton on and what to compare it
with: automata-lib, a reference if there is one, and the automaton extracted back from the network.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kleene import kinds
from kleene.compiling.checking import REFERENCE
from kleene.compiling.lstm_automata import as_lstm
from kleene.errors import CompileError
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.rnn.execution import StateReading
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.console import Entry
from kleene.notation.exact import ExactMatrix
from kleene.programs.automata import DFA
from kleene.traces import Trace


@dataclass(frozen=True)
class Transitions:
    """Transitions that get a unit: from sources[k], on symbols[k], to targets[k], all by their numbers."""

    sources: np.ndarray
    symbols: np.ndarray
    targets: np.ndarray

    def where(self, kept: np.ndarray) -> "Transitions":
        return Transitions(self.sources[kept], self.symbols[kept], self.targets[kept])


def compile_dfa(
    dfa: DFA,
    *,
    machine: Literal["rnn", "lstm"] = "rnn",
    form: Literal["live", "textbook"] = "live",
    activation: Literal["relu", "slu"] | None = None,
    dtype: Literal["exact", "float32", "float64"] | None = None,
) -> SimpleRNN | LSTM:
    """The network whose decoded trace is the automaton's, state by state, on every word; its output is 1 or 0.

    The textbook form has a unit for each transition and a start flag, |Q|·|Σ| + 1 in all, and all weights are -1, 0
    or 1. The live form leaves out the transitions that the start cannot reach. It also leaves out the transitions into
    *one* state that rejects and is never left; the zero vector stands for that state. Further dead states keep their
    units, because the trace could not tell them apart otherwise. The live form has no start flag if a transition leads
    back into the start, whose unit then takes the flag's place.

    A simple RNN has "relu" units and "exact" weights by default. An LSTM has gates, float32 weights and a unit for
    each unit of the RNN; see `as_lstm`.

    >>> parity = DFA.from_regex("0*1(0|10*1)*")
    >>> compile_dfa(parity, form="textbook").size.hidden_units, compile_dfa(parity).size.hidden_units
    (5, 4)
    >>> compile_dfa(parity).run("110") == parity.run("110")
    True
    """
    if form not in ("live", "textbook"):
        raise CompileError(f"there is no form {form!r} of a compiled automaton; the forms are 'live' and 'textbook'")
    if activation not in ("relu", "slu", None):
        raise CompileError(f"an automaton is compiled with activation 'relu' or 'slu', not {activation!r}")
    if dtype not in ("exact", "float32", "float64", None):
        raise CompileError(f"an automaton is compiled to exact, float32 or float64 weights, not {dtype!r}")
    if machine not in ("rnn", "lstm"):
        raise CompileError(f"an automaton is compiled into a machine 'rnn' or 'lstm', not {machine!r}")
    network = _exact_network(dfa, form, activation or "relu")
    if machine == "lstm":
        _check_lstm(dfa, activation, dtype)
        return as_lstm(network)
    return network if dtype in ("exact", None) else network.to_float(dtype)


def _check_lstm(dfa: DFA, activation: str | None, dtype: str | None) -> None:
    if activation is not None:
        raise CompileError(
            f"activation {activation!r} is for a simple RNN, and an LSTM has its own gates; leave it out"
        )
    if dtype not in ("float32", None):
        raise CompileError(f"an automaton becomes an LSTM with float32 weights, not {dtype}; leave dtype out")
    if not dfa.alphabet:
        raise CompileError("an LSTM embeds symbols, and this automaton's alphabet has none; compile it into an 'rnn'")


def _exact_network(dfa: DFA, form: str, activation: Literal["relu", "slu"]) -> SimpleRNN:
    transitions = _all_transitions(dfa)
    if form == "textbook":
        return _network(dfa, transitions, None, activation)
    reachable = _reachable(dfa)
    transitions = transitions.where(reachable[transitions.sources])
    sink = _sink(dfa, transitions, reachable)
    if sink is not None and sink == dfa.start_code:
        return _empty_language(dfa, sink, activation)
    if sink is not None:
        transitions = transitions.where(transitions.targets != sink)
    network = _network(dfa, transitions, sink, activation)
    back = np.flatnonzero(transitions.targets == dfa.start_code)
    return _without_flag(network, int(back[0])) if len(back) else network


def _all_transitions(dfa: DFA) -> Transitions:
    sources, symbols = np.indices(dfa.table.shape).reshape(2, -1)
    return Transitions(sources, symbols, dfa.table.reshape(-1).astype(np.int64))


def _reachable(dfa: DFA) -> np.ndarray:
    """Which states a word can lead to."""
    found = np.zeros(len(dfa.states), dtype=bool)
    frontier = np.array([dfa.start_code])
    while len(frontier):
        found[frontier] = True
        targets = np.unique(dfa.table[frontier])
        frontier = targets[~found[targets]]
    return found


def _sink(dfa: DFA, transitions: Transitions, reachable: np.ndarray) -> int | None:
    """The state that the zero vector can stand for: it rejects and is never left. Of several, the most entered one."""
    stays = (dfa.table == np.arange(len(dfa.states))[:, None]).all(axis=1)
    sinks = np.flatnonzero(~dfa.accepting & stays & reachable)
    entered = np.bincount(transitions.targets, minlength=len(dfa.states))
    return int(sinks[np.argmax(entered[sinks])]) if len(sinks) else None


def _network(dfa: DFA, transitions: Transitions, sink: int | None, activation: str) -> SimpleRNN:
    """g[q, a] = σ(h[q] + x[a] − 1), h[r] = Σ g[q, a] over the transitions (q, a) into r; then Lemma 4.5."""
    states, symbols, units = len(dfa.states), len(dfa.alphabet), len(transitions.sources)
    each, ones, start = np.arange(units), np.ones(units, dtype=np.int64), dfa.start_code
    accepting = np.flatnonzero(dfa.accepting)
    step = TwoLayerStep(
        recurrent=ExactMatrix.from_parts((units, states), each, transitions.sources, ones),
        inputs=ExactMatrix.from_parts((units, symbols), each, transitions.symbols, ones),
        bias=ExactMatrix.from_parts((units, 1), each, each * 0, -ones),
        outer=ExactMatrix.from_parts((states, units), transitions.targets, each, ones),
        outer_bias=ExactMatrix.zeros(states),
        start=ExactMatrix.from_entries((states, 1), {(start, 0): 1}),
        readout=ExactMatrix.from_parts((1, states), accepting * 0, accepting, np.ones_like(accepting)),
        readout_bias=ExactMatrix.zeros(1),
    )
    reading = StateReading(_labels(dfa), (start, *transitions.targets.tolist()), sink)
    return as_simple_rnn(step, activation=activation, alphabet=dfa.alphabet, reading=reading)


def _without_flag(network: Any, unit: int) -> SimpleRNN:
    """The network without its start flag; `unit`, which marks the same state, is 1 at the start instead."""
    reading = StateReading(network.reading.states, network.reading.units[1:], network.reading.dead)
    return SimpleRNN(
        recurrent=network.recurrent.without_first(1, 1),
        inputs=network.inputs.without_first(1, 0),
        bias=network.bias.without_first(1, 0),
        start=ExactMatrix.from_entries((network.hidden_units - 1, 1), {(unit, 0): 1}),
        readout=network.readout.without_first(0, 1),
        readout_bias=network.readout_bias,
        **(network.description() | {"reading": reading}),
    )


def _empty_language(dfa: DFA, sink: int, activation: Any) -> SimpleRNN:
    """A network of one unit that is always 0: no word is accepted, and the start is never left."""
    return SimpleRNN(
        recurrent=ExactMatrix.zeros(1, 1),
        inputs=ExactMatrix.zeros(1, len(dfa.alphabet)),
        bias=ExactMatrix.zeros(1),
        start=ExactMatrix.zeros(1),
        readout=ExactMatrix.zeros(1, 1),
        readout_bias=ExactMatrix.zeros(1),
        activation=activation,
        alphabet=dfa.alphabet,
        reading=StateReading(_labels(dfa), (sink,), sink),
    )


def _labels(dfa: DFA) -> tuple[str, ...]:
    return tuple(str(state) for state in dfa.states)


@dataclass(frozen=True)
class TwoLayerStep:
    """g = σ(V h + W x + b), h' = U g + c, starting from h = s; the output is readout · h + readout_bias."""

    recurrent: ExactMatrix
    inputs: ExactMatrix
    bias: ExactMatrix
    outer: ExactMatrix
    outer_bias: ExactMatrix
    start: ExactMatrix
    readout: ExactMatrix
    readout_bias: ExactMatrix

    def __post_init__(self) -> None:
        inner, width = self.recurrent.shape
        symbols, outputs = self.inputs.shape[1], self.readout.shape[0]
        expected = {
            "inputs": (inner, symbols), "bias": (inner, 1), "outer": (width, inner), "outer_bias": (width, 1),
            "start": (width, 1), "readout": (outputs, width), "readout_bias": (outputs, 1),
        }  # fmt: skip
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise CompileError(
                    f"{name} of a two-layer step has shape {getattr(self, name).shape}, and {shape} was expected "
                    f"beside a recurrent of shape {self.recurrent.shape}"
                )


def as_simple_rnn(step: TwoLayerStep, **description: Any) -> SimpleRNN:
    """The simple RNN that computes the step (Lemma 4.5): its hidden vectors are (start flag, g).

    The outer layer moves into the next step. Nothing comes before the first step, so a flag that is 1 at the start and
    0 ever after contributes s: the outer layer is [s − c | U] acting on (flag, g), plus c. The output before the first
    symbol is therefore that of s. `description` holds the network's other fields: activation, alphabet, threshold,
    reading.
    """
    outer = ExactMatrix.hstack([step.start - step.outer_bias, step.outer])
    return SimpleRNN(
        recurrent=_under_zero(step.recurrent @ outer),
        inputs=_under_zero(step.inputs),
        bias=_under_zero(step.bias + step.recurrent @ step.outer_bias),
        start=ExactMatrix.from_entries((outer.shape[1], 1), {(0, 0): 1}),
        readout=step.readout @ outer,
        readout_bias=step.readout_bias + step.readout @ step.outer_bias,
        **description,
    )


def _under_zero(matrix: ExactMatrix) -> ExactMatrix:
    """The matrix below a row of zeros, which is the start flag's unit."""
    return ExactMatrix.vstack([ExactMatrix.zeros(1, matrix.shape[1]), matrix])


Word = tuple[str, ...]


def inputs(dfa: DFA, entry: Entry | None, samples: int, max_length: int, seed: int) -> list[Word]:
    return some_words(dfa.alphabet, samples, max_length, seed)


def some_words(alphabet: Sequence[str], samples: int, longest: int, seed: int) -> list[Word]:
    """The `samples` shortest words, and as many random ones of up to `longest` symbols."""
    chance = random.Random(seed)
    short = list(itertools.islice(_all_words(alphabet, longest), samples))
    drawn = [chance.choices(alphabet, k=chance.randint(0, longest)) if alphabet else () for _ in range(samples)]
    return short + [tuple(word) for word in drawn]


def _all_words(alphabet: Sequence[str], longest: int) -> Iterator[Word]:
    for length in range(longest + 1):
        yield from itertools.product(alphabet, repeat=length)


def judges(dfa: DFA, entry: Entry | None, reference: Callable[[Any], Any] | None) -> dict[str, Callable]:
    """Judges of whether automata-lib, and the given reference or the entry's own, accept the same words."""
    peer, reference = dfa.to_automata(), reference or (None if entry is None else entry.reference)

    def automata_lib(word: Word, mine: Trace) -> str | None:
        accepted = bool(mine.output)
        differs = peer.accepts_input(word) != accepted
        return f"the automaton says {accepted}, automata-lib {not accepted}" if differs else None

    def plain(word: Word, mine: Trace) -> str | None:
        assert reference is not None
        accepted = bool(mine.output)
        differs = bool(reference("".join(word))) != accepted
        return f"the automaton says {accepted}, the plain reference {not accepted}" if differs else None

    return {"automata-lib": automata_lib} | ({} if reference is None else {REFERENCE: plain})


def extracted_difference(dfa: DFA, network: SimpleRNN | LSTM) -> str | None:
    """A message with a word on which the automaton extracted from an exact network differs, or None."""
    extractor = kinds.of(dfa).extractor
    if not network.is_exact or extractor is None:
        return None
    apart = extractor(network).distinguishing_word(dfa)
    return None if apart is None else f"the automaton extracted differs on {''.join(apart)!r}"
