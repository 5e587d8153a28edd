"""All pairs of words of many sentences in an LSTM, in O(n²) steps per sentence and arrays of few shapes.

Up to its second word r, the pair {l, r} is the single word {l}. So a sentence needs the trajectories of its n single
words, and one more step for each pair, which branches off at r. The irrelevant part is the state minus the relevant
part, and the state is computed once for all pairs. The step of {l} and the branch share the product with the recurrent
weights, so in the first layer a pair costs one product of hidden × 3 hidden.

The trajectory of word l meets the n−1−l words after it. Folded, this triangle is a rectangle: row k of a sentence
carries the trajectory of word k and then, from tick n−1−k on, that of word n−1−k, which meets the last k words. So a
sentence takes ⌈n/2⌉ rows for n−1 ticks, and sentences of any lengths fill the rows of one array.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kleene.explaining.words.lstm_step import KnownStep, lstm_step
from kleene.explaining.words.sharing import Sharing, floor_of, module_of, sigmoid, tanh
from kleene.machines.lstm.lstm import Layer


class Question(eqx.Module):
    """A network, the choices of sharing, the layer of interest and, for logits, a root of the decoder's Gram matrix."""

    network: Any  # a Recurrence, in jax's or in numpy's arrays
    root: Any  # [rank, hidden], or None
    sharing: Sharing = eqx.field(static=True)
    layer: int = eqx.field(static=True)

    @property
    def multiplications(self) -> int:
        """How many multiplications one pair takes."""
        return sum(layer.recurrent.size + layer.inputs.size for layer in self.network.layers)


class Packed(NamedTuple):
    """Sentences in the rows of one array, several per row, and the rows that carry their trajectories.

    Places are counted down the columns: if a sentence's first word is at place p, word w is at place p + w · batch.
    """

    tokens: np.ndarray  # [batch, step]
    begins: np.ndarray  # [batch, step], whether a sentence begins here
    lengths: tuple[int, ...]  # of the sentences
    sentence: np.ndarray  # [rows], the sentence of each row of trajectories; unused rows have length 0
    first: np.ndarray  # [rows], the place of the sentence's first word
    length: np.ndarray  # [rows]
    fold: np.ndarray  # [rows], k


class Ticks(NamedTuple):
    """Which word's trajectory each row carries in each tick, and which word it meets: [tick, rows]."""

    left: np.ndarray
    right: np.ndarray
    begins: np.ndarray  # whether the trajectory begins
    meaning: np.ndarray  # whether the row has two words of a sentence to compare


class CellState(NamedTuple):
    """A layer's state, or a part of it: [rows, hidden] each."""

    hidden: Any
    cell: Any


class GateReading(NamedTuple):
    """What a layer computes at each word, whatever is in focus: [words, …], gates in the order of the weights."""

    arriving: Any  # the input of the decomposed gates from the word itself
    gates: Any  # the whole input of those gates, without the bias
    open: Any  # φ of the four gates with their bias
    before: Any  # the cell before
    cell: Any
    shown: Any  # tanh of the cell


class ReadWords(NamedTuple):
    """Words that have been read: what each layer computed at each, and the relevant part with that word in focus.

    `norms` are the norms of the whole state after each word, in the layer of interest. `split` has the weights of the
    decomposed gates, cut out once.
    """

    readings: tuple[GateReading, ...]
    alone: tuple[CellState, ...]
    norms: Any
    split: tuple[Layer, ...]


def pack(sentences: Sequence[np.ndarray], batch: int, steps: int, rows: int) -> Packed:
    """The first sentences, as many as there is room for; there is always room for one of `steps` words.

    >>> pack([np.arange(3), np.arange(5), np.arange(8)], batch=1, steps=8, rows=5).lengths
    (3, 5)
    """
    tokens, begins = np.zeros((batch, steps), np.int32), np.zeros((batch, steps), bool)
    lengths, about = [], np.zeros((4, rows), np.int32)
    row = column = used = 0
    for number, words in enumerate(sentences):
        if column + len(words) > steps:
            row, column = row + 1, 0
        needed = (len(words) + 1) // 2
        if row == batch or used + needed > rows:
            break
        tokens[row, column : column + len(words)] = words
        begins[row, column] = True
        about[:3, used : used + needed] = [[number], [column * batch + row], [len(words)]]
        about[3, used : used + needed] = np.arange(needed)
        column, used = column + len(words), used + needed
        lengths.append(len(words))
    return Packed(tokens, begins, tuple(lengths), *about)


def ticks_of(packed: Packed) -> Ticks:
    """The ticks of packed sentences: one fewer than the longest has words.

    >>> found = ticks_of(pack([np.arange(4)], batch=1, steps=4, rows=2))
    >>> [[f"{l}{r}" for l, r in zip(*both)] for both in zip(found.left.tolist(), found.right.tolist())]
    [['01', '12'], ['02', '13'], ['03', '23']]
    """
    number = np.arange(max(packed.lengths) - 1, dtype=np.int32)[:, None]
    turn = packed.length - 1 - packed.fold  # the tick at which a row begins its second trajectory
    second = number >= turn
    left = np.where(second, turn, packed.fold)
    right = np.where(second, number + 1, packed.fold + 1 + number)
    twice = second & ((packed.fold == 0) | (packed.fold == turn))  # the sentence has no second trajectory for the row
    meaning = (right < packed.length) & ~twice
    last = np.maximum(packed.length - 1, 0)
    return Ticks(np.clip(left, 0, last), np.minimum(right, last), (number == turn) | (number == 0), meaning)


def all_pairs(question: Question, packed: Packed, *, compiled: bool) -> list[np.ndarray]:
    """The matrix of each sentence: symmetric, NaN on the diagonal. It is computed in numpy unless `compiled`."""
    batch, ticks = len(packed.tokens), ticks_of(packed)
    read, step = programs() if compiled else (read_words, meet)
    words = read(question, packed.tokens, packed.begins)
    nothing = np.zeros((len(packed.fold), words.alone[0].hidden.shape[-1]), words.norms.dtype)
    living, found = tuple(CellState(nothing, nothing) for _ in words.alone), []
    living = jax.device_put(living) if compiled else living
    for left, right, begins in zip(packed.first + ticks.left * batch, packed.first + ticks.right * batch, ticks.begins):
        living, ratios = step(question, words, living, begins, left, right)
        found.append(ratios)
    return _matrices(packed, ticks, [np.asarray(ratios) for ratios in found], words.norms.dtype)


@cache
def programs() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`read_words` and `meet`, compiled. On a GPU without Triton, which would compile dozens of kernels per product."""
    options = {"xla_gpu_enable_triton_gemm": False} if jax.default_backend() == "gpu" else None
    return jax.jit(read_words, compiler_options=options), jax.jit(meet, compiler_options=options)


def _matrices(packed: Packed, ticks: Ticks, ratios: list[np.ndarray], dtype: Any) -> list[np.ndarray]:
    longest, meaning = max(packed.lengths), ticks.meaning
    grid = np.full((len(packed.lengths), longest, longest), np.nan, dtype)
    sentence = np.broadcast_to(packed.sentence, meaning.shape)[meaning]
    left, right = ticks.left[meaning], ticks.right[meaning]
    values = np.array(ratios, dtype).reshape(meaning.shape)[meaning]
    grid[sentence, left, right] = grid[sentence, right, left] = values
    return [matrix[:length, :length].copy() for matrix, length in zip(grid, packed.lengths)]


def read_words(question: Question, tokens: Any, begins: Any) -> ReadWords:
    """What the network computes at all words of [batch, step] tokens; each sentence begins at its start."""
    network, xp = question.network, module_of(question.network.embedding)
    gates = 3 if question.sharing.output_gate == "whole" else 4
    taken = tuple(jax.tree.map(lambda rows: rows[: len(rows) // 4 * gates], layer) for layer in network.layers)
    entries, readings, alone = network.embedding[tokens.T], [], []  # [step, batch, width]
    for index, (layer, apart) in enumerate(zip(network.layers, taken)):
        start = CellState(network.start.hidden[index], network.start.cell[index])
        entries, reading = _read(layer, len(apart.bias), start, entries, begins.T)
        mine = GateReading(*(rows.reshape(-1, rows.shape[-1]) for rows in reading))
        z = mine.arriving if index == 0 else alone[-1].hidden @ apart.inputs.T
        alone.append(_relevant(question, apart, mine, z, xp.zeros_like(mine.cell), True))
        readings.append(mine)
    top = readings[question.layer]
    state = top.open[:, 3 * top.cell.shape[-1] :] * top.shown
    return ReadWords(tuple(readings), tuple(alone), xp.sqrt(_square_norms(state, question.root)), taken)


def _read(layer: Layer, split: int, start: CellState, entries: Any, begins: Any) -> tuple[Any, GateReading]:
    """The hidden states of a layer at each step, and its readings; the first `split` gate units are decomposed."""
    xp, arriving = module_of(entries), entries @ layer.inputs.T

    def step(memory: CellState, now: tuple[Any, Any]) -> tuple[CellState, tuple[Any, GateReading]]:
        sent, begin = now
        memory = jax.tree.map(lambda first, old: xp.where(begin[:, None], first, old), start, memory)
        gates = sent + memory.hidden @ layer.recurrent.T
        write, keep, candidate, read = xp.split(gates + layer.bias, 4, axis=-1)
        is_open = [sigmoid(write), sigmoid(keep), tanh(candidate), sigmoid(read)]
        cell = is_open[1] * memory.cell + is_open[0] * is_open[2]
        shown = tanh(cell)
        hidden, opened = is_open[3] * shown, xp.concatenate(is_open, axis=-1)
        reading = GateReading(sent[..., :split], gates[..., :split], opened, memory.cell, cell, shown)
        return CellState(hidden, cell), (hidden, reading)

    before = jax.tree.map(lambda state: xp.broadcast_to(state, (entries.shape[1], *state.shape)), start)
    if xp is jnp:
        return jax.lax.scan(step, before, (arriving, begins))[1]
    found = []
    for now in zip(arriving, begins):
        before, out = step(before, now)
        found.append(out)
    return jax.tree.map(lambda *steps: np.stack(steps), *found)


def meet(
    question: Question, words: ReadWords, living: tuple[CellState, ...], begins: Any, left: Any, right: Any
) -> tuple[tuple[CellState, ...], Any]:
    """The trajectories after one more step, at which each meets a word, and its interdependence with that word.

    A trajectory that `begins` is that of the single word at place `left`. Places are arguments, because XLA would
    otherwise compute them again for every number of every row.
    """
    xp = module_of(words.norms)
    after, found, alone, paired = [], None, None, None  # the relevant part of a layer's entry for {l} and for {l, r}
    for index, (apart, old, single_word) in enumerate(zip(words.split, living, words.alone)):
        old = jax.tree.map(lambda new, old: xp.where(begins[:, None], new[left], old), single_word, old)
        reading = GateReading(*(rows[right] for rows in words.readings[index]))
        carried = old.hidden @ apart.recurrent.T
        if alone is None or paired is None:  # the first layer: all of the entry is relevant, or nothing
            branch = carried + reading.arriving
        else:
            carried, branch = carried + alone @ apart.inputs.T, carried + paired @ apart.inputs.T
        single = _relevant(question, apart, reading, carried, old.cell, False)
        pair = _relevant(question, apart, reading, branch, old.cell, True)
        if index == question.layer:
            missed = pair.hidden - single.hidden - single_word.hidden[right]
            found = _ratio(missed, pair.hidden, words.norms[right], question.root)
        alone, paired = single.hidden, pair.hidden
        after.append(single)
    return tuple(after), found


def _relevant(
    question: Question, apart: Layer, reading: GateReading, gates: Any, cell: Any, in_focus: bool
) -> CellState:
    """The relevant part after a step; compiled code never computes what only the irrelevant one needs."""
    ours, known = module_of(cell).asarray(in_focus), KnownStep(reading.open, reading.cell, reading.shown)
    both, cells = (gates, reading.gates - gates), (cell, reading.before - cell)
    hidden, cells = lstm_step(question.sharing, both, apart.bias, cells, ours, known)
    return CellState(hidden[0], cells[0])


def _ratio(missed: Any, pair: Any, whole: Any, root: Any) -> Any:
    """‖{l, r} − {l} − {r}‖ / ‖{l, r}‖; 0 where the upper norm is below the floor, and 0/0 is 0."""
    xp = module_of(pair)
    above, below = (_square_norms(side, root) for side in (missed, pair))
    none = xp.sqrt(above) <= floor_of(pair.dtype) * whole
    return xp.where(none, 0, xp.sqrt(above / xp.where(none, 1, below)))


def _square_norms(states: Any, root: Any) -> Any:
    return module_of(states).square(states if root is None else states @ root.T).sum(axis=-1)
