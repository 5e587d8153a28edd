"""What is refused of a function, and what must not be."""

import functools
import gc
import inspect

import numpy as np
import pytest

from kleene.errors import FunctionError
from kleene.programs import alta
from kleene.programs.alta.asking.runs import ask
from tests.programs.alta.small_programs import VARIABLES, agrees, refusal


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

    message = refusal(mlp, line=1)
    assert "is 4 where a = 3" in message
    assert "np.int64" not in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 0.5),
        ("s", {3}),
        ("a", 1.0),
        ("a", None),
        ("a", "1"),
        ("n", "0"),
        ("n", np.complex128(1 + 2j)),
        ("n", 10**400),
    ],
)
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


def test_comparing_variables_with_is_means_what_it_means_on_plain_values():
    def mlp(z):
        if z["a"] is z["b"]:
            z["a"] = 0

    assert agrees(mlp)


def test_is_on_what_is_not_a_variable_is_accepted():
    options = {"mode": None}

    def mlp(z):
        if options["mode"] is None:
            z["a"] = 1

    assert agrees(mlp)


def test_too_much_read_at_once_is_refused_naming_what_is_read_and_the_way_out():
    names = [f"bit{i}" for i in range(30)]

    def mlp(z):
        z["bit0"] = sum(z[name] for name in names) % 2

    with pytest.raises(FunctionError) as raised:
        ask(mlp, {name: alta.var(2) for name in names}, {}, most=1000)
    message = str(raised.value)
    assert "reads too much at once" in message
    assert "2 of bit0 · 2 of bit1" in message
    assert "bit7 and 22 more" in message
    assert "All that it writes depends on all of these" in message
    assert f"line {inspect.getsourcelines(mlp)[1]}" in message


def test_too_much_read_at_once_is_refused_with_the_split_that_would_help():
    def mlp(z):
        z["a"] = (z["a"] * z["b"] + z["c"]) % 40
        z["d"] = (z["d"] * z["e"] + z["f"]) % 40
        z["b"] = 0 if z["a"] == z["c"] else 1

    with pytest.raises(FunctionError) as raised:
        ask(mlp, {name: alta.var(40) for name in "abcdef"}, {}, most=1000)
    assert str(raised.value).endswith(
        "so that what they read is added up and not multiplied: one each for a, b from a, b, c (64,000 combinations); "
        "d from d, e, f (64,000 combinations)."
    )


def test_two_functions_that_write_one_variable_are_refused_naming_both():
    def first(z):
        z["a"] = 1

    def second(z):
        z["a"] = z["b"]

    message = refusal([first, second])
    assert "'a' is written by this function and by the one at" in message


@pytest.mark.parametrize("given", [[], None, 3, "abc", [None]])
def test_what_is_no_function_is_refused(given):
    assert f"and is {given!r}" in refusal(given)


def test_an_exception_on_a_path_that_is_reached_is_refused_with_its_line():
    def mlp(z):
        if z["a"] == 2:
            raise ValueError("no rule for two")

    message = refusal(mlp, line=2, kind=FunctionError)
    assert "ValueError: no rule for two" in message
    assert "a = 2" in message


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


def test_an_error_of_the_users_arithmetic_is_not_reported_as_a_range():
    def mlp(z):
        z["a"] = 3 // z["b"]

    message = refusal(mlp, line=1)
    assert "raises ZeroDivisionError" in message
    assert "b = 0" in message
    assert "0..3" not in message


def test_an_attribute_of_z_is_refused_with_the_way_to_write_it():
    def mlp(z):
        z.a = 1

    assert 'z["a"] = …' in refusal(mlp, line=1)


def test_a_read_of_an_attribute_of_z_is_refused_with_the_way_to_read_it():
    def mlp(z):
        z["a"] = z.b

    assert 'z["b"]' in refusal(mlp, line=1)


@pytest.mark.parametrize("returned", [{"a": 1}, 1, [], "a"])
def test_a_returned_value_is_refused(returned):
    def mlp(z):
        return returned

    assert f"returns a value ({type(returned).__name__}), which has no effect" in refusal(mlp, line=0)


def test_a_generator_is_refused():
    def mlp(z):
        z["a"] = 1
        yield

    assert "returns a generator" in refusal(mlp, line=0)


def test_an_async_function_is_refused_without_a_warning(recwarn):
    async def mlp(z):
        z["a"] = 1

    assert "returns a coroutine" in refusal(mlp, line=0)
    gc.collect()
    assert not recwarn.list


def test_a_function_of_no_arguments_is_refused_with_its_line():
    def mlp():
        pass

    assert "takes 0 positional arguments" in refusal(mlp, line=0)


def test_an_object_that_is_called_and_a_partial_are_refused_with_the_line_that_writes():
    class Adds:
        def __call__(self, z):
            z["a"] = z["a"] + 1

    def adds(by, z):
        z["a"] = z["a"] + by

    for given, code in ((Adds(), Adds.__call__), (functools.partial(adds, 1), adds)):
        line = inspect.getsourcelines(code)[1] + 1
        assert f"test_refusals.py line {line}: the value written to 'a' is 4" in refusal(given)


def test_returning_z_is_accepted():
    def mlp(z):
        z["a"] = 1
        return z

    assert agrees(mlp)


def test_a_loop_that_waits_for_a_write_ends_in_a_refusal_that_says_what_a_read_gives():
    def mlp(z):
        while z["a"] < 3:
            z["a"] += 1

    with pytest.raises(FunctionError) as raised:
        ask(mlp, VARIABLES, {}, seconds=0.3)
    message = str(raised.value)
    assert "has not ended after 0.3 seconds where a = 0" in message
    assert "the value from before the layer" in message


def test_a_loop_that_catches_everything_is_ended():
    def mlp(z):
        while True:
            try:
                sum(range(100 + z["a"]))
            except BaseException:
                continue

    with pytest.raises(FunctionError, match=r"has not ended after 0\.3 seconds"):
        ask(mlp, VARIABLES, {}, seconds=0.3)


def test_one_branch_that_reads_much_is_not_taken_for_the_others():
    names = {"way": alta.var(40), **{f"x{i}": alta.var(12) for i in range(5)}, "o": alta.var(2)}

    def mlp(z):
        if z["way"] == 0:
            z["o"] = sum(z[f"x{i}"] for i in range(5)) % 2

    assert ask(mlp, names, {}, most=300_000).leaves == 12**5 + 39


@pytest.mark.parametrize("caught", [Exception, BaseException])
def test_a_handler_of_the_users_does_not_swallow_a_refusal(caught):
    def mlp(z):
        try:
            z["nothing"] = 1
        except caught:
            z["a"] = 1

    assert "no variable 'nothing'" in refusal(mlp, line=2)


def test_deleting_a_variable_is_refused():
    def mlp(z):
        del z["a"]

    assert "deletes 'a'" in refusal(mlp, line=1)


@pytest.mark.parametrize(
    "operation", [lambda z: z["a"] + "x", lambda z: "x" + z["a"], lambda z: z + 1, lambda z: z["a"]()]
)
def test_an_error_never_names_what_asking_is_made_of(operation):
    def mlp(z):
        z["a"] = operation(z)

    message = refusal(mlp)
    assert "TypeError" in message
    assert not any(word in message for word in ("Symbol", "Assignment", "Value'", "Tracer"))


def test_an_error_in_a_helper_file_names_that_file(tmp_path, monkeypatch):
    (tmp_path / "rounding_helper.py").write_text("def half(x):\n    return 1 // x\n")
    monkeypatch.syspath_prepend(tmp_path)
    from rounding_helper import half  # type: ignore[import-not-found]

    def mlp(z):
        z["a"] = half(z["b"])

    assert "rounding_helper.py line 2:" in refusal(mlp)


def test_a_refusal_names_the_file_of_the_function():
    def mlp(z):
        z["a"] = z["bb"]

    assert "test_refusals.py line" in refusal(mlp)
