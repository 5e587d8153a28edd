"""The commands of exercises: list them, start one, ask for a hint, grade a solution."""

import shlex
import shutil
import sys
from typing import Annotated, Any

import typer

from kleene.cli.options import FAILED, JsonOption
from kleene.cli.printing import print_json, print_table
from kleene.errors import KleeneError

commands = typer.Typer()
exercise = typer.Typer(
    help="Exercises: start one, solve it, and have it graded.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="kleene exercise start first_letter\n\nkleene exercise grade first_letter.py",
)
commands.add_typer(exercise, name="exercise")


def complete_exercise(incomplete: str) -> list[str]:
    """The exercises of the shelf that begin with `incomplete`."""
    from kleene.exercises import shelf

    return [name for name in shelf() if name.startswith(incomplete)]


NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="An exercise of `kleene exercise list`, or a teacher's folder.",
        autocompletion=complete_exercise,
    ),
]


@exercise.command("list")
def list_exercises(
    folder: Annotated[
        str | None, typer.Argument(metavar="[FOLDER]", help="A teacher's folder of exercises, in place of Kleene's.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the exercises, easy ones first, with what each teaches."""
    from kleene.exercises import exercises_in, shelf

    found = [one.as_json() for one in (shelf() if folder is None else exercises_in(folder)).values()]
    if as_json:
        return print_json(found)
    rows = [[row[key] for key in ("name", "level", "kind", "learns")] for row in found]
    print_table(["exercise", "level", "write a", "what it teaches"], rows)


@exercise.command()
def start(
    name: NameArgument,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="The file to write (default: the exercise's name).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the file to begin with, which has the statement in it. A file that is there is never overwritten."""
    from kleene.exercises import find
    from kleene.exercises import start as begin

    found, path = find(name), begin(name, output)
    if as_json:
        return print_json(found.as_json() | {"statement": found.statement, "file": str(path)})
    typer.echo(f"{found.title} ({found.kind}, {found.level})\n\n{found.statement}\n")
    typer.echo(f"wrote {path}: edit it, then kleene exercise grade {shlex.quote(str(path))}")


@exercise.command()
def hint(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="An exercise, a folder, or a file that you began.", autocompletion=complete_exercise
        ),
    ],
    number: Annotated[int, typer.Argument(metavar="[NUMBER]", help="Which hint.", min=1, max=1_000)] = 1,
    as_json: JsonOption = False,
) -> None:
    """Give one hint, the first unless you ask for another."""
    from kleene.errors import InputError
    from kleene.exercises import find

    found = find(name)
    if number > len(found.hints):
        raise InputError(f"the exercise {found.name!r} has {len(found.hints)} hints, and no hint {number}")
    text, of = found.hints[number - 1], len(found.hints)
    if as_json:
        return print_json({"exercise": found.name, "number": number, "of": of, "hint": text})
    typer.echo(f"hint {number} of {of}: {text}")
    if number < of:
        typer.echo(f"the next: kleene exercise hint {shlex.quote(name)} {number + 1}")


@exercise.command()
def grade(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Your solution, or many. A Python file is run, as `python FILE` does."),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            "--exercise",
            metavar="NAME",
            help="The exercise, or a teacher's folder (default: the one that the file's first lines name).",
            autocompletion=complete_exercise,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="How long grading may take (default: 60, or what the exercise says).", min=0.1, max=86_400),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Grade a solution: its program and its compiled network, on all small inputs and on random larger ones.

    Shows the smallest input on which it is wrong, with its run step by step. Exit status 1 if it does not pass yet.
    Grading runs the file, in a process with a limit on its time and memory. Several files get a row each.
    """
    if len(files) > 1:
        return _grade_all(files, name, seconds, as_json)
    from kleene.exercises import find
    from kleene.exercises import grade as graded
    from kleene.limits import printable

    width = shutil.get_terminal_size().columns - 2 if sys.stdout.isatty() else 118
    found = graded(files[0], name, seconds=seconds, width=width)
    if as_json:
        print_json(found.as_json())
    else:
        if found.printed:
            typer.echo(f"your file printed:\n{found.printed.rstrip()}\n")
        typer.echo(str(found))
        if not found and find(found.exercise).hints:
            typer.echo(printable(f"\na hint: kleene exercise hint {shlex.quote(found.exercise)}"))
    if not found:
        raise typer.Exit(FAILED)


def _grade_all(files: list[str], name: str | None, seconds: float | None, as_json: bool) -> None:
    """Print a row for each file, also for one that cannot be graded."""
    from kleene.exercises import Grade, grade_each
    from kleene.limits import printable

    rows = [
        found.as_json() if isinstance(found, Grade) else _not_graded(file, name, found)
        for file, found in zip(files, grade_each(files, name, seconds=seconds))
    ]
    if as_json:
        print_json(rows)
    else:
        shown = [[*map(printable, (row["file"], row["exercise"] or "", *_summary(row)))] for row in rows]
        print_table(["file", "exercise", "grade", "why not"], shown)
        typer.echo(f"{sum(row['passed'] for row in rows)} of {len(rows)} passed")
    if not all(row["passed"] for row in rows):
        raise typer.Exit(FAILED)


def _not_graded(file: str, name: str | None, error: Exception) -> dict[str, Any]:
    told = str(error) if isinstance(error, KleeneError) else f"an error of Kleene's own, please report it ({error!r})"
    return {"exercise": name, "file": file, "passed": False, "error": told}


def _summary(row: dict[str, Any]) -> tuple[str, str]:
    """The grade in a word or two, and why a file did not pass."""
    if row["passed"]:
        return "passed", ""
    if "error" in row:
        return "not graded", row["error"]
    wrong = row["counterexample"]
    return "not yet", row["problem"] or f"{wrong['input']}: expected {wrong['expected']}, got {wrong['got']}"
