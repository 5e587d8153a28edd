"""The standard streams, which may be closed, full, or no longer read, and the warnings that go to one of them."""

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from kleene.errors import InputError, KleeneError, KleeneWarning


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


@contextlib.contextmanager
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
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextlib.contextmanager
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
