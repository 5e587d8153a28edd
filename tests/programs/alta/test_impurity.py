"""Functions that answer differently when they are asked again."""

import itertools
import random
import time

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
