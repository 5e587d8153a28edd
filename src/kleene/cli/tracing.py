"""A run's trace in the terminal: the part that a person asked for, folded so that it fits the window."""

from typing import Annotated, Any

import typer

from kleene.cli.options import MANY
from kleene.errors import InputError

LONGEST_NUMBER = 18  # digits
ChannelsOption = Annotated[
    str | None, typer.Option(help="With --trace, the channels to show: names or patterns, such as token,ptr_*.")
]
PositionsOption = Annotated[str | None, typer.Option(help="With --trace, the positions to show, such as 0-8.")]


def split_steps(typed: str | None) -> tuple[int | None, str | None]:
    """How many steps a circuit takes, and which steps are shown: what was typed is one of the two.

    >>> split_steps("12"), split_steps("3-9"), split_steps(None)
    ((12, None), (None, '3-9'), (None, None))
    """
    if typed is None or not typed.strip().lstrip("-").isdecimal():
        return None, typed
    if len(typed) > LONGEST_NUMBER or int(typed) > MANY:
        raise typer.BadParameter(f"{typed[:LONGEST_NUMBER]} is not in the range x<={MANY}.", param_hint="'--steps'")
    return int(typed), None


def read_cut(channels: str | None, positions: str | None, steps: str | None, *, shown: bool) -> Any:
    """The part of the trace that was asked for; refused where no table of the trace is `shown`."""
    from kleene.watching.cutting import Cut

    cut = Cut.read(channels, positions, steps)
    if cut != Cut() and not shown:
        name = next(name for name in ("channels", "positions", "steps") if getattr(cut, name) is not None)
        raise InputError(
            f"--{name} shows a part of the trace in the terminal; add --trace, and leave out --json, which has it all"
        )
    return cut


def print_trace(outcome: Any, cut: Any, console: Any) -> None:
    """Print the trace of a run in lines that fit the console, and say what was left out."""
    from rich.text import Text

    lines = trace_lines(outcome, cut, console.width, colours=console.is_terminal and not console.no_color)
    for line in lines:
        console.print(line if isinstance(line, Text) else Text(line), highlight=False, overflow="fold")


def trace_lines(outcome: Any, cut: Any, width: int, *, colours: bool = False) -> list[Any]:
    """The lines of a trace at that width: as its kind tells them, or as blocks of a folded table."""
    telling, trace = outcome.telling, outcome.trace
    if telling.lines is not None and cut.channels is None and cut.positions is None:
        return telling.lines(width, None if cut.steps is None else cut.step_range(trace.steps))
    from kleene.traces.folding import folded
    from kleene.traces.windows import window_lines

    steps = cut.step_range(trace.steps)
    begins = None
    if telling.lines is not None and cut.steps is not None:  # tapes are made when they are asked for: these steps alone
        trace, begins = type(cut)(steps=cut.steps).of(trace), steps.start
        steps = range(len(steps))
    hidden = () if cut.channels is not None else telling.hidden
    channels = [c for c in cut.chosen(trace.channels) if c.name not in hidden]
    shape = {"channels": channels, "positions": _positions(trace, cut), "steps": steps, "begins": begins}
    lines: list[Any] = window_lines(folded(trace, width, **shape), colours=colours)
    return lines + _left_out(trace, channels, hidden)


def _positions(trace: Any, cut: Any) -> range | None:
    """The positions that are shown; None where the trace has none."""
    sizes = [trace.data[c.name].shape[1] for c in trace.channels if _is_placed(trace, c)]
    if not sizes:
        if cut.positions is not None:
            raise InputError("the run has no positions: its channels have one entry a step; leave --positions out")
        return None
    return cut.position_range(max(sizes))


def _is_placed(trace: Any, channel: Any) -> bool:
    return trace.data[channel.name].ndim - len(channel.entry_shape) > 1


def _left_out(trace: Any, channels: Any, hidden: Any) -> list[str]:
    notes = []
    if hidden:
        what = "channel is" if len(hidden) == 1 else "channels are"
        notes.append(f"{len(hidden)} {what} not shown: --channels '*' shows all, --channels NAME one of them")
    if any(c.kind in ("vector", "distribution") and (c.size or 0) > 4 for c in channels):
        notes.append("… in brackets: of longer vectors the first 4 numbers are shown; --json has all")
    return notes
