"""Fetch the files of a data set: from where they are published, or from a mirror or folder of the user's own.

A file is held in memory, within its bound, until its checksum is right; then it is moved into place in one step.
"""

import hashlib
import http.client
import io
import os
import re
import stat
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from kleene.data.catalog import DataFile, DataSet, Download, data_set
from kleene.data.folders import CHUNK, MOST_DATA, Holding, data_roots, file_state, holding, located
from kleene.errors import KleeneError
from kleene.files import make_folder, write_atomically

PATIENCE = 30.0  # seconds without a byte after which a place counts as silent
Watcher = Callable[[str, int, int | None], None]  # (file, bytes so far, bytes in all)


class FetchError(KleeneError):
    """A data set could not be fetched: no network, a wrong checksum, a file of the user's own in its place."""


class _UnusablePlace(Exception):
    """One place did not give the file, and another may."""


@dataclass(frozen=True)
class Fetched:
    """A data set that is complete now: its folder, the files that were fetched, and those that were there."""

    data: DataSet
    folder: Path
    fetched: tuple[str, ...]
    present: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        facts = {"name": self.data.name, "licence": self.data.licence, "folder": str(self.folder)}
        return facts | {"fetched": list(self.fetched), "present": list(self.present)}

    def __str__(self) -> str:
        got = f"fetched {', '.join(self.fetched)}" if self.fetched else "all files were there"
        return f"{self.data.title} ({self.data.paper}; licence: {self.data.licence})\n{self.folder}: {got}"


def get(
    name: str | DataSet, *, source: str | None = None, progress: Watcher | None = None, patience: float = PATIENCE
) -> Fetched:
    """Fetch what is missing of a data set into $KLEENE_DATA, or else into Kleene's cache folder.

    `source` is a URL or a folder that has the files by their names, instead of where they are published. Checksums are
    the published ones in any case.
    """
    data = name if isinstance(name, DataSet) else data_set(name)
    here = holding(data)
    _refuse_others(here)
    folder = make_folder(here.folder if here.folder.is_dir() else data_roots()[0] / data.name)
    fetched: list[str] = []
    for download in data.downloads:
        if any(file_state(folder, data.file(name)) != "ok" for name in download.files):
            places = download.places if source is None else (_below(source, download.name),)
            content = _fetched(download, places, progress or _silent, patience)
            for file, part in _unpacked(download, data, content).items():
                write_atomically(folder / file, part)
            fetched += download.files
    present = tuple(file.name for file in data.files if file.name not in fetched)
    return Fetched(data, folder, tuple(fetched), present)


def _refuse_others(here: Holding) -> None:
    for name, state in here.files.items():
        if state == "differs":
            raise FetchError(
                f"{str(located(here.folder, name))!r} is there, and it is not the published file: its size or checksum "
                f"is another. It may be another version of yours, so nothing is fetched. Move it away, and run this "
                f"again"
            )


def _silent(*told: Any) -> None:
    pass


def _below(source: str, name: str) -> str:
    if "://" not in source:
        return str(Path(source) / name)
    try:
        scheme = urlsplit(source).scheme
    except ValueError as error:  # half an address of IPv6
        raise FetchError(f"the source is {source!r}, which is not a URL ({error}); give another, or a folder") from None
    if scheme not in ("http", "https"):
        raise FetchError(f"the source is {source!r}; give a URL that begins with http:// or https://, or a folder")
    return f"{source.rstrip('/')}/{quote(name)}"


def _fetched(download: Download, places: Sequence[str], progress: Watcher, patience: float) -> bytes:
    """The content of a file, from the first place that has it; a FetchError has the reasons of all of them."""
    kind, _, digest = download.digest.partition(":")
    reasons = []
    for place in places:
        try:
            read = _from_web if "://" in place else _from_folder
            content = read(place, download, progress, patience)
            found = hashlib.new(kind, content, usedforsecurity=False).hexdigest()
            if found == digest:
                return content
            reasons.append(f"{place}: its checksum is wrong ({kind} {found}, and {digest} was expected)")
        except _UnusablePlace as unusable:
            reasons.append(f"{place}: {unusable}")
    raise FetchError(
        f"{download.name} could not be fetched. Tried: {'; '.join(reasons)}. Without a network, copy the files from "
        f"another machine, and give their folder with --from"
    )


def _from_folder(place: str, download: Download, progress: Watcher, patience: float) -> bytes:
    try:
        with open(place, "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _UnusablePlace("it is not a regular file")
            return _read(file, status.st_size, download, progress)
    except OSError as error:
        raise _UnusablePlace(f"it cannot be read ({error.strerror})") from None


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe that nobody writes to is opened at once, too."""
    return os.open(path, flags | os.O_NONBLOCK)


def _from_web(place: str, download: Download, progress: Watcher, patience: float) -> bytes:
    headers = {"User-Agent": "kleene", "Accept-Encoding": "identity"}
    try:
        with urllib.request.urlopen(urllib.request.Request(place, headers=headers), timeout=patience) as answer:
            length = re.fullmatch(r"[0-9]{1,18}", answer.headers.get("Content-Length", ""))
            return _read(answer, int(length[0]) if length else None, download, progress)
    except urllib.error.HTTPError as error:
        raise _UnusablePlace(f"the server says {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise _UnusablePlace(f"it cannot be reached ({_reason(error.reason)})") from None
    except (OSError, http.client.HTTPException) as error:
        raise _UnusablePlace(f"the connection ended ({_reason(error)})") from None
    except ValueError as error:
        raise _UnusablePlace(f"this is not a URL ({error})") from None


def _reason(error: Any) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _read(source: Any, total: int | None, download: Download, progress: Watcher) -> bytes:
    """All that comes, within the bound of the file; `total` is how long it should be, if that is known."""
    if None not in (total, download.size) and total != download.size:
        raise _UnusablePlace(f"the file has {total:,} bytes there, and {download.size:,} were expected")
    most, content = MOST_DATA if download.size is None else download.size, bytearray()
    while block := source.read(CHUNK):
        content += block
        if len(content) > most:
            raise _UnusablePlace(f"it has more than {most:,} bytes")
        progress(download.name, len(content), total)
    if total is not None and len(content) < total:
        raise _UnusablePlace(f"the connection ended after {len(content):,} of {total:,} bytes")
    return bytes(content)


def _unpacked(download: Download, data: DataSet, content: bytes) -> dict[str, bytes]:
    """The contents of the data files by their names: the file itself, or the members of an archive, each checked."""
    if not download.members:
        return {download.name: content}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {name: _member(archive, member, data.file(name)) for member, name in download.members}
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error) as error:
        raise FetchError(f"the archive {download.name} cannot be unpacked: {error}") from None


def _member(archive: zipfile.ZipFile, member: str, file: DataFile) -> bytes:
    if archive.getinfo(member).file_size != file.size:
        raise ValueError(f"{member} does not have the {file.size:,} bytes that were expected")
    content = archive.read(member)
    if file.sha256 not in ("", hashlib.sha256(content).hexdigest()):
        raise ValueError(f"{member} does not have the checksum that was expected")
    return content
