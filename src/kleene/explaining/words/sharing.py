"""How a network's activations are shared out between the words in focus and the rest.

Two things are shared out: φ of a sum, among the summands, and the product of two such sums. Arrays are jax's or
numpy's.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from kleene.errors import InputError

Interaction = Literal["rel-rel", "rel-bias", "rel-irrel"]

_CHOICES = {
    "bias": ("first", "shapley"),
    "output_gate": ("whole", "decomposed"),
    "start": ("irrelevant", "relevant"),
    "bias_bias": ("focus", "always", "never"),
}
_INTERACTIONS = ("rel-rel", "rel-bias", "rel-irrel")


@dataclass(frozen=True)
class Sharing:
    """The choices that a contextual decomposition makes; the defaults are those of Saphra & Lopez 2020.

    - `interactions`: which products of two parts count as relevant. A gate times a value is a product, and each factor
      has a relevant part, an irrelevant part and one that comes from the bias.
    - `bias`: "first" gives φ(bias) to a gate's bias and shares the rest out between the two other parts; "shapley"
      averages over all orders of the three, and gives φ(0) to the bias.
    - `output_gate`: "whole" scales both parts by the whole gate; "decomposed" splits it like the other gates.
    - `start`: the part to which the initial hidden state and cell belong.
    - `bias_bias`: the product of two biases is relevant at the steps in "focus", "always" or "never". The step decides
      in every layer, so with all words in focus nothing is irrelevant in any layer.

    >>> Sharing(bias="shapley").output_gate
    'whole'
    """

    interactions: Collection[Interaction] = frozenset({"rel-rel", "rel-bias"})
    bias: Literal["first", "shapley"] = "first"
    output_gate: Literal["whole", "decomposed"] = "whole"
    start: Literal["irrelevant", "relevant"] = "irrelevant"
    bias_bias: Literal["focus", "always", "never"] = "focus"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"the choice {name} is {getattr(self, name)!r}; it can be {' or '.join(choices)}")
        given = [self.interactions] if isinstance(self.interactions, str) else list(self.interactions)
        if unknown := [interaction for interaction in given if interaction not in _INTERACTIONS]:
            raise InputError(
                f"there is no interaction {unknown[0]!r}; those that can count as relevant are "
                f"{', '.join(_INTERACTIONS)}, and bias×bias has a choice of its own, bias_bias"
            )
        object.__setattr__(self, "interactions", frozenset(given))  # hashable, because jit compiles for each

    @classmethod
    def read(cls, text: str, name: str = "the sharing") -> "Sharing":
        """The choices that a text names, such as "bias=shapley, output_gate=decomposed"; the others are the papers'.

        Interactions have plus signs between them, and "none" is an empty set; `name` is what an error calls the text.

        >>> Sharing.read("interactions=rel-rel+rel-irrel").bias
        'first'
        """
        given: dict[str, Any] = {}
        for part in text.replace(",", " ").split():
            choice, equals, value = part.partition("=")
            if not equals or choice not in (*_CHOICES, "interactions") or choice in given:
                twice = f", and has {choice} twice" if choice in given else ""
                raise InputError(f"{name} has {part!r}{twice}; its choices are {_all_choices()}")
            given[choice] = value
        if "interactions" in given:
            given["interactions"] = [one for one in given["interactions"].split("+") if one not in ("", "none")]
        try:
            return cls(**given)
        except InputError as error:
            raise InputError(f"{name} is {text!r}: {error}") from None

    def __str__(self) -> str:
        """The choices that are not the papers', as `read` takes them."""
        chosen = [f"{name}={value}" for name, value in self.choices.items() if value != _PAPERS[name]]
        return ", ".join(chosen) or "the papers'"

    @property
    def choices(self) -> dict[str, str]:
        """Each choice and its value, as `read` takes them."""
        together = "+".join(one for one in _INTERACTIONS if one in self.interactions) or "none"
        return {name: getattr(self, name) for name in _CHOICES} | {"interactions": together}

    @property
    def wakes_at_focus(self) -> bool:
        """Whether the relevant part is 0 up to the first word in focus."""
        return self.start == "irrelevant" and self.bias_bias != "always"


def checked_sharing(sharing: Any) -> Sharing:
    """The choices; anything else is refused."""
    if not isinstance(sharing, Sharing):
        raise InputError(
            f"`sharing` is {sharing!r}; give kleene.explaining.Sharing(…), or leave it out for the defaults"
        )
    return sharing


PAPERS = Sharing()
_PAPERS = PAPERS.choices


def _all_choices() -> str:
    choices = [f"{name}={'|'.join(values)}" for name, values in _CHOICES.items()]
    return ", ".join([*choices, f"and interactions={'+'.join(_INTERACTIONS)}, some of these or none"])


Real = Float[Array, "..."] | Float[np.ndarray, "..."]
Flags = Bool[Array, "..."] | Bool[np.ndarray, "..."]


def module_of(array: Any) -> Any:
    """numpy for its own arrays, `jax.numpy` for jax's and for traced ones."""
    return np if isinstance(array, np.ndarray) else jnp


def sigmoid(z: Any) -> Any:
    """σ(z), without an overflow in numpy. scipy has one too, but importing it takes half as long as jax."""
    if not isinstance(z, np.ndarray):
        return jax.nn.sigmoid(z)
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, 1, small) / (1 + small)


def tanh(z: Any) -> Any:
    return module_of(z).tanh(z)


class Shares(NamedTuple):
    """A value as the sum of the shares of the words in focus, the other words and the bias."""

    relevant: Any
    irrelevant: Any
    bias: Any


def split(
    phi: Callable[[Any], Any], sharing: Sharing, relevant: Real, irrelevant: Real, bias: Real, whole: Real | None = None
) -> Shares:
    """The shares in φ(relevant + irrelevant + bias); `whole` is that value where it is known already.

    Saphra & Lopez 2020 print the last term of the relevant share as φ(relevant). It must be φ(irrelevant + bias),
    because otherwise the shares would not sum to the whole.
    """
    whole = phi(relevant + irrelevant + bias) if whole is None else whole
    without_irrelevant, without_relevant, alone = phi(relevant + bias), phi(irrelevant + bias), phi(bias)
    relevant_last, relevant_second = whole - without_relevant, without_irrelevant - alone
    irrelevant_last, irrelevant_second = whole - without_irrelevant, without_relevant - alone
    if sharing.bias == "first":
        return Shares(
            _unless_empty(relevant, 0.5 * (relevant_second + relevant_last)),
            _unless_empty(irrelevant, 0.5 * (irrelevant_second + irrelevant_last)),
            alone,
        )
    nothing = phi(module_of(bias).zeros_like(bias))
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
    """The share, or exactly 0 for a summand of 0, because compiled code may round φ(x) and φ(x + 0) differently."""
    return module_of(share).where(summand == 0, 0, share)


def _shapley(first: Real, second: Real, also_second: Real, last: Real) -> Real:
    """The mean, over the six orders of three summands, of what one of them adds."""
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


def multiply(sharing: Sharing, gate: Shares, value: Shares, in_focus: Flags) -> tuple[Any, Any]:
    """The relevant and the irrelevant part of gate × value. A value without a bias has no product of biases."""
    xp = module_of(gate.relevant)
    mine = ["rel-rel" in sharing.interactions, "rel-bias" in sharing.interactions, "rel-irrel" in sharing.interactions]
    among, with_bias = gate.relevant * value.relevant, gate.bias * value.relevant
    across = gate.relevant * value.irrelevant + gate.irrelevant * value.relevant
    others = gate.irrelevant * value.irrelevant + gate.bias * value.irrelevant
    if value.bias is not None:
        with_bias = with_bias + gate.relevant * value.bias
        others = others + gate.irrelevant * value.bias
    products = (among, with_bias, across)
    relevant = xp.zeros_like(among) + sum(product for product, ours in zip(products, mine) if ours)
    irrelevant = others + sum(product for product, ours in zip(products, mine) if not ours)
    if value.bias is None:
        return relevant, irrelevant
    biases = gate.bias * value.bias
    ours = bias_is_relevant(sharing, in_focus)
    return relevant + xp.where(ours, biases, 0), irrelevant + xp.where(ours, 0, biases)


def bias_is_relevant(sharing: Sharing, in_focus: Flags) -> Any:
    """Whether what only biases make counts as relevant at a step."""
    if sharing.bias_bias == "focus":
        return in_focus
    return module_of(in_focus).full_like(in_focus, sharing.bias_bias == "always")


# The interaction of two words is a difference of states, and each state is rounded. Compared with double precision, the
# norm of the difference was off by at most 3.1 ε‖h‖ (h: the network's whole state), for LSTMs, simple RNNs and
# Transformers, trained and not, of 16 to 650 units, at every step. A difference below 8 ε‖h‖ therefore counts as 0.
ROUNDINGS = 8


def floor_of(dtype: Any) -> float:
    """The share of a state's norm below which a difference of states counts as 0.

    >>> f"{floor_of(np.float32):.1e}", f"{floor_of(np.float64):.1e}"
    ('9.5e-07', '1.8e-15')
    """
    return ROUNDINGS * float(np.finfo(dtype).eps)
