"""The parameters of every command, read from the command line itself: their names, and what each takes."""

import inspect
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import typer

from kleene.cli import app
from kleene.cli.lesson_options import LessonCommand
from kleene.errors import typed_option
from kleene.teaching.options import Option, every_option


@dataclass(frozen=True)
class Parameter:
    """An argument or an option of a command, as its function declares it."""

    name: str
    spellings: tuple[str, ...]  # of an option; an argument has none
    takes: type  # str, int or float; bool is a switch
    repeated: bool
    required: bool
    least: float | None
    greatest: float | None


@cache
def commands() -> dict[str, tuple[Parameter, ...]]:
    """The parameters of each command, by the words that call it: `run`, `data get`."""
    return {" ".join(path): tuple(_parameters(command)) for path, command in _leaves(typer.main.get_command(app), ())}


def _leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner = getattr(command, "commands", None)
    if not inner:
        yield path, command
    for name, below in (inner or {}).items():
        yield from _leaves(below, (*path, name))


def _parameters(command: Any) -> Iterator[Parameter]:
    declared = typing.get_type_hints(inspect.unwrap(command.callback), include_extras=True)
    for one in command.params:
        if one.name not in declared:  # --help
            continue
        annotated = declared[one.name]
        bounds = getattr(annotated, "__metadata__", (None,))[0]
        spellings = (*one.opts, *one.secondary_opts) if one.param_type_name == "option" else ()
        yield Parameter(
            one.name,
            spellings,
            _plain(annotated),
            one.nargs == -1 or bool(getattr(one, "multiple", False)),
            one.required,
            getattr(bounds, "min", None),
            getattr(bounds, "max", None),
        )
    if isinstance(command, LessonCommand):
        yield from map(_of_lesson, every_option().values())


def _of_lesson(one: Option) -> Parameter:
    """An option of some lesson; a list is a text."""
    spelled = typed_option(one.name)
    takes = next((kind for kind in (bool, int, float) if kind in one.types), str)
    off = (f"--{one.off or f'no-{one.name}'}",) if takes is bool else ()
    return Parameter(one.name, (spelled, *off), takes, False, False, one.least, one.most)


def _plain(annotation: Any) -> type:
    """The type inside `Annotated[list[str] | None, …]`."""
    inner = [part for part in typing.get_args(annotation) if part is not type(None)]
    return _plain(inner[0]) if inner else annotation
