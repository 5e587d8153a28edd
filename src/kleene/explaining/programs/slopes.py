"""One-sided derivatives of ALTA's regularised reconstruction loss at compiled weights, exact for every coordinate.

The loss (Appendix B, equation 17) is Σ_n |f(θ, zⁿ) - f(θ̂, zⁿ)|₁ + α · penalty(θ), with f(θ, z) = z + W² clip(W¹ z + b¹)
and the penalty L1 or squared L2 over W¹, b¹ and W². It has kinks at θ̂: the clip at 0 and at 1, the absolute values at
0. So each coordinate has a left and a right derivative. Every weight and activation at θ̂ is an integer, and so is every
derivative of the two terms; `alpha` joins them as a fraction. Sums are made in float64, which is exact below 2⁵³.

While a move is shorter than 1, the reconstruction loss is linear along it: a unit's input moves from an integer towards
the next one. What the derivatives say is therefore true of a whole interval, not only of a limit.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kleene.explaining.programs.conditions import PaperForm
from kleene.limits import check_memory


@dataclass(frozen=True, eq=False, repr=False)
class Weights:
    """ALTA's equations 8 to 10 in integers: `inputs` is W¹ and `outputs` W² transposed, both (rules, features)."""

    inputs: np.ndarray
    bias: np.ndarray
    outputs: np.ndarray


def compiled_weights(form: PaperForm) -> Weights:
    """The weights of the rules: 1 for each constraint, bias 1 - N, the old value out and the new value in."""
    rules, column = form.rules, {feature: i for i, feature in enumerate(form.features)}
    inputs = np.zeros((len(rules), len(column)), dtype=np.int64)
    outputs = np.zeros_like(inputs)
    for r, v in np.argwhere(rules.antecedents >= 0).tolist():
        inputs[r, column[v, int(rules.antecedents[r, v])]] = 1
    for r, (target, result) in enumerate(zip(rules.targets.tolist(), rules.results.tolist())):
        outputs[r, column[target, int(rules.antecedents[r, target])]] = -1
        outputs[r, column[target, result]] = 1
    return Weights(inputs, 1 - inputs.sum(axis=1), outputs)


@dataclass(frozen=True, eq=False, repr=False)
class Slopes:
    """Derivatives along a family of moves, in integers: of the reconstruction loss, and of the penalty.

    `left` and `right` are what the paper calls ∂⁻ and ∂⁺.
    """

    left: np.ndarray
    right: np.ndarray
    penalty_left: np.ndarray
    penalty_right: np.ndarray

    def total(self, alpha: Fraction, at: tuple[int, ...]) -> tuple[Fraction, Fraction]:
        """The left and right derivative of the whole loss at one place."""
        left = int(self.left[at]) + alpha * int(self.penalty_left[at])
        return left, int(self.right[at]) + alpha * int(self.penalty_right[at])

    def signs(self, alpha: Fraction) -> tuple[np.ndarray, np.ndarray]:
        """The signs of the left and right derivatives of the whole loss."""
        p, q = alpha.numerator, alpha.denominator
        largest = max((int(np.abs(a).max(initial=0)) for a in vars(self).values()), default=0)
        exact = np.int64 if (p + q) * largest < 2**62 else object
        left, right = (
            (q * a.astype(exact) + p * b.astype(exact))
            for a, b in ((self.left, self.penalty_left), (self.right, self.penalty_right))
        )
        return np.sign(left), np.sign(right)


@dataclass(frozen=True, eq=False, repr=False)
class AllSlopes:
    """The derivatives of all coordinates, `inputs`, `bias` and `outputs`, and of one family of joint moves.

    `joint` is about lowering an input weight and raising its rule's bias at once, by equal amounts. That weakens one
    constraint of a rule and keeps the others as they are. Its right derivative is along that move, its left against it.
    Only places where the weight is 1 count.
    """

    weights: Weights
    inputs: Slopes
    bias: Slopes
    outputs: Slopes
    joint: Slopes


def all_slopes(form: PaperForm, penalty: str) -> AllSlopes:
    """The derivatives at the compiled weights of the rules."""
    size = len(form.rules) * len(form.features)
    check_memory(200.0 * size, "the table of derivatives", "leave out the rules that never fire first")
    weights = compiled_weights(form)
    fired, near = _seen_at_kinks(form, weights)
    # A move of a unit's activation by ε moves the outputs by ε times these, all away from what is right.
    reach = np.abs(weights.outputs).sum(axis=1)
    on, edge = reach * fired[:, -1], reach * near[:, -1]
    inputs = _slopes(-reach[:, None] * fired[:, :-1], reach[:, None] * near[:, :-1], weights.inputs, penalty)
    bias = _slopes(-on, edge, weights.bias, penalty)
    often = np.broadcast_to(fired[:, -1:], weights.outputs.shape)
    outputs = _slopes(-often, often, weights.outputs, penalty)
    # Where z_k = 1 the joint move changes nothing. Where z_k = 0 a unit's input rises, which shows at 0.
    weakened = reach[:, None] * (near[:, -1:] - near[:, :-1])
    joint = Slopes(
        np.zeros_like(weakened),  # against the move, only units that are off are pushed further down
        weakened,
        bias.penalty_left[:, None] - inputs.penalty_right,
        bias.penalty_right[:, None] - inputs.penalty_left,
    )
    return AllSlopes(weights, inputs, bias, outputs, joint)


def _slopes(left: np.ndarray, right: np.ndarray, value: np.ndarray, penalty: str) -> Slopes:
    if penalty == "l2":
        return Slopes(left, right, 2 * value, 2 * value)
    return Slopes(left, right, np.where(value > 0, 1, -1), np.where(value < 0, -1, 1))


def _seen_at_kinks(form: PaperForm, weights: Weights, block: int = 4096) -> tuple[np.ndarray, np.ndarray]:
    """How often each feature is on while a unit's input is 1, and while it is 0: (rules, features + 1).

    The last column counts every pair, whatever its features.
    """
    features, pairs = form.features, form.pairs
    fired = np.zeros((len(form.rules), len(features) + 1))
    near = np.zeros_like(fired)
    variable, code = (np.array(column, dtype=np.int64) for column in zip(*features))
    constraints, bias = weights.inputs.T.astype(np.float32), weights.bias.astype(np.float32)  # a few units: exact
    for start in range(0, len(pairs), block):
        rows = slice(start, start + block)
        z = (pairs.inputs[rows][:, variable] == code).astype(np.float32)
        unit = z @ constraints + bias
        counted = np.concatenate([z, np.ones((len(z), 1))], axis=1, dtype=np.float64) * pairs.counts[rows, None]
        fired += (unit == 1).T.astype(np.float64) @ counted
        near += (unit == 0).T.astype(np.float64) @ counted
    return fired.astype(np.int64), near.astype(np.int64)
