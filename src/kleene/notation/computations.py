"""The run of a Turing machine, or of a network that simulates one: its configurations and its verdict."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from kleene.errors import RunError
from kleene.limits import check_memory
from kleene.notation.tapes import Configuration as Configuration
from kleene.notation.tapes import Configurations as Configurations
from kleene.notation.tapes import Tape as Tape
from kleene.notation.tapes import as_tape as as_tape
from kleene.traces.channels import Channel
from kleene.traces.trace import Trace

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
        return f"<pre>{html.escape(str(self))}</pre>"

    def lines(self, most: int = 40) -> list[str]:
        """A line for each configuration, the cell under the head in brackets; the middle of a long run is left out."""
        all_of_them, half = self.configurations, most // 2
        if len(all_of_them) <= most:
            return self._lines(self.steps + 1 - len(all_of_them), all_of_them)
        return [*self._lines(0, all_of_them[:half]), "…", *self._lines(self.steps + 1 - half, all_of_them[-half:])]

    def _lines(self, first: int, configurations: Sequence[Configuration]) -> list[str]:
        return [self._line(step, configuration) for step, configuration in enumerate(configurations, start=first)]

    def _line(self, step: int, configuration: Configuration) -> str:
        head, wide = configuration.head, max(len(name) for name in self.states)
        cells = list(configuration.tape) + [self.blank] * (head + 1 - len(configuration.tape))
        cells[head] = f"[{cells[head]}]"
        first, last = max(0, head - WIDEST // 2), max(WIDEST, head + WIDEST // 2)
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
