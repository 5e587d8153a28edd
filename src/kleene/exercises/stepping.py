"""A student's own run, step by step, in lines of text: the trace, and of RASP the value of every expression."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kleene.errors import HaltError, InputError, RunError
from kleene.exercises.marking import Marking
from kleene.kinds import AUTOMATA, RASP, TRANSFORMERS, Kind
from kleene.programs.rasp.graph import RaspError, RASPExpr
from kleene.programs.rasp.selectors import Selector
from kleene.programs.rasp.wording import bare, bracketed
from kleene.running import Outcome
from kleene.traces import Trace
from kleene.traces.folding import folded
from kleene.traces.tables import as_text
from kleene.traces.windows import window_lines

MOST_LINES, AT_END = 60, 12  # lines that are shown, and how many of them at the end
MOST_TRIED = 100  # steps that are taken one by one to find where a run breaks off
BEGINNING = 20  # steps that are shown of a longer run than lines are
AFTER = 3  # steps that are shown of a run that does not halt, beside one for each position
LONGEST = 44  # letters of an expression


def step_lines(program: Any, kind: Kind, marking: Marking, entered: Any, width: int) -> list[str]:
    """The run on an input as lines of about that width, up to where it ends or breaks off."""
    if kind is RASP:
        lines = [line if len(line) <= width else f"{line[: width - 1]}…" for line in expression_lines(program, entered)]
    else:
        trace = _trace(program, kind, marking, entered)
        lines = [] if trace is None else _trace_lines(program, kind, entered, trace, width)
    if len(lines) <= MOST_LINES:
        return lines
    left_out = len(lines) - MOST_LINES
    return [*lines[: MOST_LINES - AT_END], f"… {left_out} lines are left out", *lines[-AT_END:]]


def _trace(program: Any, kind: Kind, marking: Marking, entered: Any) -> Trace | None:
    """The trace of the run; of one that ends with an error, the part before it."""
    given = list(entered) if isinstance(entered, tuple) else entered
    most = MOST_TRIED
    try:
        return program.run(given, **marking.limits)
    except HaltError:
        most = len(given) + AFTER
    except (RunError, InputError):
        pass
    found = None
    try:
        for steps in range(most):
            found = _first_steps(program, kind)(given, steps)
    except (RunError, InputError):
        return found
    return found


def _first_steps(program: Any, kind: Kind) -> Callable[[Any, int], Trace]:
    """A function that runs the program for so many steps, whether it halts or not."""
    if kind is TRANSFORMERS:
        return lambda entered, layers: program.run(entered, max_layers=layers)
    if kind is AUTOMATA:  # one step for each symbol
        return lambda entered, steps: program.run(entered[:steps])
    return program.run


def _trace_lines(program: Any, kind: Kind, entered: Any, trace: Trace, width: int) -> list[str]:
    """The trace as its kind tells it, as a table, or where that is large as blocks of a folded one."""
    telling = Outcome("", kind, program, None, entered, trace, 0.0).telling
    if telling.lines is not None and trace.steps <= MOST_LINES:
        return telling.lines(width, None)
    if telling.lines is not None:
        return [*telling.lines(width, range(BEGINNING)), f"… and {trace.steps + 1 - BEGINNING:,} steps more"]
    channels = tuple(channel for channel in trace.channels if channel.name not in telling.hidden)
    plain = as_text(replace(trace, channels=channels)).splitlines()
    if len(plain) <= MOST_LINES // 2 and max(map(len, plain)) <= width:
        return plain
    steps = range(trace.steps + 1)
    shown = folded(trace, width, channels=channels, positions=None, steps=steps, begins=None)
    return [line.plain.rstrip() for line in window_lines(shown, colours=False)]


def expression_lines(program: Any, entered: Sequence[Any]) -> list[str]:
    """The value of every expression at every position, parts first; the last line is where RASP has no value."""
    names: dict[RASPExpr, str] = {}
    values: dict[RASPExpr, list] = {}
    rows: list[list[str]] = []
    for part in program.parts:
        text = part.written(names)
        given = part.given_annotations.get("name")
        names[part] = given or (bracketed(text) if part.children else text)
        label = f"{given} = {text}" if given and part.children else bare(text)
        label = label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
        try:
            values[part] = part.compute(list(entered), values, program.causal)
        except RaspError:
            return _aligned([*rows, [label, "has no value"]])
        rows.append([label, *(_told(value, isinstance(part, Selector)) for value in values[part])])
    return _aligned([["", *map(str, range(len(entered)))], *rows])


def _told(value: Any, selects: bool) -> str:
    if selects:  # a row of a selector: the positions that it selects
        return "{" + ",".join(str(at) for at, chosen in enumerate(value) if chosen) + "}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows if at < len(row)) for at in range(max(map(len, rows)))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]).rstrip()
        for row in rows
    ]
