"""The two layers that turn numbers and sets into one-hot features, and sums into bits, exactly.

For a number with declared values v₀ < v₁ < … each middle between two neighbours gets one step unit, with a slope of
its own chosen from its own gap. A step is exact where it is saturated; that every declared value saturates every
step is checked here for the number type, with the rounding that the network will have.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from kleene.errors import CompileError
from kleene.machines.transformer.layer import RELU_NOISE
from kleene.programs.alta.variables import BLUR, Numeric, SetValued


@dataclass
class ExpansionBuilder:
    """Collects step units (columns over the residual stream) and the features made of them."""

    width: int
    dtype: np.dtype
    relu: bool
    columns: list[np.ndarray] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)
    features: list[tuple[dict[int, float], float]] = field(default_factory=list)  # (weights on steps, constant)

    def add_steps(self, columns: list[np.ndarray], biases: list[float]) -> tuple[int, int]:
        """Add a block of step units; returns where it starts and ends. Plain ReLU needs each unit twice."""
        start = len(self.columns)
        self.columns += columns
        self.biases += biases
        if self.relu:
            self.columns += columns
            self.biases += [b - 1 for b in biases]
        return start, len(self.columns)

    def add_feature(self, weights: dict[int, float], constant: float, block: tuple[int, int]) -> int:
        """Add a feature that is a sum of clipped steps of one block; returns its index."""
        if self.relu:
            half = (block[1] - block[0]) // 2
            weights = weights | {step + half: -w for step, w in weights.items()}
        self.features.append((weights, constant))
        return len(self.features) - 1

    def arrays(self) -> tuple[np.ndarray, ...]:
        outputs = np.zeros((len(self.columns), len(self.features)))
        for index, (weights, _) in enumerate(self.features):
            for step, weight in weights.items():
                outputs[step, index] = weight
        constants = np.array([constant for _, constant in self.features])
        return np.stack(self.columns, axis=1), np.array(self.biases), outputs, constants


def expand_number(
    builder: ExpansionBuilder, name: str, variable: Numeric, dim: int
) -> tuple[list[int], tuple[int, int]]:
    """One-hot features for the declared values of a number, and the block of its step units."""
    with np.errstate(over="ignore", invalid="ignore"):  # gaps too small for the type end in the refusal below
        slopes, biases = (a.astype(builder.dtype) for a in step_weights(variable))
        check_steps(name, variable, slopes, biases, builder.dtype, builder.relu)
    columns = []
    for slope in slopes:
        column = np.zeros(builder.width)
        column[dim] = slope
        columns.append(column)
    block = builder.add_steps(columns, [float(b) for b in biases])
    first, features = block[0], []
    for index in range(len(variable.values)):
        weights = {first + index - 1: 1.0} if index else {}
        if index < len(slopes):
            weights[first + index] = -1.0
        features.append(builder.add_feature(weights, 0.0 if index else 1.0, block))
    return features, block


def step_weights(variable: Numeric) -> tuple[np.ndarray, np.ndarray]:
    """Slope and bias of every step: a step rises from 0 to 1 within the blurred strip around its middle."""
    values = np.array(variable.values)
    gaps, middles = np.diff(values), (values[:-1] + values[1:]) / 2
    slopes = 1 / (2 * BLUR * gaps)
    return slopes, 0.5 - slopes * middles


def check_steps(
    name: str, variable: Numeric, slopes: np.ndarray, biases: np.ndarray, dtype: np.dtype, relu: bool
) -> None:
    """Refuse, naming what the type can hold, unless every declared value saturates every step exactly."""
    good = np.array([_saturates(variable, i, slopes, biases, dtype, relu) for i in range(len(variable.values))])
    if good.all():
        return
    runs, start = [], None
    for index, fine in enumerate([*good, False]):
        if fine and start is None:
            start = index
        elif not fine and start is not None:
            runs.append((index - start, start))
            start = None
    most, first = max(runs, default=(0, 0))
    told = f"from {variable.values[first]:.4g} to {variable.values[first + most - 1]:.4g}" if most else "none of them"
    raise CompileError(
        f"{np.dtype(dtype).name} cannot tell the {len(variable.values)} declared values of {name!r} apart: at most "
        f"{most} in a row, {told}. Declare fewer values, or compile for float32 or float64."
    )


def _saturates(variable: Numeric, index: int, slopes, biases, dtype: np.dtype, relu: bool) -> bool:
    wide = np.float64 if np.dtype(dtype) == np.float64 else np.float32
    expected = (np.arange(len(slopes)) < index).astype(wide)
    value = variable.values[index]
    for wobble in (0.0, 1.0, -1.0):  # an average of many numbers is off by a few roundings
        x = np.asarray(value * (1 + wobble * 4 * float(np.finfo(wide).eps)), dtype=wide).astype(dtype).astype(wide)
        pre = x * slopes.astype(wide) + biases.astype(wide)
        if relu:
            lower = x * slopes.astype(wide) + (biases.astype(wide) - wide(1))
            if (np.abs(np.maximum(pre, 0) - np.maximum(lower, 0) - expected) > RELU_NOISE / 2).any():
                return False
        elif not (np.clip(pre, 0, 1) == expected).all():
            return False
    return True


def expand_set(builder: ExpansionBuilder, variable: SetValued, start: int) -> list[int]:
    """One-hot features for the declared sets: a step is 1 where exactly the set's members are there."""
    columns, biases = [], []
    for members in variable.values:
        column = np.zeros(builder.width)
        column[start : start + variable.range] = -1
        column[[start + m for m in members]] = 1
        columns.append(column)
        biases.append(1.0 - len(members))
    block = builder.add_steps(columns, biases)
    return [builder.add_feature({block[0] + i: 1.0}, 0.0, block) for i in range(len(variable.values))]


def expand_bit(builder: ExpansionBuilder, terms: np.ndarray, allowed: frozenset[int], largest: int) -> int:
    """A feature that is 1 where a sum (weights `terms` over the residual stream) is in a set of values."""
    inside = [value in allowed for value in range(largest + 1)]
    changes = [
        (k, 1.0 if now else -1.0) for k, (now, before) in enumerate(zip(inside, [False, *inside])) if now != before
    ]
    block = builder.add_steps([terms] * len(changes), [1.0 - k for k, _ in changes])
    return builder.add_feature({block[0] + i: sign for i, (_, sign) in enumerate(changes)}, 0.0, block)


def grid_values(name: str, variable: Numeric, dtype: np.dtype) -> np.ndarray:
    """The declared values rounded to a grid on which the number type adds and subtracts exactly."""
    values = np.array(variable.values)
    bits = {8: 40, 4: 18, 2: 5}[np.dtype(dtype).itemsize]
    largest = float(np.abs(values).max())
    step = 2.0 ** (math.ceil(math.log2(largest)) - bits) if largest > 0 else 1.0
    rounded = np.round(values / step) * step
    gaps = np.diff(values)
    if len(gaps) and (np.abs(rounded - values).max() > gaps.min() / 8):
        raise CompileError(
            f"{np.dtype(dtype).name} cannot hold the declared values of {name!r} exactly enough to write them: the "
            f"smallest gap is {gaps.min():.3g}, and sums are exact to {step:.3g}. Compile for float32 or float64."
        )
    return rounded
