"""Find exercises: on the shelf, in a teacher's folder, or by the file that a student has begun."""

import os
import re
import textwrap
from functools import cache
from pathlib import Path

from kleene.errors import InputError, did_you_mean
from kleene.exercises.exercise import COMMENTS, KINDS, LEVELS, TEXT, Exercise
from kleene.files import write_atomically

SHELF = Path(__file__).parent / "shelf"
NAMED = re.compile(r"\bexercise:\s*(\S.*?)\s*(?:\"\"\"|'''|-->)?\s*$")
TOP, MOST = 5, 10_000  # lines and bytes of a student's file in which the exercise may be named


@cache
def shelf() -> dict[str, Exercise]:
    """The exercises that come with Kleene by their names, easy ones first."""
    return exercises_in(SHELF)


def exercises_in(folder: str | os.PathLike) -> dict[str, Exercise]:
    """The exercises in the folders of a folder by their names, easy ones first."""
    try:
        inside = sorted(one for one in Path(folder).iterdir() if (one / TEXT).is_file())
    except (OSError, ValueError) as error:
        raise InputError(f"{os.fspath(folder)!r} cannot be listed: {error}") from None
    if not inside:
        raise InputError(f"{os.fspath(folder)!r} has no exercises in it: folders with a file {TEXT}")
    found = [Exercise.load(one) for one in inside]
    found.sort(key=lambda one: (LEVELS.index(one.level), KINDS.index(one.kind), one.name))
    return {one.name: one for one in found}


def find(name: str | os.PathLike) -> Exercise:
    """The exercise of that name on the shelf, the one in a folder, or the one that a student's file is for.

    >>> find("rotate").kind
    'RASP program'
    """
    given = os.fspath(name)
    if given in shelf():
        return shelf()[given]
    if os.path.isdir(given):
        return Exercise.load(Path(given), given)
    if os.path.isfile(given):
        return exercise_of(given)
    raise InputError(f"no exercise {given!r}, and no folder of that name; {did_you_mean(given, shelf())}")


def exercise_of(file: str | os.PathLike) -> Exercise:
    """The exercise that one of the first lines of a student's file names: `# exercise: NAME`.

    A folder is looked for from here, and from where the file lies.
    """
    given = os.fspath(file)
    if not os.path.isfile(given):
        raise InputError(f"there is no file {given!r}; `kleene exercise start NAME` writes one to begin with")
    try:
        with open(given, "rb") as text:
            lines = text.read(MOST).decode("utf-8", "replace").splitlines()[:TOP]
    except OSError as error:
        raise InputError(f"{given!r} cannot be read: {error.strerror}") from None
    found = next((match[1] for line in lines if (match := NAMED.search(line))), None)
    if found is None:
        mark = COMMENTS.get(Path(given).suffix, "#")
        raise InputError(
            f"{given!r} does not say which exercise it is for; give --exercise NAME, or make its first line "
            f"`{mark} exercise: NAME`"
        )
    beside = Path(given).parent / found
    return find(beside if found not in shelf() and not os.path.isdir(found) and beside.is_dir() else found)


def start(name: str | os.PathLike, output: str | os.PathLike | None = None) -> Path:
    """Write the file that a student begins with and return its path; a file that is there is never overwritten.

    Its first line names the exercise, and the statement follows as comments.
    """
    exercise = find(name)
    path = Path(output if output is not None else f"{exercise.folder.resolve().name}{exercise.ending}")
    if os.path.lexists(path):
        raise InputError(f"there is a file {str(path)!r} already, which may be your work; give another name with -o")
    mark = COMMENTS[exercise.ending]
    about = [f"exercise: {exercise.name}", f"{exercise.title} ({exercise.kind}, {exercise.level})", ""]
    told = [f"{mark} {line}".rstrip() for line in (*about, *wrapped(exercise.statement))]
    return write_atomically(path, "\n".join([*told, "", exercise.stub]))


def wrapped(text: str, width: int = 110) -> list[str]:
    """The lines of a text, long ones wrapped; lines that begin with a space are examples, and stay.

    >>> wrapped("one two\\n    as it is here", 5)
    ['one', 'two', '    as it is here']
    """
    found: list[str] = []
    for line in text.splitlines():
        found += [line] if line.startswith(" ") or not line else textwrap.wrap(line, width, break_on_hyphens=False)
    return found
