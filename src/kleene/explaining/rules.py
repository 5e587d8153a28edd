"""How a network's activations are shared out between the words in focus and the rest."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

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
class Rules:
    """The choices that a contextual decomposition makes; the defaults are those of the papers.

    - `interactions`: which products of two parts count as relevant. A gate times a value is a product, and each factor
      has a relevant part, an irrelevant part and one that comes from the bias.
    - `bias`: "first" gives a gate's bias φ(bias) and shares the rest out between the two other parts; "shapley" lets
      all three come in every order, φ(0) going to the bias.
    - `output_gate`: "whole" lets it scale both parts alike; "decomposed" takes it apart as the other gates.
    - `start`: whose the initial hidden state and cell are.
    - `bias_bias`: the product of two biases is relevant at the steps in "focus", "always" or "never". It is decided by
      the step in every layer, so that focus on all words leaves nothing irrelevant in any.

    >>> Rules(bias="shapley").output_gate
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
                raise InputError(f"the rule {name} is {getattr(self, name)!r}; it can be {' or '.join(choices)}")
        given = [self.interactions] if isinstance(self.interactions, str) else list(self.interactions)
        if unknown := [interaction for interaction in given if interaction not in _INTERACTIONS]:
            raise InputError(
                f"there is no interaction {unknown[0]!r}; those that can count as relevant are "
                f"{', '.join(_INTERACTIONS)}, and bias×bias has a rule of its own, bias_bias"
            )
        object.__setattr__(self, "interactions", frozenset(given))  # hashable, so that jit can tell rules apart

    @property
    def wakes_at_focus(self) -> bool:
        """Whether the relevant part is 0 up to the first word in focus."""
        return self.start == "irrelevant" and self.bias_bias != "always"


def checked_rules(rules: Any) -> Rules:
    """The rules, if they are some."""
    if not isinstance(rules, Rules):
        raise InputError(f"`rules` is {rules!r}; give kleene.explaining.Rules(…), or leave it out for the papers'")
    return rules


PAPERS = Rules()
