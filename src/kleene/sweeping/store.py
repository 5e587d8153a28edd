"""The store of a sweep: an append-only folder that many processes on one file system write at once.

Rows are JSON lines, one a finished cell. A writer appends only to a file of its own, so that no lock is needed and no
writer can damage the lines of another. Every line has a checksum: one that a kill or a full disk cut off is absent, not
half there. Lines rather than Parquet, because a Parquet file is whole only once its footer is written, and because any
tool reads lines: `pandas.read_json(FILE, lines=True)`, `jq`.
"""

import hashlib
import json
import math
import os
import secrets
import socket
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kleene import __version__
from kleene.errors import ModelFileError
from kleene.files import MOST_TEXT, TEMPORARY, encoded, make_folder, parsed_json, read_bytes, write_atomically

FORMAT = "kleene.sweep/"
VERSION = 2
OLD_NAMES = 1  # the last version in which the source of Kleene was part of a cell's name
FOLDERS = ("rows", "failures", "claims", "workers", "packs", "checkpoints")
BEFORE, AFTER = b'{"checksum": "', b'", '  # around the 64 digits at the beginning of a line
WRITTEN = 0.05  # seconds within which a line that is being written is whole
Row = dict[str, Any]


def line_of(row: Mapping[str, Any]) -> bytes:
    """The row as a line of JSON that begins with the SHA-256 of the rest of the line.

    >>> row_of(line_of({"cell": "a", "loss": float("nan")}))
    {'cell': 'a', 'loss': None}
    """
    rest = encoded(json.dumps(_plain(dict(row)), ensure_ascii=False, allow_nan=False))[1:]
    return BEFORE + _sha256(rest) + AFTER + rest + b"\n"


def row_of(line: bytes) -> Row | None:
    """The row in a line, or None where the line is damaged."""
    start = len(BEFORE) + 64
    rest = line[start + len(AFTER) :].rstrip(b"\n")
    if line[:start] + AFTER != line[: start + len(AFTER)] or not line.startswith(BEFORE + _sha256(rest)):
        return None
    try:
        return parsed_json(b"{" + rest)
    except ValueError:
        return None


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _plain(value: Any) -> Any:
    """The value as strict JSON: NaN is null, and an infinite number the string "Infinity" or "-Infinity"."""
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


class Lines:
    """The rows in all files of one folder of the store, read as they grow; each file only from where it was left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[Row] = []
        self.damaged: list[str] = []
        self.cut: dict[str, str] = {}  # a message for each file whose last line has no end, which may be being written
        self._read: dict[str, tuple[int, int]] = {}  # bytes and lines of each file so far

    def refresh(self) -> list[Row]:
        """All whole rows, after reading what was appended since the last time."""
        for path in sorted(self.folder.glob("*.jsonl")):
            offset, number = self._read.get(path.name, (0, 0))
            whole = _read_from(path, offset).rpartition(b"\n")
            for line in whole[0].split(b"\n") if whole[1] else ():
                number += 1
                self._take(path, number, line)
            self.cut.pop(path.name, None)
            if whole[2]:
                self.cut[path.name] = f"line {number + 1} of {str(path)!r} is cut short, and its cell counts as absent"
            self._read[path.name] = (offset + len(whole[0]) + len(whole[1]), number)
        return self.rows

    def _take(self, path: Path, number: int, line: bytes) -> None:
        row = row_of(line)
        if row is None or not isinstance(row.get("cell"), str):
            self.damaged.append(f"line {number} of {str(path)!r} is damaged: its checksum does not fit")
        else:
            self.rows.append(row)


def _read_from(path: Path, offset: int) -> bytes:
    """What a file holds from there on. Anything else in its place is refused: its cells would be run again."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                file.seek(offset)
                return file.read()
    except OSError as error:
        raise ModelFileError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    raise ModelFileError(f"{str(path)!r} is a pipe or a device, and no file with rows")


class CellStore:
    """The folder of a sweep. It is made where there is none; `must_exist` refuses that, and writes nothing."""

    def __init__(self, path: Any, *, must_exist: bool = False) -> None:
        self.path = Path(path).resolve()
        self.version = VERSION
        if is_store(self.path):
            self.version = _checked_version(self.path)
            for name in () if must_exist else FOLDERS:  # a store that is only read may be one that cannot be written
                make_folder(self.path / name)
        elif must_exist:
            raise ModelFileError(f"{str(path)!r} is not the store of a sweep; `kleene sweep FILE.toml` makes one")
        else:
            _make(self.path)
        self._rows, self._failures = Lines(self.path / "rows"), Lines(self.path / "failures")
        self._names: dict[str, str] = {}  # today's names of cells, in a store of an older version

    def __repr__(self) -> str:
        return f"<CellStore {str(self.path)!r}: {len(self.rows())} cells>"

    def __reduce__(self) -> tuple[Any, ...]:
        return CellStore, (self.path,)  # another process reads the files itself

    def rows(self) -> dict[str, Row]:
        """The row of every finished cell by its name; the first, should a cell have two."""
        found: dict[str, Row] = {}
        for row in self._rows.refresh():
            found.setdefault(self._name(row), row)
        return found

    def _name(self, row: Row) -> str:
        if self.version > OLD_NAMES:
            return row["cell"]
        if row["cell"] not in self._names:
            from kleene.sweeping.cells import name_today

            self._names[row["cell"]] = name_today(row)
        return self._names[row["cell"]]

    def failures(self) -> dict[str, list[Row]]:
        """The failed attempts at every cell that has some, oldest first."""
        found: dict[str, list[Row]] = {}
        for row in self._failures.refresh():
            found.setdefault(row["cell"], []).append(row)
        return found

    @property
    def damaged(self) -> list[str]:
        """A message for each line that is damaged or cut short; such a line counts as absent."""
        folders = (self._rows, self._failures)
        for lines in folders:
            lines.refresh()
            if lines.cut:  # by a kill, or only until its writer goes on
                time.sleep(WRITTEN)
                lines.refresh()
        return [message for lines in folders for message in (*lines.damaged, *lines.cut.values())]

    def writer(self) -> "RowWriter":
        """A writer of rows with files of its own."""
        return RowWriter(self.path)


class RowWriter:
    """Appends rows to files that no other process writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append finished cells: all of these rows, or none if the disk is full."""
        _append(self.path / "rows" / f"{self.name}.jsonl", b"".join(map(line_of, rows)))

    def fail(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append failed attempts."""
        _append(self.path / "failures" / f"{self.name}.jsonl", b"".join(map(line_of, rows)))


def _append(path: Path, data: bytes) -> None:
    """Append the data and wait until the disk has it. What was written of it is taken back if that fails."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            try:
                written = 0
                while written < len(data):
                    written += os.write(descriptor, data[written:])
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, end)
                raise
        finally:
            os.close(descriptor)  # and closed each time: then a network file system shows it to the other machines
    except OSError as error:
        raise not_written(path, error) from error


def not_written(path: Path, error: OSError) -> ModelFileError:
    """The error for a file of the store that cannot be written, most often because the disk is full."""
    return ModelFileError(
        f"{str(path)!r} cannot be written: {error.strerror}. What is in the store is whole; make room, and run the "
        f"same command again: it goes on from there"
    )


def is_store(path: Any) -> bool:
    """Whether the folder is the store of a sweep."""
    return os.path.isfile(os.path.join(path, "store.json"))  # `Path.is_file` raises for a name too long


def _make(path: Path) -> None:
    if os.path.isdir(path) and not all(_is_of_a_store(entry) for entry in path.iterdir()):
        raise ModelFileError(
            f"{str(path)!r} is a folder with other files in it, and a sweep needs a store of its own; name another"
        )
    make_folder(path)
    for name in FOLDERS:
        make_folder(path / name)
    content = {"format": f"{FORMAT}{VERSION}", "kleene": __version__, "rows": "rows/*.jsonl, one JSON line a cell"}
    write_atomically(path / "store.json", json.dumps(content) + "\n")


def _is_of_a_store(entry: Path) -> bool:
    """Whether it belongs to a store that another process makes at this moment, or was killed at making."""
    return entry.name in (*FOLDERS, "store.json") or TEMPORARY.fullmatch(entry.name) is not None


def _checked_version(path: Path) -> int:
    try:
        content = parsed_json(read_bytes(path / "store.json", MOST_TEXT))
        name, version = content["format"], int(content["format"].removeprefix(FORMAT))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ModelFileError(f"{str(path / 'store.json')!r} does not say that this is the store of a sweep") from None
    if not name.startswith(FORMAT) or version < 1:
        raise ModelFileError(f"{str(path)!r} is a store of the format {name!r}, which is not a sweep's")
    if version > VERSION:
        raise ModelFileError(
            f"{str(path)!r} was written by a newer Kleene, {content.get('kleene', 'unknown')}: its format is {name!r}, "
            f"and this version reads up to {FORMAT}{VERSION}. Upgrade Kleene, or name another store"
        )
    return version
