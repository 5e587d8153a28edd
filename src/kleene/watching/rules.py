"""Which rules of a program fired at each layer and position, and which lines of its source ran.

The lines come from running the program's own function again on the values of the trace, once for every assignment
that differs.
"""

import inspect
import linecache
import sys
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any

import numpy as np

from kleene.explaining.programs.anatomy import action_text, condition_text
from kleene.programs.alta.asking.assignment import LocatedAssignment, lines_of
from kleene.programs.alta.cases import View
from kleene.programs.alta.program import Program
from kleene.programs.alta.source import code_of, is_users_file
from kleene.programs.alta.variables import Numeric, SetValued
from kleene.traces import Trace
from kleene.users_code import users_code
from kleene.watching.columns import packed
from kleene.watching.cutting import Cut

MOST_REPLAYS = 20_000  # different assignments; a program with more shows its rules without lines


def moments_json(program: Program, trace: Trace, cut: Cut) -> dict[str, Any]:
    """The program's cases in words, its source, and what happened at each layer and position.

    A moment is the numbers of the cases that held, the lines that ran, and the line that wrote each variable.
    """
    steps, positions = cut.step_range(trace.steps), cut.position_range(trace.data[program.output_name].shape[1])
    codes = {n: _codes(program, n, trace.data[n]) for n in program.domains}
    before = {n: np.concatenate([a[:1], a[:-1]]) if n in program.variables else a for n, a in codes.items()}
    given = {n: a[steps.start : steps.stop, positions.start : positions.stop] for n, a in before.items()}
    replay = Replayed(program)
    assignments, which = _distinct(given)
    fired = _fired(program, {n: assignments[:, i] for i, n in enumerate(given)})
    names = list(given)
    known: dict[Any, int] = {}
    numbers = []
    for row, cases in zip(assignments.tolist(), fired):
        lines, writes = replay.of(dict(zip(names, row))) if len(assignments) <= MOST_REPLAYS else ((), ())
        numbers.append(known.setdefault((cases, lines, writes), len(known)))
    column = np.array(numbers, dtype=np.int64)[which].reshape(len(steps), len(positions))
    if steps.start == 0:
        column[0] = -1  # nothing fired before the first layer
    moments = [
        {"cases": list(cases), "lines": list(lines), "writes": [list(write) for write in writes]}
        for cases, lines, writes in known
    ]
    return {
        "name": program.name,
        "cases": [
            {"variable": name, "where": condition_text(program, c, name), "writes": action_text(program, name, c)}
            for name, cases in program.updates.items()
            for c in cases
        ],
        "blocks": replay.blocks(),
        "file": replay.file.rpartition("/")[2],
        "moments": moments,
        "column": packed(column),
    }


def _codes(program: Program, name: str, entries: np.ndarray) -> np.ndarray:
    variable = program.domains[name]
    if isinstance(variable, Numeric):
        plain = np.nan_to_num(entries)
        undefined = np.isnan(entries) | (variable.blurred(plain) if name in program.outputs else False)
        return np.where(undefined, -1, variable.bucket(plain))
    if isinstance(variable, SetValued):
        known = {values: code for code, values in enumerate(variable.values)}
        flat = [
            known.get(frozenset(np.flatnonzero(row).tolist()), -1) for row in entries.reshape(-1, entries.shape[-1])
        ]
        return np.array(flat, dtype=np.int64).reshape(entries.shape[:-1])
    return entries


def _distinct(given: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The different assignments, a row each, and which of them every layer and position has."""
    rows = np.stack([array.reshape(-1) for array in given.values()], axis=1).astype(np.int64)
    found, which = np.unique(rows, axis=0, return_inverse=True)
    return found, which.reshape(-1)


def _fired(program: Program, codes: Mapping[str, np.ndarray]) -> list[tuple[int, ...]]:
    """For every assignment the numbers of the cases that change something, counted through all variables."""
    view = View(codes)
    held = [view.changes(c, name) for name, cases in program.updates.items() for c in cases]
    table = np.stack(held, axis=1) if held else np.zeros((len(next(iter(codes.values()))), 0), dtype=bool)
    return [tuple(np.flatnonzero(row).tolist()) for row in table]


class Replayed:
    """Runs a program's function on single assignments and notes the lines that ran in its file."""

    def __init__(self, program: Program):
        self.program = program
        code = code_of(program.mlp) if callable(program.mlp) else None
        self.file = code.co_filename if code is not None and is_users_file(code.co_filename) else ""
        self.function: Callable[[Any], Any] | None = program.mlp if self.file and callable(program.mlp) else None
        self._codes: set[CodeType] = set()

    def of(self, codes: Mapping[str, int]) -> tuple[tuple[int, ...], tuple[tuple[str, int], ...]]:
        """The lines that ran, and the line that wrote each variable; none where the program has no function."""
        if self.function is None or not linecache.getlines(self.file):
            return (), ()
        # A head that read nothing has any value: the run has shown that the function does not look at it.
        domains = {name: variable.domain for name, variable in self.program.domains.items()}
        z = LocatedAssignment(domains, {name: domains[name][max(codes[name], 0)] for name in domains}, self.file)
        ran: set[int] = set()

        def note(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code.co_filename != self.file:
                return None
            if event == "call":
                self._codes.add(frame.f_code)
            elif event == "line":
                ran.add(frame.f_lineno)
            return note

        before = sys.gettrace()
        with users_code():
            sys.settrace(note)
            try:
                self.function(z)
            finally:
                sys.settrace(before)
        return tuple(sorted(ran)), tuple(lines_of(z).items())

    def blocks(self) -> list[dict[str, Any]]:
        """The source of every function that ran, in the order of the file: the first line's number, and the lines."""
        source = linecache.getlines(self.file) if self.file else []
        spans: list[tuple[int, int]] = []
        for first, name in sorted({(code.co_firstlineno, code.co_name) for code in self._codes}):
            last = first if name == "<lambda>" else first + len(inspect.getblock(source[first - 1 :])) - 1
            if not spans or last > spans[-1][1]:  # a function inside another is shown with it
                spans.append((first, last))
        return [{"first": a, "lines": [line.rstrip("\n") for line in source[a - 1 : b]]} for a, b in spans]
