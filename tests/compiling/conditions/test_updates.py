"""Updates are checked on everything that they depend on, however few combinations that takes."""

import equinox as eqx
import numpy as np
import pytest

import kleene
from kleene.compiling.alta.conditions.units import SeenUnits
from kleene.compiling.alta.conditions.updates import updates
from kleene.programs import alta


def added(a=12, b=9):
    variables = {"a": alta.input_var(a), "b": alta.position_var(b), "out": alta.var(a + b - 1)}

    def mlp(z):
        z["out"] = z["a"] + z["b"]

    return alta.program_spec(variables, {}, mlp, "out", a, b, name="added")


def multiplied(size=6):
    variables = {"a": alta.input_var(size), "b": alta.position_var(size), "out": alta.var(31), "on": alta.var(2)}

    def mlp(z):
        if z["on"] == 0:
            z["out"] = (z["a"] * z["b"]) % 31

    return alta.program_spec(variables, {}, mlp, "out", size, size, name="multiplied")


def test_variables_that_only_their_sum_matters_of_are_run_by_that_sum():
    program = added()
    found = updates(SeenUnits(kleene.compile(program), program))
    assert found.holds
    # each old value of `out`, each sum, and the values of `a` and `b`, which stay
    assert f"all {20 + 20 + 12 + 9} assignments" in found.detail


@pytest.mark.parametrize("program", [added(), multiplied()])
@pytest.mark.parametrize("rules", ["compact", "paper"])
def test_a_wrong_weight_of_any_unit_is_noticed(program, rules):
    network = kleene.compile(program, rules=rules)
    assert updates(SeenUnits(network, program)).holds
    chance = np.random.default_rng(0)
    for unit in chance.choice(len(network.mlp_bias), 12, replace=False):
        bias, out = np.array(network.mlp_bias), np.array(network.mlp_out)
        bias[unit] -= 2
        out[unit] *= -1
        for field, array in (("mlp_bias", bias), ("mlp_out", out)):
            broken = eqx.tree_at(lambda n, field=field: getattr(n, field), network, array)
            assert not updates(SeenUnits(broken, program)).holds, (unit, field)


def test_the_target_s_range_is_added_to_what_it_depends_on_and_not_multiplied_with_it():
    variables = {"a": alta.input_var(10), "b": alta.position_var(10), "out": alta.var(200)}

    def mlp(z):
        z["out"] = (z["a"] * z["b"]) % 97

    program = alta.program_spec(variables, {}, mlp, "out", 10, 10, name="large")
    found = updates(SeenUnits(kleene.compile(program), program))
    assert found.holds
    assert f"all {200 + 100 + 10 + 10:,} assignments" in found.detail


def test_what_is_too_much_to_run_is_said():
    program = multiplied()
    found = updates(SeenUnits(kleene.compile(program), program), most=10)
    assert "out: too many to run" in found.detail
