"""When a file that a run depends on was saved: the files of a target, and what they were like when it last ran."""

import os
from collections.abc import Iterable
from pathlib import Path

MOST_FILES = 1000
Marks = dict[str, tuple[int, int, int] | None]  # of each file: when it was changed, its size and inode; None: no file


def file_of(target: str) -> Path | None:
    """The file that a name on the command line names; None for what is in the library.

    >>> file_of("examples/caesar.py:program"), file_of("addition")
    (PosixPath('examples/caesar.py'), None)
    """
    prefix, colon, rest = target.partition(":")
    if prefix.endswith(".py"):
        return Path(prefix)
    if target.endswith(".safetensors"):
        return Path(target)
    return Path(rest) if colon and os.path.isfile(rest) else None


def marks_of(files: Iterable[str]) -> Marks:
    """What the files are like now."""
    return {file: _mark(file) for file in sorted(files)[:MOST_FILES]}


def _mark(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
