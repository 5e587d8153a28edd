"""What commands print, and the standard streams that it goes to.

A stream may be closed, full, or no longer read; `guarded_streams` makes each of these one clear error.
"""

import io
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import typer

from kleene.errors import InputError, KleeneError, KleeneWarning
from kleene.users_code import users_code_runs

ODD = re.compile(r"[^\n -~]")


def new_console() -> Any:
    """A rich console as wide as the terminal, or 120 columns where the output goes to a file or pipe."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120)


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a list of what there is, a line each, with a space at both edges."""
    from kleene.traces.markup import Table  # imports numpy

    new_console().print(Table(head, rows, margin=True))


def print_json(content: Any) -> None:
    """Print a dict as JSON on one line, and a list on several. What JSON lacks, such as a Fraction, is its text;
    what no reader would see is written as \\uXXXX."""
    text = json.dumps(content, ensure_ascii=False, indent=None if isinstance(content, dict) else 1, default=str)
    typer.echo(ODD.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text))


@contextmanager
def progress_on_stderr(*columns: Any, shown: bool) -> Iterator[Any]:
    """rich's `Progress` with these columns, or its own; nothing is drawn unless `shown`."""
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown)
    with bar if shown else nullcontext():  # before rich 14.3, a disabled one ends with an empty line
        yield bar


@contextmanager
def progress_bar(title: str, total: int, shown: bool) -> Iterator[tuple[Any, Any]]:
    """A progress bar on stderr and its task; nothing is drawn unless `shown`."""
    with progress_on_stderr(shown=shown) as bar:
        yield bar, bar.add_task(title, total=total)


@contextmanager
def rounds_shown(shown: bool) -> Iterator[Any]:
    """A function to call with each `LearningProgress` of L*; a line on stderr follows it if `shown`."""
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with progress_on_stderr(*columns, shown=shown) as bar:
        task = bar.add_task("asking the network", total=None)

        def watch(now: Any) -> None:
            asked = now.membership_queries + now.equivalence_queries
            bar.update(task, description=f"round {now.rounds}: {now.states} states, {asked:,} words asked")

        yield watch


@contextmanager
def bytes_shown(shown: bool) -> Iterator[Any]:
    """A function to call with a file, its bytes so far and its bytes in all; bars on stderr follow it if `shown`."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with progress_on_stderr(*columns, shown=shown) as bar:
        tasks: dict[str, Any] = {}

        def watch(name: str, held: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=held, total=total)

        yield watch


class OutputError(KleeneError):
    """The output of a command cannot be written."""

    def __init__(self, error: OSError):
        self.unread = isinstance(error, BrokenPipeError)  # the reader has left, such as `| head`: no error to report
        super().__init__(f"the output cannot be written: {error.strerror}")


class Output:
    """A stream that raises `OutputError` when writing fails, so that no other error is taken for one. What the user's
    own code prints goes to stderr, so that an answer in JSON stays JSON."""

    def __init__(self, stream: Any):
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if users_code_runs():
            return sys.stderr.write(text)
        try:
            return self._stream.write(text)
        except OSError as error:
            raise OutputError(error) from None

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            raise OutputError(error) from None


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Make the standard streams usable, closed ones too, and write everything that was printed at the end."""
    _occupy_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character outside the encoding becomes \uXXXX, in JSON too
            stream.reconfigure(errors="backslashreplace")
    before = sys.stdout
    sys.stdout = Output(before)
    try:
        with _warnings_as_lines():
            yield
        sys.stdout.flush()
    except SystemExit:
        sys.stdout.flush()
        raise
    except OutputError:
        _discard(before)
        raise
    finally:
        sys.stdout = before


def tell(message: str) -> None:
    """Print a line on stderr; a stderr that cannot be written to is no error."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def check_arguments(words: Sequence[str]) -> None:
    """Refuse words that are not UTF-8: Python holds them as lone surrogates, which cannot be printed."""
    for number, word in enumerate(words, start=1):
        try:
            word.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"argument {number} is {word!r}, which is not UTF-8; give it, or name the file, in UTF-8"
            ) from None


def _occupy_closed() -> None:
    """Open closed streams on /dev/null, so that no file gets their number; each use of stdin or stdout is an error."""
    for number, (name, mode) in enumerate((("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, mode)  # takes the lowest free number, which is this one
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _discard(stream: Any) -> None:
    """Send the stream's remaining content to /dev/null, so that the interpreter does not try again as it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Show each of Kleene's warnings as one line, without its place in the source."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", KleeneWarning)
        usual = warnings.showwarning

        def show(message: Any, category: type[Warning], *place: Any, **options: Any) -> None:
            if issubclass(category, KleeneWarning):
                tell(f"kleene: warning: {message}")
            else:
                usual(message, category, *place, **options)

        warnings.showwarning = show
        yield
