"""ALTA's parameter names are taken beside those of the paper's listings."""

import pytest

from kleene.errors import ProgramError
from kleene.programs import alta


def test_every_parameter_may_have_the_name_that_it_has_in_alta():
    assert alta.var(var_range=3, default=1) == alta.var(3, 1) == alta.var(range=3, default=1)
    assert alta.input_var(var_range=3, default=2).default == 2
    assert alta.position_var(var_range=3, default=2).default == 2
    assert alta.v_relative("a", position=-1) == alta.v_relative("a", -1) == alta.v_relative("a", offset=-1)
    assert alta.halt_spec(halt_var="a", halt_value=2) == alta.halt_spec("a", 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: alta.var(),
        lambda: alta.var(3, var_range=3),
        lambda: alta.v_relative("a"),
        lambda: alta.v_relative("a", 1, position=1),
        lambda: alta.halt_spec(),
        lambda: alta.halt_spec("a", halt_var="a"),
    ],
)
def test_a_parameter_with_two_names_is_given_once(call):
    with pytest.raises(ProgramError, match="give one of the two"):
        call()


def test_a_program_is_built_alike_whether_rules_are_to_be_generated_or_not():
    def flip(z):
        z["bit"] = 1 - z["bit"]

    for generate_rules in (True, False):
        program = alta.program_spec({"bit": alta.input_var(2)}, {}, flip, "bit", 2, generate_rules=generate_rules)
        assert len(program.rules()) == 2


def test_an_output_may_be_a_number_and_not_a_set():
    def keep(z):
        z["n"] = 1.0 if z["a"] else 0.5

    variables = {"a": alta.input_var(2), "n": alta.numeric_var(values=(0, 0.5, 1))}
    assert alta.program_spec(variables, {}, keep, "n", 2).run([1, 0]).output == [1.0, 0.5]
    with pytest.raises(ProgramError, match="'s' is a set"):
        alta.program_spec({"s": alta.set_var(2, [{0}])}, {}, lambda z: None, "s", 2)
