"""Hints that say where a variable lives: linear readings of its own block of the residual stream.

A reading of the whole stream may find a variable anywhere. One that sees only the block of the variable, and what the
aligned head wrote, can say it only if it is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from kleene.compiling.interchange.alignment import Alignment
from kleene.compiling.interchange.counterfactuals import Counterfactuals
from kleene.machines.transformer.plain import PlainTransformer
from kleene.machines.transformer.swapping import Activations, activations_of
from kleene.teaching.hints import Policy, ProgramTrace, channels
from kleene.teaching.interchange import AlignedTransformer
from kleene.teaching.lesson import Pupil


class BlockReadings(eqx.Module):
    """A linear reading of each variable's block, the same after every layer, and of each head in each layer."""

    variables: dict[str, tuple[Array, Array]]  # [values, block], [values]
    heads: dict[str, tuple[Array, Array]]  # [layers, values, width], [layers, values]

    def read(self, alignment: Alignment, found: Activations) -> dict[str, Float[Array, "step position values"]]:
        """The log-probabilities of each variable at each step, and of what each head read in each layer."""
        said: dict[str, Array] = {}
        for name, (weights, bias) in self.variables.items():
            block = found.stream[..., jnp.array(alignment.blocks[name])]
            said[name] = jax.nn.log_softmax(block @ weights.T + bias)
        for name, (weights, bias) in self.heads.items():
            places = {step: place for (one, step), place in alignment.heads.items() if one == name}
            steps = range(alignment.graph.layers + 1)
            wrote = [found.heads[places[s][0] - 1, places[s][1]] if s in places else found.heads[0, 0] for s in steps]
            logits = jnp.einsum("spw,svw->spv", jnp.stack(wrote), weights) + bias[:, None]
            said[name] = jax.nn.log_softmax(logits)
        return said


@dataclass(frozen=True, eq=False)
class KnownValues:
    """The values of the variables and heads of a table, as classes: `targets[name]` is [word, step, position]."""

    targets: Mapping[str, np.ndarray]
    sizes: Mapping[str, int]
    heads: tuple[str, ...]
    steps: int

    @classmethod
    def of(cls, table: Counterfactuals, alignment: Alignment) -> "KnownValues":
        steps, targets, classes = len(alignment.held), {}, {}
        for number, site in enumerate(table.sites):
            if not alignment.aligned(site):
                continue
            known = classes.setdefault(site.name, {})
            to_class = np.array([known.setdefault(value, len(known)) for value in table.values[number]] + [-1])
            held = targets.setdefault(site.name, np.full((len(table.words), steps, table.tokens.shape[1]), -1, np.int8))
            held[:, site.layer] = to_class[table.codes[number]]
        heads = tuple(dict.fromkeys(site.name for site in table.sites if site.head and alignment.aligned(site)))
        return cls(targets, {name: len(known) for name, known in classes.items()}, heads, steps)

    def trace(self, rows: Array) -> ProgramTrace:
        """The trace of the words in these rows."""
        found = {name: jnp.asarray(array, jnp.int32)[rows] for name, array in self.targets.items()}
        stated = {name: entries >= 0 for name, entries in found.items()}
        targets = {name: jnp.maximum(entries, 0) for name, entries in found.items()}
        return ProgramTrace(targets, stated, jnp.full(rows.shape, self.steps))

    @cached_property
    def policies(self) -> dict[str, Policy]:
        """The kinds of hints: all, variables alone, heads alone, and each by its name."""
        names = [*self.targets]
        kinds = {"full": names, "variables": [n for n in names if n not in self.heads], "heads": list(self.heads)}
        return {kind: Policy(channels(*some)) for kind, some in kinds.items() if some} | {
            name: Policy(channels(name)) for name in names
        }


@dataclass(frozen=True, eq=False)
class HintedTransformer(AlignedTransformer):
    """A plain Transformer that is taught with hints on its blocks."""

    known: KnownValues | None = None

    def fresh(self, key: PRNGKeyArray) -> Any:
        assert self.known is not None
        for_network, for_readings = jax.random.split(key)
        steps, width = self.known.steps, self.alignment.width
        variables, heads = {}, {}
        for name, size in self.known.sizes.items():
            drawn = jax.random.normal(
                jax.random.fold_in(for_readings, len(variables) + len(heads)), (steps, size, width)
            )
            if name in self.known.heads:
                heads[name] = (drawn * width**-0.5, jnp.zeros((steps, size)))
            else:
                count = len(self.alignment.blocks[name])
                variables[name] = (drawn[0, :, :count] * count**-0.5, jnp.zeros(size))
        return Pupil(super().fresh(for_network), BlockReadings(variables, heads))

    def said(self, model: Any, written: Float[Array, "batch sources position width"]) -> dict[str, Array]:
        network: PlainTransformer = self.bare(model)
        return jax.vmap(lambda one: model.decoder.read(self.alignment, activations_of(network, one)))(written)
