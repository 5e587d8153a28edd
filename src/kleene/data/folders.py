"""Where the published data sets are on this machine, and what of them is here, compared with what was published."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kleene.data.catalog import DATA_SETS, DataFile, DataSet, data_set
from kleene.errors import InputError, ModelFileError
from kleene.files import read_bytes

MOST_DATA = 256 << 20  # bytes of a data file, because it is read as a whole
CHUNK = 1 << 20
FileState = Literal["ok", "missing", "differs"]


def data_folder(name: str) -> Path:
    """The folder of a data set: NAME in $KLEENE_DATA, or else in Kleene's cache folder.

    The cache folder is $XDG_CACHE_HOME/kleene, or ~/.cache/kleene. If neither exists, the error says
    what to get and where to put it.
    """
    published = data_set(name).published
    places = [root / name for root in data_roots()]
    for place in places:
        if place.is_dir():
            return place
    raise InputError(
        f"the data set {name!r} is not on this machine: there is no folder {' or '.join(str(p) for p in places)}. "
        f"`kleene data get {name}` fetches it; or get {published}, and put it there, or set KLEENE_DATA to the folder "
        f"that holds your {name!r} folder."
    )


def data_file(name: str, file: str) -> Path:
    """A file of a data set; if the folder lacks it, the error says what to get."""
    place = data_folder(name) / file
    if not place.is_file():
        raise InputError(
            f"there is no file {str(place)!r}. `kleene data get {name}` fetches it; or put into that folder "
            f"{DATA_SETS[name].published}."
        )
    return place


def data_roots() -> list[Path]:
    """The folders in which data sets are searched, in that order."""
    own = os.environ.get("KLEENE_DATA")
    cache = os.environ.get("XDG_CACHE_HOME")
    return ([Path(own)] if own else []) + [(Path(cache) if cache else Path.home() / ".cache") / "kleene"]


def read_text(path: Path) -> str:
    """The content of a data file in UTF-8, without a byte-order mark; an InputError names one that cannot be read."""
    try:
        return read_bytes(path, MOST_DATA).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except ModelFileError as error:
        raise InputError(str(error)) from None
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not a text file in UTF-8") from None


@dataclass(frozen=True)
class Holding:
    """A data set with the folder that holds it, or would hold it, and the state of each of its files."""

    data: DataSet
    folder: Path
    files: Mapping[str, FileState]

    @property
    def state(self) -> Literal["ok", "missing", "incomplete", "differs"]:
        states = {self.files[file.name] for file in self.data.files if file.is_needed}
        if "differs" in states:
            return "differs"
        return "ok" if states == {"ok"} else "missing" if states == {"missing"} else "incomplete"

    def named(self, state: FileState) -> list[str]:
        """The needed files in that state."""
        return [file.name for file in self.data.files if file.is_needed and self.files[file.name] == state]

    def __str__(self) -> str:
        """What it is, whether it is here, under which licence, and where it comes from, in four lines."""
        one = self.data
        here = self.state if self.state != "incomplete" else f"incomplete, without {', '.join(self.named('missing'))}"
        told = (f"{one.title} ({one.paper})", f"licence: {one.licence}; from {one.source}", f"folder: {self.folder}")
        return "\n".join([f"{one.name}: {here}, {one.size / 1e6:.0f} MB", *(f"    {line}" for line in told)])

    def as_json(self) -> dict[str, Any]:
        one = self.data
        facts = {"name": one.name, "title": one.title, "paper": one.paper, "licence": one.licence, "bytes": one.size}
        facts |= {"source": one.source, "places": [download.places[0] for download in one.downloads]}
        return facts | {"state": self.state, "folder": str(self.folder), "files": dict(self.files)}


def holding(data: DataSet) -> Holding:
    """The data set as it is on this machine."""
    places = [root / data.name for root in data_roots()]
    folder = next((place for place in places if place.is_dir()), places[0])
    return Holding(data, folder, {file.name: file_state(folder, file) for file in data.files})


def holdings() -> list[Holding]:
    """All data sets as they are on this machine; all that is there is read, to compare checksums."""
    return [holding(data) for data in DATA_SETS.values()]


def file_state(folder: Path, file: DataFile) -> FileState:
    """Whether the folder, or a folder in it, has the file as it was published."""
    place = located(folder, file.name)
    try:
        if not place.exists():
            return "missing"
        right = place.is_file() and place.stat().st_size == file.size
        return "ok" if right and (not file.sha256 or _digest_of(place) == file.sha256) else "differs"
    except OSError:
        return "differs"


def located(folder: Path, name: str) -> Path:
    """The file in the folder itself, or in one of the folders that it is published in."""
    return next((p for p in sorted(folder.glob(f"*/{name}")) if not os.path.exists(folder / name)), folder / name)


def _digest_of(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()
