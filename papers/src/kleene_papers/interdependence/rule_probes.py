"""What a language model has learned of the rule α Q ω, measured at every test during training.

Everything is measured on windows of a test: ten tokens before α, read from an empty memory, then α, the scaffold, ω and
the token after it. The tokens before α are never in focus. Windows of shorter scaffolds are padded on the right, where
nothing is measured, so that one jitted program measures corpora of different k.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kleene.errors import InputError
from kleene.explaining.words.parts import Parts, decomposable
from kleene.explaining.words.sharing import PAPERS
from kleene.machines.lstm.lstm import LSTM, Memory
from kleene.machines.lstm.streams import next_token_losses, read_streams, still
from kleene.tasks.rules import RuleCorpus, RuleText

CONTEXT = 10  # tokens before α


class Windows(NamedTuple):
    """The rules of some texts: the tokens before α, and those from α on, [kinds, …] or of one kind."""

    before: Int[Array, "*kinds context rules"]
    tokens: Int[Array, "*kinds steps rules"]  # α, the longest scaffold, ω, the token after it


@dataclass(frozen=True)
class RuleProbes:
    """A probe for a language lesson; the kinds of the lesson are the corpora here, in the same order.

    It gives means over the rules of a test. `in` is the test with the scaffolds of the training corpus, `out` the one
    with random scaffolds; P(ω) is read after the last token of the scaffold.

    - `omega_in`, `omega_out`: P(ω).
    - `omega_by_prefix_in`, `omega_by_prefix_out`: P(ω) by what α and the first i scaffold tokens contribute, for i = 0
      (that is α alone) to the largest k. After a corpus's own k, its last value is repeated.
    - `omega_by_scaffold_in`, `omega_by_scaffold_out`: P(ω) by what the scaffold contributes.
    - `interdependence_in`: DI(α, scaffold) at the hidden state, `interdependence_logits_in`: at the logits.
    - `gradient_in`: the norm of ∂E/∂h after α, each scaffold token and ω, where E sums -ln P of the tokens after α up
      to the one after ω; NaN past the corpus's own k.
    """

    lengths: Int[Array, " kinds"]
    in_domain: Windows
    out_domain: Windows

    @classmethod
    def of(cls, corpora: Sequence[RuleCorpus], rules: int, context: int = CONTEXT) -> "RuleProbes":
        """The probes for some corpora, on `rules` rules of each test."""
        longest = max(corpus.settings.length for corpus in corpora)
        tests = ([c.in_domain for c in corpora], [c.out_domain for c in corpora])
        found = ([windows(text, rules, context, longest) for text in texts] for texts in tests)
        stacked = [Windows(*(jnp.stack(part) for part in zip(*each))) for each in found]
        return cls(jnp.array([corpus.settings.length for corpus in corpora]), *stacked)

    def __call__(self, network: LSTM, key: Array, kind: Int[Array, ""]) -> dict[str, Array]:
        length, omega = self.lengths[kind], len(network.vocabulary) - 1
        steps = self.in_domain.tokens.shape[1] - 2  # up to where ω is predicted
        foci = jnp.concatenate([_prefixes(steps, length), _scaffold(steps, length)])
        measured = {}
        for domain, tests in (("in", self.in_domain), ("out", self.out_domain)):
            found = Windows(*(part[kind] for part in tests))
            parts = relevant(network, found, foci, length)
            by_focus = _probability(network, parts, omega, bias=False)
            measured |= {
                f"omega_{domain}": _probability(network, _read(network, found, length), omega),
                f"omega_by_prefix_{domain}": by_focus[:-1],
                f"omega_by_scaffold_{domain}": by_focus[-1],
            }
            if domain == "in":
                three = parts[-2], parts[0], parts[-1]
                measured["interdependence_in"] = _interdependence(*three)
                measured["interdependence_logits_in"] = _interdependence(*(part @ network.decoder.T for part in three))
                measured["gradient_in"] = gradients(network, found, length)
        return measured


def windows(text: RuleText, rules: int, context: int, longest: int) -> Windows:
    """The windows of `rules` rules of a test, evenly chosen among those that are not too near to one of its ends."""
    whole = text.opens[(text.opens >= context) & (text.closes + 1 < len(text.tokens))]
    if len(whole) < rules:
        raise InputError(
            f"{rules} rules are to be measured, and the test has {len(whole)} with {context} tokens before them; "
            f"take more `test_rules`"
        )
    opens = whole[np.linspace(0, len(whole) - 1, rules).astype(int)]
    padded = np.pad(text.tokens, (0, longest))
    steps = text.length + 3
    tokens = np.zeros((longest + 3, rules), np.int32)
    tokens[:steps] = padded[opens + np.arange(steps)[:, None]]
    before = padded[opens - context + np.arange(context)[:, None]]
    return Windows(jnp.asarray(before), jnp.asarray(tokens))


def relevant(
    network: LSTM, found: Windows, foci: Bool[Array, "foci step"], length: Int[Array, ""]
) -> Float[Array, "foci rules hidden"]:
    """The relevant part of the hidden state where ω is predicted, by contextual decomposition, for each focus."""
    rules, hidden = found.tokens.shape[1], network.decoder.shape[1]
    rows = len(foci) * rules
    state = jax.tree.map(lambda leaf: jnp.tile(leaf, (len(foci), 1, 1)), _after_context(network, found))
    recurrence: Any = decomposable(network).recurrence

    def step(carry: tuple[Parts, Array], now: tuple[Array, Array, Array]) -> tuple[tuple[Parts, Array], None]:
        parts, kept = carry
        number, token, ours = now
        entry = recurrence.embedding[jnp.tile(token, len(foci))]
        parts = recurrence.advance(PAPERS, parts, entry, jnp.repeat(ours, rules))
        return (parts, jnp.where(number == length, parts.relevant.hidden[:, -1], kept)), None

    start = (Parts(jax.tree.map(jnp.zeros_like, state), state), jnp.zeros((rows, hidden), network.decoder.dtype))
    steps = foci.shape[1]
    _, kept = jax.lax.scan(step, start, (jnp.arange(steps), found.tokens[:steps], foci.T))[0]
    return kept.reshape(len(foci), rules, hidden)


def gradients(network: LSTM, found: Windows, length: Int[Array, ""]) -> Float[Array, " step"]:
    """The mean norm of ∂E/∂h after each token of the rule, α first and ω last."""
    tokens, targets = found.tokens[:-1], found.tokens[1:]
    counts = jnp.arange(len(tokens)) <= length + 1
    start = _after_context(network, found)

    def error(nudges: Array) -> Array:
        def step(memory: Memory, now: tuple[Array, Array]) -> tuple[Memory, Array]:
            token, nudge = now
            after = jax.vmap(network)(memory, token)
            after = Memory(after.hidden.at[:, -1].add(nudge), after.cell)
            return after, after.hidden[:, -1]

        states = jax.lax.scan(step, start, (tokens, nudges))[1]
        losses, _ = next_token_losses(network, states, targets)
        return jnp.sum(losses, where=counts[:, None])

    shape = (*tokens.shape, network.decoder.shape[1])
    norms = jnp.linalg.norm(jax.grad(error)(jnp.zeros(shape, network.decoder.dtype)), axis=-1)
    return jnp.where(counts, norms.mean(axis=1), jnp.nan)


def _prefixes(steps: int, length: Array) -> Bool[Array, "foci step"]:
    """α and the first i tokens of the scaffold, for each i."""
    step = jnp.arange(steps)
    return (step <= step[:, None]) & (step <= length)


def _scaffold(steps: int, length: Array) -> Bool[Array, "1 step"]:
    step = jnp.arange(steps)
    return ((step >= 1) & (step <= length))[None]


def _after_context(network: LSTM, found: Windows) -> Memory:
    start = still(network, found.before.shape[1])
    return read_streams(network, found.before, start)[1] if len(found.before) else start


def _read(network: LSTM, found: Windows, length: Array) -> Float[Array, "rules hidden"]:
    """The hidden state where ω is predicted."""
    return read_streams(network, found.tokens, _after_context(network, found))[0][length]


def _probability(network: LSTM, hidden: Float[Array, "*foci rules hidden"], omega: int, bias: bool = True) -> Array:
    """The mean P(ω) over the rules. Contributions of words are decoded without the bias, as in the papers."""
    logits = hidden @ network.decoder.T + (network.decoder_bias if bias else 0)
    return jax.nn.softmax(logits)[..., omega].mean(axis=-1)


def _interdependence(both: Array, one: Array, other: Array) -> Float[Array, ""]:
    above, below = (jnp.linalg.norm(side, axis=-1) for side in (both - one - other, both))
    return jnp.where(above == 0, 0, above / below).mean()
