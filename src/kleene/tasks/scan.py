"""SCAN's published data (Lake & Baroni 2018; Keysers et al. 2020): commands and actions, in the splits of the papers.

The language itself is in `kleene.programs.alta.library.scan_language`; its names can be taken from here too.
"""

import os
import re
from pathlib import Path
from typing import Literal

from kleene.data import data_folder, read_text
from kleene.errors import InputError
from kleene.files import parsed_json
from kleene.programs.alta.library.scan_language import ACTIONS as ACTIONS
from kleene.programs.alta.library.scan_language import MOST_ACTIONS as MOST_ACTIONS
from kleene.programs.alta.library.scan_language import WORDS as WORDS
from kleene.programs.alta.library.scan_language import commands as commands
from kleene.programs.alta.library.scan_language import interpret as interpret
from kleene.programs.alta.library.scan_language import is_command as is_command

LINE = re.compile(r"IN: (\S.*?) OUT: (\S.*?)\s*")
Pair = tuple[str, str]  # a command and its actions
Split = Literal["all", "simple", "length", "addprim_jump", "addprim_turn_left", "template_around_right"]
SPLITS = ("all", "simple", "length", "addprim_jump", "addprim_turn_left", "template_around_right")


def load(split: Split = "all", part: Literal["train", "test"] = "train") -> list[Pair]:
    """The commands and actions of one published file, in its order. "all" is the whole task, one file without parts."""
    if split not in SPLITS:
        raise InputError(f"SCAN has no split {split!r} here; there are {', '.join(SPLITS)}")
    if part not in ("train", "test") or (split == "all" and part != "train"):
        raise InputError(
            f"the split {split!r} has no part {part!r}; "
            + ("it is one file" if split == "all" else "its parts are train and test")
        )
    return read_pairs(_file("tasks.txt" if split == "all" else f"tasks_{part}_{split}.txt"))


def _file(name: str) -> Path:
    """The file in the data folder itself, or in one of the folders that it is published in."""
    folder = data_folder("scan")
    return next((p for p in sorted(folder.glob(f"*/{name}")) if not os.path.exists(folder / name)), folder / name)


def read_pairs(path: str | os.PathLike) -> list[Pair]:
    """The commands and actions in a file of lines `IN: command OUT: actions`."""
    pairs = []
    for number, line in enumerate(read_text(Path(path)).splitlines(), start=1):
        found = LINE.fullmatch(line)
        problem = None if found else f"{line[:60]!r} was read"
        for part, known in zip(found.groups() if found else (), (WORDS, ACTIONS)):
            problem = problem or next(
                (f"{word!r} is not a word of SCAN" for word in part.split() if word not in known), None
            )
        if found is None or problem:
            raise InputError(
                f"{str(path)!r}, line {number}: {problem}; every line is 'IN: words OUT: actions', "
                f"for example 'IN: jump twice OUT: I_JUMP I_JUMP'"
            )
        pairs.append((found[1], found[2]))
    if not pairs:
        raise InputError(f"{str(path)!r} is empty; every line is 'IN: words OUT: actions'")
    return pairs


def load_mcd(path: str | os.PathLike) -> dict[str, list[Pair]]:
    """The train, dev and test parts of a maximum-compound-divergence split (Keysers et al. 2020).

    The split is a JSON file with `trainIdxs`, `devIdxs` and `testIdxs`, lists of line numbers of tasks.txt from 0. One
    that does not fit tasks.txt is refused, with the list and the place in it, from 0.
    """
    text = read_text(Path(path))
    try:
        found = parsed_json(text)
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not JSON: {error}") from None
    wanted = {part: f"{part}Idxs" for part in ("train", "dev", "test")}
    if not isinstance(found, dict) or any(not isinstance(found.get(key), list) for key in wanted.values()):
        raise InputError(f"{str(path)!r} is not a split; it must hold the lists {', '.join(wanted.values())}")
    pairs = load("all")
    seen: dict[int, str] = {}
    for key in wanted.values():
        for place, index in enumerate(found[key]):
            here = f"{str(path)!r}: {key} holds {index!r} at {place}"
            if type(index) is not int or not 0 <= index < len(pairs):
                raise InputError(f"{here}; tasks.txt has lines 0..{len(pairs) - 1}")
            if seen.setdefault(index, f"{key} at {place}") != f"{key} at {place}":
                raise InputError(f"{here}, and line {index} is in {seen[index]} already; a line belongs to one part")
    return {part: [pairs[index] for index in found[key]] for part, key in wanted.items()}
