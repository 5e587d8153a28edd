"""Read a sweep from a TOML file or a dict: the settings of all its cells, with every mistake named by line and key."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kleene.errors import did_you_mean
from kleene.sweeping.definition.allowed import MOST_SEED, SETTINGS, SUBJECT, SweepLessons
from kleene.sweeping.definition.drawing import Drawn, drawn_settings, how_many
from kleene.sweeping.definition.sections import check_tables, resources_of, tables_of, take_seeds
from kleene.sweeping.definition.source import Source, load

MOST_CELLS = 1_000_000
WITH_FILES = ("task", "hints", "model")  # settings that can name a file


@dataclass(frozen=True)
class SweepFile:
    """A sweep as its file says: the settings of every cell, where they are kept, and what a pack of them asks for.

    `folder` is the folder of the file, or the current one for a dict.
    """

    name: str
    verb: Literal["teach", "reproduce"]
    settings: tuple[dict[str, Any], ...]
    store: Path
    folder: Path
    cpus: float
    gpus: float


def read_sweep(
    source: str | os.PathLike | Mapping[str, Any],
    *,
    most_cells: int = MOST_CELLS,
    experiments: Collection[str] | None = None,
) -> SweepFile:
    """The sweep in a TOML file, or in a dict of the same shape.

    Its cells are every combination of the lists in [grid] with every draw of [random], then the [[cells]]. Each takes
    the values of [settings] that it does not set, and is repeated for every seed; where no seeds are given, there are
    as many as `kleene teach` would take. The order is that of the file, the seed varies fastest, and a cell that comes
    twice is kept once. Without hints, a cell has neither density nor strength. Defaults are left out.

    Files in `task`, `hints` and `model` become absolute if they are in the sweep's folder. `experiments` are the names
    that `reproduce` knows, which are not checked without them.

    >>> read_sweep({"settings": {"task": "copy", "seeds": 2}, "grid": {"hints": ["none", "read"]}}).settings[2]
    {'task': 'copy', 'hints': 'read', 'seed': 0}
    """
    origin = load(source)
    sweep = tables_of(origin)
    name, verb, store = _head(origin, "sweep" if isinstance(source, Mapping) else Path(source).stem)
    asked = resources_of(origin, sweep["resources"])
    _resolve_files(sweep, origin.folder)
    if verb == "teach":
        shared = take_seeds(origin, [(("settings",), sweep["settings"]), (("grid",), sweep["grid"])])
        own = [take_seeds(origin, [(("cells", number), cell)]) for number, cell in enumerate(sweep["cells"])]
        check_tables(origin, sweep, verb)
        settings = _lessons(origin, sweep, shared, own)
    else:
        check_tables(origin, sweep, verb)
        settings = _experiments(origin, sweep, experiments)
    return SweepFile(name, verb, _cells(origin, sweep, settings, most_cells), store, origin.folder, **asked)


def _head(source: Source, stem: str) -> tuple[str, Any, Path]:
    """The sweep's name, verb and store."""
    name, verb = source.content.get("name", stem), source.content.get("verb", "teach")
    if not isinstance(name, str) or name in ("", ".", "..") or {*name} & {"/", "\0"}:
        raise source.error(("name",), f"name is {name!r}; it is a text that can name a folder, without a slash")
    if not isinstance(verb, str) or verb not in SETTINGS:
        raise source.error(("verb",), f"verb is {verb!r}; it is {' or '.join(SETTINGS)}")
    store = source.content.get("store", f"results/{name}")
    if not isinstance(store, str) or not store or "\0" in store:
        raise source.error(("store",), f"store is {store!r}; it is the path of a folder")
    return name, verb, Path(store)


def _resolve_files(sweep: Mapping[str, Any], folder: Path) -> None:
    """Make the paths of files in the folder absolute, in all tables."""
    for table in (sweep["settings"], sweep["grid"], *sweep["cells"]):
        table.update({key: _resolved(key, table[key], folder) for key in WITH_FILES if key in table})
    for key, spread in sweep["random"].items():
        if key in WITH_FILES and isinstance(spread, dict) and "choose" in spread:
            sweep["random"][key] = {**spread, "choose": _resolved(key, spread["choose"], folder)}


def _resolved(key: str, value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_resolved(key, entry, folder) for entry in value]
    if not isinstance(value, str):
        return value
    before, colon, after = value.partition(":")
    prefix, file, rest = "", value, ""
    if before.endswith(".py"):
        file, rest = before, colon + after
    elif before in ("text", "circuit") or (before == "dfa" and after.endswith((".json", ".dot", ".gv"))):
        prefix, file = f"{before}:", after
    elif key != "model":
        return value
    return f"{prefix}{folder / file}{rest}" if os.path.isfile(folder / file) else value


Runs = Iterator[tuple[dict[str, Any], Sequence[int]]]  # settings, and the seeds that they are run with


def _lessons(
    source: Source, sweep: Mapping[str, Any], shared: Mapping[str, Any], own: Sequence[Mapping[str, Any]]
) -> Runs:
    """The settings of `teach`, checked against their lessons. The seeds of one of the [[cells]] may be its own."""
    lessons = SweepLessons(source, sweep)
    for drawn in drawn_settings(sweep):
        _check_subject(source, drawn, SUBJECT["teach"], "copy")
        settings, default = lessons.checked(drawn)
        given = shared if drawn.cell is None else own[drawn.cell] or shared
        first = given.get("first_seed", 0)
        seeds = given.get("seed") or range(first, first + given.get("seeds", default))
        if max(seeds[0], seeds[-1]) > MOST_SEED:
            raise source.error((), f"the seeds are {first} to {seeds[-1]}; a seed is from 0 to {MOST_SEED}")
        yield settings, seeds


def _experiments(source: Source, sweep: Mapping[str, Any], known: Collection[str] | None) -> Runs:
    """The settings of `reproduce`, whose experiments have their own seeds."""
    for drawn in drawn_settings(sweep):
        _check_subject(source, drawn, SUBJECT["reproduce"], "traces-figure-9a")
        name = drawn.settings["experiment"]
        if known is not None and name not in known:
            problem = f"no experiment {name!r}; {did_you_mean(name, known)}"
            raise source.error(drawn.place(sweep, "experiment"), problem)
        yield drawn.settings, ()


def _check_subject(source: Source, drawn: Drawn, key: str, example: str) -> None:
    if key not in drawn.settings:
        at = ("settings",) if drawn.cell is None else ("cells", drawn.cell)
        raise source.error(at, f'there is no {key}; say in [settings] what to run, such as {key} = "{example}"')


def _cells(source: Source, sweep: Mapping[str, Any], settings: Runs, most: int) -> tuple[dict[str, Any], ...]:
    """The settings with each of their seeds, every cell once."""
    found: dict[tuple[str, int | None], dict[str, Any]] = {}

    def check(count: int) -> None:
        if count > most:
            raise source.error(
                (), f"the sweep has {count:,} cells or more, and at most {most:,} are run; make it smaller"
            )

    check(how_many(sweep))
    for one, seeds in settings:
        name = json.dumps(one, sort_keys=True)
        check(len(seeds))
        fresh = [seed for seed in seeds or (None,) if (name, seed) not in found]
        check(len(found) + len(fresh))
        found |= {(name, seed): one if seed is None else {**one, "seed": seed} for seed in fresh}
    return tuple(found.values())
