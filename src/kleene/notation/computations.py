"""The run of a Turing machine, or of a network that simulates one: its configurations, its verdict, and its trace.

A run may have millions of steps, so configurations (state, head and tape between two steps) are not stored. They are
rebuilt from the state and the head after every step and the symbol that each step wrote: a few bytes a step.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal, get_args, overload

import numpy as np

from kleene.errors import RunError
from kleene.limits import check_memory
from kleene.traces.channels import Channel
from kleene.traces.markup import html_text
from kleene.traces.trace import Trace

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


Verdict = Literal["accept", "reject", "running"]
WIDEST = 80  # cells shown in a line; a longer tape is cut around the head


class Computation(Trace):
    """A run: its `verdict` ("running" when the steps ran out first), its `steps` and its `configurations`.

    There are `steps + 1` configurations, or only the last one where nothing was recorded. `states` and `symbols` are
    those of the machine, in its own order. `ticks` is how many steps a network took after the end of the word.
    Two computations are equal when verdict, steps and all configurations are.

    It is a trace whose `output` is the verdict. Its channels, `state` and `head` at every step and `tape` at every
    step and cell, are made on first access, because they are as large as all tapes together, while the
    configurations take a few bytes a step.
    """

    verdict: Verdict
    configurations: Sequence[Configuration]
    states: tuple[str, ...]
    symbols: tuple[str, ...]
    blank: str
    ticks: int | None

    def __init__(
        self,
        verdict: Verdict,
        steps: int,
        configurations: Sequence[Configuration],
        states: tuple[str, ...],
        symbols: tuple[str, ...],
        blank: str,
        source: str = "",
        ticks: int | None = None,
    ):
        assert verdict in get_args(Verdict), verdict
        assert len(configurations) in (1, steps + 1), "either every configuration, or the last one"
        given = {"verdict": verdict, "_steps": steps, "configurations": configurations, "states": states}
        given |= {"symbols": symbols, "blank": blank, "source": source, "ticks": ticks}
        vars(self).update(given, output_name="tape", halted=verdict != "running", axes=("step", "position"))

    def replaced(self, **changes: Any) -> "Computation":
        """The computation with some of its parts changed, named as the constructor names them."""
        names = ("verdict", "steps", "configurations", "states", "symbols", "blank", "source", "ticks")
        return Computation(**{name: getattr(self, name) for name in names} | changes)

    @property
    def steps(self) -> int:
        return vars(self)["_steps"]

    @property
    def recorded(self) -> bool:
        """Whether all configurations were kept, not only the last one."""
        return len(self.configurations) == self.steps + 1

    @cached_property
    def last(self) -> Configuration:
        return self.configurations[-1]

    @property
    def state(self) -> str:
        """The state that the run ended in."""
        return self.last.state

    @property
    def head(self) -> int:
        """The cell that the head stood on at the end."""
        return self.last.head

    @property
    def tape(self) -> Tape:
        """The tape that was left, up to its last symbol that is not blank."""
        return self.last.tape

    @property
    def output(self) -> str:
        """The verdict."""
        return self.verdict

    @property
    def labelled_output(self) -> str:
        return self.verdict

    @cached_property
    def _width(self) -> int:
        """The number of cells in the tape channel: the most that the tape ever had."""
        if not self.recorded:
            raise ValueError("this computation kept its last configuration alone; run it with record=True")
        return max(max(c.head + 1, len(c.tape)) for c in self.configurations)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        return (
            Channel("state", "category", len(self.states), labels=self.states),
            Channel("head", "category", self._width),
            Channel("tape", "category", len(self.symbols), labels=self.symbols),
        )

    @cached_property
    def data(self) -> Mapping[str, np.ndarray]:
        """The channels' arrays."""
        count, width = len(self.configurations), self._width
        check_memory(4.0 * count * width, f"the trace of {count:,} tapes of {width:,} cells", "look at fewer steps")
        codes = {symbol: code for code, symbol in enumerate(self.symbols)}
        named = {name: code for code, name in enumerate(self.states)}
        tape = np.full((count, width), codes[self.blank], dtype=np.int32)
        states, heads = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
        for step, at in enumerate(self.configurations):
            states[step], heads[step] = named[at.state], at.head
            tape[step, : len(at.tape)] = [codes[symbol] for symbol in at.tape]
        return {"state": states, "head": heads, "tape": tape}

    def difference(self, other: Trace) -> str | None:
        """The first step at which the other computation differs, in words; None where they are equal.

        Another trace, such as one from a file, is compared channel by channel.
        """
        if not isinstance(other, Computation):
            return super().difference(other)
        mine, theirs = self.source or "the first", other.source or "the second"
        if self.recorded != other.recorded:
            kept, short = (mine, theirs) if self.recorded else (theirs, mine)
            return f"{kept} recorded every configuration, {short} its last one alone"
        place = self._first_difference(other)
        if place is not None and (self.recorded or self.steps == other.steps):
            step = place if self.recorded else self.steps
            left, right = self.configurations[place], other.configurations[place]
            return f"step {step}: {left} in {mine} but {right} in {theirs}"
        if self.steps != other.steps:
            return f"{mine} took {self.steps} steps, {theirs} {other.steps}"
        if self.verdict != other.verdict:
            return f"the verdict is {self.verdict!r} in {mine} but {other.verdict!r} in {theirs}"
        return None

    def _first_difference(self, other: "Computation") -> int | None:
        a, b = self.configurations, other.configurations
        if isinstance(a, Configurations) and isinstance(b, Configurations):
            return a.first_difference(b)
        return next((step for step, (mine, theirs) in enumerate(zip(a, b)) if mine != theirs), None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self.difference(other) is None

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Computation: {self.verdict} after {self.steps} steps, {self.last}>"

    def __str__(self) -> str:
        return "\n".join([*self.lines(), f"{self.verdict} after {self.steps} steps"])

    def _repr_html_(self) -> str:
        return html_text(self)

    def lines(self, most: int = 40) -> list[str]:
        """A line for each configuration, the cell under the head in brackets; the middle of a long run is left out."""
        all_of_them, half = self.configurations, most // 2
        if len(all_of_them) <= most:
            return self._lines(self.steps + 1 - len(all_of_them), all_of_them)
        return [*self._lines(0, all_of_them[:half]), "…", *self._lines(self.steps + 1 - half, all_of_them[-half:])]

    def window_lines(self, width: int, steps: range | None = None, *, most: int = 200) -> list[str]:
        """Lines of at most that width: of these steps, or of the first and last where there are more than `most`.

        A last line says which steps and cells were left out.
        """
        before = max(len(name) for name in self.states) + len(str(self.steps)) + 4
        gap = 0 if isinstance(self.last.tape, str) else 1
        letters = max(len(symbol) for symbol in self.symbols) + gap
        cells = max(4, (width - before - 4 - 2 * gap) // letters)  # two brackets, and … at both ends
        first = self.steps + 1 - len(self.configurations)
        shown = [*range(first, self.steps + 1)] if steps is None else [s for s in steps if s >= first]
        left_out = range(0)
        if steps is None and len(shown) > most:
            left_out = range(shown[most // 2], shown[-(most // 2)])
            shown = shown[: most // 2] + shown[-(most // 2) :]
        lines = [self._line(step, self.configurations[step - first], cells) for step in shown]
        notes = []
        if left_out:
            lines.insert(most // 2, "…")
            span = f"{left_out.start}-{left_out.stop - 1}"
            notes.append(f"{len(left_out):,} steps are left out: --steps {span} shows them")
        if any(max(len(c.tape), c.head + 1) > cells for c in (self.configurations[step - first] for step in shown)):
            notes.append("… stands for cells far from the head: --channels tape --positions 0-99 shows cells")
        return lines + notes

    def _lines(self, first: int, configurations: Sequence[Configuration]) -> list[str]:
        return [self._line(step, configuration) for step, configuration in enumerate(configurations, start=first)]

    def _line(self, step: int, configuration: Configuration, widest: int = WIDEST) -> str:
        head, wide = configuration.head, max(len(name) for name in self.states)
        cells = list(configuration.tape) + [self.blank] * (head + 1 - len(configuration.tape))
        cells[head] = f"[{cells[head]}]"
        first = max(0, min(head - widest // 2, len(cells) - widest))  # as near to the head as the window allows
        last = first + widest
        gap = "" if isinstance(configuration.tape, str) else " "
        shown = gap.join(["…"] * (first > 0) + cells[first:last] + ["…"] * (len(cells) > last))
        return f"{step:>{len(str(self.steps))}}  {configuration.state:<{wide}}  {shown}"


def accepted(done: Computation, who: str, word: Any, max_steps: int) -> bool:
    """Whether the run accepts; a RunError where it has not halted, because then the answer is unknown."""
    if done.verdict == "running":
        raise RunError(
            f"{who} has not halted on {word!r} after {max_steps} steps; give a larger max_steps, or use run and resume "
            f"to look at what it does"
        )
    return done.verdict == "accept"


def continued(before: Computation, after: Computation) -> Computation:
    """Two parts of a run as one: the second begins with the configuration that the first ended with."""
    kept: Any = after.configurations
    if before.recorded:
        kept = _joined(before.configurations, after.configurations)
    return after.replaced(steps=before.steps + after.steps, configurations=kept)


def _joined(before: Sequence[Configuration], after: Sequence[Configuration]) -> Sequence[Configuration]:
    if not isinstance(before, Configurations) or not isinstance(after, Configurations):
        return (*before, *after[1:])
    states, heads = np.append(before.state_codes, after.state_codes[1:]), np.append(before.heads, after.heads[1:])
    return replace(before, state_codes=states, heads=heads, writes=np.append(before.writes, after.writes))
