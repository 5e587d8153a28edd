"""The inputs of hidden units, as tables over the codes of variables.

The pre-activation of a unit is its bias plus one entry of a table for each variable, plus its weight on each *bit* (a
feature made of several variables). All of these are integers below 2²⁴ (2⁵³ in float64), which floats add without
rounding. So a sum of table entries is what any execution computes, in whatever order it multiplies and adds. `runs`
goes through every combination of codes in blocks, with the units that may be on in each block.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.compiling.alta.conditions.weights import hot, number_steps, unit_roundoff, wide_type
from kleene.compiling.alta.stream import grid_values
from kleene.machines.transformer.layer import RELU_NOISE, activate
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Numeric

Codes = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Bit:
    """A feature that is 0 or 1, depending on several variables: a sum of clipped steps over the stream."""

    column: int
    names: tuple[str, ...]
    inputs: dict[str, np.ndarray]  # (codes, steps)
    bias: np.ndarray
    outputs: np.ndarray
    constant: float
    activation: str

    def at(self, codes: Codes) -> np.ndarray:
        """The bit for arrays of codes. A bit of a number with one value depends on nothing and is constant."""
        size = len(next(iter(codes.values()))) if codes else 1
        pre = np.tile(self.bias, (size, 1)) + sum(self.inputs[n][codes[n]] for n in self.names)
        return activate(np, self.activation, pre) @ self.outputs + self.constant


@dataclass(frozen=True)
class UnitInputs:
    """The inputs of some hidden units: their biases, their tables, and their weights on bits."""

    bias: np.ndarray
    tables: dict[str, np.ndarray]  # (codes, units), of the variables that some unit reads
    bits: tuple[tuple[Bit, np.ndarray], ...]

    def at(self, codes: Codes) -> np.ndarray:
        """The pre-activations (assignment, unit) for arrays of codes."""
        size = len(next(iter(codes.values())))
        pre = np.tile(self.bias, (size, 1))
        for name, table in self.tables.items():
            pre += table[codes[name]]
        for bit, weights in self.bits:
            pre += bit.at(codes)[:, None] * weights
        return pre

    @property
    def names(self) -> set[str]:
        return set(self.tables) | {n for bit, _ in self.bits for n in bit.names}

    def of(self, chosen: np.ndarray) -> "UnitInputs":
        """The inputs of some of the units, without the variables that none of them reads."""
        tables = {n: t[:, chosen] for n, t in self.tables.items()}
        bits = tuple((b, w[chosen]) for b, w in self.bits)
        return UnitInputs(
            self.bias[chosen],
            {n: t for n, t in tables.items() if t.any()},
            tuple((b, w) for b, w in bits if w.any()),
        )


class SeenUnits:
    """All hidden units of a network, as tables over the program's codes."""

    def __init__(self, network: UniversalTransformer, program: Program):
        self.network, self.program = network, program
        self.exactly = 1 / unit_roundoff(wide_type(network))  # whole numbers up to here are added without rounding
        self.count = len(network.mlp_bias) // (2 if network.activation == "relu" else 1)

    @property
    def paired(self) -> str | None:
        """With plain ReLU, a message unless the second half of the units is the first at bias - 1, with -output."""
        n, half = self.network, self.count
        if n.activation != "relu":
            return None
        same = np.array_equal(n.mlp_in[:, :half], n.mlp_in[:, half:])
        later = np.array_equal(n.mlp_bias[:half].astype(np.float64) - 1, n.mlp_bias[half:].astype(np.float64))
        return None if same and later and np.array_equal(n.mlp_out[:half], -n.mlp_out[half:]) else "not in pairs"

    @cached_property
    def streams(self) -> dict[str, np.ndarray]:
        """For every variable, its dimensions at each of its codes."""
        found = {}
        for name, variable in self.program.domains.items():
            if isinstance(variable, Numeric):
                dtype = np.dtype(self.network.tokens.dtype)
                written = bool(self.program.updates.get(name))
                held = grid_values(name, variable, dtype) if written else np.array(variable.values).astype(dtype)
                found[name] = held.astype(np.float64)[:, None]
            else:
                found[name] = hot(variable, np.arange(len(variable.domain)))
        return found

    @cached_property
    def _features(self) -> tuple[dict[str, tuple[list[int], np.ndarray]], list[Bit]]:
        """The columns beyond the stream: those that depend on one variable, with their values by code, and the bits."""
        single: dict[str, tuple[list[int], np.ndarray]] = {}
        e, layout = self.network.expansion, self.network.layout
        if e is None:
            return single, []
        owner = np.concatenate([np.full(s.width, i) for i, s in enumerate(layout.segments)])
        inputs, outputs = e.inputs.astype(np.float64), e.outputs.astype(np.float64)
        by_names: dict[tuple[int, ...], list[int]] = {}
        reads: list[set[int]] = [set() for _ in e.bias]
        for dim, step in np.argwhere(inputs != 0).tolist():
            reads[step].add(int(owner[dim]))
        used: list[set[int]] = [set() for _ in e.constant]
        for step, f in np.argwhere(outputs != 0).tolist():
            used[f] |= reads[step]
        for f, owners in enumerate(used):
            by_names.setdefault(tuple(sorted(owners)), []).append(f)
        bits = []
        for owners, features in by_names.items():
            segments = [layout.segments[i] for i in owners]
            steps = np.flatnonzero((outputs[:, features] != 0).any(axis=1))
            parts = {s.channel.name: self.streams[s.channel.name] @ inputs[s.start : s.stop, steps] for s in segments}
            made = outputs[steps][:, features], e.constant[features].astype(np.float64)
            bias = e.bias[steps].astype(np.float64)
            if len(segments) == 1:
                (name, part), (weights, constant) = next(iter(parts.items())), made
                values = activate(np, self.network.activation, part + bias) @ weights + constant
                single[name] = [layout.width + f for f in features], self._settled(name, values)
                continue
            for i, f in enumerate(features):
                mine = np.flatnonzero(made[0][:, i])
                args = {n: p[:, mine] for n, p in parts.items()}, bias[mine], made[0][mine, i], float(made[1][i])
                bits.append(Bit(layout.width + f, tuple(parts), *args, self.network.activation))
        return single, bits

    def _settled(self, name: str, values: np.ndarray) -> np.ndarray:
        """Features of a number rounded to 0 or 1, if they are within their noise of it; clipped features have none."""
        settled, noise = np.round(values), self.noise(name)
        return settled if (np.abs(values - settled) <= noise).all() else values

    def noise(self, name: str) -> np.ndarray:
        """How far each feature of a number may be from 0 or 1, because plain ReLU subtracts large numbers."""
        steps = number_steps(self.network, name) if isinstance(self.program.domains[name], Numeric) else None
        if steps is None or steps.seconds is None:
            return np.zeros(1)
        source = self.program.heads[name].value if name in self.program.heads else name
        reach = max(abs(float(v)) for v in (*self.streams[source][:, 0], *self.program.starts[source][1]))
        largest = np.abs(steps.slopes) * reach + np.abs(steps.biases) + 1
        each = np.abs(steps.biases - steps.seconds - 1) + 8 * unit_roundoff(wide_type(self.network)) * largest
        return np.minimum(RELU_NOISE, np.append(each, 0.0) + np.append(0.0, each))

    def inputs(self, units: np.ndarray) -> UnitInputs:
        """The inputs of some units."""
        wide = wide_type(self.network)
        return self._tables(self.network.mlp_in[:, units].astype(wide), self.network.mlp_bias[units].astype(wide))

    def probed(self, rows: np.ndarray) -> UnitInputs:
        """The inputs of some rows of the probe, as a run computes them; a row holds where its input is not negative."""
        probe, wide = self.network.probe, wide_type(self.network)
        assert probe is not None
        least = probe.least[rows].astype(self.network.mlp_bias.dtype)
        return self._tables(probe.rows[:, rows].astype(wide), -least.astype(wide))

    def _tables(self, weights: np.ndarray, bias: np.ndarray) -> UnitInputs:
        single, bits = self._features
        tables = {}
        for s in self.network.layout.segments:
            name, block = s.channel.name, weights[s.start : s.stop]
            table = None
            if block.any():  # a category is one-hot: its table is the weights themselves
                table = block if s.channel.kind == "category" else self.streams[name] @ block
            if name in single and weights[single[name][0]].any():
                more = single[name][1] @ weights[single[name][0]]
                table = more if table is None else table + more
            if table is not None:
                tables[name] = table
        used = tuple((b, weights[b.column]) for b in bits if weights[b.column].any())
        return UnitInputs(bias, tables, used)

    def soft_columns(self) -> list[tuple[int, float]]:
        """The features that are 0 or 1 only up to some noise, with that noise."""
        single = self._features[0]
        return [(c, x) for n, (columns, _) in single.items() for c, x in zip(columns, self.noise(n).tolist()) if x > 0]

    @cached_property
    def spare(self) -> np.ndarray:
        """How far rounding may lift each unit's input above its largest value at codes of undefined heads.

        It is 0 if a unit reads a single share of a head, because a share is at most 1. Several shares add up to 1 only
        up to the rounding of each and of their sum. Features of a number that is an average have their noise besides.
        """
        narrow, wide = unit_roundoff(self.network.tokens.dtype), unit_roundoff(wide_type(self.network))
        total = np.zeros(self.count)
        for segment in self.network.layout.head_segments:
            features = self._features[0].get(segment.channel.name, ([], 0))[0]
            columns = [*range(segment.start, segment.stop), *features]
            weights = np.abs(self.network.mlp_in[columns, : self.count].astype(np.float64))
            several, largest = (weights != 0).sum(axis=0), weights.max(axis=0)
            total += np.where(several > 1, largest * (2 * narrow + 4 * several * wide), 0.0)
            if self.noise(segment.channel.name).any():
                total += 2 * self.noise(segment.channel.name) @ weights[-len(features) :]
        for bit in self._features[1]:
            if any(n in self.program.heads for n in bit.names):
                total += 64 * wide * len(bit.bias) * np.abs(self.network.mlp_in[bit.column, : self.count].astype(float))
        return total

    @cached_property
    def against_heads(self) -> bool:
        """Whether some unit that writes a variable reads a head with a negative weight."""
        kept = [d for s in self.network.layout.kept_segments for d in range(s.start, s.stop)]
        units = units_onto(self.network, kept, self.count)
        columns = [d for s in self.network.layout.head_segments for d in range(s.start, s.stop)]
        columns += [c for n in self.program.heads for c in self._features[0].get(n, ([], 0))[0]]
        columns += [b.column for b in self._features[1] if any(n in self.program.heads for n in b.names)]
        return bool((self.network.mlp_in[columns][:, units] < 0).any())

    def rounds(self, units: np.ndarray) -> str | None:
        """Why the units' pre-activations might be rounded, or None if they cannot be."""
        weights, bias = self.network.mlp_in[:, units], self.network.mlp_bias[units].astype(np.float64)
        if (weights != np.round(weights)).any() or (bias != np.round(bias)).any():
            return "a hidden unit has a weight that is no whole number"
        numbers = [
            self.network.layout.segment(n).start for n, v in self.program.domains.items() if isinstance(v, Numeric)
        ]
        if (weights[numbers] != 0).any():
            return "a hidden unit reads a number as it is"
        if (np.abs(weights.astype(np.float64)).sum(axis=0) + np.abs(bias) >= self.exactly).any():
            return f"the weights of a hidden unit add up to more than {self.exactly:,.0f}"
        return None


def units_onto(network: UniversalTransformer, dims: Sequence[int] | slice, count: int) -> np.ndarray:
    """The units (of the first `count`) that write onto some dimensions."""
    return np.flatnonzero((network.mlp_out[:count, dims] != 0).any(axis=1))


CHUNK = 1 << 20  # numbers that are computed at once


def size_of(codes: Codes) -> int:
    """How many assignments there are in arrays of codes."""
    return len(next(iter(codes.values()))) if codes else 1


def assignments(axes: Sequence[Codes], width: int) -> Iterator[Codes]:
    """Every combination of the axes, in blocks small enough for `width` numbers per combination."""
    shape = tuple(size_of(axis) for axis in axes)
    chunk = max(1, CHUNK // max(width, 1))
    for start in range(0, math.prod(shape), chunk):
        index = np.unravel_index(np.arange(start, min(start + chunk, math.prod(shape))), shape) if shape else ()
        yield {n: column[i] for axis, i in zip(axes, index) for n, column in axis.items()}


@dataclass(frozen=True)
class Run:
    """Some assignments, the units that may be on there, and their pre-activations (assignment, unit)."""

    codes: Codes
    units: np.ndarray
    pre: np.ndarray

    def at(self, where: np.ndarray) -> "Run":
        return Run({n: c[where] for n, c in self.codes.items()}, self.units, self.pre[where])


def runs(inputs: UnitInputs, axes: Sequence[Codes]) -> Iterator[Run]:
    """Every combination of the axes with the units' pre-activations; units left out are at most 0 there.

    Of many units few are on at once. So the axes are fixed one by one, and after each the units are dropped that cannot
    be on any more, whatever the other axes are.
    """
    tables = [_table(inputs, axis) for axis in axes]
    bits = sum((np.maximum(weights, 0) for _, weights in inputs.bits), np.zeros(len(inputs.bias)))
    most = [table.max(axis=0) for table in tables]
    search = _RunSearch(inputs, list(axes), tables, most, bits)
    start = inputs.bias.copy()
    yield from search.below({}, list(range(len(axes))), np.arange(len(start)), start)


def _table(inputs: UnitInputs, axis: Codes) -> np.ndarray:
    """What an axis adds to every unit's input, for each of its values: (values, units)."""
    table = np.zeros((size_of(axis), len(inputs.bias)), dtype=inputs.bias.dtype)
    for name, codes in axis.items():
        if name in inputs.tables:
            table += inputs.tables[name][codes]
    return table


@dataclass(frozen=True)
class _RunSearch:
    inputs: UnitInputs
    axes: list[Codes]
    tables: list[np.ndarray]
    most: list[np.ndarray]
    bits: np.ndarray

    def below(self, fixed: dict[int, int], left: list[int], units: np.ndarray, pre: np.ndarray) -> Iterator[Run]:
        """The runs with some axes fixed, where `units` have the input `pre` so far."""
        rest = sum((self.most[a][units] for a in left), self.bits[units])
        going = pre + rest > 0
        units, pre, rest = units[going], pre[going], rest[going]
        sizes = [size_of(self.axes[a]) for a in left]
        if len(units) <= 32 or len(left) < 2 or math.prod(sizes) * len(units) <= CHUNK // 16:
            yield from self._plainly(fixed, left, units, pre)
            return
        alive = [
            ((self.tables[a][:, units] - self.most[a][units] + pre + rest) > 0).sum() / n for a, n in zip(left, sizes)
        ]
        axis = left[int(np.argmin(alive))]
        others = [a for a in left if a != axis]
        for value in range(size_of(self.axes[axis])):
            yield from self.below(fixed | {axis: value}, others, units, pre + self.tables[axis][value, units])

    def _plainly(self, fixed: dict[int, int], left: list[int], units: np.ndarray, pre: np.ndarray) -> Iterator[Run]:
        tables = {a: self.tables[a][:, units] for a in left}
        axes = [{str(a): np.arange(size_of(self.axes[a]))} for a in left]
        for index in assignments(axes, max(1, len(units))):
            size = size_of(index)
            total = np.tile(pre, (size, 1))
            for a in left:
                total += tables[a][index[str(a)]]
            codes = {n: c[index[str(a)]] for a in left for n, c in self.axes[a].items()}
            codes |= {n: np.full(size, c[v]) for a, v in fixed.items() for n, c in self.axes[a].items()}
            for bit, weights in self.inputs.bits:
                if weights[units].any():
                    total += bit.at(codes)[:, None] * weights[units]
            yield Run(codes, units, total)
