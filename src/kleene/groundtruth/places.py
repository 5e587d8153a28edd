"""Where the entries of the collection are on this machine, and the names of their files."""

from pathlib import Path
from typing import Any

from kleene.caching import cache_folder
from kleene.errors import InputError

NETWORK, CIRCUIT, CARD = "network.safetensors", "circuit.json", "card.json"


def collection_folder(folder: Any = None) -> Path:
    """Where entries are built: a folder that is given, or `groundtruth` in Kleene's cache folder."""
    if folder is not None:
        return Path(folder)
    cache = cache_folder()
    if cache is None:
        raise InputError("KLEENE_CACHE is off, so there is no folder for the collection; give one (--folder FOLDER)")
    return cache / "groundtruth"


def is_built(name: str, folder: Any = None) -> bool:
    """Whether an entry is there; its checksums are not looked at."""
    return (collection_folder(folder) / name / CARD).is_file()
