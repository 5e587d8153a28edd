"""Teaching a plain Transformer a program so that it keeps the algorithm: strict interchange intervention training.

SIIT (Gupta, Arcuschin, Kwa and Garriga-Alonso, InterpBench, 2024) adds two losses to that of the outputs: with a value
swapped in from another input the network must answer as the program does under the same swap, and with anything outside
of the alignment swapped in it must answer as before.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.compiling.interchange.accuracy import nowhere, outside, where_of
from kleene.compiling.interchange.alignment import Alignment
from kleene.compiling.interchange.counterfactuals import Counterfactuals
from kleene.compiling.interchange.pairs import held_out, site_pairs, word_pairs
from kleene.machines.transformer.plain import PlainLayout, PlainTransformer
from kleene.machines.transformer.swapping import Swap, activations_of, swapped
from kleene.teaching.hints import ProgramTrace
from kleene.teaching.lesson import Examples, Record, Score, Setting, Task, Tested, Trainable

CANDIDATES = 4  # swaps among which each example takes one that says something
TELLING = 0.75  # the share of examples that take a swap of different values, where there is one
EVEN = 0.5  # the share of examples whose size is drawn first, and then a word of it; the others are any word


class SwapInputs(NamedTuple):
    """Words and what is swapped into them: the other word, a site and a position, and a key for what lies outside."""

    tokens: Int[Array, "batch position"]
    lengths: Int[Array, " batch"]
    other_tokens: Int[Array, "batch position"]
    other_lengths: Int[Array, " batch"]
    site: Int[Array, " batch"]
    position: Int[Array, " batch"]
    key: Array


class SwapTargets(NamedTuple):
    """The program's outputs, and those under the swap; -1 is not asked for."""

    own: Int[Array, "batch position"]
    swapped: Int[Array, "batch position"]


class SwapOutputs(NamedTuple):
    """The network's logits: of the words as they are, under the swap, and with swaps outside of the alignment."""

    own: Float[Array, "batch position values"]
    swapped: Float[Array, "batch position values"] | None
    outside: Float[Array, "batch position values"] | None


@dataclass(frozen=True, eq=False)
class AlignedTask(Task):
    """The outputs of a program on the words of a table, and under swaps of the values at its sites.

    `swaps` and `strict` are the weights of the two further losses. The tests are exact counts: on all words by their
    size, and on `pairs` held-out pairs for each site, and as many for what lies outside.
    """

    table: Counterfactuals
    alignment: Alignment
    sizes: tuple[int, ...]  # the size of each word
    swaps: float
    strict: float
    pairs: int
    name: str
    trace_of: Callable[[Array], ProgramTrace] | None = None

    @property
    def lengths(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(sorted(set(self.sizes)))

    @property
    def longest(self) -> int:  # type: ignore[override]
        return max(self.sizes)

    @cached_property
    def _likely(self) -> np.ndarray:
        """The cumulative chances of the words."""
        sizes = np.array(self.sizes)
        counts = np.array([(sizes == size).sum() for size in sizes])
        return np.cumsum(EVEN / (len(self.lengths) * counts) + (1 - EVEN) / len(sizes)).astype(np.float32)

    def training_examples(self, key: PRNGKeyArray, progress: Any, setting: Setting, count: int) -> Examples:
        """The batch of one update."""
        keys = jax.random.split(key, 7)

        def words(key: PRNGKeyArray, *shape: int) -> Array:
            found = jnp.searchsorted(jnp.asarray(self._likely), jax.random.uniform(key, shape), side="right")
            return jnp.minimum(found, len(self.sizes) - 1)

        table = self.table
        base, lengths = words(keys[0], count), jnp.asarray(table.lengths)
        other = words(keys[1], count, CANDIDATES)
        shorter = jnp.minimum(lengths[base][:, None], lengths[other])
        position = jnp.floor(jax.random.uniform(keys[2], other.shape) * shorter).astype(jnp.int32)
        site = jax.random.randint(keys[3], other.shape, 0, max(1, len(table.sites)))
        wanted = self._results(site, base[:, None], other, position)
        codes = jnp.asarray(table.codes)
        fits = jnp.any(wanted >= 0, axis=-1) & ~held_out(base[:, None], other)
        differs = codes[site, base[:, None], position] != codes[site, other, position]
        telling = jax.random.uniform(keys[4], (count, 1)) < TELLING
        best = jnp.argmax(fits + 2 * (fits & differs & telling), axis=1)[:, None]
        chosen = [jnp.take_along_axis(array, best, axis=1)[:, 0] for array in (other, site, position, fits)]
        other, site, position, fits = chosen
        wanted = jnp.where(fits[:, None], self._results(site, base, other, position), -1)
        inputs = self._inputs(base, other, site, position, jax.random.key_data(keys[5]))
        own = jnp.asarray(table.outputs, jnp.int32)[base]
        return Examples(inputs, SwapTargets(own, wanted), None if self.trace_of is None else self.trace_of(base))

    def _results(self, site: Array, base: Array, other: Array, position: Array) -> Array:
        code = jnp.asarray(self.table.codes)[site, other, position]
        found = jnp.asarray(self.table.table)[site, base, position, jnp.maximum(code, 0)]
        return jnp.where((code >= 0)[..., None], found, -1).astype(jnp.int32)

    def _inputs(self, base: Array, other: Array, site: Array, position: Array, key: Array) -> SwapInputs:
        tokens, lengths = jnp.asarray(self.table.tokens), jnp.asarray(self.table.lengths)
        return SwapInputs(tokens[base], lengths[base], tokens[other], lengths[other], site, position, key)

    def score(self, record: Record, examples: Examples) -> Score:
        """The weighted sum of the mean cross-entropies of the three outputs; right is what is right without a swap."""
        outputs: SwapOutputs = record.output
        targets: SwapTargets = examples.targets
        losses = mean_loss(outputs.own, targets.own)
        if outputs.swapped is not None:
            losses = losses + self.swaps * mean_loss(outputs.swapped, targets.swapped)
        if outputs.outside is not None:
            losses = losses + self.strict * mean_loss(outputs.outside, targets.own)
        return Score(losses, all_right(outputs.own, targets.own))

    @cached_property
    def _tests(self) -> dict[str, np.ndarray]:
        """The held-out pairs of all sites, one after the other, and pairs of words for what lies outside."""
        rng = np.random.default_rng(0)
        drawn = [site_pairs(self.table, number, self.pairs, rng) for number in range(len(self.table.sites))]
        words = word_pairs(self.table, self.pairs, rng)
        sites = np.repeat(np.arange(len(drawn)), [len(pairs) for pairs in drawn])
        names = ("base", "other", "position")
        found = {n: np.concatenate([getattr(pairs, n) for pairs in drawn]).astype(np.int32) for n in names}
        return found | {"site": sites.astype(np.int32), "strict_base": words.base, "strict_other": words.other}

    def test(
        self, record: Callable[[Examples], Record], model: Any, key: PRNGKeyArray, setting: Setting, count: int
    ) -> dict[str, Array]:
        """`accuracy_by_length`, and the shares `interchange` and `strict` of held-out pairs that are right."""
        rows, sizes, tests = jnp.arange(len(self.sizes)), jnp.array(self.sizes), self._tests
        zero = jnp.zeros_like(rows)
        alone = jax.random.key_data(jax.random.key(0))
        found = record(Examples(self._inputs(rows, rows, zero, zero, alone), None)).output
        right = all_right(found.own, jnp.asarray(self.table.outputs))
        by_length = jnp.stack([jnp.mean(right, where=sizes == size) for size in self.lengths])
        base, other, site, position = (jnp.asarray(tests[n]) for n in ("base", "other", "site", "position"))
        swaps = record(Examples(self._inputs(base, other, site, position, alone), None)).output
        wanted = self._results(site, base, other, position)
        own, theirs = jnp.asarray(tests["strict_base"]), jnp.asarray(tests["strict_other"])
        none = jnp.zeros_like(own)
        strict = record(Examples(self._inputs(own, theirs, none, none, jax.random.key_data(key)), None)).output
        return {
            "accuracy_by_length": by_length,
            "interchange": jnp.mean(all_right(swaps.swapped, wanted)),
            "strict": jnp.mean(all_right(strict.outside, jnp.asarray(self.table.outputs)[own])),
        }


def mean_loss(logits: Float[Array, "batch position values"], targets: Array) -> Float[Array, " batch"]:
    """The mean cross-entropy over the positions that have a target of 0 or more."""
    asked = targets >= 0
    found = jnp.take_along_axis(
        jax.nn.log_softmax(logits), jnp.maximum(targets, 0)[..., None].astype(jnp.int32), axis=-1
    )
    return -jnp.sum(jnp.where(asked, found[..., 0], 0.0), axis=1) / jnp.maximum(jnp.sum(asked, axis=1), 1)


def all_right(logits: Float[Array, "batch position values"], targets: Array) -> Array:
    """Whether the answer is right at all positions that are asked for."""
    return jnp.all((jnp.argmax(logits, axis=-1) == targets) | (targets < 0), axis=-1)


@dataclass(frozen=True, eq=False)
class AlignedTransformer(Trainable):
    """A plain Transformer that is taught with an alignment.

    With `swaps` its runs are recorded under swaps of the sites, with `strict` under swaps of what lies outside; tests
    have both.
    """

    layout: PlainLayout
    sizes: Mapping[str, int]  # of `PlainTransformer.random`
    alignment: Alignment
    table: Counterfactuals
    swaps: bool
    strict: bool

    def fresh(self, key: PRNGKeyArray) -> Any:
        return PlainTransformer.random(self.layout, **self.sizes, key=key)

    @cached_property
    def _sites(self) -> tuple[np.ndarray, np.ndarray]:
        where = [where_of(self.alignment, site) for site in self.table.sites]
        return np.stack([one.stream for one in where]), np.stack([one.heads for one in where])

    @cached_property
    def _outside(self) -> tuple[np.ndarray, np.ndarray]:
        where = [one for _, one in outside(self.alignment)] or [nowhere(self.alignment)]
        return np.stack([one.stream for one in where]), np.stack([one.heads for one in where])

    def record(self, model: Any, examples: Examples, *, training: bool) -> Record:
        """The three outputs, and what the channels of hints say."""
        network, inputs = self.bare(model), examples.inputs
        own = jax.vmap(network.written)(inputs.tokens, inputs.lengths)
        logits = jnp.einsum("bpw,vw->bpv", jnp.sum(own, axis=1), network.readout, precision="highest")
        channels = self.said(model, own) if training else {}
        swaps, strict = self.swaps or not training, self.strict or not training
        if not (swaps or strict):
            return Record(SwapOutputs(logits + network.readout_bias, None, None), channels)
        theirs = jax.vmap(network.written)(inputs.other_tokens, inputs.other_lengths)
        values = jax.vmap(lambda written: activations_of(network, written))(theirs)
        inside = self._swapped(network, inputs, values) if swaps else None
        beyond = self._swapped_outside(network, inputs, values, (own, theirs), training) if strict else None
        return Record(SwapOutputs(logits + network.readout_bias, inside, beyond), channels)

    def said(self, model: Any, written: Float[Array, "batch sources position width"]) -> dict[str, Array]:
        """The log-probabilities of each channel of hints; without hints there is none."""
        return {}

    def _swapped(self, network: PlainTransformer, inputs: SwapInputs, values: Any) -> Array:
        streams, heads = (jnp.asarray(array)[inputs.site] for array in self._sites)
        at = jax.nn.one_hot(inputs.position, inputs.tokens.shape[1])
        swap = Swap(values, streams[:, :, None] * at[:, None, :, None], heads[..., None] * at[:, None, None])
        return jax.vmap(lambda *given: swapped(network, *given))(inputs.tokens, inputs.lengths, swap)

    def _swapped_outside(
        self, network: PlainTransformer, inputs: SwapInputs, values: Any, written: tuple[Array, Array], training: bool
    ) -> Array:
        """In half of the words free dimensions and spare heads are swapped, in the other half edges, each with a chance
        that is drawn for each word; in tests all of them are.
        """
        own, theirs = written
        count, size = inputs.tokens.shape
        half = count // 2
        shorter = jnp.minimum(inputs.lengths, inputs.other_lengths)
        at = (jnp.arange(size) < shorter[:, None]).astype(own.dtype)
        streams, heads = (jnp.asarray(array) for array in self._outside)
        for_chance, for_parts, for_edges = jax.random.split(jax.random.wrap_key_data(inputs.key), 3)
        chance = jax.random.uniform(for_chance, (count, 1)) if training else jnp.ones((count, 1))
        drawn = (jax.random.uniform(for_parts, (count, len(streams))) < chance).astype(own.dtype)[:half]
        stream_at = jnp.einsum("bo,osw,bp->bspw", drawn, streams, at[:half])
        heads_at = jnp.einsum("bo,olh,bp->blhp", drawn, heads, at[:half])
        first = jax.tree.map(lambda array: array[:half], values)
        swap = Swap(first, stream_at, heads_at)
        answer = jax.vmap(lambda *given: swapped(network, *given))
        inside = answer(inputs.tokens[:half], inputs.lengths[:half], swap)
        beyond = jnp.asarray(self.alignment.graph.possible & ~self.alignment.edges)
        cut = (jax.random.uniform(for_edges, (count - half, *beyond.shape)) < chance[half:, :, None]) & beyond
        mixed = jnp.where(at[half:, None, :, None] > 0, theirs[half:], own[half:])
        edges = jax.vmap(network)(inputs.tokens[half:], inputs.lengths[half:], 1.0 - cut, mixed)
        return jnp.concatenate([inside, edges])


def keeps_the_algorithm(tested: Tested, lengths: Any) -> np.ndarray:
    """Whether each run is right on all words, and on all held-out pairs under swaps inside and outside."""
    right = (np.asarray(tested["accuracy_by_length"]) == 1).all(axis=-1)
    return right & (np.asarray(tested["interchange"]) == 1) & (np.asarray(tested["strict"]) == 1)
