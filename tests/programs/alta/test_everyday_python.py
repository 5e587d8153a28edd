"""Ordinary Python in MLP functions: the program does what the function itself does on plain values."""

import copy
import dataclasses
import enum
import json
import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from kleene.errors import UndefinedAttentionError
from kleene.programs import alta
from kleene.programs.alta.reference import reference_run
from tests.programs.alta.small_programs import agrees, build


class Digit(enum.IntEnum):
    ZERO = 0
    ONE = 1
    TWO = 2


class Names(enum.Enum):
    FIRST = "a"
    SECOND = "b"


class Mode(enum.Enum):
    COPY = 0
    SWAP = 1
    STOP = 2
    WAIT = 3


@dataclasses.dataclass
class Settings:
    limit: int = 2


SETTINGS = Settings()
TABLE = [3, 1, 2, 0]
NEXT = {0: 1, 1: 2, 2: 3, 3: 0}
PAIRS = {(a, b): (a + 2 * b) % 4 for a in range(4) for b in range(4)}


def asks_for_its_class(z):
    z["a"] = 1 if isinstance(z["a"], int) else 2
    z["b"] = 1 if isinstance(z["n"], int) else 2


def matches_its_class(z):
    match z["a"]:
        case int(n):
            z["a"] = (n + 1) % 4
        case _:
            z["a"] = 0


def reads_its_class(z):
    z["a"] = 1 if z["a"].__class__ is int else 2


def matches_z_as_a_mapping(z):
    match z:
        case {"a": a, "b": 2}:
            z["b"] = a


def has_an_attribute(z):
    z["a"] = 1 if hasattr(z["a"], "bit_length") else 2
    z["b"] = 1 if hasattr(z["b"], "union") else 2


def gets_an_attribute_or_a_default(z):
    z["a"] = getattr(z["a"], "name", 3)
    z["b"] = getattr(z["b"], "real", 3)


def catches_every_error(z):
    try:
        z["a"] = int(str(z["a"]))
    except Exception:
        z["a"] = 0


def catches_a_division_by_zero(z):
    try:
        z["a"] = 3 // z["b"]
    except ZeroDivisionError:
        z["a"] = 2


def catches_a_missing_key(z):
    try:
        z["a"] = {1: 2}[z["a"]]
    except KeyError:
        z["b"] = 0


def takes_quotient_and_remainder(z):
    z["a"], z["b"] = divmod(z["a"] + 4 * z["b"], 4)


def formats(z):
    z["a"] = int(f"{z['b']}")
    z["b"] = len(f"{z['a']:02d}") + "".join([repr(z["a"]), "1"]).count("1") % 2


def prints(z):
    print(z["a"], f"{z['b']!r}")
    z["a"] = z["b"]


def sums_a_set(z):
    z["a"] = sum(z["s"]) % 4
    z["b"] = max(z["s"])


def loops_over_a_set(z):
    for member in sorted(z["s"]):
        z["a"] = member


def copies_a_set(z):
    z["a"] = len(frozenset(z["s"]) | {0}) - 1
    z["b"] = len(z["s"].union({3}, [z["a"]])) % 4


def builds_a_set(z):
    if z["a"] == 0:
        z["s"] = {z["a"]}
    z["b"] = len({z["a"], z["b"], 1})


def counts_bits(z):
    z["a"] = z["a"].bit_length()
    z["b"] = (z["a"] << 1 | 1).bit_count() % 4


def gets(z):
    z["a"] = z.get("b")
    z["b"] = z.get("missing", 2)


def updates(z):
    z.update({"a": z["b"]})
    z.update(b=1)


def goes_through_z(z):
    z["a"] = sum(z[name] for name in z if name in ("a", "b", "h")) % 4
    z["b"] = len(z) % 4


def uses_numpy(z):
    z["a"] = np.minimum(z["a"], np.int64(2))
    z["b"] = np.where(z["a"] > 1, 3, z["b"])


def uses_more_numpy(z):
    z["a"] = np.clip(z["a"] + z["b"], 0, 3)
    z["b"] = np.maximum(z["a"], z["b"]) - np.int64(0)
    z["n"] = np.float64(1.0) if z["n"] > 0.5 else z["n"]


def uses_enumerations(z):
    z["a"] = Digit.ONE if z["a"] == Digit.ZERO else Digit.TWO
    if Mode(z["b"]) is Mode.SWAP:
        z["b"] = Mode.STOP


def uses_a_dataclass(z):
    z["a"] = SETTINGS.limit if z["a"] > SETTINGS.limit else z["a"]


def looks_tables_up(z):
    z["a"] = TABLE[z["b"]]
    z["b"] = NEXT[PAIRS[z["a"], z["b"]]]


def applies(z):
    z["a"] = alta.apply(lambda a, b: (a * b) % 4, z["a"], z["b"])
    z["b"] = alta.apply(PAIRS, z["a"], z["b"])
    z["n"] = alta.apply([0, 1, 1, 0], z["a"])


def sorts(z):
    z["a"], z["b"] = sorted([z["a"], z["b"]])


def rounds(z):
    z["a"] = round(z["n"] * 3)
    z["b"] = math.floor(z["n"]) + math.isqrt(z["b"])


def adds_truth_values(z):
    z["a"] = int(z["a"] > 2) + bool(z["b"]) + (z["h"] == z["a"])


def merges(z):
    z |= {"a": (z | {"b": 3})["b"] - ({"b": 0} | z)["b"]}


def copies_and_writes_the_copy(z):
    other = z.copy()
    other["b"] = 3
    z["a"] = other["b"] - copy.copy(z)["b"]


def writes_z_as_json(z):
    z["a"] = len(json.dumps(z, default=sorted)) % 4


def writes_fractions_and_decimals(z):
    z["n"] = Fraction(z["b"] % 2, 3) if z["a"] == 1 else Decimal(z["b"] % 2)


def asks_for_items(z):
    z["a"] = len(z.items() & {("a", 1), ("b", 2)}) + (z.values() is not z)


def names_variables_by_an_enumeration(z):
    z[Names.FIRST] = 0
    z["a"] = 1
    z[Names.FIRST] = z[Names.SECOND]


def copies(z):
    z["a"] = copy.deepcopy(z["b"])
    z["b"] = dict(z)["a"]


KNOWN = [f for name, f in list(globals().items()) if getattr(f, "__module__", "") == __name__ and callable(f)]
FUNCTIONS = pytest.mark.parametrize("mlp", [f for f in KNOWN if not isinstance(f, type)], ids=lambda f: f.__name__)


@FUNCTIONS
def test_everyday_python_means_what_it_does(mlp, capsys):
    assert agrees(mlp)


def test_what_a_function_prints_is_printed_in_every_run(capsys):
    before = sys.stdout
    program = build(prints)
    assert len(capsys.readouterr().out.splitlines()) >= 2 * program.enumeration.combinations
    assert sys.stdout is before


@FUNCTIONS
def test_the_reference_runs_everyday_python(mlp, capsys):
    program = build(mlp)
    for sequence in ([1, 2, 3], [0, 3], [2]):
        assert outcome(lambda s: reference_run(program, s), sequence) == outcome(program.run, sequence)


@pytest.mark.parametrize("mlp", [asks_for_its_class, has_an_attribute, counts_bits], ids=lambda f: f.__name__)
def test_a_question_about_an_undefined_head_is_a_use_of_it(mlp):
    def through_the_head(z):
        mlp({"a": z["h"], "b": z["b"], "n": z["n"]})

    program = build(through_the_head)
    by_reference = outcome(lambda s: reference_run(program, s), [1, 2, 3])
    assert by_reference == outcome(program.run, [1, 2, 3]) == (1, 2, "h")


def test_apply_is_a_plain_call():
    def mlp(z):
        z["a"] = alta.apply(lambda a, b: TABLE[(a + b) % 4], z["a"], z["b"])

    assert agrees(mlp)


def test_apply_works_on_plain_values():
    assert alta.apply(TABLE, 2) == 2
    assert alta.apply(lambda a, b: a + b, 1, 2) == 3


def passed_around_and_used_behind_a_guard(z):
    kept = [z["h"], {"here": z["h"]}]
    if z["b"] != 2:
        z["a"] = (lambda x: x)(kept[1]["here"])


def divided_in_front_of_a_guard(z):
    quotient, rest = divmod(z["h"], 2)
    if z["b"] != 2:
        z["a"] = (quotient + rest) % 4


def told_apart_by_its_very_type(z):
    z["a"] = z["b"] if type(z["h"]) is int else 3


def used_where_every_error_is_caught(z):
    try:
        z["a"] = 1 if z["h"] == 1 else 0
    except Exception:
        z["a"] = 3


def used_where_everything_is_caught(z):
    try:
        if z["h"] == 1:
            z["a"] = 1
    except:  # noqa: E722
        z["a"] = 3


def outcome(run, sequence):
    try:
        return run(sequence).output
    except UndefinedAttentionError as error:
        return (error.layer, error.position, error.head)


@pytest.mark.parametrize(
    ("mlp", "used"),
    [
        (passed_around_and_used_behind_a_guard, False),
        (divided_in_front_of_a_guard, True),
        (used_where_every_error_is_caught, True),
        (used_where_everything_is_caught, True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_undefined_head_is_an_error_where_it_is_used_and_nowhere_else(mlp, used):
    program = build(mlp)
    by_reference = outcome(lambda s: reference_run(program, s), [1, 2, 3])
    assert by_reference == outcome(program.run, [1, 2, 3])
    assert isinstance(by_reference, tuple) is used


def told_apart_where_it_can_be_called(z):
    z["a"] = int(callable(z["h"]))


def given_to_what_raises_without_asking_it(z):
    z["a"] = int(Decimal(z["h"]))


def given_to_what_raises_without_asking_it_and_caught(z):
    try:
        z["a"] = pow(2, z["h"], 4)
    except TypeError:
        z["a"] = 3


@pytest.mark.parametrize(
    "mlp",
    [
        told_apart_by_its_very_type,
        told_apart_where_it_can_be_called,
        given_to_what_raises_without_asking_it,
        given_to_what_raises_without_asking_it_and_caught,
    ],
    ids=lambda f: f.__name__,
)
def test_a_head_that_is_told_apart_without_being_used_counts_as_used(mlp):
    program = build(mlp)
    by_reference = outcome(lambda s: reference_run(program, s), [1, 2, 3])
    assert by_reference == outcome(program.run, [1, 2, 3]) == (1, 2, "h")
