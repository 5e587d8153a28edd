"""The cases that were traced against the function, run as it was written."""

import itertools
import random

import pytest

from kleene.errors import TracingError
from kleene.programs import alta
from kleene.programs.alta.validation import validate
from tests.programs.alta.small_programs import VARIABLES, build, refusal


def test_a_test_of_identity_with_a_number_is_refused_naming_its_line():
    three = 3

    def mlp(z):
        x = z["a"]
        if x is three:
            z["a"] = 0

    assert "use `==`" in refusal(mlp, line=2, kind=TracingError)


def test_a_test_of_identity_of_two_values_is_refused_naming_line_assignment_and_both_values():
    def mlp(z):
        x, y = z["a"], z["b"]
        if x is y:
            z["a"] = 0

    message = refusal(mlp, line=3, kind=TracingError)
    assert "is 0 after the function is run on plain values" in message
    assert "a = " in message
    assert "say " in message


def test_a_test_of_the_very_type_is_refused():
    def mlp(z):
        z["a"] = 1 if type(z["a"]) is int else 0

    assert "`type`" in refusal(mlp, line=1, kind=TracingError)


def test_a_function_that_draws_is_refused_as_not_a_function():
    def mlp(z):
        z["a"] = random.randrange(4)

    assert "does not do the same when it is run again" in refusal(mlp, kind=TracingError)


def test_a_function_that_branches_by_chance_is_refused_as_not_a_function():
    def mlp(z):
        if random.random() < 0.5:
            z["a"] = 1 if z["b"] else 2
        elif z["a"] == 3:
            z["b"] = 0

    assert "does not do the same when it is run again" in refusal(mlp, kind=TracingError)


def test_a_function_that_keeps_count_is_refused_as_not_a_function():
    calls = itertools.count()

    def mlp(z):
        z["a"] = next(calls) % 4

    assert "depend on z alone" in refusal(mlp, kind=TracingError)


def test_a_function_that_raises_only_on_plain_values_is_refused():
    def mlp(z):
        if type(z["a"]) is int and z["a"] == 2:
            raise ValueError("two")

    message = refusal(mlp, line=2, kind=TracingError)
    assert "ValueError: two" in message
    assert "a = 2" in message


def test_cases_that_are_not_the_functions_are_refused():
    def increment(z):
        z["a"] = (z["a"] + 1) % 4

    def decrement(z):
        z["a"] = (z["a"] - 1) % 4

    program = build(increment)
    assert validate(increment, VARIABLES, program.outputs, program.updates).exhaustive
    with pytest.raises(TracingError, match="say 1"):
        validate(decrement, VARIABLES, program.outputs, program.updates)


def test_a_small_program_is_validated_on_every_assignment():
    def mlp(z):
        z["a"] = (z["a"] + z["b"]) % 4

    validation = build(mlp).validation
    assert validation is not None
    assert validation.exhaustive
    assert validation.sampled == ()


def test_a_large_program_is_validated_on_a_sample_that_it_states():
    variables = {"a": alta.input_var(100), "b": alta.var(100), "out": alta.var(100)}

    def mlp(z):
        z["out"] = (z["a"] * z["b"]) % 100
        z["b"] = z["a"]

    validation = alta.program_spec(variables, {}, mlp, "out", 100).validation
    assert validation is not None
    assert not validation.exhaustive
    assert validation.sampled == ("out",)
    assert "for out they are a random sample" in str(validation)


def test_more_assignments_may_be_asked_for():
    variables = {"a": alta.input_var(100), "b": alta.var(100), "out": alta.var(100)}

    def mlp(z):
        z["out"] = (z["a"] * z["b"]) % 100

    program = alta.program_spec(variables, {}, mlp, "out", 100)
    found = validate(mlp, variables, {}, program.updates, most=10_000)
    assert found.exhaustive
    assert found.assignments >= 10_000


def test_rules_given_by_hand_have_nothing_to_be_validated_against():
    rule = alta.Rule((("a", 1),), "a", 0)
    assert alta.program_spec_from_rules(VARIABLES, {}, [rule], "a", 4, 8).validation is None
