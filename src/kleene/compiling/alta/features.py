"""The fourth pass: the features, 0 or 1, that the hidden units read.

A category is one-hot in the residual stream already. Numbers, sets and the sums behind bits are turned into such
features by two layers before the MLP, the expansion.

For a number with declared values v₀ < v₁ < … each middle between two neighbours gets one step unit, whose slope is
chosen from its own gap. A step is exact where it is saturated. This pass checks that every declared value saturates
every step in the number type, with the rounding that the network will have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kleene.compiling.alta.stream import Stream, wider
from kleene.compiling.alta.units import SumBit
from kleene.errors import CompileError
from kleene.machines.transformer.layer import RELU_NOISE
from kleene.machines.transformer.parameters import Expansion
from kleene.programs.alta.program import Program
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.variables import BLUR, Categorical, Numeric, SetValued


@dataclass(frozen=True, repr=False, eq=False)
class Features:
    """What the MLP reads: the residual stream and, beyond it, the features that the expansion makes.

    `columns` has the feature that is 1 for each code of a variable, and `bits` the feature of each bit. `number_steps`
    has the range of step units that sort the number of a head: (head, start, stop).
    """

    count: int
    columns: Mapping[str, list[int]]
    bits: Mapping[SumBit, int]
    expansion: Expansion | None
    number_steps: tuple[tuple[int, int, int], ...]

    def terms(self, total: Sum) -> np.ndarray:
        """The sum as weights over the features."""
        return _terms(self.columns, total, self.count)

    def __repr__(self) -> str:
        steps = 0 if self.expansion is None else len(self.expansion.bias)
        return f"<{self.count} features, {len(self.bits)} of them bits; {steps} step units>"

    def __str__(self) -> str:
        shown = [f"{columns[0]:>4}..{columns[-1]:<4} {name}" for name, columns in self.columns.items()]
        shown += [f"{column:>4}       a sum in {sorted(bit.allowed)}" for bit, column in self.bits.items()]
        return "\n".join(shown)


def expand(stream: Stream, bits: Sequence[SumBit], *, relu: bool) -> Features:
    """The features for every variable that a case reads or writes, and for the bits."""
    program, builder = stream.program, ExpansionBuilder(stream.width, stream.dtype, relu)
    columns: dict[str, list[int]] = {}
    steps = []
    needed = _asked(program) | stream.written
    for name, variable in program.domains.items():
        segment = stream.segments[name]
        if isinstance(variable, Categorical):
            columns[name] = list(range(segment.start, segment.stop))
        elif name in needed and isinstance(variable, Numeric):
            made, block = expand_number(builder, name, variable, segment.start)
            columns[name] = [stream.width + feature for feature in made]
            if name in program.heads and block[0] < block[1]:  # a number with one value needs no step
                steps.append((list(program.heads).index(name), *block))
        elif name in needed and isinstance(variable, SetValued):
            columns[name] = [stream.width + feature for feature in expand_set(builder, variable, segment.start)]
    made_bits = {b: stream.width + expand_bit(builder, _terms(columns, b.total, stream.width), b) for b in bits}
    arrays = builder.arrays() if builder.features else None
    expansion = None if arrays is None else Expansion(*(stream.exact(a, "the expansion") for a in arrays))
    return Features(stream.width + len(builder.features), columns, made_bits, expansion, tuple(steps))


def _asked(program: Program) -> set[str]:
    """The variables that some case reads, and the heads whose use is guarded."""
    groups = (program.updates, program.reads, program.faults)
    return {n for group in groups for cases in group.values() for c in cases for n in c.variables} | set(program.reads)


def _terms(columns: Mapping[str, list[int]], total: Sum, count: int) -> np.ndarray:
    weights = np.zeros(count)
    for name, term in total.terms:
        weights[columns[name]] += term
    return weights


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
        columns = np.stack(self.columns, axis=1) if self.columns else np.zeros((self.width, 0))
        return columns, np.array(self.biases), outputs, constants


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
    """Refuse unless every declared value saturates every step exactly; the error names what the type can hold."""
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
    shown = f"from {variable.values[first]:.4g} to {variable.values[first + most - 1]:.4g}" if most else "none of them"
    raise CompileError(
        f"{np.dtype(dtype).name} cannot tell the {len(variable.values)} declared values of {name!r} apart: at most "
        f"{most} in a row, {shown}. Declare fewer values{wider(dtype)}."
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
            if not (np.abs(np.maximum(pre, 0) - np.maximum(lower, 0) - expected) <= RELU_NOISE / 2).all():
                return False  # or they are nan
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


def expand_bit(builder: ExpansionBuilder, terms: np.ndarray, bit: SumBit) -> int:
    """A feature that is 1 where a sum (weights `terms` over the residual stream) is in a set of values."""
    changes = changes_of(bit.total, bit.allowed)
    block = builder.add_steps([terms] * len(changes), [1.0 - value for value, _ in changes])
    return builder.add_feature({block[0] + i: sign for i, (_, sign) in enumerate(changes)}, 0.0, block)


def changes_of(total: Sum, allowed: frozenset[int]) -> list[tuple[int, float]]:
    """Where being in the set changes as the sum grows: the value, and 1 where it enters or -1 where it leaves."""
    inside = [value in allowed for value in range(total.largest + 1)]
    pairs = enumerate(zip(inside, [False, *inside]))
    return [(value, 1.0 if now else -1.0) for value, (now, before) in pairs if now != before]
