"""The first passes: the dimensions that hold each variable, their start values, and what the attention heads copy.

A categorical variable is one-hot, a set multi-hot, a number one dimension (ALTA, A.2). The heads' outputs come last.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.errors import CompileError
from kleene.machines.transformer.numbers import grid_step, on_grid
from kleene.machines.transformer.parameters import Segment
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Numeric, SetValued

ATTENTION_SCALAR = 100.0  # λ: a matching key and query give the logit λ², which makes softmax exactly hard


@dataclass(frozen=True, repr=False, eq=False)
class Stream:
    """The residual stream of a program in a number type.

    `numbers` has the values of every numeric variable as the network holds them. Values that the MLP writes are rounded
    so that they can be added and subtracted exactly.
    """

    program: Program
    dtype: np.dtype
    segments: Mapping[str, Segment]
    numbers: Mapping[str, np.ndarray]

    @cached_property
    def width(self) -> int:
        return max(segment.stop for segment in self.segments.values())

    @cached_property
    def written(self) -> frozenset[str]:
        """The variables that the MLP writes."""
        return frozenset(name for name, cases in self.program.updates.items() if cases)

    def entries(self, name: str, code: int) -> tuple[list[int], float]:
        """The dimensions that hold a code of a variable, and the value in each of them."""
        start, variable = self.segments[name].start, self.program.domains[name]
        if isinstance(variable, Numeric):
            return [start], float(self.numbers[name][code])
        if isinstance(variable, SetValued):
            return [start + member for member in variable.values[code]], 1.0
        return [start + code], 1.0

    def vector(self, name: str, code: int) -> np.ndarray:
        """The residual stream with this code of one variable, and 0 elsewhere."""
        vector = np.zeros(self.width)
        dims, entries = self.entries(name, code)
        vector[dims] = entries
        return vector

    def exact(self, array: np.ndarray, where: str) -> np.ndarray:
        """The array in the number type; refuses whole numbers that the type would round."""
        rounded = array.astype(self.dtype)
        changed = array[rounded.astype(np.float64, copy=False) != array]
        lost = changed[changed == np.round(changed)]
        if lost.size:
            raise CompileError(
                f"{self.program.name}: {where} needs the whole number {lost[0]:g}, which {self.dtype.name} "
                f"cannot hold exactly; make the ranges of the variables smaller{wider(self.dtype)}."
            )
        return rounded

    def __repr__(self) -> str:
        return f"<residual stream of {self.width} dimensions for {len(self.segments)} variables in {self.dtype.name}>"

    def __str__(self) -> str:
        return "\n".join(f"{s.start:>4}..{s.stop - 1:<4} {n} ({s.channel.kind})" for n, s in self.segments.items())


def residual_stream(program: Program, dtype: np.dtype) -> Stream:
    """The dimensions of every variable, one after the other.

    >>> from kleene.programs.alta.library import parity
    >>> print(residual_stream(parity.relative(), np.dtype("float32")))
       0..1    parity (category)
       2..3    done (category)
       4..5    parity_left (category)
       6..7    done_left (category)
    """
    segments, start = {}, 0
    for channel in program.channels:
        stop = start + (1 if channel.kind == "number" else int(channel.size or 0))
        segments[channel.name] = Segment(channel, start, stop)
        start = stop
    numbers = {
        name: grid_values(name, variable, dtype) if program.updates.get(name) else np.array(variable.values)
        for name, variable in program.domains.items()
        if isinstance(variable, Numeric)
    }
    return Stream(program, dtype, segments, numbers)


def grid_values(name: str, variable: Numeric, dtype: np.dtype) -> np.ndarray:
    """The declared values rounded to a grid on which the number type adds and subtracts exactly."""
    values = np.array(variable.values)
    step = grid_step(values, dtype)
    rounded = on_grid(values, step)
    gaps = np.diff(values)
    if len(gaps) and (np.abs(rounded - values).max() > gaps.min() / 8):
        raise CompileError(
            f"{np.dtype(dtype).name} cannot hold the declared values of {name!r} exactly enough to write them: the "
            f"smallest gap is {gaps.min():.3g}, and sums are exact to {step:.3g}. Declare fewer values"
            f"{wider(dtype)}."
        )
    return rounded


def wider(dtype: np.dtype) -> str:
    """The end of an advice: number types that hold more than one that does not suffice.

    >>> wider(np.dtype("float32")), wider(np.dtype("float64"))
    (', or compile for float64', '')
    """
    known = ("float32", "float64")
    name = np.dtype(dtype).name
    types = known[known.index(name) + 1 :] if name in known else known
    return f", or compile for {' or '.join(types)}" if types else ""


@dataclass(frozen=True, repr=False, eq=False)
class Embeddings:
    """What tokens and positions add to the residual stream at the start, and the dimension that ends a run."""

    tokens: np.ndarray
    positions: np.ndarray | None
    halt: np.ndarray | None

    def __repr__(self) -> str:
        positions = 0 if self.positions is None else len(self.positions)
        return f"<embeddings of {len(self.tokens)} tokens and {positions} positions>"


def embeddings(stream: Stream) -> Embeddings:
    """The start of every variable as rows for tokens and positions; a default is added to every token."""
    program = stream.program
    tokens = np.zeros((program.input_range, stream.width))
    positions = np.zeros((program.position_range, stream.width)) if program.position_range is not None else None
    for name, (by, table) in program.starts.items():
        rows = np.stack([_start_vector(stream, name, x) for x in table.tolist()])
        if by == "position":
            assert positions is not None
            positions += rows
        else:
            tokens += rows
    halt = None if program.halt is None else stream.vector(program.halt.variable, program.halt.value)
    return Embeddings(*(None if a is None else a.astype(stream.dtype) for a in (tokens, positions, halt)))  # type: ignore[arg-type]


def _start_vector(stream: Stream, name: str, start: float | int) -> np.ndarray:
    variable = stream.program.variables[name]
    if isinstance(variable, Numeric) and name not in stream.written:
        vector = np.zeros(stream.width)
        vector[stream.segments[name].start] = start
        return vector
    return stream.vector(name, int(variable.bucket(start)) if isinstance(variable, Numeric) else int(start))


@dataclass(frozen=True, repr=False, eq=False)
class HeadWeights:
    """The weights of all heads: (head, width, key), (head, width, entry), (head, entry, width), (head, distance).

    A head copies the dimensions of its query, key and value, and its output goes to its own dimensions. `relative` is
    0 at the distances that a head may look at and -2λ² at the others; its two ends stand for every distance beyond.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    out: np.ndarray
    relative: np.ndarray

    def __repr__(self) -> str:
        return f"<weights of {len(self.query)} heads, keys of {self.query.shape[2]}, values of {self.value.shape[2]}>"


def attention_heads(stream: Stream, scalar: float = ATTENTION_SCALAR) -> HeadWeights:
    """A query, a key and a value for each head, and the distances that it may look at; `scalar` is λ."""
    if not (math.isfinite(scalar) and scalar > 0):
        raise CompileError(f"attention_scalar is λ, a number above 0 (default {ATTENTION_SCALAR:g}); got {scalar!r}")
    heads, segments, width = list(stream.program.heads.items()), stream.segments, stream.width
    keys = [min(segments[h.query].width, segments[h.key].width) if h.query and h.key else 1 for _, h in heads]
    entries = [segments[h.value].width for _, h in heads]
    reach = max([1, *(abs(o) for _, h in heads for o in h.offsets)])
    query = np.zeros((len(heads), width, max(keys, default=1)))
    key, value = np.zeros_like(query), np.zeros((len(heads), width, max(entries, default=1)))
    out = np.zeros((len(heads), max(entries, default=1), width))
    relative = np.zeros((len(heads), 2 * reach + 3))
    for h, (name, head) in enumerate(heads):
        if head.query is not None and head.key is not None:
            for i in range(keys[h]):
                query[h, segments[head.query].start + i, i] = scalar
                key[h, segments[head.key].start + i, i] = scalar
        for i in range(entries[h]):
            value[h, segments[head.value].start + i, i] = 1
            out[h, i, segments[name].start + i] = 1
        if head.offsets:
            relative[h] = -2 * scalar**2
            relative[h, [o + reach + 1 for o in head.offsets]] = 0
    return HeadWeights(*(a.astype(stream.dtype) for a in (query, key, value, out, relative)))
