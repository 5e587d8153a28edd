"""Pairs of what an MLP is given and what it must make of it, from a program's runs: the data of trace supervision.

ALTA (Appendix D.1) trains on the vectors before and after the MLP at every layer and position of every run. Here each
different pair is kept once, with how often it occurs, because a program that does the same thing everywhere has few.
"""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float, Int

from kleene.compiling.alta.compiler import number_type
from kleene.compiling.alta.features import expand
from kleene.compiling.alta.stream import Stream, attention_heads, embeddings, residual_stream
from kleene.errors import InputError
from kleene.limits import check_memory
from kleene.machines.transformer.parameters import Layout, Parameters, Segment
from kleene.programs.alta import Program
from kleene.programs.alta.variables import Categorical
from kleene.teaching.program_words import running_words
from kleene.traces import TraceBatch

BLOCK = 256  # words that are run at once
LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class TracePairs:
    """The different pairs of a program's runs.

    `streams` has the residual stream after attention, NaN where a head is undefined, and `targets` the code of each
    variable after the MLP. `first` and `last` say whether the pair is of a run's first or last layer. `beyond` is by
    how much a run's layers exceed its positions at most, which may be negative.
    """

    variables: tuple[str, ...]
    streams: Float[np.ndarray, "pairs width"]
    targets: Int[np.ndarray, "pairs variables"]
    first: Bool[np.ndarray, " pairs"]
    last: Bool[np.ndarray, " pairs"]
    counts: Int[np.ndarray, " pairs"]
    beyond: int = 0

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def digest(self) -> int:
        """A checksum of everything."""
        found = 0
        for name in [f.name for f in fields(self)][1:-1]:
            found = zlib.crc32(np.ascontiguousarray(getattr(self, name)).tobytes(), found)
        return found


class CompiledFrame:
    """A program compiled except for its MLP: the network without units, and the vectors that its variables' codes are.

    The expansion has features for numbers and sets alone. The compact compiler's bits of sums are left out, because
    they would do a part of what is to be learned.
    """

    def __init__(self, program: Program):
        self.program, self.stream = program, residual_stream(program, number_type("float32"))
        self.tables = {name: _table(self.stream, name) for name in program.variables}
        self.network = _without_mlp(self.stream)

    @property
    def layout(self) -> Layout:
        return self.network.layout


def _table(stream: Stream, name: str) -> Float[np.ndarray, "codes width"]:
    """The dimensions of a variable for each of its codes."""
    segment, codes = stream.segments[name], len(stream.program.variables[name].domain)
    rows = [stream.vector(name, code)[segment.start : segment.stop] for code in range(codes)]
    return np.stack(rows).astype(np.float32)


def _without_mlp(stream: Stream) -> Parameters:
    program, start, heads = stream.program, embeddings(stream), attention_heads(stream)
    features = expand(stream, (), relu=False)
    queries = tuple(head.query is not None for head in program.heads.values())
    layout = Layout(
        program.name, tuple(stream.segments.values()), tuple(program.heads), queries, program.output_name,
        program.input_range, program.position_range, program.halt is not None, program.max_layers,
        features.number_steps, program.alphabet, program.vocabulary,
    )  # fmt: skip
    empty = (
        np.zeros((features.count, 0), np.float32),
        np.zeros(0, np.float32),
        np.zeros((0, stream.width), np.float32),
    )
    return Parameters(
        start.tokens, start.positions, heads.query, heads.key, heads.value, heads.out, heads.relative,
        features.expansion, *empty, start.halt, None, layout,
    )  # fmt: skip


def pairs_of(frame: CompiledFrame, words: Sequence[Sequence[int]]) -> TracePairs:
    """The different pairs of the program's runs on the words."""
    program, layout = frame.program, frame.layout
    if not len(words):
        raise InputError(f"{program.name}: the training set is empty; give it at least one input")
    segments = {segment.channel.name: segment for segment in layout.segments}
    blocks, beyond = [], []
    for start in range(0, len(words), BLOCK):
        with running_words(program):
            batch = program.run_batch([program.check_input(word) for word in words[start : start + BLOCK]])
        blocks.append(_distinct(_rows(frame, batch)))
        beyond.append(int((batch.steps - batch.lengths).max()))
    found, counts = _distinct(*(np.concatenate(parts) for parts in zip(*blocks)))
    if not len(found):
        raise InputError(f"{program.name} takes no layer on any of the training inputs, so there is nothing to learn")
    check_memory(4 * len(found) * layout.width, f"{len(found):,} different pairs of {program.name}", "give fewer words")
    kept, marks = len(program.variables), 2
    streams = np.zeros((len(found), layout.width), np.float32)
    at = marks + kept
    for name in (*program.variables, *program.outputs):
        at += _encode(segments[name], found[:, at:], streams)
    targets = found[:, marks : marks + kept].astype(np.int32)
    first, last = (found[:, mark] > 0 for mark in range(marks))
    return TracePairs(tuple(program.variables), streams, targets, first, last, counts, max(beyond))


def _distinct(rows: np.ndarray, counts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Each different row once, and how often it occurs."""
    if not len(rows):
        return rows, np.zeros(0, np.int64)
    _, first, inverse = np.unique(_keys(rows), return_index=True, return_inverse=True)
    return rows[first], np.bincount(inverse.reshape(-1), weights=counts).astype(np.int64)


def _keys(rows: np.ndarray) -> np.ndarray:
    """A whole number for each row, the same for equal rows alone: sorting these is much faster than sorting rows."""
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        values, ranks = np.unique(column, return_inverse=True)
        if (int(keys.max()) + 1) * len(values) > LARGEST_KEY:
            keys = np.unique(keys, return_inverse=True)[1].reshape(-1)
        keys = keys * len(values) + ranks.reshape(-1)
    return keys


def _rows(frame: CompiledFrame, batch: TraceBatch) -> np.ndarray:
    """A row for each layer and position: marks, codes after the MLP, and then what it was given, as plain numbers."""
    program, data = frame.program, batch.data
    layers, positions = next(iter(data.values())).shape[1] - 1, next(iter(data.values())).shape[2]
    layer = np.arange(layers)
    ran = (layer < batch.steps[:, None])[:, :, None] & (np.arange(positions) < batch.lengths[:, None])[:, None]
    last = np.broadcast_to((layer == batch.steps[:, None] - 1)[..., None], ran.shape)
    first = np.broadcast_to((layer == 0)[:, None], ran.shape)
    columns = [first[ran], last[ran]]
    for name, table in frame.tables.items():
        columns.append(_codes(program, name, table, data[name][:, 1:][ran]))
    given = [data[name][:, :-1][ran] for name in program.variables]
    given += [data[name][:, 1:][ran] for name in program.outputs]
    flat = [np.nan_to_num(_flat(array), nan=np.inf) for array in given]
    return np.concatenate([*(np.asarray(column, np.float64)[:, None] for column in columns), *flat], axis=1)


def _flat(array: np.ndarray) -> np.ndarray:
    return array.reshape(len(array), math.prod(array.shape[1:])).astype(np.float64)


def _codes(program: Program, name: str, table: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """The codes of a variable's entries in a trace: the nearest rows of its table, where it is no category."""
    if isinstance(program.variables[name], Categorical):
        return entries
    flat = _flat(entries).astype(np.float32)
    distances = [np.abs(flat - row).sum(axis=1) for row in table]
    return np.argmin(np.stack(distances), axis=0)


def _encode(segment: Segment, columns: np.ndarray, streams: np.ndarray) -> int:
    """Write a channel's columns into the streams, NaN where it is undefined; returns how many columns it has."""
    part = streams[:, segment.start : segment.stop]
    if segment.channel.kind == "category":
        codes = columns[:, 0].astype(np.int64)
        part[np.arange(len(codes)), np.maximum(codes, 0)] = 1
        part[codes < 0] = np.nan
        return 1
    part[:] = columns[:, : segment.width]
    part[np.isinf(part)] = np.nan
    return segment.width
