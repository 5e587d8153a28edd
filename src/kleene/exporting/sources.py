"""The text of a program, as its user wrote it where that can be found, or else its rules in words.

A program's functions come with what they need to be read: the functions and constants of their files that they reach.
"""

from typing import Any

from kleene.exporting.reaching import Reached, functions_of
from kleene.programs.alta.variables import unchanged
from kleene.programs.alta.wording import action_text, condition_text
from kleene.programs.rasp.graph import RASPExpr
from kleene.programs.rasp.wording import function_text

MOST_LINES = 400


def program_source(program: Any) -> str:
    """The program as text: its whole source, or what it says of itself."""
    mlp = getattr(program, "mlp", None)
    if mlp is None:
        return _with_functions(str(program), getattr(program, "expression", None))
    reached = Reached()
    if callable(mlp):
        reached.add(mlp)
    if reached.readable and reached.text:
        for variable in program.variables.values():
            for function in (variable.input_init_fn, variable.position_init_fn):
                reached.add(function, shown=_stands_inline(function))
        return f"{_declared(program)}\n\n{_shortened(reached.text)}"
    cases = [
        f"{action_text(program, name, c)}   where {condition_text(program, c, name)}"
        for name, found in program.updates.items()
        for c in found
    ]
    shown = cases[:MOST_LINES] + [f"… and {len(cases) - MOST_LINES:,} more rules"] * (len(cases) > MOST_LINES)
    return "\n".join([_declared(program), "", *shown])


def _with_functions(text: str, expression: RASPExpr | None) -> str:
    """A RASP program's definitions, and after them the functions that do not stand in them."""
    reached = Reached()
    for function in [] if expression is None else functions_of(expression):
        if not hasattr(function, "words"):  # operators are written as such
            reached.add(function, shown=_stands_inline(function))
    return f"{text}\n\n{_shortened(reached.text)}" if reached.text else text


def _stands_inline(function: Any) -> bool:
    """Whether the text of a program shows the whole function where it is used: a lambda that is not cut."""
    return getattr(function, "__name__", "") == "<lambda>" and not function_text(function).endswith("…")


def _shortened(text: str) -> str:
    lines = text.splitlines()
    left = len(lines) - MOST_LINES
    return text if left <= 0 else "\n".join([*lines[:MOST_LINES], f"# … and {left:,} more lines"])


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
        return _start_by(variable.input_init_fn, "token")
    if variable.position_init_fn is not None:
        return _start_by(variable.position_init_fn, "position")
    return f"as {variable.default}"


def _start_by(function: Any, what: str) -> str:
    return f"as the {what}" if function is unchanged else f"by {what}: {function_text(function)}"
