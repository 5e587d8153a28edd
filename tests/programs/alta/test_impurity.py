"""Functions that answer differently when they are asked again."""

import functools
import itertools
import random
import time

import pytest

from kleene.errors import FunctionError
from tests.programs.alta.small_programs import agrees, refusal


def test_a_function_that_draws_is_refused_with_both_answers():
    drawn = random.Random(0)

    def mlp(z):
        z["a"] = drawn.randrange(4)

    message = refusal(mlp, kind=FunctionError)
    assert "does not do the same when it is run again" in message
    assert message.count("wrote a := ") == 2


def test_a_function_that_branches_by_chance_is_refused():
    drawn = random.Random(0)

    def mlp(z):
        if drawn.random() < 0.5:
            z["a"] = 1 if z["b"] else 2
        elif z["a"] == 3:
            z["b"] = 0

    refusal(mlp, kind=FunctionError)


def test_a_function_that_keeps_count_is_refused():
    calls = itertools.count()

    def mlp(z):
        z["a"] = next(calls) % 4

    assert "depend on z alone" in refusal(mlp, kind=FunctionError)


def test_a_function_that_looks_at_the_clock_is_refused():
    def mlp(z):
        z["a"] = time.perf_counter_ns() % 4

    refusal(mlp, kind=FunctionError)


def test_a_table_that_changes_between_runs_is_refused_naming_where():
    class Mode:
        step = 0

    def mlp(z):
        Mode.step += z["b"]
        z["a"] = Mode.step % 4

    assert "where b = " in refusal(mlp, kind=FunctionError)


def test_state_that_is_the_same_at_the_end_of_every_run_is_no_fault():
    seen = []

    def mlp(z, wrong=[]):  # noqa: B006
        wrong.clear()
        seen.clear()
        seen.append(z["a"])
        if z["b"] == 2:
            wrong.append(z["b"])
        if not wrong and seen:
            z["a"] = 3

    assert agrees(mlp)


def test_a_cache_of_a_helper_is_no_fault():
    known: dict[int, int] = {}

    def squared(x):
        return known.setdefault(x, x * x)

    def mlp(z):
        z["a"] = (squared(z["a"]) + squared(z["b"])) % 4

    assert agrees(mlp)


def a_cache_with_too_narrow_a_key():
    known: dict[int, int] = {}

    def mlp(z):
        if z["a"] not in known:
            known[z["a"]] = (z["a"] + z["b"]) % 4
        z["a"] = known[z["a"]]

    return mlp


def a_cached_helper_that_reads_more_than_its_arguments():
    now = {}

    @functools.cache
    def added(a):
        return (a + now["z"]["b"]) % 4

    def mlp(z):
        now["z"] = z
        z["a"] = added(z["a"])

    return mlp


def a_table_made_at_the_first_call():
    def mlp(z):
        if not hasattr(mlp, "table"):
            mlp.table = [z["b"]] * 4  # type: ignore[attr-defined]
        z["a"] = mlp.table[z["a"]]  # type: ignore[attr-defined]

    return mlp


def a_variable_outside_that_is_set_once():
    first = None

    def mlp(z):
        nonlocal first
        first = z["b"] if first is None else first
        z["a"] = first

    return mlp


def a_default_that_only_falls():
    def mlp(z, least=[3]):  # noqa: B006
        least[0] = min(least[0], z["b"])
        z["a"] = least[0]

    return mlp


def an_attribute_of_a_class_that_is_set_once():
    class Seen:
        value = None

    def mlp(z):
        Seen.value = z["b"] if Seen.value is None else Seen.value
        z["a"] = Seen.value

    return mlp


def an_attribute_of_an_object_that_is_called():
    class Remembers:
        def __call__(self, z):
            if not hasattr(self, "kept"):
                self.kept = z["b"]
            z["a"] = self.kept

    return Remembers()


SETTLED = [
    a_cache_with_too_narrow_a_key,
    a_cached_helper_that_reads_more_than_its_arguments,
    a_table_made_at_the_first_call,
    a_variable_outside_that_is_set_once,
    a_default_that_only_falls,
    an_attribute_of_a_class_that_is_set_once,
    an_attribute_of_an_object_that_is_called,
]


@pytest.mark.parametrize("make", SETTLED, ids=lambda f: f.__name__)
def test_state_that_no_longer_changes_after_the_first_run_is_refused(make):
    assert "what it has kept from before" in refusal(make(), kind=FunctionError)


def test_a_function_that_looks_into_z_past_its_reads_is_refused():
    def mlp(z):
        z["a"] = dict.get(z, "b", 3)

    refusal(mlp, kind=FunctionError)


def test_a_table_that_is_filled_when_it_is_needed_is_no_fault():
    squares: list[int] = []

    def mlp(z):
        if not squares:
            squares.extend(i * i for i in range(4))
        z["a"] = squares[z["a"]] % 4

    assert agrees(mlp)
