"""SCAN split into training and test commands by name: as published, by a file of indices, or computed here.

`mcd:SEED` is computed after Keysers et al. 2020: at an atom divergence of at most 0.02, of development and test
commands together, the compound divergence is as high as a greedy search makes it. The sizes are theirs; half of the
commands are left out. It needs no data.
"""

import json
import os
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kleene.errors import InputError, did_you_mean
from kleene.files import write_atomically
from kleene.programs.alta.library.scan_language import commands
from kleene.tasks.compounds import CommandParts, command_parts
from kleene.tasks.divergence import Divergences, divergences, most_divergent
from kleene.tasks.scan import SPLITS, Split, load, load_mcd
from kleene.traces.markup import html_text

PUBLISHED = tuple(split for split in SPLITS if split != "all")
SIZES = {"train": 8_365, "dev": 1_045, "test": 1_045}  # of the published splits of maximum compound divergence
LARGEST_SEED = 2**32 - 1
NAMES = (*PUBLISHED, "mcd:SEED", "FILE.json")


@dataclass(frozen=True)
class ScanSplit:
    """Training and test commands of SCAN, and development commands where there are any."""

    name: str
    train: tuple[str, ...] = field(repr=False)
    test: tuple[str, ...] = field(repr=False)
    dev: tuple[str, ...] = field(repr=False, default=())

    @cached_property
    def divergences(self) -> Divergences:
        """How far the test commands differ from the training commands in their atoms and compounds."""
        parts = scan_parts()
        return divergences(parts, parts.lines(self.train), parts.lines(self.test))

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        sizes = f"{len(self.train):,} training and {len(self.test):,} test commands"
        return f"split {self.name}: {sizes}; {self.divergences}"

    def as_json(self) -> dict[str, Any]:
        sizes = {"train": len(self.train), "dev": len(self.dev), "test": len(self.test)}
        return {"split": self.name} | sizes | {"divergences": self.divergences.as_json()}

    def save(self, path: str | os.PathLike) -> Path:
        """Write the split as published ones are, as line numbers of tasks.txt from 0, and return the path."""
        lines = {command: number for number, (command, _) in enumerate(load("all"))}
        found: dict[str, list[int]] = {}
        for part in ("train", "dev", "test"):
            missing = next((c for c in getattr(self, part) if c not in lines), None)
            if missing is not None:
                raise InputError(f"tasks.txt has no line for {missing!r}, which the {part} part of {self.name} holds")
            found[f"{part}Idxs"] = [lines[command] for command in getattr(self, part)]
        return write_atomically(Path(path), json.dumps(found))


def scan_split(name: str) -> ScanSplit:
    """The split of that name: a published one, `mcd:SEED`, or a file of indices such as `mcd1.json`."""
    if name in PUBLISHED:
        published: Split = name  # type: ignore[assignment]
        train, test = _part(published, "train"), _part(published, "test")
        return ScanSplit(name, train, test)
    if name.startswith("mcd:"):
        seed = name.removeprefix("mcd:")
        if not re.fullmatch(r"\d{1,10}", seed) or int(seed) > LARGEST_SEED:
            raise InputError(f"{name!r} has no seed; give mcd: and a number from 0 to {LARGEST_SEED:,}, such as mcd:0")
        return computed_split(int(seed))
    if name.endswith(".json"):
        parts = {part: tuple(c for c, _ in pairs) for part, pairs in load_mcd(name).items()}
        empty = next((part for part in ("train", "test") if not parts[part]), None)
        if empty is not None:
            raise InputError(f"{name!r}: {empty}Idxs is empty; a split has training and test commands")
        return ScanSplit(name, **parts)
    raise InputError(f"SCAN has no split {name!r}; {did_you_mean(name, NAMES)}")


def _part(split: Split, part: Literal["train", "test"]) -> tuple[str, ...]:
    return tuple(command for command, _ in load(split, part))


@cache
def computed_split(seed: int) -> ScanSplit:
    """The split of maximum compound divergence that a seed gives; it takes about half a minute of CPU time.

    What is not for training is divided by chance into development and test commands, as in the published splits.
    """
    parts = scan_parts()
    train, rest = most_divergent(parts, SIZES["train"], SIZES["dev"] + SIZES["test"], seed=seed)
    rest = np.random.default_rng(seed).permutation(rest)
    dev, test = np.sort(rest[: SIZES["dev"]]), np.sort(rest[SIZES["dev"] :])
    chosen = {"train": train, "dev": dev, "test": test}
    return ScanSplit(f"mcd:{seed}", **{n: tuple(parts.commands[i] for i in places) for n, places in chosen.items()})


@cache
def scan_parts() -> CommandParts:
    """The atoms and compounds of all commands of SCAN."""
    return command_parts(list(commands()))
