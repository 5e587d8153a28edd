"""The configurations of a Turing machine: state, head and tape between two steps.

A run may have millions of steps, so configurations are not stored. They are rebuilt from the state and the head after
every step and the symbol that each step wrote, which take a few bytes a step.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import overload

import numpy as np

Tape = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Configuration:
    """A machine between two steps. The tape runs from cell 0 and ends with its last symbol that is not blank.

    The tape is a string where every symbol of the machine is one character, and a tuple of symbols otherwise.
    """

    state: str
    head: int
    tape: Tape

    def __str__(self) -> str:
        tape = repr(self.tape)
        return f"{self.state}, head {self.head}, tape {tape if len(tape) <= 80 else tape[:60] + ' …'}"


@dataclass(frozen=True, eq=False)
class Configurations(Sequence[Configuration]):
    """Configurations as compact arrays, each rebuilt on access.

    `state_codes` and `heads` have an entry for every configuration, `writes` the code of the symbol that each step
    left in the cell where the head had stood: one entry fewer. Codes are indices into `states` and `symbols`.
    Reading them in order costs one step (and its tape) each; one in the middle costs all the steps before it.

    >>> run = Configurations(("q", "halt"), ("_", "1"), "_", [1], state_codes=[0, 0, 1], heads=[0, 1, 0], writes=[1, 1])
    >>> list(run)[1:]
    [Configuration(state='q', head=1, tape='1'), Configuration(state='halt', head=0, tape='11')]
    """

    states: tuple[str, ...]
    symbols: tuple[str, ...]
    blank: str
    start_tape: Sequence[int] | np.ndarray
    state_codes: Sequence[int] | np.ndarray
    heads: Sequence[int] | np.ndarray
    writes: Sequence[int] | np.ndarray

    def __post_init__(self) -> None:
        codes = np.min_scalar_type(max(len(self.states), len(self.symbols)) - 1)
        for name, kind in (("start_tape", codes), ("state_codes", codes), ("heads", np.int32), ("writes", codes)):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=kind))
        assert len(self.state_codes) == len(self.heads) == len(self.writes) + 1

    def __len__(self) -> int:
        return len(self.heads)

    def __iter__(self) -> Iterator[Configuration]:
        return self._replay(0)

    def _replay(self, step: int) -> Iterator[Configuration]:
        """The configurations from that step on, each tape made from the one before."""
        blank, tape = self.blank, as_tape(self.symbols)
        cells = [self.symbols[code] for code in self.cells(step)]
        end = _used(cells, blank, len(cells))
        states, heads, writes = (np.asarray(a)[step:].tolist() for a in (self.state_codes, self.heads, self.writes))
        yield Configuration(self.states[states[0]], heads[0], tape(cells[:end]))
        for head, code, state, moved in zip(heads, writes, states[1:], heads[1:]):
            cells.extend([blank] * (head + 1 - len(cells)))
            cells[head] = written = self.symbols[code]
            end = max(end, head + 1) if written != blank else _used(cells, blank, end)
            yield Configuration(self.states[state], moved, tape(cells[:end]))

    @overload
    def __getitem__(self, index: int) -> Configuration: ...
    @overload
    def __getitem__(self, index: slice) -> list[Configuration]: ...
    def __getitem__(self, index: int | slice) -> Configuration | list[Configuration]:
        if isinstance(index, slice):
            steps = range(len(self))[index]
            if not steps:
                return []
            first = min(steps[0], steps[-1])
            replayed = list(islice(self._replay(first), abs(steps[-1] - steps[0]) + 1))
            return [replayed[step - first] for step in steps]
        step = range(len(self))[index]  # as in a list: negative from the end, IndexError outside
        return next(self._replay(step))

    def cells(self, step: int) -> list[int]:
        """The codes on the tape after that step, perhaps with trailing blanks."""
        # The first write to each cell, looking back from the step: numpy does not promise which of several wins.
        heads, writes = np.asarray(self.heads)[:step][::-1], np.asarray(self.writes)[:step][::-1]
        written, last = np.unique(heads, return_index=True)
        width = max(len(self.start_tape), int(written.max(initial=-1)) + 1)
        cells = np.full(width, self.symbols.index(self.blank), dtype=np.int64)
        cells[: len(self.start_tape)] = self.start_tape
        cells[written] = writes[last]
        return cells.tolist()

    def first_difference(self, other: "Configurations") -> int | None:
        """The first step at which the two configurations differ, within the shorter of both runs.

        Up to the first difference, tapes can differ only in the cell that the last step wrote.
        """
        apart = _first(list(self[0].tape) != list(other[0].tape))
        both = min(len(self), len(other))
        states = _renamed(self.states, self.state_codes[:both], other.states) != other.state_codes[:both]
        writes = _renamed(self.symbols, self.writes[: both - 1], other.symbols) != other.writes[: both - 1]
        heads = np.asarray(self.heads[:both]) != np.asarray(other.heads[:both])
        found = [apart, _first(states), _first(heads), _first(np.append(False, writes))]
        return min((step for step in found if step is not None), default=None)


def as_tape(symbols: tuple[str, ...]) -> Callable[[Iterable[str]], Tape]:
    """A function from cells to a tape: a string where every symbol of the machine is one character, else a tuple."""
    return "".join if all(len(symbol) == 1 for symbol in symbols) else tuple


def _used(cells: list[str], blank: str, end: int) -> int:
    """The number of cells up to the last that is not blank, looking back from `end`."""
    while end and cells[end - 1] == blank:
        end -= 1
    return end


def _first(differs: bool | np.ndarray) -> int | None:
    places = np.flatnonzero(differs)
    return int(places[0]) if len(places) else None


def _renamed(names: tuple[str, ...], codes: Sequence[int] | np.ndarray, others: tuple[str, ...]) -> np.ndarray:
    """Indices into `names` as indices into `others`; -1 for a name that is missing there."""
    table = np.array([others.index(name) if name in others else -1 for name in names], dtype=np.int64)
    return table[np.asarray(codes)]
