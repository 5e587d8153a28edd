"""The text of a program, as its user wrote it where that can be found, or else its rules in words."""

import inspect
from typing import Any

from kleene.programs.alta.wording import action_text, condition_text

MOST_LINES = 400


def program_source(program: Any) -> str:
    """The program as text: its whole source, or what it says of itself."""
    mlp = getattr(program, "mlp", None)
    if mlp is None:
        return str(program)
    if callable(mlp):
        try:
            return f"{_declared(program)}\n\n{inspect.getsource(mlp).rstrip()}"
        except (OSError, TypeError):
            pass
    cases = [
        f"{action_text(program, name, c)}   where {condition_text(program, c)}"
        for name, found in program.updates.items()
        for c in found
    ]
    shown = cases[:MOST_LINES] + [f"… and {len(cases) - MOST_LINES:,} more rules"] * (len(cases) > MOST_LINES)
    return "\n".join([_declared(program), "", *shown])


def _declared(program: Any) -> str:
    """The variables, heads and halting condition of a transformer program, one to a line."""
    lines = [f"# program {program.name}: tokens 0..{program.input_range - 1}, output {program.output_name}"]
    for name, variable in program.variables.items():
        lines.append(f"# variable {name}: {variable.expected}, starts {_start(variable)}")
    for name, head in program.heads.items():
        by = f"where {head.key} equals {head.query}" if head.query is not None else "by distance alone"
        at = f", at distances {sorted(head.offsets)}" if head.offsets else ""
        lines.append(f"# head {name}: reads {head.value} {by}{at}")
    if program.halt is not None:
        lines.append(f"# halts when {program.halt.variable} is {program.halt.value} at every position")
    else:
        lines.append(f"# runs {program.max_layers} layers")
    return "\n".join(lines)


def _start(variable: Any) -> str:
    if variable.input_init_fn is not None:
        return "as a function of the token"
    if variable.position_init_fn is not None:
        return "as a function of the position"
    return f"as {variable.default}"
