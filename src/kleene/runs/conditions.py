"""Conditions on runs, as text: `hints=address`, `density>=0.1`, `hints!=none`, `task=copy,reverse`."""

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kleene.errors import InputError, did_you_mean
from kleene.runs.records import MeasuredRun, Value, as_word, place

ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
CONDITION = re.compile(r"\s*(\w+)\s*(!=|>=|<=|=|>|<)(.*)", re.DOTALL)
MOST_SHOWN = 12  # values in an error


@dataclass(frozen=True)
class Filter:
    """A condition on one setting or measurement: one of `values`, none of them (`!=`), or on one side of a number."""

    text: str
    name: str
    sign: str
    values: tuple[Value, ...]

    def keeps(self, run: MeasuredRun) -> bool:
        """Whether the run fulfils it; a run without this setting is equal to nothing, and neither less nor more."""
        value = run.get(self.name)
        if self.sign in ORDERS:
            return value is not None and ORDERS[self.sign](value, self.values[0])
        return (value in self.values) == (self.sign == "=")


def filtered(runs: Sequence[MeasuredRun], conditions: Iterable[str]) -> list[MeasuredRun]:
    """The runs that fulfil all conditions; refuses conditions that leave none, and names the one that took the last."""
    kept = list(runs)
    for one in [read_condition(text, runs) for text in conditions]:
        before, kept = kept, [run for run in kept if one.keeps(run)]
        if not kept:
            there = sorted({run.get(one.name) for run in before}, key=place)
            raise InputError(
                f"no run is left after {one.text!r}: of the {len(before)} before it, {one.name} is {shown(there)}"
            )
    return kept


def read_condition(text: str, runs: Sequence[MeasuredRun]) -> Filter:
    """The condition that the text means; refuses a name or a value that no run has."""
    parts = CONDITION.fullmatch(text)
    if parts is None:
        raise InputError(
            f"{text!r} is no condition; give a setting and its value, such as hints=address, density>=0.1, "
            f"hints!=none or task=copy,reverse"
        )
    name, sign, given = parts[1], parts[2], parts[3].strip()
    check_name(name, known_names(runs))
    there = sorted({run.get(name) for run in runs} - {None}, key=place)
    if sign in ORDERS:
        return Filter(text, name, sign, (_bound(text, name, given, there),))
    whole = [value for value in there if is_meant(value, given)]  # a regular expression may have a comma in it
    values = whole or [_one_of(part.strip(), name, there) for part in given.split(",")]
    return Filter(text, name, sign, tuple(values))


def known_names(runs: Iterable[MeasuredRun]) -> list[str]:
    """The names of all settings and measurements of the runs."""
    return list(dict.fromkeys(name for run in runs for names in (run.settings, run.last) for name in names))


def check_name(name: str, known: Sequence[str], what: str = "setting") -> None:
    """Refuse a name that is not known, with the nearest ones."""
    if name not in known:
        raise InputError(f"no {what} {name!r} in these results; {did_you_mean(name, known)}")


def is_meant(value: Value, text: str) -> bool:
    """Whether the text means the value; numbers are compared as numbers.

    >>> is_meant(0.1, "0.10"), is_meant(True, "true"), is_meant("1", "1.0")
    (True, True, False)
    """
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, (int, float)):
        return _number(text) == value
    return value == text


def shown(values: Sequence[Any]) -> str:
    """Values in an error: the first few of them, and how many more there are."""
    named = ", ".join(as_word(value) for value in values[:MOST_SHOWN])
    return named + (f" and {len(values) - MOST_SHOWN} more" if len(values) > MOST_SHOWN else "")


def _one_of(text: str, name: str, there: Sequence[Value]) -> Value:
    found = [value for value in there if is_meant(value, text)]
    if not found:
        words = [as_word(value) for value in there]
        near = did_you_mean(text, words) if len(words) <= MOST_SHOWN else f"there are {shown(there)}"
        raise InputError(f"no run has {name}={text}; {near}")
    return found[0]


def _bound(text: str, name: str, given: str, there: Sequence[Value]) -> float:
    number = _number(given)
    if number is None or number != number:
        raise InputError(f"{text!r} compares with {given!r}, which is no number; give one, such as {name}>=0.1")
    if any(isinstance(value, (str, bool)) for value in there):
        raise InputError(f"{text!r} compares {name} as a number, and it is {shown(there)}; use = or !=")
    return number


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
