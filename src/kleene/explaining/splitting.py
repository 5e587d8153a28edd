"""φ of a sum shared out among the summands, and the product of two such sums."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from kleene.explaining.rules import Rules

Real = Float[Array, "..."]


class Shares(NamedTuple):
    """A value as the sum of what the words in focus, the other words and the bias make of it."""

    relevant: Any
    irrelevant: Any
    bias: Any


def split(
    phi: Callable[[Any], Any], rules: Rules, relevant: Real, irrelevant: Real, bias: Real, whole: Real | None = None
) -> Shares:
    """The shares in φ(relevant + irrelevant + bias); `whole` is that value where it is known already.

    The papers print the last term of the relevant share as φ(relevant); it is φ(irrelevant + bias), or the shares
    would not sum to the whole.
    """
    whole = phi(relevant + irrelevant + bias) if whole is None else whole
    without_irrelevant, without_relevant, alone = phi(relevant + bias), phi(irrelevant + bias), phi(bias)
    relevant_last, relevant_second = whole - without_relevant, without_irrelevant - alone
    irrelevant_last, irrelevant_second = whole - without_irrelevant, without_relevant - alone
    if rules.bias == "first":
        return Shares(
            _unless_empty(relevant, 0.5 * (relevant_second + relevant_last)),
            _unless_empty(irrelevant, 0.5 * (irrelevant_second + irrelevant_last)),
            alone,
        )
    nothing = phi(jnp.zeros_like(bias))
    only_relevant, only_irrelevant, both = phi(relevant), phi(irrelevant), phi(relevant + irrelevant)
    return Shares(
        _unless_empty(
            relevant, _shapley(only_relevant - nothing, both - only_irrelevant, relevant_second, relevant_last)
        ),
        _unless_empty(
            irrelevant, _shapley(only_irrelevant - nothing, both - only_relevant, irrelevant_second, irrelevant_last)
        ),
        nothing
        + _shapley(
            alone - nothing, without_irrelevant - only_relevant, without_relevant - only_irrelevant, whole - both
        ),
    )


def _unless_empty(summand: Real, share: Real) -> Real:
    """The share, or 0 exactly for a summand of 0: compiled code may round φ(x) and φ(x + 0) differently."""
    return jnp.where(summand == 0, 0, share)


def _shapley(first: Real, second: Real, also_second: Real, last: Real) -> Real:
    """The mean of what a summand adds over the six orders in which three can come."""
    return (2 * first + second + also_second + 2 * last) / 6


def split_in_two(phi: Callable[[Any], Any], relevant: Real, irrelevant: Real, whole: Real | None = None) -> Shares:
    """The shares in φ(relevant + irrelevant) of a φ with φ(0) = 0; there is no bias."""
    whole = phi(relevant + irrelevant) if whole is None else whole
    one, other = phi(relevant), phi(irrelevant)
    return Shares(
        _unless_empty(relevant, 0.5 * (one + (whole - other))),
        _unless_empty(irrelevant, 0.5 * (other + (whole - one))),
        None,
    )


def multiply(rules: Rules, gate: Shares, value: Shares, in_focus: Bool[Array, "..."]) -> tuple[Real, Real]:
    """The relevant and the irrelevant part of gate × value. A value without a bias has no product of biases."""
    mine = ["rel-rel" in rules.interactions, "rel-bias" in rules.interactions, "rel-irrel" in rules.interactions]
    among, with_bias = gate.relevant * value.relevant, gate.bias * value.relevant
    across = gate.relevant * value.irrelevant + gate.irrelevant * value.relevant
    others = gate.irrelevant * value.irrelevant + gate.bias * value.irrelevant
    if value.bias is not None:
        with_bias = with_bias + gate.relevant * value.bias
        others = others + gate.irrelevant * value.bias
    products = (among, with_bias, across)
    relevant = jnp.zeros_like(among) + sum(product for product, ours in zip(products, mine) if ours)
    irrelevant = others + sum(product for product, ours in zip(products, mine) if not ours)
    if value.bias is None:
        return relevant, irrelevant
    biases = gate.bias * value.bias
    ours = bias_is_relevant(rules, in_focus)
    return relevant + jnp.where(ours, biases, 0), irrelevant + jnp.where(ours, 0, biases)


def bias_is_relevant(rules: Rules, in_focus: Bool[Array, "..."]) -> Bool[Array, "..."]:
    """Whether what only biases make counts as relevant at a step."""
    if rules.bias_bias == "focus":
        return in_focus
    return jnp.full_like(in_focus, rules.bias_bias == "always")
