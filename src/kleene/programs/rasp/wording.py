"""RASP expressions as text: one definition a line, as a person would write them."""

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

from kleene.programs.rasp.expressions import ConstantSOp, Full, LinearSequenceMap, Map, SequenceMap
from kleene.programs.rasp.graph import RASPExpr, parts_of
from kleene.programs.rasp.selectors import (
    Aggregate,
    Comparison,
    ConstantSelector,
    Select,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
)

LONGEST = 60  # characters of a function's text


def definitions(expr: RASPExpr) -> dict[str, str]:
    """What the expression and its parts are, by name, those that are read first. Unnamed parts that only one
    expression reads stand inside it.

    >>> from kleene.programs import rasp
    >>> mirrored = (rasp.length - rasp.indices).named("mirrored")
    >>> same = rasp.Select(rasp.indices, mirrored - 1, rasp.Comparison.EQ)
    >>> for name, text in definitions(rasp.Aggregate(same, rasp.tokens).named("reverse")).items():
    ...     print(name, "=", text)
    mirrored = length - indices
    reverse = Aggregate(Select(indices, mirrored - 1, EQ), tokens)
    """
    parts = parts_of(expr)
    readers = Counter(child for part in parts for child in part.children)
    names: dict[RASPExpr, str] = {}
    found: dict[str, str] = {}
    for part in parts:
        if not part.children and not isinstance(part, (ConstantSOp, ConstantSelector)):
            names[part] = repr(part.fill) if isinstance(part, Full) else part.name
        elif part is expr or "name" in part.given_annotations or readers[part] > 1:
            names[part] = _unused(part.name, found)
            found[names[part]] = _text(part, names)
        else:
            names[part] = _bracketed(_text(part, names))
    return found or {expr.name: names[expr]}


def _unused(name: str, taken: Mapping[str, str]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _text(part: RASPExpr, names: Mapping[RASPExpr, str]) -> str:
    """One expression, with its children by their names."""
    inner = [names[child] for child in part.children]
    if isinstance(part, Map):
        text = inner[0]
        for function in part.functions:
            words = getattr(function, "words", None)
            text = f"Map({function_text(function)}, {_bare(text)})" if words is None else words(_bracketed(text))
        return text
    if isinstance(part, LinearSequenceMap):
        return f"{part.fst_fac} * {inner[0]} + {part.snd_fac} * {inner[1]}"
    if isinstance(part, SequenceMap):
        words = getattr(part.f, "words", None)
        plain = [_bare(text) for text in inner]
        return f"SequenceMap({function_text(part.f)}, {', '.join(plain)})" if words is None else words(*inner)
    if isinstance(part, (SelectorAnd, SelectorOr)):
        return f"{inner[0]} {'&' if isinstance(part, SelectorAnd) else '|'} {inner[1]}"
    if isinstance(part, SelectorNot):
        return f"~{inner[0]}"
    arguments = [_bare(text) for text in inner]
    if isinstance(part, Select):
        compared = part.predicate.name if isinstance(part.predicate, Comparison) else function_text(part.predicate)
        arguments.append(compared)
    if isinstance(part, Aggregate) and part.default is not None:
        arguments.append(f"default={part.default!r}")
    if isinstance(part, (ConstantSOp, ConstantSelector)):
        arguments.append(repr(part.value))
    return f"{type(part).__name__}({', '.join(arguments)})"


def _bracketed(text: str) -> str:
    """The text in brackets, if it is an operator's and not a name, a number or a call."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            return f"({text})"
    return text


def _bare(text: str) -> str:
    """The text without brackets around the whole of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    return text[1:-1] if _bracketed(text[1:-1]) == text else text


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
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Lambda)]
