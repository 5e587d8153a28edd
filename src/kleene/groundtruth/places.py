"""Where the entries of the collection are on this machine, and the names of their files."""

import os
from pathlib import Path
from typing import Any

from kleene.caching import cache_folder
from kleene.errors import InputError

NETWORK, CIRCUIT, CARD = "network.safetensors", "circuit.json", "card.json"


def collection_folder(folder: Any = None) -> Path:
    """Where entries are built: a folder that is given, or `groundtruth` in Kleene's cache folder."""
    found = _folder(folder)
    if found is None:
        raise InputError("KLEENE_CACHE is off, so there is no folder for the collection; give one (--folder FOLDER)")
    return found


def is_built(name: str, folder: Any = None) -> bool:
    """Whether an entry is there; its checksums are not looked at. Nothing is, if there is no folder."""
    found = _folder(folder)
    return found is not None and os.path.isfile(found / name / CARD)  # `Path.is_file` raises for a name too long


def _folder(folder: Any) -> Path | None:
    if folder is not None:
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise InputError(f"{str(folder)!r} is a file, and the collection is a folder; give another")
        return Path(folder)
    cache = cache_folder()
    return None if cache is None else cache / "groundtruth"
