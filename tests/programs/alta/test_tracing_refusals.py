"""What the tracer refuses, and what it must not refuse."""

import inspect

import pytest

from kleene.errors import TracingError
from kleene.programs.alta import tracing
from tests.programs.alta.small_programs import (
    agrees,
    refusal,
)


def test_reading_an_unknown_variable_names_the_line_and_the_nearest_name():
    def mlp(z):
        z["a"] = z["bb"]

    assert "did you mean 'b'" in refusal(mlp, line=1)


def test_writing_an_unknown_variable_names_the_line():
    def mlp(z):
        z["total"] = 1

    assert "no variable 'total'" in refusal(mlp, line=1)


def test_writing_to_the_output_of_a_head_is_refused():
    def mlp(z):
        z["h"] = 1

    assert "the output of a head" in refusal(mlp, line=1)


def test_an_out_of_range_constant_is_refused_with_its_line():
    def mlp(z):
        if z["a"] == 1:
            z["a"] = 4

    assert "an integer in 0..3" in refusal(mlp, line=2)


def test_an_out_of_range_value_is_refused_with_its_line_and_an_example():
    def mlp(z):
        z["a"] = z["a"] + 1

    told = refusal(mlp, line=1)
    assert "is 4 where a = 3" in told
    assert "np.int64" not in told


@pytest.mark.parametrize(("name", "value"), [("n", 0.5), ("s", {3}), ("a", 1.0), ("a", None), ("a", "1"), ("n", "0")])
def test_a_value_of_another_kind_or_not_declared_is_refused(name, value):
    def mlp(z):
        z[name] = value

    refusal(mlp, line=1)


def test_a_value_that_the_decisions_together_keep_in_range_is_accepted():
    def mlp(z):
        if z["a"] + z["b"] < 4:
            z["a"] = z["a"] + z["b"]
        elif z["a"] != z["b"]:
            z["b"] = 12 // (z["a"] - z["b"]) % 4

    assert agrees(mlp)


def test_a_lookup_that_the_decisions_together_keep_in_range_is_accepted():
    def mlp(z):
        total = z["a"] + z["b"]
        if total < 3:
            z["a"] = (3, 1, 2)[total]

    assert agrees(mlp)


def test_a_write_on_a_path_that_the_decisions_together_rule_out_is_accepted():
    def mlp(z):
        if z["a"] < z["b"] and z["b"] < z["a"]:
            z["a"] = 99

    assert agrees(mlp)


def test_formatting_a_variable_is_refused_with_its_line():
    def mlp(z):
        z["a"] = int(f"{z['b']}")

    assert "text" in refusal(mlp, line=1, kind=TracingError)


def test_looping_over_a_variable_is_refused_with_its_line():
    def mlp(z):
        for member in z["s"]:
            z["a"] = member

    assert "loops over s" in refusal(mlp, line=1, kind=TracingError)


def test_comparing_a_variable_with_is_is_refused_with_its_line():
    def mlp(z):
        if z["a"] is z["b"]:
            z["a"] = 0

    assert "use `==`" in refusal(mlp, line=1, kind=TracingError)


def test_is_on_what_is_not_a_variable_is_accepted():
    options = {"mode": None}

    def mlp(z):
        if options["mode"] is None:
            z["a"] = 1

    assert agrees(mlp)


def test_too_many_paths_are_refused_naming_the_line_that_branches_most(monkeypatch):
    monkeypatch.setattr(tracing, "MOST_PATHS", 60)

    def mlp(z):
        total = 0
        for name in ("a", "b", "h"):
            for k in range(4):
                if z[name] == k:
                    total += k
        z["a"] = total % 4

    told = refusal(mlp, kind=TracingError)
    assert "more than 60 paths" in told
    assert f"line {inspect.getsourcelines(mlp)[1] + 4} " in told


def test_an_exception_on_a_path_that_is_reached_is_refused_with_its_line():
    def mlp(z):
        if z["a"] == 2:
            raise ValueError("no rule for two")

    told = refusal(mlp, line=2, kind=TracingError)
    assert "ValueError: no rule for two" in told
    assert "a = 2" in told


def test_a_division_by_zero_that_is_reached_is_refused():
    def mlp(z):
        z["a"] = 3 // z["b"]

    assert "ZeroDivisionError" in refusal(mlp, line=1)


def test_a_division_by_zero_that_is_decided_on_is_refused():
    def mlp(z):
        if 3 // z["b"] > 1:
            z["a"] = 0

    assert "ZeroDivisionError" in refusal(mlp, line=1)


def test_a_division_by_zero_that_no_path_reaches_is_accepted():
    def mlp(z):
        if z["b"] > 0:
            z["a"] = 3 // z["b"]
        if z["b"] != 0 and 3 // z["b"] > 1:
            z["b"] = 0

    assert agrees(mlp)


def test_a_division_by_zero_that_two_variables_together_rule_out_is_accepted():
    def mlp(z):
        if z["a"] != z["b"] and 3 // (z["a"] - z["b"]) > 1:
            z["a"] = 0

    assert agrees(mlp)
