"""Cells: one setting with one seed each, named by a digest of everything that decides the result.

The digest covers the lesson as it will be taught (its facts: a default that is written out makes no difference), its
version, a user's own file with the modules beside it, and the data that a setting names. It leaves out where and with
which other cells it is run, and the source of Kleene: a version is raised by hand when the same settings come to mean
something else.
"""

import ast
import functools
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene.errors import InputError, KleeneError
from kleene.files import MOST_TEXT, read_bytes
from kleene.teaching.lesson import Lesson
from kleene.teaching.lessons import hint_kinds, lesson, with_policies
from kleene.teaching.plan import Plan
from kleene.users_code import PARSING

# Settings that are not options of a lesson.
RUN = ("task", "machine", "hints", "density", "strength", "seed", "iterations", "test_every")
# Raise one when the same settings teach, or an experiment measures, something else; `Lesson.version` where one lesson
# changes. Finished cells of the version before are then run anew.
VERSIONS = {"teach": 1, "reproduce": 1}
DIGITS = 16


@dataclass(frozen=True)
class Cell:
    """A run of a sweep: its complete settings, its name, and the name of the program that it can share with others."""

    name: str
    settings: Mapping[str, Any]
    program: str = ""
    verb: str = "teach"

    def __repr__(self) -> str:
        return f"<Cell {self.name}: {', '.join(f'{k}={v}' for k, v in self.settings.items())}>"


def teaching_cell(settings: Mapping[str, Any]) -> Cell:
    """The cell of these settings, with all defaults filled in.

    >>> one = teaching_cell({"task": "copy", "seed": 3, "iterations": 10})
    >>> one.name == teaching_cell({"task": "copy", "hints": "none", "seed": 3, "iterations": 10, "test_every": 1}).name
    True
    """
    taught = lesson_of(settings)
    kind = next(iter(hint_kinds(settings.get("hints", taught.kinds[0]), taught.kinds)))
    density, strength = settings.get("density", 1.0), settings.get("strength", taught.strength)
    plan = Plan.grid(
        taught,
        kinds=(kind,),
        densities=(density,),
        strengths=(strength,),
        seeds=1,
        first_seed=settings.get("seed", 0),
        iterations=settings.get("iterations"),
        test_every=settings.get("test_every"),
    )
    chosen, facts = plan.settings[0], plan.facts()
    complete = {
        # A range becomes a list, because a row of the store is JSON.
        **{name: _thawed(_frozen(settings[name])) for name in settings if name not in RUN},
        "task": settings["task"],
        **({"machine": settings["machine"]} if settings.get("machine") else {}),
        "hints": settings.get("hints", kind),
        **({} if kind == "none" else {"density": chosen["density"], "strength": chosen["strength"]}),
        "iterations": plan.iterations,
        "test_every": plan.test_every,
        "seed": plan.seeds[0],
    }
    version = [VERSIONS["teach"], getattr(taught, "version", 1)]
    program = _digest([_lesson_identity(complete, facts["lesson"]), version, plan.iterations, plan.test_every])
    return Cell(_digest([program, kind, _hint_code(complete["hints"]), chosen, plan.seeds[0]]), complete, program)


def cells_of(verb: str, settings: Iterable[Mapping[str, Any]]) -> list[Cell]:
    """The cells of all these settings in their order, each once. Files that were read before are read anew."""
    for cached in (_lesson, _file_code):
        cached.cache_clear()
    return list({cell.name: cell for cell in map(MAKE[verb], settings)}.values())


def cells_of_plan(plan: Plan) -> list[Cell]:
    """A cell for each run of a plan, in the order of its runs. Its lesson must be one that was made by name."""
    recipe = getattr(plan.lesson, "recipe", None)
    assert recipe is not None, f"the lesson {plan.lesson.name!r} was not made by name"
    schedule = {"iterations": plan.iterations, "test_every": plan.test_every}
    settings = [
        {**recipe, "hints": s["kind"], "density": s["density"], "strength": s["strength"], "seed": seed, **schedule}
        for s, seed in plan.pairs
    ]
    return [teaching_cell(one) for one in settings]


def experiment_cell(settings: Mapping[str, Any]) -> Cell:
    """The cell of one experiment of `kleene reproduce`."""
    model = settings.get("model")
    identity = [dict(sorted(settings.items())), _file_digest(model) if model else "", VERSIONS["reproduce"]]
    name = _digest(["reproduce", identity])
    return Cell(name, dict(settings), name, verb="reproduce")


MAKE = {"teach": teaching_cell, "reproduce": experiment_cell}


def name_today(row: Mapping[str, Any]) -> str:
    """The name of a finished cell whose row has the name that earlier versions of Kleene gave it.

    They made the source of Kleene part of a name. A cell with files of the user's keeps its old name, because the row
    does not say what was in them; so does one that cannot be made any more.
    """
    settings = row.get("settings")
    if not isinstance(settings, Mapping) or any(map(_names_a_file, settings.values())):
        return row["cell"]
    try:
        return MAKE["reproduce" if "experiment" in settings else "teach"](settings).name
    except (KleeneError, KeyError, TypeError, ValueError):
        return row["cell"]


def _names_a_file(value: Any) -> bool:
    return isinstance(value, str) and (_own_file(value) is not None or os.path.isfile(value.partition(":")[2] or value))


def lesson_of(settings: Mapping[str, Any], kinds: tuple[str, ...] = ()) -> Lesson:
    """The lesson of a cell; with `kinds`, that of a pack of cells with these hints."""
    options = tuple(sorted((name, _frozen(value)) for name, value in settings.items() if name not in RUN))
    hints = kinds or (settings["hints"],) if settings.get("hints") else kinds
    return _lesson(settings["task"], settings.get("machine"), options, hints)


@functools.lru_cache(maxsize=256)
def _lesson(task: str, machine: str | None, options: tuple, hints: tuple[str, ...]) -> Lesson:
    found = lesson(task, machine, **{name: _thawed(value) for name, value in options})
    named: dict[str, Any] = {}
    for hint in hints:
        named |= hint_kinds(hint, found.kinds)
    for kind in named:
        if named[kind] is None and kind not in found.kinds:
            raise InputError(f"no hints of kind {kind!r} for {found.name}; there are {', '.join(found.kinds)}")
    return with_policies(found, named) if named else found


def kind_of(cell: Cell) -> str:
    """The name of a cell's kind of hints in its lesson: the function's, for hints of a user's own."""
    hints = cell.settings["hints"]
    return hints.partition(":")[2] if _own_file(hints) else hints


def _frozen(value: Any) -> Any:
    return ("list", *map(_frozen, value)) if isinstance(value, (list, tuple, range)) else value


def _thawed(value: Any) -> Any:
    return [_thawed(entry) for entry in value[1:]] if isinstance(value, tuple) else value


def _lesson_identity(settings: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that decides what is taught, the hints and the seed apart."""
    task = settings["task"]
    shared = {key: value for key, value in facts.items() if key != "kinds"}  # a pack's, not a cell's
    options = {key: value for key, value in settings.items() if key not in RUN}
    own = _own_file(task)
    return {
        "lesson": shared,
        # The facts of a built-in lesson have all its options; those of a user's own may not.
        "options": options if own or task.partition(":")[1] else {},
        "subject": [task.rpartition(":")[2], _file_code(own)] if own else _subject(task),
        "machine": settings.get("machine") or "",
    }


def _subject(task: str) -> list[str]:
    prefix, colon, rest = task.partition(":")
    return [prefix, _file_digest(rest)] if colon and os.path.isfile(rest) else [task]


def _own_file(text: Any) -> str | None:
    """The Python file in FILE.py:NAME."""
    path, colon, _ = str(text).rpartition(":")
    return path if colon and path.endswith(".py") else None


def _hint_code(hints: str) -> str:
    own = _own_file(hints)
    return _file_code(own) if own else ""


@functools.cache
def _file_code(path: str) -> str:
    """The digest of a Python file, and of the modules in its folder that it imports, and these, and so on.

    They are found in the text, not among what this process has imported: that would differ from process to process.
    """
    first = Path(path).resolve()
    files, left = {first}, [first]
    while left:
        found = {file for place, name in _imported(left.pop(), first.parent) for file in _files_of(place, name)} - files
        files |= found
        left += found
    return _digest([_file_digest(file) for file in sorted(files)])


def _imported(file: Path, folder: Path) -> set[tuple[Path, str]]:
    """The modules that a file names in its imports, each with the folder to look in; `from a import b` is a.b, because
    b may be a module."""
    try:
        with PARSING:
            tree = ast.parse(read_bytes(file, MOST_TEXT))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(folder, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            place = file.parents[node.level - 1] if 0 < node.level <= len(file.parents) else folder
            found |= {(place, ".".join(filter(None, [node.module, alias.name]))) for alias in node.names}
    return found


def _files_of(folder: Path, name: str) -> set[Path]:
    """The files in the folder that importing a module of that name runs."""
    parts = name.split(".")
    places = [folder.joinpath(*parts[:n]) for n in range(1, len(parts) + 1)]
    files = {file for place in places for file in (place.with_name(f"{place.name}.py"), place / "__init__.py")}
    return {file.resolve() for file in files if file.is_file()}


def _file_digest(path: Any) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
