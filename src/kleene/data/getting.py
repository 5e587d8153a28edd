"""Fetch the files of a data set: from where they are published, or from a mirror or folder of the user's own.

A file is fetched into a part beside its place, which is kept when the fetching stops and goes on from there the next
time. It is moved into place once its checksum is right, so that nobody ever reads half a file.
"""

import contextlib
import fcntl
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from kleene.data.catalog import DataFile, DataSet, Download, data_set
from kleene.data.fetching import FetchError, Part, Watcher, fetch
from kleene.data.folders import data_roots
from kleene.data.holdings import Holding, file_state, holding, located
from kleene.files import make_folder, write_atomically

PATIENCE = 30.0  # seconds without a byte after which a place counts as silent


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
        if _is_there(download, data, folder):
            continue
        places = download.places if source is None else (_below(source, download.name),)
        with _locked_part(folder, download) as part:
            if not _is_there(download, data, folder):  # another process may have been quicker
                fetch(download, part, places, progress or _silent, patience)
                _put(download, data, part, folder)
                fetched += download.files
    present = tuple(file.name for file in data.files if file.name not in fetched)
    return Fetched(data, folder, tuple(fetched), present)


def _is_there(download: Download, data: DataSet, folder: Path) -> bool:
    return all(file_state(folder, data.file(name)) == "ok" for name in download.files)


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


@contextlib.contextmanager
def _locked_part(folder: Path, download: Download) -> Iterator[Part]:
    """The part of a file, open and locked; an empty one is removed in the end."""
    path = folder / f".{download.name}.{download.digest.rpartition(':')[2][:8]}.part"
    descriptor = _opened(path, download.name)
    with os.fdopen(descriptor, "r+b") as file:
        try:
            yield Part(path, file)
        finally:
            if _is_at(path, descriptor) and os.fstat(descriptor).st_size == 0:
                path.unlink()


def _opened(path: Path, name: str) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise FetchError(f"{str(path)!r} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise FetchError(f"another process is fetching {name}; wait for it, and run this again") from None
        if _is_at(path, descriptor):
            return descriptor
        os.close(descriptor)  # another process moved it into place before it was locked


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether the file that is open still has this path."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def _put(download: Download, data: DataSet, part: Part, folder: Path) -> None:
    """Move a fetched file to its place, or unpack its members there."""
    if not download.members:
        os.replace(part.path, folder / download.name)
        return
    try:
        with zipfile.ZipFile(part.path) as archive:
            for member, name in download.members:
                _unpack(archive, member, data.file(name), folder)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise FetchError(f"the archive {download.name} cannot be unpacked: {error}") from None
    finally:
        part.path.unlink(missing_ok=True)


def _unpack(archive: zipfile.ZipFile, member: str, file: DataFile, folder: Path) -> None:
    if archive.getinfo(member).file_size != file.size:
        raise ValueError(f"{member} does not have the {file.size:,} bytes that were expected")
    write_atomically(folder / file.name, archive.read(member))
    if file_state(folder, file) != "ok":
        (folder / file.name).unlink()
        raise ValueError(f"{member} does not have the checksum that was expected")
