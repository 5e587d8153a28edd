"""The tables of a sweep, checked: no unknown key, no value of a wrong type, no setting in two places."""

from collections.abc import Mapping, Sequence
from typing import Any

from kleene.sweeping.definition.allowed import REFUSED, SEEDS, SETTINGS, Wanted
from kleene.sweeping.definition.drawing import OWN, check_random, is_number
from kleene.sweeping.definition.source import KeyPath, Source

KEYS = ("name", "verb", "store", "settings", "grid", "cells", "random", "resources")
RESOURCES = {"cpus": 1.0, "gpus": 0.0}


def tables_of(source: Source) -> dict[str, Any]:
    """Copies of the tables of a sweep, empty where it has none; refuses unknown keys, and what is no table."""
    for key in source.content:
        if any(key in settings for settings in (SEEDS, *SETTINGS.values())):
            raise source.error((key,), f"{key} is a setting; put it below [settings]")
        if key not in KEYS:
            raise source.unknown((key,), "a sweep has no key", KEYS)
    cells = source.content.get("cells", [])
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise source.error(("cells",), "cells is not a list of tables; write each cell below its own [[cells]]")
    found: dict[str, Any] = {"cells": [dict(cell) for cell in cells]}
    for key in ("settings", "grid", "random", "resources"):
        table = source.content.get(key, {})
        if not isinstance(table, dict):
            raise source.error((key,), f"{key} is {table!r}; it is a table: write [{key}], and its keys below")
        found[key] = dict(table)
    return found


def resources_of(source: Source, asked: Mapping[str, Any]) -> dict[str, float]:
    """How many CPUs and GPUs a pack asks for."""
    for key, value in asked.items():
        if key not in RESOURCES:
            raise source.unknown(("resources", key), "[resources] has no key", RESOURCES)
        if not is_number(value) or value < 0:
            raise source.error(("resources", key), f"{key} is {value!r}; it is a number, 0 or more")
    return {key: float(asked.get(key, default)) for key, default in RESOURCES.items()}


def take_seeds(source: Source, tables: Sequence[tuple[KeyPath, dict[str, Any]]]) -> dict[str, Any]:
    """Take `seed`, `seeds` and `first_seed` out of these tables, and return them checked, `seed` as a list."""
    found: dict[str, Any] = {}
    for at, table in tables:
        for key in [key for key in table if key in SEEDS]:
            value, path = table.pop(key), (*at, key)
            if key in found:
                raise source.error(path, f"{key} is there twice, in [settings] and in [grid]; keep one of them")
            if "seed" in (key, *found) and found:
                wanted = "keep one: seed = [0, 5] names seeds in [grid], and seeds = 10 counts them"
                raise source.error(path, f"{next(iter(found))} and {key} are both there; {wanted}")
            if at == ("grid",) and key == "seed":
                _check_list(source, path, value)
            elif isinstance(value, list):
                raise _list_error(source, path)
            found[key] = value if isinstance(value, list) or key != "seed" else [value]
            for number, one in enumerate(value if isinstance(value, list) else [value]):
                _check_wanted(source, (*path, number), key, one, SEEDS[key])
    return found


def check_tables(source: Source, sweep: Mapping[str, Any], verb: str) -> None:
    """Refuse values that the verb does not take, lists outside of [grid], and a setting in two tables."""
    single = {("settings",): sweep["settings"], **{("cells", n): cell for n, cell in enumerate(sweep["cells"])}}
    for at, table in single.items():
        for key, value in table.items():
            _check_value(source, verb, (*at, key), key, value)
            if isinstance(value, list):
                raise _list_error(source, (*at, key))
    for key, values in sweep["grid"].items():
        _check_known(source, verb, ("grid", key), key)
        _check_list(source, ("grid", key), values)
        for number, value in enumerate(values):
            _check_value(source, verb, ("grid", key, number), key, value)
    _check_draws(source, sweep["random"], verb)
    for one, other in (("settings", "grid"), ("settings", "random"), ("grid", "random")):
        for key in sweep[other]:
            if key in sweep[one] and key not in OWN:
                raise source.error((other, key), f"{key} is in [{one}] and in [{other}]; keep one of them")


def _check_draws(source: Source, random: Mapping[str, Any], verb: str) -> None:
    for key in random:
        if key in SEEDS and key not in OWN:
            raise source.error(("random", key), f"{key} cannot be drawn; put it into [settings] or [grid]")
        if key not in OWN:
            _check_known(source, verb, ("random", key), key)
    check_random(source, random)
    for key, spread in random.items():
        if key not in OWN and "choose" in spread:
            for number, value in enumerate(spread["choose"]):
                _check_value(source, verb, ("random", key, "choose", number), key, value)
        elif key not in OWN:
            for end in ("from", "to"):
                _check_value(source, verb, ("random", key, end), key, spread[end])


def _check_known(source: Source, verb: str, path: KeyPath, key: str) -> None:
    if key in REFUSED[verb]:
        raise source.error(path, f"a sweep has no setting {key!r}, because {REFUSED[verb][key]}; leave it out")
    if verb != "teach" and key not in SETTINGS[verb]:  # the settings of `teach` are known once the lesson is
        raise source.unknown(path, f"{verb} has no setting", SETTINGS[verb])


def _check_value(source: Source, verb: str, path: KeyPath, key: str, value: Any) -> None:
    _check_known(source, verb, path, key)
    parts = value if isinstance(value, list) else [value]
    if not all(isinstance(part, str | bool) or is_number(part) for part in parts):
        raise source.error(path, f"{key} is {value!r}; a value is a finite number, a text, or true or false")
    if key in SETTINGS[verb] and not (isinstance(value, list) and path[0] in ("settings", "cells")):
        _check_wanted(source, path, key, value, SETTINGS[verb][key])


def _check_wanted(source: Source, path: KeyPath, key: str, value: Any, wanted: Wanted) -> None:
    if not wanted.test(value):
        raise source.error(path, f"{key} is {value!r}; it is {wanted.words}")


def _check_list(source: Source, path: KeyPath, value: Any) -> None:
    if not isinstance(value, list) or not value:
        wanted = f"in [grid] it is a list with at least one value; {path[-1]} = VALUE, the same for all cells, is for"
        raise source.error(path, f"{path[-1]} is {value!r}; {wanted} [settings]")


def _list_error(source: Source, path: KeyPath) -> Exception:
    whole = "where the list is one value, write it inside another: [[1, 2]]"
    return source.error(path, f"{path[-1]} is a list; put it into [grid] to run each of its values ({whole})")
