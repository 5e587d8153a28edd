"""The settings that a sweep's tables describe: every combination of [grid], every draw of [random], every [[cells]].

Every draw is combined with every combination of the grid: 3 values in the grid and 50 draws are 150 settings. The
[[cells]] are further settings, combined with neither. All of them take the values of [settings] that they do not set.
Seeds are counted out later, so no table has them here.
"""

import itertools
import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from kleene.sweeping.definition.source import KeyPath, Source

OWN = ("draws", "seed")  # the keys of [random] that are no settings
SPREAD = ("from", "to", "scale", "choose")  # the keys of a setting to draw
SHARES = ("density", "strength")  # of hints; always real numbers, even when drawn between 0 and 1


class Drawn(NamedTuple):
    """One setting, before its seeds are counted out, and the table of [[cells]] that it came from, if it is one."""

    settings: dict[str, Any]
    cell: int | None = None

    def place(self, sweep: Mapping[str, Any], key: str) -> KeyPath:
        """Where the value of that key was written."""
        if self.cell is not None and key in sweep["cells"][self.cell]:
            return ("cells", self.cell, key)
        for table in ("grid", "settings", "random"):
            if key in sweep[table]:
                values = sweep[table][key] if table == "grid" else ()
                return (table, key, *(n for n, value in enumerate(values) if value == self.settings.get(key)))[:3]
        return () if self.cell is None else ("cells", self.cell)


def how_many(sweep: Mapping[str, Any]) -> int:
    """How many settings `drawn_settings` gives; seeds are not counted."""
    combinations = math.prod(len(values) for values in sweep["grid"].values())
    return len(sweep["cells"]) + combinations * sweep["random"].get("draws", 1) * _has_grid(sweep)


def drawn_settings(sweep: Mapping[str, Any]) -> Iterator[Drawn]:
    """Every setting of a sweep, in the order of the file: the last key of the grid varies fastest."""
    shared, grid, draws = sweep["settings"], sweep["grid"], _draws(sweep["random"])
    for values in itertools.product(*grid.values()) if _has_grid(sweep) else ():
        for draw in draws:
            yield Drawn({**shared, **dict(zip(grid, values)), **draw})
    for number, cell in enumerate(sweep["cells"]):
        yield Drawn({**shared, **cell}, number)


def _has_grid(sweep: Mapping[str, Any]) -> bool:
    """Whether there are settings besides [[cells]]: a list of cells alone is a sweep of these cells only."""
    return bool(sweep["grid"] or sweep["random"] or not sweep["cells"])


def _draws(random: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The draws, one dict each.

    Those of a setting depend on the seed and on its own name only, so that another setting changes none of them, and
    more draws begin with the same ones.
    """
    columns = {}
    for name, spread in random.items():
        if name not in OWN:
            chances = np.random.default_rng([random.get("seed", 0), *name.encode()]).random(random["draws"])
            columns[name] = [drawn_value(spread, float(chance), name in SHARES) for chance in chances]
    return [dict(zip(columns, row)) for row in zip(*columns.values())] if columns else [{}]


def drawn_value(spread: Mapping[str, Any], chance: float, real: bool = False) -> Any:
    """The value that a chance in [0, 1) draws: one of a list, a whole number if both bounds are, or a real one.

    A real number has six digits, so that all computers draw the same one, whatever the last bit of their logarithm.

    >>> drawn_value({"from": 0.01, "to": 1.0, "scale": "log"}, 0.25)
    0.0316228
    """
    if "choose" in spread:
        return spread["choose"][int(chance * len(spread["choose"]))]
    low, high, log = spread["from"], spread["to"], spread.get("scale") == "log"
    whole = not real and isinstance(low, int) and isinstance(high, int)
    end = high + 1 if whole else high
    if log:
        value = math.exp(math.log(low) + chance * (math.log(end) - math.log(low)))
    else:
        value = low * (1 - chance) + end * chance
    value = math.floor(value) if whole else float(f"{value:.6g}")
    return min(max(value, low), high) if whole else float(min(max(value, low), high))


def check_random(source: Source, random: Mapping[str, Any]) -> None:
    """Refuse a [random] whose draws cannot be made."""
    if not random:
        return
    draws, seed = random.get("draws"), random.get("seed", 0)
    if not _is_whole(draws, 1):
        problem = "[random] has no draws" if draws is None else f"draws is {draws!r}"
        raise source.error(("random", "draws"), f"{problem}; say how many, such as draws = 50")
    if not _is_whole(seed, 0):
        raise source.error(("random", "seed"), f"seed is {seed!r}; the seed of the draws is a whole number, 0 or more")
    for name, spread in random.items():
        if name not in OWN:
            _check_spread(source, name, spread)
    if set(random) <= set(OWN):
        raise source.error(
            ("random",), "[random] names nothing to draw; add a setting, such as rate = {from = 0.001, to = 0.1}"
        )


def _check_spread(source: Source, name: str, spread: Any) -> None:
    at = ("random", name)
    wanted = f"{name} = {{from = 0.01, to = 1.0}} or {name} = {{choose = [1, 2]}}"
    if not isinstance(spread, Mapping):
        raise source.error(at, f"{name} is {spread!r}; write what to draw it from: {wanted}")
    for key in spread:
        if key not in SPREAD:
            raise source.unknown((*at, key), f"{name} has no key", SPREAD)
    if {*spread} not in ({"choose"}, {"from", "to"}, {"from", "to", "scale"}):
        raise source.error(at, f"{name} has {' and '.join(spread) or 'no keys'}; write {wanted}")
    if "choose" in spread:
        if not isinstance(spread["choose"], list) or not spread["choose"]:
            raise source.error((*at, "choose"), f"choose is {spread['choose']!r}; it is a list with at least one value")
        return
    for key in ("from", "to"):
        if not is_number(spread[key]):
            raise source.error((*at, key), f"{key} is {spread[key]!r}; it is a number")
    low, high, scale = spread["from"], spread["to"], spread.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise source.error((*at, "scale"), f'scale is {scale!r}; it is "linear" or "log"')
    if low > high:
        raise source.error((*at, "from"), f"{name} goes from {low} to {high}; `from` is the smaller of the two")
    if scale == "log" and low <= 0:
        raise source.error((*at, "from"), f"{name} begins at {low}, and a log scale begins above 0; say another `from`")


def is_number(value: Any) -> bool:
    """Whether it is a finite number; booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
