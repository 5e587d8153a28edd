"""What a reader of a function needs besides it: the functions and constants of the user's files that it reaches.

A name that a function uses is looked up where Python does: among the variables around it and the globals of its file.
What the user's files define is followed. What comes from elsewhere, such as NumPy, is shown by its import.
"""

import ast
import contextlib
import dis
import functools
import inspect
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from kleene.programs.alta.asking import Functions
from kleene.programs.alta.source import INSTALLED, PLAIN
from kleene.programs.rasp.graph import RASPExpr, parts_of
from kleene.programs.rasp.wording import function_text
from kleene.users_code import PARSING

PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # Kleene's own files
SHELVES = tuple(
    PACKAGE + os.path.join(*path)
    for path in (("programs", "alta", "library", ""), ("programs", "rasp", "lib"), ("groundtruth", "rasp_programs.py"))
)
LONGEST = 200  # characters of a value that no line of a file defines


def functions_of(expression: RASPExpr) -> list[Any]:
    """The functions and predicates of a RASP expression and its parts, those that are read first."""
    found: list[Any] = []
    for part in parts_of(expression):
        held = vars(part)
        found += [*held.get("functions", ()), *(held[name] for name in ("f", "predicate") if name in held)]
    return found


class Reached:
    """What some functions reach: pieces of files in the order of their lines, and values that no line defines.

    `readable` says whether the source of every function that was added could be read.
    """

    def __init__(self) -> None:
        self.readable = True
        self._files: dict[str, int] = {}  # those that hold pieces, in the order in which they were met
        self._pieces: dict[tuple[int, int], str] = {}  # by file and line
        self._values: dict[str, None] = {}
        self._seen: set[Any] = set()
        self._roots: set[str] = set()

    def add(self, function: Any, shown: bool = False) -> None:
        """Take up a function and what it reaches; one that is `shown` elsewhere is not shown again."""
        for plain in _plain_functions(function):
            self._roots.add(plain.__code__.co_filename)
            self._follow(plain, shown)

    @property
    def text(self) -> str:
        """All of it: the values, then the pieces, functions apart from each other by an empty line."""
        parts, before = ["\n".join(self._values)] if self._values else [], ""
        for place in sorted(self._pieces):
            piece = self._pieces[place]
            apart = "\n" in piece or "\n" in before or not parts
            parts.append(("\n" if apart and parts else "") + piece)
            before = piece
        return "\n".join(parts)

    def _follow(self, function: FunctionType, shown: bool = False) -> None:
        code, around = function.__code__, tuple(map(id, function.__closure__ or ()))
        if (code, around) in self._seen:
            return
        self._seen.add((code, around))
        text = self._take(code) if not shown and self._is_users(code.co_filename) else ""
        self._follow_around(function)
        lines = _lines(code)
        for name, attribute in [*_global_names(code), *_names_above(text)]:
            self._follow_name(name, attribute, function.__globals__, code.co_filename, lines)

    def _follow_around(self, function: FunctionType) -> None:
        """The variables of the function around: plain values are told, functions are followed."""
        around = dict(_filled_cells(function))
        told = [f"{name} = {_cut(repr(value))}" for name, value in around.items() if _is_plain(value)]
        if told:
            self._values[f"# in {function_text(function)}: {', '.join(told)}"] = None
        for value in around.values():
            for inner in _functions_inside(value):
                self._follow(inner)

    def _follow_name(self, name: str, attribute: str | None, known: Mapping[str, Any], file: str, lines: list) -> None:
        if name not in known or (file, name, attribute) in self._seen:  # the others are Python's own
            return
        self._seen.add((file, name, attribute))
        value = known[name]
        if isinstance(value, ModuleType) and attribute is not None and self._is_users(_file_of(value)):
            self._follow_name(attribute, None, vars(value), _file_of(value), _lines(value))
        elif isinstance(value, type) and self._is_users(_file_of(value)):
            self._follow_class(value)
        elif found := [f for f in _plain_functions(value) if self._is_users(f.__code__.co_filename)]:
            for function in found:
                self._follow(function)
        else:
            self._follow_binding(name, value, known, file, lines)

    def _follow_class(self, made: type) -> None:
        if made not in self._seen:
            self._seen.add(made)
            self._take(made)
            for function in vars(made).values():
                for plain in _plain_functions(function):
                    self._follow(plain, shown=True)

    def _follow_binding(self, name: str, value: Any, known: Mapping[str, Any], file: str, lines: list) -> None:
        """The statements of a file that give a name its value; the value itself where there are none."""
        bound = _bindings(lines, name)
        for statement in bound if self._is_users(file) else ():
            module = sys.modules.get(getattr(statement, "module", None) or "")
            if isinstance(statement, ast.ImportFrom) and module is not None and self._is_users(_file_of(module)):
                self._follow_name(name, None, vars(module), _file_of(module), _lines(module))
                continue
            self._keep(file, statement.lineno, "".join(lines[statement.lineno - 1 : statement.end_lineno]))
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    self._follow_name(node.id, None, known, file, lines)
        if not bound and _is_plain(value):
            self._values[f"{name} = {_cut(repr(value))}"] = None

    def _take(self, thing: Any) -> str:
        try:
            with PARSING:
                lines, first = inspect.getsourcelines(thing)
        except (OSError, TypeError):
            self.readable = False
            return ""
        return self._keep(inspect.getfile(thing), first, "".join(lines))

    def _keep(self, file: str, line: int, text: str) -> str:
        rank = self._files.setdefault(file, len(self._files))
        self._pieces[rank, line] = kept = textwrap.dedent(text).rstrip()
        return kept

    def _is_users(self, file: str) -> bool:
        """Whether a file is the program's own: neither Kleene's language, nor Python's, nor of another package."""
        if file.startswith(PACKAGE):
            return file.startswith(SHELVES)
        return file in self._roots or not file.startswith((*INSTALLED, "<frozen"))


def _plain_functions(value: Any) -> Iterator[FunctionType]:
    """The Python function that is called where a value is, if any: under partials, methods and decorators too."""
    if isinstance(value, functools.partial):
        yield from _plain_functions(value.func)
    elif isinstance(value, MethodType):
        yield from _plain_functions(value.__func__)
    elif isinstance(value, Functions):
        for one in value.functions:
            yield from _plain_functions(one)
    elif callable(getattr(value, "__wrapped__", None)):
        yield from _plain_functions(value.__wrapped__)
    elif isinstance(value, FunctionType):
        yield value


def _functions_inside(value: Any) -> Iterator[FunctionType]:
    """The functions that a value holds: itself, those of a collection, those of a RASP expression."""
    if isinstance(value, RASPExpr):
        value = functions_of(value)
    held: Iterable[Any] = value.values() if isinstance(value, dict) else value
    for one in held if isinstance(value, (dict, list, tuple, set, frozenset)) else (value,):
        yield from _plain_functions(one)


def _global_names(code: CodeType) -> Iterator[tuple[str, str | None]]:
    """The global names that code uses, in functions inside it too, each with the attribute that is read of it."""
    steps = list(dis.get_instructions(code))
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            reads = after is not None and after.opname in ("LOAD_ATTR", "LOAD_METHOD")
            yield step.argval, after.argval if reads and after is not None else None
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _global_names(inner)


def _names_above(text: str) -> Iterator[tuple[str, None]]:
    """The names that a function's source has outside its code: in decorators and defaults."""
    try:
        with PARSING:
            body = ast.parse(text).body
    except SyntaxError:  # a lambda inside an expression
        return
    for made in body:
        if isinstance(made, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for part in (*made.decorator_list, *made.args.defaults, *filter(None, made.args.kw_defaults)):
                yield from ((node.id, None) for node in ast.walk(part) if isinstance(node, ast.Name))


def _lines(thing: Any) -> list[str]:
    """The lines of the file that something is written in; none where they cannot be read."""
    try:
        with PARSING:  # for a class it parses the file
            return inspect.findsource(thing)[0]
    except (OSError, TypeError):
        return []


def _bindings(lines: list[str], name: str) -> list[ast.stmt]:
    """The statements of a file, outside its functions and classes, that bind a name or set an entry of it."""
    try:
        with PARSING:
            body = ast.parse("".join(lines)).body
    except SyntaxError:
        return []
    plain = [one for one in body if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    return [one for one in plain if any(name in _bound(node) for node in ast.walk(one))]


def _bound(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0],)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
        return (node.value.id,)
    return (node.id,) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ()


def _file_of(thing: Any) -> str:
    try:
        return inspect.getfile(thing)
    except TypeError:  # of Python itself
        return "<frozen>"


def _filled_cells(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables of the function around that have a value; one that is bound later has none yet."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        with contextlib.suppress(ValueError):
            yield name, cell.cell_contents


def _is_plain(value: Any) -> bool:
    """Whether a value says by its text what it is: numbers, strings, and collections of them."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(map(_is_plain, value))
    return type(value) in PLAIN


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
