"""Fetch one file from one of several places, into a part that goes on where it stopped; its checksum decides."""

import http.client
import os
import re
import stat
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from kleene.data.catalog import Download
from kleene.data.folders import MOST_DATA
from kleene.data.holdings import CHUNK, digest_of
from kleene.errors import KleeneError

Watcher = Callable[[str, int, int | None], None]  # (file, bytes so far, bytes in all)


class FetchError(KleeneError):
    """A data set could not be fetched: no network, a wrong checksum, a file of the user's own in its place."""


class _UnusablePlace(Exception):
    """One place did not give the file, and another may. `worth` says whether what was fetched is worth keeping."""

    def __init__(self, reason: str, *, worth: bool = True):
        super().__init__(reason)
        self.worth = worth


@dataclass(frozen=True)
class Part:
    """What was fetched of a file so far."""

    path: Path
    file: BinaryIO

    @property
    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def cut(self, size: int) -> None:
        """Keep so many bytes, and go on after them."""
        self.file.truncate(size)
        self.file.seek(size)

    def write(self, block: bytes) -> None:
        try:
            self.file.write(block)
            self.file.flush()
        except OSError as error:
            raise FetchError(f"{str(self.path)!r} cannot be written: {error.strerror}") from None


def fetch(download: Download, part: Part, places: Sequence[str], progress: Watcher, patience: float) -> None:
    """Fetch a file into its part from the first place that has it; a FetchError has the reasons of all of them."""
    reasons = []
    for place in places:
        try:
            return _fetch_from(place, download, part, progress, patience)
        except _UnusablePlace as unusable:
            reasons.append(f"{place}: {unusable}")
            if not unusable.worth:
                part.cut(0)
    kept = f" {part.size:,} bytes are kept, and the next time goes on from there." if part.size else ""
    raise FetchError(
        f"{download.name} could not be fetched.{kept} Tried: {'; '.join(reasons)}. Without a network, copy the files "
        f"from another machine, and give their folder with --from"
    )


def _fetch_from(place: str, download: Download, part: Part, progress: Watcher, patience: float) -> None:
    """Fetch a file from one place. What goes on from an older part, and is wrong then, is fetched once more."""
    kind, _, digest = download.digest.partition(":")
    if download.size is not None and part.size > download.size:
        part.cut(0)
    while True:
        start = part.size
        if start and digest_of(part.path, kind) == digest:
            return
        if start == download.size:
            part.cut(0)
            continue
        try:
            if "://" in place:
                _from_web(place, download, part, progress, patience)
            else:
                _from_folder(Path(place), download, part, progress)
        except _UnusablePlace as unusable:
            if start == 0 or unusable.worth:
                raise
        found = digest_of(part.path, kind)
        if found == digest:
            return
        part.cut(0)
        if start == 0:
            raise _UnusablePlace(f"its checksum is wrong ({kind} {found}, and {digest} was expected)")


def _from_folder(place: Path, download: Download, part: Part, progress: Watcher) -> None:
    try:
        with open(place, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _UnusablePlace("it is not a regular file")
            part.cut(0)
            _copy(file, part, status.st_size, download, progress)
    except OSError as error:
        raise _UnusablePlace(f"it cannot be read ({error.strerror})") from None


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe that nobody writes to is opened at once, too."""
    return os.open(path, flags | os.O_NONBLOCK)


def _from_web(place: str, download: Download, part: Part, progress: Watcher, patience: float) -> None:
    headers = {"User-Agent": "kleene", "Accept-Encoding": "identity"}
    headers |= {"Range": f"bytes={part.size}-"} if part.size else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(place, headers=headers), timeout=patience) as answer:
            start = _begins_at(answer, part.size)
            total = _total(answer, start)
            if download.size is not None and total is not None and total != download.size:
                raise _UnusablePlace(f"the file has {total:,} bytes there, and {download.size:,} were expected")
            part.cut(start)
            _copy(answer, part, total, download, progress)
    except urllib.error.HTTPError as error:
        worth = error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE
        raise _UnusablePlace(f"the server says {error.code} {error.reason}", worth=worth) from None
    except urllib.error.URLError as error:
        raise _UnusablePlace(f"it cannot be reached ({_reason(error.reason)})") from None
    except (OSError, http.client.HTTPException) as error:
        raise _UnusablePlace(f"the connection ended ({_reason(error)})") from None
    except ValueError as error:
        raise _UnusablePlace(f"this is not a URL ({error})") from None


def _reason(error: Any) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _begins_at(answer: Any, asked: int) -> int:
    """Where the answer begins: at the place that was asked for if the server takes ranges, and else at 0."""
    span = re.fullmatch(r"bytes ([0-9]{1,18})-[0-9]+/(?:[0-9]+|\*)", answer.headers.get("Content-Range", ""))
    return asked if answer.status == http.client.PARTIAL_CONTENT and span and int(span[1]) == asked else 0


def _total(answer: Any, start: int) -> int | None:
    """How long the whole file is, as far as the server says."""
    length = re.fullmatch(r"[0-9]{1,18}", answer.headers.get("Content-Length", ""))
    return start + int(length[0]) if length else None


def _copy(source: Any, part: Part, total: int | None, download: Download, progress: Watcher) -> None:
    """Copy all that comes into the part, which stays within its bound."""
    most, held = MOST_DATA if download.size is None else download.size, part.size
    while block := source.read(CHUNK):
        held += len(block)
        if held > most:
            raise _UnusablePlace(f"it has more than {most:,} bytes", worth=False)
        part.write(block)
        progress(download.name, held, total)
    if total is not None and held < total:
        raise _UnusablePlace(f"the connection ended after {held:,} of {total:,} bytes")
