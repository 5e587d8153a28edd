"""Programs of rules that are given, without a function."""

import itertools

import numpy as np
import pytest

from kleene.errors import ProgramError
from kleene.programs import alta
from kleene.programs.alta.cases import View
from tests.programs.alta.small_programs import (
    HEADS,
    VARIABLES,
    build_rules,
    written,
)


def test_leaving_a_loop_of_the_builder_by_break_leaves_nothing_in_scope():
    builder = alta.MLPBuilder(VARIABLES, HEADS)
    for a in builder.get("a"):
        if a == 1:
            break
    builder.set("b", 2)
    for a, b in builder.get("a", "b"):
        builder.set("b", a)
        if b == 1:
            break
    assert builder.rules[0] == alta.Rule((), "b", 2)
    assert all(dict(rule.antecedent).keys() == {"a", "b"} for rule in builder.rules[1:])


def test_the_builder_refuses_an_unknown_variable_a_value_out_of_range_and_a_name_already_in_scope():
    builder = alta.MLPBuilder(VARIABLES, HEADS)
    with pytest.raises(ProgramError, match="no variable 'c'"):
        next(builder.get("c"))
    with pytest.raises(ProgramError, match="out of range"):
        builder.set("a", 4)
    with pytest.raises(ProgramError, match="output of a head"):
        builder.set("h", 0)
    for _ in builder.get("a"):
        with pytest.raises(ProgramError, match="already in scope"):
            next(builder.get("a"))


def test_rules_that_conflict_are_both_named():
    rules = alta.Rule((("a", 0),), "b", 1), alta.Rule((("n", 0), ("b", 2)), "b", 3)
    with pytest.raises(ProgramError, match="two rules conflict") as raised:
        build_rules(*rules)
    assert all(text in str(raised.value) for text in ("b := 1 where a = 0", "b := 3 where"))


def test_the_same_antecedent_with_two_results_is_a_conflict_in_any_order_of_its_conditions():
    with pytest.raises(ProgramError, match="two rules conflict"):
        build_rules(alta.Rule((("a", 0), ("n", 1)), "b", 1), alta.Rule((("n", 1), ("a", 0)), "b", 2))


def test_a_rule_given_twice_counts_once():
    rule = alta.Rule((("a", 0),), "b", 1)
    assert build_rules(rule, rule).updates == build_rules(rule).updates


def test_rules_that_overlap_with_the_same_result_become_disjoint_cases():
    program = build_rules(alta.Rule((("a", 0),), "b", 1), alta.Rule((("n", 1),), "b", 1), alta.Rule((), "a", 2))
    for a, n in itertools.product(range(4), range(3)):
        codes = {name: np.array([{"a": a, "n": n}.get(name, 0)]) for name in program.domains}
        assert sum(int(View(codes).holds(c)[0]) for c in program.updates["b"]) == (a == 0 or n == 2)
        assert written(program, "b", a=a, n=n) == (a == 0 or n == 2)


def test_a_rule_that_asks_two_values_of_one_variable_is_refused_or_never_holds():
    try:
        program = build_rules(alta.Rule((("a", 0), ("a", 1)), "b", 2))
    except ProgramError:
        return
    assert [written(program, "b", a=a) for a in range(4)] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "rule",
    [
        alta.Rule((("c", 0),), "a", 0),
        alta.Rule((("a", 4),), "a", 0),
        alta.Rule((), "a", 4),
        alta.Rule((), "c", 0),
        alta.Rule((), "h", 0),
    ],
)
def test_a_rule_about_what_is_not_there_is_refused(rule):
    with pytest.raises(ProgramError, match="tested"):
        build_rules(rule)
