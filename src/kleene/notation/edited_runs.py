"""Runs under edits, put together from pieces: each begins where an edit has changed the state.

Machines that read a word, or compute step by step on a tape, can begin in any state. So a run under edits is the run up
to an edit, and then a run that begins in what the edit made of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kleene.errors import EditError
from kleene.notation.computations import Computation, Configuration, as_tape
from kleene.notation.edit_plans import EditPlan, check_name
from kleene.notation.edits import Edit
from kleene.traces import Channel, Trace, TraceBatch


def run_in_pieces(
    subject: str,
    edits: Sequence[Edit],
    channels: Sequence[Channel],
    word: Sequence[Any],
    run_from: Callable[[Mapping[str, Any], Sequence[Any]], Trace],
) -> Trace:
    """The trace on a word under edits of `channels`, which have one entry a step.

    `run_from` runs a part of the word from the start that the entries name; without entries, from the machine's own.
    """
    names = [channel.name for channel in channels]
    plan = EditPlan(subject, edits, channels, np.zeros(1, dtype=np.int64), flat=names, unit="step")
    parts, start, first = [], {}, 0
    for step in range(len(word) + 1):
        placed = {one.name: one.entries[0] for one in plan.at(step)}
        if placed and step:
            parts.append(run_from(start, word[first:step]))
        if placed:
            start, first = placed, step
    parts.append(run_from(start, word[first:]))
    plan.refuse_unreached(np.array([len(word)]))
    return joined(parts)


def joined(parts: Sequence[Trace]) -> Trace:
    """Parts of a run as one trace: what a part begins with stands for what the one before ended with."""
    last = parts[-1]
    data = {}
    for channel in last.channels:
        rows = [part[channel.name] for part in parts]
        if channel.per_step:  # read or computed in the step that led there
            data[channel.name] = np.concatenate([rows[0], *(array[1:] for array in rows[1:])])
        else:
            data[channel.name] = np.concatenate([*(array[:-1] for array in rows[:-1]), rows[-1]])
    return Trace(last.channels, data, last.output_name, last.halted, last.axes, last.source, last.prefix)


def batch_of(traces: Sequence[Trace]) -> TraceBatch:
    """Traces without positions as one batch, padded."""
    steps, one = np.array([trace.steps for trace in traces], dtype=np.int64), traces[0]
    data = {}
    for channel in one.channels:
        shape = (len(traces), int(steps.max()) + 1, *channel.entry_shape)
        data[channel.name] = np.full(shape, channel.empty, dtype=channel.dtype)
        for row, trace in enumerate(traces):
            data[channel.name][row, : trace.steps + 1] = trace[channel.name]
    halted = np.array([trace.halted for trace in traces])
    return TraceBatch(one.channels, data, steps, steps, halted, one.output_name, one.source, axes=one.axes)


def edited_computation(
    subject: str,
    edits: Sequence[Edit],
    run: Callable[[int], Computation],
    resume: Callable[[Computation, int], Computation],
    max_steps: int,
    halting: Mapping[str, Any],
) -> Computation:
    """The run of a Turing machine, or of its network, under edits of `state`, `head` and `tape`.

    `run` takes so many steps from the start, `resume` from a computation that has one configuration. `halting` has the
    verdict of each halting state.
    """
    stops = _stops(subject, edits)
    done = run(min(stops[0], max_steps))
    kept: list[Configuration] = list(done.configurations)
    for stop, following in pairwise([*stops, max_steps]):
        if len(kept) - 1 < stop:
            raise EditError(
                f"{subject}: an edit is for step {stop}, and the run ended after step {len(kept) - 1}; steps are "
                f"counted from 0, the start"
            )
        changed = _changed(subject, [edit for edit in edits if stop in _steps(edit)], kept[-1], stop, done)
        verdict = halting.get(changed.state, "running")
        done = done.replaced(verdict=verdict, steps=0, configurations=(changed,))
        if verdict == "running":
            done = resume(done, max(0, following - stop))
        kept[-1:] = done.configurations
    return done.replaced(steps=len(kept) - 1, configurations=tuple(kept))


def _steps(edit: Edit) -> tuple[int, ...]:
    step = edit.layer
    return (step,) if isinstance(step, int) else tuple(step or ())


def _stops(subject: str, edits: Sequence[Edit]) -> list[int]:
    """The steps at which something is set."""
    for edit in edits:
        check_name(subject, edit, ("state", "head", "tape"))
        if edit.layer is None or (edit.name == "tape" and edit.position is None):
            what = "step" if edit.layer is None else "position"
            raise EditError(f"{subject}: the edit {edit} has no {what}; name it, because a run may have any number")
    return sorted({step for edit in edits for step in _steps(edit)})


def _changed(subject: str, edits: Iterable[Edit], at: Configuration, step: int, done: Computation) -> Configuration:
    """The configuration with what is set at the step. Cells and heads may be as far as the first unused cell."""
    symbols, states = done.symbols, done.states
    width = max(len(at.tape), at.head + 1) + 1
    channels = (
        Channel("state", "category", len(states), labels=states),
        Channel("head", "category", width),
        Channel("tape", "category", len(symbols), labels=symbols),
    )
    plan = EditPlan(subject, list(edits), channels, np.array([width]), flat=("state", "head"), unit="step")
    state, head, tape = at.state, at.head, [*at.tape, *[done.blank] * (width - len(at.tape))]
    for placed in plan.at(step):
        entry = int(placed.entries[0])
        if placed.name == "state":
            state = states[entry]
        elif placed.name == "head":
            head = entry
        else:
            assert placed.positions is not None
            for cell, code in zip(placed.positions.tolist(), placed.entries.tolist()):
                tape[cell] = symbols[code]
    while tape and tape[-1] == done.blank:
        tape.pop()
    return Configuration(state, head, as_tape(symbols)(tape))
