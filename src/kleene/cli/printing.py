"""What commands print, and the standard streams that it goes to.

A stream may be closed, full, or no longer read; `guarded_streams` makes each of these one clear error.
"""

import io
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import typer

from kleene.errors import InputError, KleeneError, KleeneWarning


def new_console() -> Any:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120)


def print_json(content: Any) -> None:
    typer.echo(json.dumps(content, ensure_ascii=False, indent=None if isinstance(content, dict) else 1))


@contextmanager
def progress_bar(title: str, total: int, shown: bool) -> Iterator[tuple[Any, Any]]:
    """A bar on stderr and its task, which are silent unless `shown`."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not shown) as bar:
        yield bar, bar.add_task(title, total=total)


@contextmanager
def rounds_shown(shown: bool) -> Iterator[Any]:
    """A line on stderr that follows the rounds of L*; what it yields is called with each `LearningProgress`."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as bar:
        task = bar.add_task("asking the network", total=None)

        def watch(now: Any) -> None:
            asked = now.membership_queries + now.equivalence_queries
            bar.update(task, description=f"round {now.rounds}: {now.states} states, {asked:,} words asked")

        yield watch


class OutputError(KleeneError):
    """What a command prints cannot be written."""

    def __init__(self, error: OSError):
        self.unread = isinstance(error, BrokenPipeError)  # such as `| head`, which is no fault
        super().__init__(f"the output cannot be written: {error.strerror}")


class Output:
    """A stream whose errors in writing are told from all others."""

    def __init__(self, stream: Any):
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
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
    """Standard streams that can be used whatever they are; all that was printed is written in the end."""
    _occupy_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that cannot be written is spelled out, in JSON too
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
    """Print a line on stderr, if that can be written to."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def check_arguments(words: Sequence[str]) -> None:
    """Refuse words that are not in UTF-8, which Python gives as halves of characters that nothing can print."""
    for number, word in enumerate(words, start=1):
        try:
            word.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"argument {number} is {word!r}, which is not UTF-8; give it, or name the file, in UTF-8"
            ) from None


def _occupy_closed() -> None:
    """Open closed streams, so that no file gets their number: input and output so that each use is an error."""
    for number, (name, mode) in enumerate((("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, mode)  # the lowest number that is free
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _discard(stream: Any) -> None:
    """Send what is still to be written nowhere, so that the interpreter does not try again as it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Kleene's warnings as one line each, without the place in the source."""
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
