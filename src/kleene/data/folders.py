"""Where the published data sets are on this machine."""

import os
from pathlib import Path

from kleene.data.catalog import DATA_SETS, data_set
from kleene.errors import InputError, ModelFileError
from kleene.files import read_bytes

MOST_DATA = 256 << 20  # bytes of a data file, because it is read as a whole


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
