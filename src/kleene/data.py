"""Published data sets on this machine. Kleene never downloads: the user puts the files there once."""

import os
from pathlib import Path

from kleene.errors import InputError, ModelFileError
from kleene.files import read_bytes

MOST_DATA = 256 << 20  # bytes of a data file, because it is read as a whole

# What to get and where it is published, by the name of the data set's folder.
PUBLISHED = {
    "scan": "the files of SCAN (tasks.txt and the folders of the splits), published on GitHub as brendenlake/SCAN",
    "ud-ewt": "the files of Universal Dependencies English-EWT (en_ewt-ud-train.conllu, en_ewt-ud-dev.conllu and "
    "en_ewt-ud-test.conllu), published on GitHub as UniversalDependencies/UD_English-EWT",
    "wikitext-2": "the word-level files of WikiText-2 as train.txt, valid.txt and test.txt, published with Merity et "
    "al. 2016 in wikitext-2-v1.zip (wiki.train.tokens and so on: rename them), and on the Hugging Face Hub as "
    "Salesforce/wikitext, wikitext-2-v1 (its rows are the lines of the files)",
}


def data_folder(name: str) -> Path:
    """The folder of a data set: NAME in $KLEENE_DATA, or else in Kleene's cache folder.

    The cache folder is $XDG_CACHE_HOME/kleene, or ~/.cache/kleene. If neither exists, the error says
    what to get and where to put it.
    """
    if name not in PUBLISHED:
        raise InputError(f"there is no data set {name!r}; there are {', '.join(PUBLISHED)}")
    places = [root / name for root in data_roots()]
    for place in places:
        if place.is_dir():
            return place
    raise InputError(
        f"the data set {name!r} is not on this machine: there is no folder {' or '.join(str(p) for p in places)}. "
        f"Get {PUBLISHED[name]}, and put it there, or set KLEENE_DATA to the folder that holds your {name!r} folder."
    )


def data_file(name: str, file: str) -> Path:
    """A file of a data set; if the folder lacks it, the error says what to get."""
    place = data_folder(name) / file
    if not place.is_file():
        raise InputError(f"there is no file {str(place)!r}. Put into that folder {PUBLISHED[name]}.")
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
