"""Undefined heads: a wrong guard is found by running it, and so is a unit or a case that acts on what is undefined."""

import dataclasses

import equinox as eqx
import numpy as np
import pytest

import kleene
from kleene.compiling.alta.conditions.undefined import undefined
from kleene.compiling.alta.conditions.units import SeenUnits
from kleene.programs import alta
from kleene.programs.alta.library import get


def guarded(tokens=2):
    """Reads the one position with the same token, and looks at it only where `use` is 1."""

    def mlp(z):
        if z["use"] == 1:
            z["out"] = z["other"]

    variables = {
        "token": alta.input_var(tokens),
        "use": alta.var(2, input_init_fn=lambda t: t == 1),
        "out": alta.var(2),
    }
    variables |= {"one": alta.var(2, default=1)}
    return alta.program_spec(
        variables, {"other": alta.qkv("token", "token", "one")}, mlp, "out", tokens, name="guarded"
    )


def test_guards_of_compiled_networks_are_right():
    for program in (guarded(), get("sort").build(), get("most_frequent_sort").build()):
        assert undefined(SeenUnits(kleene.compile(program), program)).holds


@pytest.mark.parametrize("field", ["rows", "least", "conditions", "mentions", "guards", "guarded"])
def test_a_wrong_probe_is_found_without_comparing_it(field):
    program = guarded()
    network = kleene.compile(program)
    array = np.array(getattr(network.probe, field))
    first = (0,) * array.ndim
    array[first] = -array[first] if field == "conditions" else array[first] + 1
    broken = eqx.tree_at(lambda n: getattr(n.probe, field), network, array)
    assert not undefined(SeenUnits(broken, program)).holds


def test_a_unit_that_acts_on_an_undefined_head_is_found():
    program = guarded()
    network = kleene.compile(program)
    head = network.layout.segment("other").start
    units = np.flatnonzero(
        (network.mlp_in[head : head + 2] != 0).any(axis=0) & (network.mlp_out[:, :-2] != 0).any(axis=1)
    )
    bias = np.array(network.mlp_bias)
    bias[units] += 2  # one literal may fail
    found = undefined(SeenUnits(eqx.tree_at(lambda n: n.mlp_bias, network, bias), program))
    assert not found.holds
    assert "acts on 'other', undefined, where the program does not look at it: " in found.detail
    assert "use = 0" in found.detail


def test_a_case_that_acts_where_nothing_looks_is_found():
    program = guarded()
    blind = dataclasses.replace(program, reads={})
    network = eqx.tree_at(lambda n: n.probe, kleene.compile(program), None)
    assert not undefined(SeenUnits(network, blind)).holds


def test_thresholds_that_the_number_type_rounds_are_found():
    sizes = {"a": alta.input_var(140), "b": alta.var(140, input_init_fn=lambda t: 139 - t), "out": alta.var(2)}

    def mlp(z):
        if z["a"] + z["b"] >= 201:
            z["out"] = z["other"]

    program = alta.program_spec(sizes, {"other": alta.v_relative("out", 1)}, mlp, "out", 140, name="sum")
    network = kleene.compile(program)
    least = np.array(network.probe.least)
    assert 200.5 in least
    narrow = eqx.tree_at(lambda n: n.probe.least, network, np.where(least == 200.5, 200, least).astype(np.float32))
    assert undefined(SeenUnits(network, program)).holds
    assert not undefined(SeenUnits(narrow, program)).holds


@pytest.mark.parametrize("rules", ["compact", "paper"])
def test_shares_of_many_equal_values_add_up_to_no_more_than_one(rules):
    """The weight of each of n positions is 1/n: n times that, rounded, exceeded 1, and the unit below it was on."""
    program = guarded()
    network = kleene.compile(program, rules=rules)
    for n in range(2, 90):
        assert network.run([0] * n, attention="softmax").difference(program.run([0] * n)) is None
