"""Teaching recurrent networks regular languages, with any share of the automaton's states as hints.

This is ours, beyond the partial-traces paper: the trace of an automaton gives hints like any other. A linear decoder
that is trained with the network reads a state off the hidden vector, and a hint is a cross-entropy on its output.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from kleene.errors import InputError
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.ncm import Recurrent, Start, run
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.programs.automata import DFA
from kleene.teaching.hints import Draws, Policy, ProgramTrace, everything
from kleene.teaching.lesson import Examples, Lesson, Pupil, Record, Score, Setting, Task, Trainable
from kleene.teaching.options import AcceptorOptions

POLICIES = {"states": Policy(everything), "scattered": Policy(everything, scattered=True)}


class PaddedWords(NamedTuple):
    """Words padded to one length, and their own lengths."""

    symbols: Int[Array, "batch step"]
    lengths: Int[Array, " batch"]


class LanguageTask(Task):
    """Whether a word is in the language of an automaton; the trace has the state after each symbol.

    Half of the words are drawn from all words of their length and half from the accepted ones, so that examples of a
    sparse language are not all rejected.
    """

    def __init__(self, dfa: DFA, name: str, longest: int, lengths: Sequence[int]):
        self.dfa, self.name, self.longest, self.lengths = dfa, name, longest, tuple(lengths)
        self._table, self._accepting = jnp.asarray(dfa.table), jnp.asarray(dfa.accepting)
        self._draws = jnp.asarray(accepted_draws(dfa, max(longest, *lengths)))

    def training_lengths(self, key: PRNGKeyArray, progress: PyTree, count: int) -> Int[Array, " batch"]:
        # This compiles to a tenth of the code of randint, and is uniform up to rounding.
        return 1 + jnp.floor(jax.random.uniform(key, (count,)) * self.longest).astype(jnp.int32)

    def examples(
        self, key: PRNGKeyArray, lengths: Int[Array, " batch"], longest: int, *, training: bool = False
    ) -> Examples:
        batch = len(lengths)
        chances = jax.random.uniform(key, (batch, longest))
        from_language = jnp.arange(batch) % 2 == 0

        def step(state: Array, at: tuple[Array, Array]) -> tuple[Array, tuple[Array, Array]]:
            position, chance = at
            remaining = jnp.maximum(lengths - position - 1, 0)
            uniform = jnp.arange(1, self._table.shape[1] + 1) / self._table.shape[1]
            limits = jnp.where(from_language[:, None], self._draws[remaining, state], uniform)
            symbol = jnp.sum(chance[:, None] >= limits[:, :-1], axis=1)
            after = self._table[state, symbol]
            return jnp.where(position < lengths, after, state), (symbol, after)

        start = jnp.full(batch, self.dfa.start_code, self._table.dtype)
        last, (symbols, states) = jax.lax.scan(step, start, (jnp.arange(longest), chances.T))
        inside = jnp.arange(longest) < lengths[:, None]
        trace = ProgramTrace({"state": states.T}, {"state": inside}, lengths)
        return Examples(PaddedWords(symbols.T, lengths), self._accepting[last].astype(jnp.float32), trace)

    def score(self, record: Record, examples: Examples) -> Score:
        """The output after the last symbol is the logit of accepting the word."""
        losses = optax.sigmoid_binary_cross_entropy(record.output, examples.targets)
        return Score(losses, (record.output > 0) == (examples.targets > 0.5))

    def test(
        self, record: Callable[[Examples], Record], model: PyTree, key: PRNGKeyArray, setting: Setting, count: int
    ) -> dict[str, Array]:
        """Accuracy on words of all lengths in one batch, because a recurrent network is fast on a large batch."""
        lengths = jnp.repeat(jnp.array(self.lengths), count)
        examples = self.examples(key, lengths, max(self.lengths))
        right = self.score(record(examples), examples).right
        return {"accuracy_by_length": right.reshape(len(self.lengths), count).mean(axis=1)}


@dataclass(frozen=True)
class Acceptor(Trainable):
    """A `SimpleRNN` (tanh) or an `LSTM` with one output, and a decoder that reads states off its hidden vector."""

    dfa: DFA
    machine: str
    hidden: int

    def fresh(self, key: PRNGKeyArray) -> Pupil:
        first, second = jax.random.split(key)
        if self.machine == "lstm":
            network: Any = LSTM.random(self.dfa.alphabet, self.hidden, outputs=1, key=first)
        else:
            network = SimpleRNN.random(self.dfa.alphabet, self.hidden, activation="tanh", key=first)
        shape = (len(self.dfa.states), self.hidden)
        decoder = jax.random.normal(second, shape) / np.sqrt(self.hidden)
        return Pupil(Recurrent(network), (decoder, jnp.zeros(shape[0])))

    def record(self, model: Pupil, examples: Examples, *, training: bool) -> Record:
        """The output after the last symbol, and the decoder's log-probabilities of states after each symbol."""

        def one(symbols: Int[Array, " step"], length: Int[Array, ""]) -> tuple[Float[Array, ""], Array]:
            recorded = run(model.machine, Start(*model.machine.start()), symbols)
            weights, bias = model.decoder
            states = model.machine.hidden(recorded["state"]) @ weights.T + bias
            return recorded["output"][:, 0][length - 1], jax.nn.log_softmax(states)

        output, states = jax.vmap(one)(*examples.inputs)
        return Record(output, {"state": states})

    def bare(self, model: Pupil) -> SimpleRNN | LSTM:
        return model.machine.network


def state_draws(key: PRNGKeyArray, trace: ProgramTrace, chances: int) -> Draws:
    """A random number for each state, and one for each word."""
    entry, example = jax.random.uniform(key, (2, *trace.targets["state"].shape))
    return Draws(example[:, 0], jnp.zeros((len(entry), chances)), {"state": entry})


def acceptor_lesson(
    dfa: DFA,
    *,
    name: str = "language",
    machine: str = "rnn",
    **options: Any,
) -> Lesson:
    """The lesson of a network that learns which words an automaton accepts, from one label per word.

    There are two kinds of hints: "states" reveals all states of a share of the examples, "scattered" that share of all
    states. A run generalises when it is right on every test word of every length. The options are `AcceptorOptions`.
    """
    given = AcceptorOptions(**options)
    if machine not in ("rnn", "lstm"):
        raise InputError(f"no machine {machine!r} for a regular language; there are rnn and lstm")
    _check_words(dfa, name, given.lengths)
    language = {"table": dfa.table.tolist(), "accept": np.flatnonzero(dfa.accepting).tolist()}
    clip = () if given.clip == AcceptorOptions().clip else ("clip",)  # the default was stored under no name
    config = {"name": f"{name} {machine}", "machine": machine, "language": {"start": dfa.start_code} | language}
    return Lesson(
        LanguageTask(dfa, f"{name} {machine}", given.longest, given.lengths),
        Acceptor(dfa, machine, given.hidden),
        POLICIES,
        optimiser=optax.chain(optax.clip_by_global_norm(given.clip), optax.adam(given.rate)),
        batch=given.batch,
        tests=64,
        iterations=2_000,
        draws=state_draws,
        config=config | given.stored("hidden", "longest", "batch", "rate", "lengths", *clip),
    )


def _check_words(dfa: DFA, name: str, lengths: Sequence[int]) -> None:
    """Refuse a language without words of the tests' lengths, because a network that rejects everything would pass."""
    reached, accepted = dfa.table[[dfa.start_code]].ravel(), set()
    for length in range(1, max(lengths) + 1):
        if dfa.accepting[reached].any():
            accepted.add(length)
        reached = np.unique(dfa.table[reached])
    if not accepted & set(lengths):
        raise InputError(
            f"{name!r} accepts no word of {', '.join(map(str, lengths))} symbols, the lengths of the tests, so that a "
            f"network which rejects everything would pass. Give another language; if it was meant as the name of an "
            f"automaton, there is none of that name, and it was read as a regular expression"
        )


def accepted_draws(dfa: DFA, longest: int) -> np.ndarray:
    """The cumulative probabilities of the next symbol when an accepted word is drawn uniformly.

    The shape is (symbols that remain after it, state, symbol). Symbols are equally likely where no word can be accepted
    any more.
    """
    symbols = len(dfa.alphabet)
    shares = dfa.accepting.astype(np.float64)  # the share of words that are accepted from each state
    found = []
    for _ in range(longest):
        by_symbol = shares[dfa.table]
        total = by_symbol.sum(axis=1, keepdims=True)
        chances = np.where(total > 0, by_symbol / np.where(total > 0, total, 1), 1 / symbols)
        found.append(np.cumsum(chances, axis=1))
        shares = by_symbol.mean(axis=1)
    return np.stack(found).astype(np.float32)
