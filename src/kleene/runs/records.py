"""One run as a record: its settings, the measurements of its last test, and its curve over all tests.

Records are made from the rows of a sweep's store and from the `rows` of the files that `kleene teach --results` keeps.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kleene.limits import checked_count

Value = str | int | float | bool | None
Row = Mapping[str, Any]
SCALAR = (str, int, float, bool, type(None))
INFINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
# Settings and measurements are listed in this order, and others after them by name.
SETTINGS = ("experiment", "task", "machine", "hints", "density", "strength")
MEASUREMENTS = ("generalises", "first_hit", "accuracy", "loss", "diverged")
PERCENT = ("accuracy", "training_accuracy")  # shown in percent
UNSHOWN = ("seconds", "training_accuracy")  # measurements that are in CSV and JSON, but not in tables
SHARES = ("generalises", "diverged")  # measurements that are true or false, of which a share is taken
DETAILS = "details"  # a digest of what decides a run besides plain settings: an automaton's table, a lesson's code


@dataclass(frozen=True)
class MeasuredRun:
    """One run. `curve` has the `iteration` of each test, and each measurement by test; `last` is that of the last test.

    `accuracy` is the mean over all lengths that were tested, and `training_accuracy` that of the last batches.
    `seconds` is its share of the time that all runs of its pack or file took together. `name` is the same for the same
    run: that of its cell, or all settings.
    """

    name: str
    settings: Mapping[str, Value]
    last: Mapping[str, Value]
    curve: Mapping[str, tuple[Any, ...]]

    def get(self, name: str) -> Value:
        """The value of a setting or of a measurement of the last test; None where the run has none."""
        return self.settings[name] if name in self.settings else self.last.get(name)


def from_row(row: Row) -> MeasuredRun:
    """The run in a row of a sweep's store. Raises ValueError, TypeError or KeyError for a row that is not one."""
    settings = {str(name): _setting(value) for name, value in row["settings"].items()}
    version = [row.get("program"), row.get("versions", {}).get("kleene")]
    if any(version):  # cells of the same settings, taught by other code, are not the same run
        settings[DETAILS] = _digest(version)
    runs = checked_count(row.get("runs", 1), "runs", "a pack has 1 or more", 1)
    further = {"seconds": _number(row["seconds"]) / runs} if row.get("seconds") is not None else {}
    return _run(row.get("cell"), settings, row["tests"], further)


def from_file(content: Row) -> list[MeasuredRun]:
    """The runs in a file of `kleene teach --results`; raises as `from_row` does. A file of an experiment has none."""
    plan = content.get("plan") or {}
    shared = {"task": content.get("lesson")} | _facts(plan.get("lesson") or {})
    shared |= {name: plan[name] for name in ("iterations", "test_every") if name in plan}
    tests: dict[tuple[Any, ...], list[Row]] = {}
    for row in content.get("rows") or ():
        tests.setdefault((row["kind"], row["density"], row["strength"], row["seed"]), []).append(row)
    further = {"seconds": _number(content["seconds"]) / len(tests)} if tests and "seconds" in content else {}
    return [
        _run(None, shared | dict(zip(("hints", "density", "strength", "seed"), key)), _by_measurement(rows), further)
        for key, rows in tests.items()
    ]


def once(runs: Iterable[MeasuredRun]) -> list[MeasuredRun]:
    """Each run once. Where two files have the same run, the one with more tests is taken."""
    found: dict[str, MeasuredRun] = {}
    for run in runs:
        other = found.setdefault(run.name, run)
        if len(run.curve["iteration"]) > len(other.curve["iteration"]):
            found[run.name] = run
    return list(found.values())


def in_order(names: Iterable[str], first: Sequence[str]) -> list[str]:
    """The names, those of `first` in its order before all others in the order of letters.

    >>> in_order({"rate", "hints", "batch", "task"}, SETTINGS)
    ['task', 'hints', 'batch', 'rate']
    """
    return sorted(set(names), key=lambda name: (first.index(name) if name in first else len(first), name))


def place(value: Value) -> tuple[int, float, str]:
    """What to sort values of a setting by: missing ones first, then numbers, then "none", then other texts."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, (bool, int, float)):
        return (1, value, "")
    return (2, 0.0, "") if value == "none" else (3, 0.0, value)


def as_word(value: Any) -> str:
    """A value of a setting as a person writes it.

    >>> as_word(1.0), as_word(0.001), as_word(True), as_word(None)
    ('1', '0.001', 'true', '(not set)')
    """
    if value is None:
        return "(not set)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _run(name: str | None, settings: dict[str, Value], tests: Row, further: Mapping[str, Value]) -> MeasuredRun:
    """A run from the measurements of its tests, each a list with an entry a test."""
    at = [int(n) for n in tests["iteration"]]
    curve: dict[str, tuple[Any, ...]] = {"iteration": tuple(at)}
    for what, values in tests.items():
        if len(values) != len(at):
            raise ValueError(f"{what} has {len(values)} tests, and there were {len(at)}")
        if what not in ("iteration", "accuracy_by_length"):
            called = "training_accuracy" if what == "accuracy" and "accuracy_by_length" in tests else what
            curve[called] = tuple(_numbers(values, bool if what in ("generalises", "alive") else _number))
    if "accuracy_by_length" in tests:
        curve["accuracy"] = tuple(_mean(lengths) for lengths in tests["accuracy_by_length"])
    if not at:
        raise ValueError("it has no tests")
    alive, loss = curve.pop("alive", (True,) * len(at)), curve.get("loss", (0.0,) * len(at))
    curve["diverged"] = tuple(not lives or not math.isfinite(lost) for lives, lost in zip(alive, loss))
    hits = [iteration for iteration, passed in zip(at, curve.get("generalises", ())) if passed]
    plain = {what: values[-1] for what, values in curve.items() if isinstance(values[-1], SCALAR)}
    del plain["iteration"]
    first = {"first_hit": hits[0] if hits else None} if "generalises" in curve else {}
    return MeasuredRun(name or json.dumps(settings, sort_keys=True), settings, {**plain, **first, **further}, curve)


def _numbers(values: Sequence[Any], read: Callable[[Any], Any]) -> list[Any]:
    """One value a test; a measurement that is an array has a list of them a test, which is left as it is."""
    return [value if isinstance(value, list) else read(value) for value in values]


def _number(value: Any) -> float:
    """A number of a row, in which null is NaN and the infinities are words."""
    if value is None:
        return math.nan
    return INFINITE[value] if isinstance(value, str) else float(value)


def _mean(values: Sequence[Any]) -> float:
    """The mean of the lengths that have a number."""
    found = [number for number in map(_number, values) if not math.isnan(number)]
    return math.fsum(found) / len(found) if found else math.nan


def _by_measurement(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The rows of one run, a row a test, as a list for each measurement."""
    settings = ("kind", "density", "strength", "seed")
    lengths = [name for name in rows[0] if name.startswith("accuracy_at_")]
    names = [name for name in rows[0] if name not in (*settings, *lengths)]
    tests = {name: [row[name] for row in rows] for name in names}
    by_length = {"accuracy_by_length": [[row[name] for name in lengths] for row in rows]} if lengths else {}
    return tests | by_length


def _facts(lesson: Row) -> dict[str, Value]:
    """The plain values among a lesson's facts, and a digest of the others."""
    plain = {name: value for name, value in lesson.items() if isinstance(value, SCALAR) and name != "name"}
    other = {name: value for name, value in lesson.items() if name not in plain and name != "name"}
    if not other:
        return plain
    return plain | {DETAILS: _digest(other)}


def _digest(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:8]


def _setting(value: Any) -> Value:
    return value if isinstance(value, SCALAR) else json.dumps(value, sort_keys=True)
