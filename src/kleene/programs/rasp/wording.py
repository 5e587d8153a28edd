"""How parts of RASP expressions are written: brackets, names that are taken, and functions by their source."""

import ast
import inspect
from collections.abc import Callable, Container
from functools import lru_cache
from types import CodeType
from typing import Any

from kleene.users_code import PARSING

LONGEST = 60  # characters of a function's text


def unused(name: str, taken: Container[str]) -> str:
    """The name, with a number after it if it is taken.

    >>> unused("x", {"x", "x_2"})
    'x_3'
    """
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def bracketed(text: str) -> str:
    """The text in brackets, if it is an operator's and not a name, a number or a call.

    >>> bracketed("x + 1"), bracketed("max(x, 1)")
    ('(x + 1)', 'max(x, 1)')
    """
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            return f"({text})"
    return text


def bare(text: str) -> str:
    """The text without brackets around the whole of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    return text[1:-1] if bracketed(text[1:-1]) == text else text


def function_text(function: Any) -> str:
    """A lambda as it stands in its file, if that can be read; any other function's name.

    >>> function_text(len)
    'len'
    """
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", type(function).__name__)
    if name != "<lambda>" or code is None:
        return name
    text = _lambda_text(function, code) or "lambda"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _lambda_text(function: Callable, code: CodeType) -> str | None:
    try:
        lines, _ = inspect.findsource(function)
        source = "".join(lines)
        found = [node for node in _lambdas(source) if node.lineno == code.co_firstlineno]
    except (OSError, SyntaxError, ValueError, TypeError):
        return None
    starts = {(line, column) for line, _, column, _ in code.co_positions() if line is not None and column}
    inside = [node for node in found if any(_holds(node.body, place) for place in starts)]
    chosen = inside[-1] if inside else None
    text = None if chosen is None else ast.get_source_segment(source, chosen)
    return None if text is None else " ".join(text.split())


def _holds(node: ast.expr, place: tuple[int, int | None]) -> bool:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    line, column = place
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return column is not None and start <= (line, column) < end


@lru_cache(maxsize=32)
def _lambdas(source: str) -> list[ast.Lambda]:
    with PARSING:
        tree = ast.parse(source)
    return [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
