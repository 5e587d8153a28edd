"""What of the published data sets is on this machine: each file compared with its published size and checksum."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kleene.data.catalog import DATA_SETS, DataFile, DataSet
from kleene.data.folders import data_roots

CHUNK = 1 << 20
FileState = Literal["ok", "missing", "differs"]


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
        if not place.is_file():
            return "missing"
        right = place.stat().st_size == file.size and (not file.sha256 or digest_of(place, "sha256") == file.sha256)
    except OSError:
        return "differs"
    return "ok" if right else "differs"


def located(folder: Path, name: str) -> Path:
    """The file in the folder itself, or in one of the folders that it is published in."""
    return next((p for p in sorted(folder.glob(f"*/{name}")) if not os.path.exists(folder / name)), folder / name)


def digest_of(path: Path, kind: str) -> str:
    """The checksum of a file, in hexadecimal digits."""
    digest = hashlib.new(kind, usedforsecurity=False)
    with open(path, "rb") as file:
        while part := file.read(CHUNK):
            digest.update(part)
    return digest.hexdigest()
