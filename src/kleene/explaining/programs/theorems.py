"""ALTA's Theorems 1 and 2 as exact checks: minimal rules, and weights that no coordinate can improve.

A rule set is *minimal* for a data set (Definition 1) if no rule and no constraint of a rule can be dropped without
changing an output. Here that is read of the network: a rule that loses a constraint fires more often, and does what its
column of W² does, which takes out the old value that the rule named. Other readings break the theorems. If a rule
without its constraint on the variable that it sets were an assignment, `done := 1 where done = 0 and …` of the paper's
parity would not need `done = 0`. If only rule sets that keep to Appendix B.1 counted, Theorem 2 would be false.

Theorem 2 holds: at the weights of a minimal rule set every coordinate move raises the regularised loss. Theorem 1, the
converse, holds for rules but not for constraints. A rule's bias cannot rise once *one* of its constraints keeps it from
firing on some example, and its weights cannot fall while it fires at all; so other constraints may be superfluous, and
no single coordinate shows it. Lowering a constraint's weight *together with* raising the bias shows it exactly, and
with these joint moves both theorems hold. A `MinimalityCheck` reports Definition 1, coordinates and joint moves.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.explaining.programs.conditions import PaperForm, misses, paper_form
from kleene.explaining.programs.pairs import Assignment, MLPPairs
from kleene.explaining.programs.slopes import AllSlopes, all_slopes
from kleene.programs.alta.program import Program
from kleene.programs.alta.rules import Rule, RuleSet
from kleene.traces.markup import html_text

PENALTIES = ("l1", "l2")
SHOWN = 5  # how many entries of each list a report prints


@dataclass(frozen=True)
class Unneeded:
    """A rule, or one constraint of a rule, that can be dropped without changing an output of the data set."""

    rule: int
    text: str
    constraint: str | None  # None: the whole rule

    def __str__(self) -> str:
        what = "the rule" if self.constraint is None else f"the constraint {self.constraint} of the rule"
        return f"{what} {self.text!r} is not needed"


@dataclass(frozen=True)
class Improvement:
    """A move away from the compiled weights that does not raise the loss, and what it shows not to be needed.

    `slope` is the derivative of the loss along the move: below 0 the loss falls, at 0 it stays the same.
    """

    rule: int
    text: str
    move: str
    slope: Fraction
    shows: str

    def __str__(self) -> str:
        return f"{self.move} of the rule {self.text!r}: slope {self.slope}, because {self.shows}"


@dataclass(frozen=True, eq=False, repr=False)
class MinimalityCheck:
    """Definition 1 and the derivatives of the loss, side by side."""

    form: PaperForm
    penalty: str
    alpha: Fraction
    slopes: AllSlopes
    unneeded: tuple[Unneeded, ...]

    @cached_property
    def coordinates(self) -> tuple[Improvement, ...]:
        """The coordinates that can be lowered or raised without raising the loss."""
        return tuple(_coordinate_moves(self.form, self.slopes, self.penalty, self.alpha))

    @cached_property
    def joint(self) -> tuple[Improvement, ...]:
        """The constraints whose weight can be lowered while the bias is raised, without raising the loss."""
        return tuple(_joint_moves(self.form, self.slopes, self.penalty, self.alpha))

    @property
    def minimal(self) -> bool:
        """Whether the rule set is minimal by Definition 1."""
        return not self.unneeded

    @property
    def coordinate_optimum(self) -> bool:
        """Whether the compiled weights are a strict coordinate-wise local optimum (Definition 2)."""
        return next(_coordinate_moves(self.form, self.slopes, self.penalty, self.alpha), None) is None

    @property
    def joint_optimum(self) -> bool:
        """Whether the compiled weights are that, and no joint move of a weight and its bias helps either."""
        joint = next(_joint_moves(self.form, self.slopes, self.penalty, self.alpha), None)
        return self.coordinate_optimum and joint is None

    @property
    def theorem_1(self) -> bool:
        """Whether Theorem 1 is true of this case: if the rules are not minimal, a coordinate shows it."""
        return self.minimal or not self.coordinate_optimum

    @property
    def theorem_2(self) -> bool:
        """Whether Theorem 2 is true of this case: if the rules are minimal, no coordinate can be improved."""
        return not self.minimal or self.coordinate_optimum

    def __repr__(self) -> str:
        return (
            f"<MinimalityCheck: minimal {self.minimal}, coordinate optimum {self.coordinate_optimum}, "
            f"joint optimum {self.joint_optimum}>"
        )

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        rules, pairs = len(self.form.rules), len(self.form.pairs)
        lines = [
            f"{rules} rule{'s' * (rules != 1)}, {pairs} different pairs, penalty {self.penalty}, alpha {self.alpha}",
            repr(self)[1:-1],
        ]
        for title, found in (
            ("not needed (Definition 1)", self.unneeded),
            ("single coordinates that do not raise the loss", self.coordinates),
            ("joint moves that do not raise the loss", self.joint),
        ):
            lines += [f"{title}: {len(found) or 'none'}", *(f"  {item}" for item in found[:SHOWN])]
            lines += [f"  and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        return {
            "rules": len(self.form.rules), "pairs": len(self.form.pairs), "penalty": self.penalty,
            "alpha": str(self.alpha), "minimal": self.minimal, "coordinate_optimum": self.coordinate_optimum,
            "joint_optimum": self.joint_optimum, "theorem_1": self.theorem_1, "theorem_2": self.theorem_2,
            "unneeded": [asdict(item) for item in self.unneeded],
            "coordinates": [asdict(item) | {"slope": str(item.slope)} for item in self.coordinates],
            "joint": [asdict(item) | {"slope": str(item.slope)} for item in self.joint],
        }  # fmt: skip


def check_minimality(
    rules: Program | RuleSet | Sequence[Rule],
    pairs: MLPPairs | Iterable[tuple[Assignment, Assignment]],
    penalty: str = "l1",
    alpha: Fraction | int | str | None = None,
) -> MinimalityCheck:
    """Whether the rules are minimal for the pairs, and what the loss's derivatives say at the compiled weights.

    `pairs` come from `mlp_pairs`, or are assignments before and after the MLP as dicts.

    `alpha` weighs the penalty and is below 1 for L1, below 1/(2K) for squared L2, where K is the largest weight; by
    default it is half of that. Within these bounds the answers do not depend on it.

    >>> from kleene.explaining.programs.pairs import mlp_pairs
    >>> from kleene.programs.alta.library import parity
    >>> words = [[2, a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> check_minimality(parity.relative(), mlp_pairs(parity.relative(), words))
    <MinimalityCheck: minimal True, coordinate optimum True, joint optimum True>
    """
    if penalty not in PENALTIES:
        raise InputError(f"penalty is {penalty!r}; it is one of {', '.join(PENALTIES)}.")
    form = paper_form(rules, pairs if isinstance(pairs, MLPPairs) else MLPPairs.of(pairs))
    alpha = _checked_alpha(alpha, _bound(form, penalty))
    return MinimalityCheck(form, penalty, alpha, all_slopes(form, penalty), tuple(_unneeded(form)))


def _bound(form: PaperForm, penalty: str) -> Fraction:
    """The least alpha for which the theorems are no longer claimed."""
    if penalty == "l1":
        return Fraction(1)
    constraints = (form.rules.antecedents >= 0).sum(axis=1).max(initial=0)
    return Fraction(1, 2 * max(1, int(constraints) - 1))


def _checked_alpha(alpha: Fraction | int | str | None, bound: Fraction) -> Fraction:
    if alpha is None:
        return bound / 2
    try:
        found = Fraction(alpha)
    except (ValueError, TypeError, ZeroDivisionError):
        raise InputError(f"alpha is {alpha!r}; it is a fraction such as '1/2'.") from None
    if not 0 < found < bound:
        raise InputError(f"alpha is {found}; for these rules the theorems ask for more than 0 and less than {bound}.")
    return found


def _unneeded(form: PaperForm) -> list[Unneeded]:
    """Definition 1, rule by rule: what can be dropped.

    A rule that never fires can be dropped. A constraint of a rule that fires is needed if it is the only one to fail
    somewhere, because the rule without it would fire there and change an output.
    """
    found = []
    for rows, failing in misses(form):
        missed = failing.sum(axis=0, dtype=np.int16)
        fires = (missed == 0).any(axis=0)
        needed = (failing & (missed == 1)).any(axis=1).T
        for j, r in enumerate(range(*rows.indices(len(form.rules)))):
            if not fires[j]:
                found.append(Unneeded(r, form.text(r), None))
                continue
            asked = form.rules.antecedents[r]
            for v in np.flatnonzero((asked >= 0) & ~needed[j]):
                found.append(Unneeded(r, form.text(r), f"{form.rules.variables[v]} = {asked[v]}"))
    return found


def _stuck(sign: np.ndarray, uphill: int, penalty: str) -> np.ndarray:
    """Where a move does not raise the loss. With squared L2 a slope of 0 still rises, by the square."""
    return sign * uphill < 0 if penalty == "l2" else sign * uphill <= 0


def _coordinate_moves(form: PaperForm, slopes: AllSlopes, penalty: str, alpha: Fraction) -> Iterator[Improvement]:
    """The coordinates that can be lowered or raised without raising the loss."""
    fires = slopes.outputs.right.max(axis=1, initial=0) > 0
    groups = ((slopes.outputs, "the output weight on"), (slopes.bias, "the bias"), (slopes.inputs, "the weight of"))
    for group, name in groups:
        for side, (verb, uphill, sign) in enumerate(zip(("lowering", "raising"), (-1, 1), group.signs(alpha))):
            for at in map(tuple, np.argwhere(_stuck(sign, uphill, penalty)).tolist()):
                what = name if len(at) == 1 else f"{name} {_feature(form, at[1])}"
                slope = uphill * group.total(alpha, at)[side]
                shows = "no constraint of it is the only one to fail anywhere" if fires[at[0]] else "it never fires"
                yield Improvement(at[0], form.text(at[0]), f"{verb} {what}", slope, shows)


def _joint_moves(form: PaperForm, slopes: AllSlopes, penalty: str, alpha: Fraction) -> Iterator[Improvement]:
    """The constraints whose weight can be lowered while the bias is raised, without raising the loss."""
    stuck = _stuck(slopes.joint.signs(alpha)[1], 1, penalty) & (slopes.weights.inputs == 1)
    for r, k in np.argwhere(stuck).tolist():
        move = f"lowering the weight of {_feature(form, k)} and raising the bias"
        shows = f"{_feature(form, k)} is nowhere the only constraint to fail"
        yield Improvement(r, form.text(r), move, slopes.joint.total(alpha, (r, k))[1], shows)


def _feature(form: PaperForm, index: int) -> str:
    variable, code = form.features[index]
    return f"{form.rules.variables[variable]} = {code}"
