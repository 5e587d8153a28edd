"""Sums that are found in rules given by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene
from kleene.programs import alta
from kleene.programs.alta.cases import Case, View, act
from kleene.programs.alta.rules import cases_from_rules
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.table_sums import FREE, find_sum

VARIABLES = {"a": alta.input_var(6), "b": alta.var(5), "c": alta.var(4), "out": alta.var(8)}
HEADS = {"h": alta.v_relative("a", 1)}


def rules_of(function, *names):
    """The rules of a function of some variables' values that gives the new value of `out`, or None."""
    x = alta.MLPBuilder(VARIABLES, HEADS)
    for values in x.get(*names):
        new = function(*values)
        if new is not None:
            x.set("out", new)
    return x.rules


def cases_of(rules, target="out"):
    domains = VARIABLES | {"h": VARIABLES["a"]}
    return cases_from_rules(rules, domains, HEADS).updates[target]


def sums_in(cases):
    tested = {f for c in cases for f, _ in c.where if isinstance(f, Sum)}
    return tested | {c.action.feature for c in cases if isinstance(getattr(c.action, "feature", None), Sum)}


def written(cases, names, values):
    codes = {n: np.array([v]) for n, v in zip(names, values)}
    found = [int(np.broadcast_to(act(c, codes), 1)[0]) for c in cases if View(codes).holds(c)[0]]
    assert len(found) < 2
    return found[0] if found else None


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda a, b, c: (a + b + c) % 8, "abc"),
        (lambda a, b, c: (a + b + c) // 4, "abc"),
        (lambda a, b: int(a < b), "ab"),
        (lambda a, b: abs(a - b), "ab"),
        (lambda a, b, c: 2 * c if a == b else None, "abc"),
        (lambda a, h: 7 if a == h else None, "ah"),
        (lambda a, b: (0, 3, 1, 5, 2, 7)[a] + b > 6, "ab"),
        (lambda a, b, c: min(a + b, 7) if c else a, "abc"),
    ],
)
def test_a_table_that_a_sum_explains_becomes_few_cases_and_writes_the_same(function, names):
    cases = cases_of(rules_of(function, *names))
    assert len(cases) <= 3
    assert sums_in(cases)
    for values in itertools.product(*(range(len(VARIABLES.get(n, VARIABLES["a"]).domain)) for n in names)):
        assert written(cases, names, values) == function(*values)


@pytest.mark.parametrize("function", [lambda a, b: a & b, lambda a, b: (3 * a * a + b * b) % 7])
def test_a_table_that_no_sum_explains_is_written_all_the_same(function):
    cases = cases_of(rules_of(function, "a", "b"))
    for a, b in itertools.product(range(6), range(5)):
        assert written(cases, "ab", (a, b)) == function(a, b)


@given(
    st.lists(st.integers(-4, 4), min_size=5, max_size=5),
    st.lists(st.integers(-4, 4), min_size=4, max_size=4),
    st.integers(-12, 12),
)
def test_any_threshold_on_a_sum_of_terms_is_explained_by_a_sum_or_left_alone(first, second, least):
    table = (np.add.outer(first, second) >= least).astype(np.int64)
    found = find_sum("bc", [range(5), range(4)], table, {"b": 5, "c": 4})
    if found is not None:
        total, values = found
        totals = np.add.outer(*(np.array(dict(total.terms)[n]) for n in "bc"))
        assert (np.vectorize(dict(values).get)(totals) == table).all()


def test_entries_that_may_be_anything_do_not_stand_in_the_way():
    total = np.add.outer(np.arange(5), np.arange(4))
    found = find_sum("bc", [range(5), range(4)], np.where(total < 5, total, FREE), {"b": 5, "c": 4})
    assert found is not None
    assert dict(found[0].terms) == {"b": tuple(range(5)), "c": tuple(range(4))}


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda b, c, h: 7 if b + c + h > 9 else None, "bch"),
        (lambda b, h, a: a if b == h and a < 5 else None, "bha"),
        (lambda b, c, h: 7 if (b + c + 3 * h) % 7 == 5 else None, "bch"),
    ],
)
def test_a_head_is_added_to_a_sum_only_where_some_rule_looks_at_it(function, names):
    """Where none does, the head may be undefined, and what it adds could be anything."""
    domains = VARIABLES | {"h": VARIABLES["a"]}
    found = cases_from_rules(rules_of(function, *names), domains, HEADS)
    rest = [n for n in names if n != "h"]
    for values in itertools.product(*(range(len(domains[n].domain)) for n in rest)):
        codes = {n: np.array([v]) for n, v in zip(rest, values)}
        looked = any(View(codes).holds(c)[0] for c in found.reads["h"])
        for c in found.updates["out"]:
            adds = any("h" in f.variables for f in sums_in([c]))
            others = [(f, s) for f, s in c.where if "h" not in (f if isinstance(f, str) else f.variables)]
            assert looked or not adds or not View(codes).holds(Case(tuple(others), c.action))[0]
    assert sums_in(found.updates["out"]) or names == "bch"


def test_a_program_of_rules_does_not_look_at_a_head_where_no_rule_does():
    """Rules that name the old value leave out where nothing changes: there the head may be undefined."""
    x = alta.MLPBuilder(VARIABLES, HEADS)
    for b, h, out in x.get("b", "h", "out"):
        if out < 2 and out != int(b + h > 7):
            x.set("out", int(b + h > 7))
    program = alta.program_spec_from_rules(VARIABLES, HEADS, x.rules, "out", 6, name="tested")
    report = kleene.check(program, samples=60, max_length=3)
    assert report, report.first_disagreement
    assert program.run([5, 5], max_layers=1).output == [0, 0]  # the last one's head is undefined, and not looked at


def test_a_program_of_rules_needs_no_more_units_than_its_function():
    def add(z):
        z["out"] = (z["a"] + z["b"] + z["c"]) % 8

    rules = rules_of(lambda a, b, c: (a + b + c) % 8, "a", "b", "c")
    by_rules = alta.program_spec_from_rules(VARIABLES, HEADS, rules, "out", 6)
    by_function = alta.program_spec(VARIABLES, HEADS, add, "out", 6)
    assert kleene.compile(by_rules).size == kleene.compile(by_function).size
