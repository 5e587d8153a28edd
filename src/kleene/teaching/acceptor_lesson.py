"""Teaching a recurrent network a regular language, with as many of the automaton's states as one likes for hints.

Beyond the paper: the trace of an automaton is a subtrace like any other. A linear decoder, trained along, reads a state
off the hidden vector, and the hints are cross-entropies on what it reads.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
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
from kleene.teaching.hints import Hints, with_hints
from kleene.teaching.lessons import Setting

KINDS = ("none", "states", "scattered")


class Words(NamedTuple):
    """Padded words, where they end, whether they are in the language, and the state after each symbol."""

    symbols: Int[Array, "batch step"]
    lengths: Int[Array, " batch"]
    accepted: Float[Array, " batch"]
    states: Int[Array, "batch step"]
    revealed: Float[Array, "batch step"]


class Pupil(eqx.Module):
    """The network, and the decoder that reads states off it while it is taught."""

    machine: Recurrent
    decoder: Float[Array, "states hidden"]
    decoder_bias: Float[Array, " states"]

    def trace(self, symbols: Int[Array, " step"]) -> dict[str, Any]:
        """What the network says and what the decoder reads, after each symbol."""
        start = self.machine.start()
        recorded = run(self.machine, Start(*start), symbols)
        hidden = self.machine.hidden(recorded["state"])
        return {"output": recorded["output"][:, 0], "state": hidden @ self.decoder.T + self.decoder_bias}


class AcceptorLesson:
    """A `SimpleRNN` (tanh) or an `LSTM` that learns which words an automaton accepts, from labels at their ends.

    Kinds of hints: "states" reveals all states of a share of the examples, "scattered" that share of all states.
    Half of the words are drawn from all words of their length, half from the accepted ones, so that a language that
    has few words is not all rejections. A run generalises when it is right on every test word of every length.
    """

    kinds = KINDS
    default_iterations = 2_000

    def __init__(
        self,
        dfa: DFA,
        *,
        name: str = "language",
        machine: str = "rnn",
        hidden: int = 32,
        longest: int = 10,
        lengths: Sequence[int] = (5, 10, 15, 20, 30, 40),
        batch: int = 32,
        rate: float = 3e-3,
    ):
        if machine not in ("rnn", "lstm"):
            raise InputError(f"no machine {machine!r} for a regular language; there are rnn and lstm")
        least = {"longest": (longest, 1), "lengths": (min(lengths, default=0), 1), "hidden": (hidden, 1)}
        for what, (given, smallest) in (least | {"batch": (batch, 2)}).items():  # half of a batch is accepted words
            if given < smallest:
                raise InputError(f"{what} is {given}, which is too small; give {smallest} or more")
        _check_words(dfa, name, lengths)
        self.dfa, self.name, self.machine, self.hidden = dfa, f"{name} {machine}", machine, hidden
        self.longest, self.lengths, self.batch, self.rate = longest, tuple(lengths), batch, rate
        self.optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))
        self.tests = 64
        self._table, self._accepting = jnp.asarray(dfa.table), jnp.asarray(dfa.accepting)
        self._draws = jnp.asarray(accepted_draws(dfa, max(longest, *lengths)))

    def facts(self) -> dict[str, Any]:
        shown = {k: getattr(self, k) for k in ("name", "machine", "hidden", "longest", "batch", "rate")}
        table, accept = self.dfa.table.tolist(), np.flatnonzero(self.dfa.accepting).tolist()
        language = {"start": self.dfa.start_code, "table": table, "accept": accept}
        return shown | {"lengths": list(self.lengths), "language": language}

    def fresh(self, key: PRNGKeyArray) -> Pupil:
        first, second = jax.random.split(key)
        if self.machine == "lstm":
            network: Any = LSTM.random(self.dfa.alphabet, self.hidden, outputs=1, key=first)
        else:
            network = SimpleRNN.random(self.dfa.alphabet, self.hidden, activation="tanh", key=first)
        shape = (len(self.dfa.states), self.hidden)
        decoder = jax.random.normal(second, shape) / np.sqrt(self.hidden)
        return Pupil(Recurrent(network), decoder, jnp.zeros(shape[0]))

    def beginning(self) -> PyTree:
        return ()

    def advance(self, model: PyTree, progress: PyTree, key: PRNGKeyArray, setting: Setting) -> PyTree:
        return progress

    def examples(self, key: PRNGKeyArray, progress: PyTree, setting: Setting) -> Words:
        for_length, for_words, for_hints = jax.random.split(key, 3)
        # A tenth of the code that randint compiles to, and as even as a float can be.
        lengths = 1 + jnp.floor(jax.random.uniform(for_length, (self.batch,)) * self.longest).astype(jnp.int32)
        return self._words(for_words, for_hints, lengths, self.longest, setting)

    def _words(self, key: PRNGKeyArray, hints: PRNGKeyArray, lengths: Array, steps: int, setting: Setting) -> Words:
        batch = len(lengths)
        chances = jax.random.uniform(key, (batch, steps))
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
        last, (symbols, states) = jax.lax.scan(step, start, (jnp.arange(steps), chances.T))
        inside = (jnp.arange(steps) < lengths[:, None]).astype(jnp.float32)
        some, all_of = jax.random.uniform(hints, (2, batch, steps)) < setting.density
        revealed = jnp.where(setting.kind == 2, some, all_of[:, :1]) & (setting.kind > 0)
        return Words(symbols.T, lengths, self._accepting[last].astype(jnp.float32), states.T, revealed * inside)

    def loss(self, model: Pupil, batch: Words, setting: Setting) -> tuple[Array, dict[str, Array]]:
        def of_one(word: Words) -> tuple[Array, Array]:
            trace = model.trace(word.symbols)
            said = trace["output"][word.lengths - 1]
            task = optax.sigmoid_binary_cross_entropy(said, word.accepted)
            read = {"state": jax.nn.log_softmax(trace["state"])}
            loss = with_hints(task, setting.strength, read, {"state": Hints(word.states, word.revealed)})
            return loss, (said > 0) == (word.accepted > 0.5)

        losses, right = jax.vmap(of_one)(batch)
        return losses.mean(), {"accuracy": right.mean()}

    def test(self, model: Pupil, key: PRNGKeyArray) -> dict[str, Array]:
        nothing = Setting(jnp.array(0), jnp.array(0.0), jnp.array(0.0))
        lengths = jnp.repeat(jnp.array(self.lengths), self.tests)
        words = self._words(key, key, lengths, max(self.lengths), nothing)
        said = jax.vmap(lambda symbols, length: model.trace(symbols)["output"][length - 1])(words.symbols, lengths)
        right = (said > 0) == (words.accepted > 0.5)
        return {"accuracy_by_length": right.reshape(len(self.lengths), self.tests).mean(axis=1)}

    def generalises(self, tested: dict[str, np.ndarray]) -> np.ndarray:
        return (tested["accuracy_by_length"] == 1).all(axis=-1)


def _check_words(dfa: DFA, name: str, lengths: Sequence[int]) -> None:
    """Refuse a language without words to test: a network that rejects everything would pass."""
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
    """How to draw a word uniformly from the accepted ones: the cumulative chances of the next symbol, of shape (symbols
    that remain after it, state, symbol). Where nothing can be accepted any more, all symbols are as likely.
    """
    symbols = len(dfa.alphabet)
    ways = dfa.accepting.astype(np.float64)  # the share of words that are accepted from each state
    found = []
    for _ in range(longest):
        by_symbol = ways[dfa.table]
        total = by_symbol.sum(axis=1, keepdims=True)
        chances = np.where(total > 0, by_symbol / np.where(total > 0, total, 1), 1 / symbols)
        found.append(np.cumsum(chances, axis=1))
        ways = by_symbol.mean(axis=1)
    return np.stack(found).astype(np.float32)
