"""What a program gives when one value of its run is swapped in from another input, for all values at once.

The result of a swap depends on the other input only through the value that it has there. So a table by site, word,
position and value has the result of every pair of words, and each entry is one run of the interpreter with an `Edit`.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from kleene.errors import InputError, KleeneError
from kleene.limits import LayerLimit, check_memory
from kleene.notation.edits import Edit
from kleene.notation.words import padded
from kleene.programs.alta import Program
from kleene.programs.alta.variables import Categorical
from kleene.traces import Channel, TraceBatch

MOST_RUNS = 1 << 14  # runs of the interpreter at once
MOST_VALUES = 127  # of an output, or of a variable at a site


@dataclass(frozen=True, order=True)
class Site:
    """What is swapped: a variable after a layer (0 is the start), or what a head read in a layer.

    >>> print(Site("parity", 2), Site("parity_left", 3, head=True))
    parity after layer 2 parity_left in layer 3
    """

    name: str
    layer: int
    head: bool = False

    def __str__(self) -> str:
        return f"{self.name} {'in' if self.head else 'after'} layer {self.layer}"


@dataclass(frozen=True, eq=False)
class Counterfactuals:
    """A program's outputs on some words, and under every swap of one value at a site and a position.

    `codes` number the values that a site has, -1 where it has none. `table[site, word, position, code]` is the output
    at all positions; where a swap leads the program to an error, and where the output is not asked for, it is -1.
    """

    name: str
    words: tuple[tuple[Any, ...], ...]
    tokens: Int[np.ndarray, "word position"]
    lengths: Int[np.ndarray, " word"]
    outputs: Int[np.ndarray, "word position"]
    sites: tuple[Site, ...]
    codes: Int[np.ndarray, "site word position"]
    table: Int[np.ndarray, "site word position code position"]
    values: tuple[tuple[str, ...], ...]  # what the codes of each site stand for

    def __repr__(self) -> str:
        return f"<Counterfactuals of {self.name}: {len(self.sites)} sites, {len(self.words)} words>"

    @property
    def digest(self) -> int:
        """A checksum of all arrays."""
        found = 0
        for array in (self.tokens, self.lengths, self.outputs, self.codes, self.table):
            found = zlib.crc32(np.ascontiguousarray(array, np.int32).tobytes(), found)
        return found

    @cached_property
    def varies(self) -> Bool[np.ndarray, " site"]:
        """Whether a site has different values at some position, over the words."""
        known = self.codes >= 0
        high = np.where(known, self.codes, np.int16(-1)).max(axis=1)
        low = np.where(known, self.codes, np.int16(MOST_VALUES + 1)).min(axis=1)
        return (high > low).any(axis=1)

    @cached_property
    def matters(self) -> Bool[np.ndarray, " site"]:
        """Whether some swap at a site changes the output."""
        own = self.outputs[None, :, None, None]
        asked = (self.table >= 0).any(axis=-1)
        return ((self.table != own).any(axis=-1) & asked).any(axis=(1, 2, 3))

    def only(self, keep: Bool[np.ndarray, " site"]) -> "Counterfactuals":
        """The same with some of the sites."""
        rows = np.flatnonzero(keep)
        return Counterfactuals(
            self.name, self.words, self.tokens, self.lengths, self.outputs, tuple(self.sites[r] for r in rows),
            self.codes[rows], self.table[rows], tuple(self.values[r] for r in rows),
        )  # fmt: skip

    def results(self, site: Any, base: Any, other: Any, position: Any) -> np.ndarray:
        """The outputs on `base` with the value of `other` at the site and position; all -1 where there is none."""
        code = self.codes[site, other, position]
        return np.where((code >= 0)[..., None], self.table[site, base, position, np.maximum(code, 0)], -1)


def counterfactuals(
    program: Program, words: Sequence[Sequence[Any]], sites: Sequence[Site], *, layers: int, halts: bool = True
) -> Counterfactuals:
    """The table of a program on these words, in a network of so many layers.

    The output is asked for at all positions of the input where the program gives one. Without `halts` every run takes
    all layers, as in a network in which nothing changes any more after the program has halted. Otherwise a swap after
    which the program takes more layers than that has no result.
    """
    _check_output(program)
    if not halts:
        program = replace(program, halt=None, max_layers=layers)
    batch = program.run_batch(words, max_layers=layers)
    LayerLimit(program.name, layers, program.halt is not None).check(batch.halted)
    tokens, lengths = padded([_tokens(program, word) for word in words])
    outputs = _outputs(program, batch, lengths)
    coded = [_codes(program, batch, site) for site in sites]
    most = max([1, *(len(entries) for _, entries in coded)])
    places = tokens.shape[1]
    shape = (len(sites), len(words), places, most, places)
    check_memory(4.0 * np.prod(shape, dtype=float), f"the swaps of {program.name}", "give fewer or shorter words")
    table = np.full(shape, -1, np.int8)
    for number, (site, (codes, entries)) in enumerate(zip(sites, coded)):
        runs = list(_swaps(site, codes, batch))
        for start in range(0, len(runs), MOST_RUNS):
            some = runs[start : start + MOST_RUNS]
            edits = [[Edit(site.name, layer=site.layer, position=p, value=_value(program, site, entries[c]))]
                     for _, p, c in some]  # fmt: skip
            found = _edited(program, [words[w] for w, _, _ in some], edits, layers, places)
            w, p, c = (np.array(column) for column in zip(*some))
            table[number, w, p, c] = np.where((outputs[w] >= 0) & (found >= 0), found, -1)
        same = np.argwhere((codes >= 0) & (site.layer <= batch.steps[:, None]))
        w, p = same.T
        table[number, w, p, codes[w, p]] = outputs[w]  # a value that is there already changes nothing
    shown = tuple(
        tuple(_channel(program, site).show(entry) for entry in entries) for site, (_, entries) in zip(sites, coded)
    )
    return Counterfactuals(
        program.name, tuple(map(tuple, words)), tokens.astype(np.int32), lengths.astype(np.int32), outputs,
        tuple(sites), np.stack([codes for codes, _ in coded]) if coded else np.zeros((0, *tokens.shape), np.int8),
        table, shown,
    )  # fmt: skip


def _check_output(program: Program) -> None:
    output = program.variables[program.output_name]
    if not isinstance(output, Categorical) or output.range > MOST_VALUES:
        raise InputError(
            f"{program.name}: the output {program.output_name!r} is a number or has too many values; give a program "
            f"whose output is a category of at most {MOST_VALUES} values"
        )


def _tokens(program: Program, word: Sequence[Any]) -> list[int]:
    """The codes of an input, with what the program puts before it."""
    return list(program.check_input(word))


def _outputs(program: Program, batch: TraceBatch, lengths: np.ndarray) -> Int[np.ndarray, "word position"]:
    """The output after the last layer of each word; -1 before the input, after it, and where it is undefined."""
    rows = np.arange(len(lengths))
    held = np.asarray(batch.data[program.output_name])
    found = held[rows, batch.steps] if batch.recorded else held.reshape(len(rows), -1)
    at = np.arange(found.shape[1])
    inside = (at >= program.prefix) & (at < lengths[:, None])
    return np.where(inside, found, -1).astype(np.int8)


def _channel(program: Program, site: Site) -> Channel:
    return next(channel for channel in program.channels if channel.name == site.name)


def _codes(program: Program, batch: TraceBatch, site: Site) -> tuple[np.ndarray, list[Any]]:
    """The number of the value at each word and position, and the values; -1 where there is none."""
    channel = _channel(program, site)
    rows = np.arange(len(batch))
    ran = site.layer <= batch.steps
    held = np.asarray(batch.data[site.name])[rows, np.minimum(site.layer, batch.steps)]
    inside = (np.arange(held.shape[1]) < batch.lengths[:, None]) & ran[:, None]
    if channel.kind == "category":
        inside = inside & (held >= 0)
    elif channel.kind == "number":
        inside = inside & ~np.isnan(held)
    entries, codes = np.unique(held[inside], axis=0, return_inverse=True)
    if len(entries) > MOST_VALUES:
        raise InputError(f"{program.name}: {site} has {len(entries)} values, and at most {MOST_VALUES} are swapped")
    found = np.full(held.shape[:2], -1, np.int8)
    found[inside] = codes.reshape(-1)
    return found, list(entries)


def _value(program: Program, site: Site, entry: Any) -> Any:
    """An entry as an edit takes it: codes by what they mean."""
    channel = _channel(program, site)
    if channel.kind == "category":
        return int(entry) if channel.meanings is None else channel.meanings[int(entry)]
    return entry if channel.kind == "set" else float(entry)


def _swaps(site: Site, codes: np.ndarray, batch: TraceBatch) -> Iterator[tuple[int, int, int]]:
    """Each word, position and code of another word at that position that differs from the word's own."""
    for position in range(codes.shape[1]):
        here = codes[:, position]
        seen = np.unique(here[here >= 0])
        reached = (position < batch.lengths) & (site.layer <= batch.steps)
        for word in np.flatnonzero(reached):
            yield from ((int(word), position, int(code)) for code in seen if code != here[word])


def _edited(
    program: Program, words: list[Any], edits: list[list[Edit]], layers: int, places: int
) -> Int[np.ndarray, "run position"]:
    """The outputs of runs with their edits; -1 for those that end with an error, which are found by halving."""
    try:
        limit = layers if program.halt is None else 2 * layers + 8
        batch = program.run_batch(words, max_layers=limit, record=False, edits=edits)
    except KleeneError:
        if len(words) == 1:
            return np.full((1, places), -1, np.int8)
        half = len(words) // 2
        parts = [(words[:half], edits[:half]), (words[half:], edits[half:])]
        return np.concatenate([_edited(program, *part, layers, places) for part in parts])
    found = np.where((batch.steps <= layers)[:, None], _outputs(program, batch, batch.lengths), np.int8(-1))
    return np.pad(found, ((0, 0), (0, places - found.shape[1])), constant_values=-1)
