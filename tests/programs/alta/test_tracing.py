"""The cases and rules that are derived from an MLP against the MLP itself, and what the tracer refuses."""

import inspect
import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import ProgramError, TracingError
from kleene.programs import alta
from kleene.programs.alta import tracing
from kleene.programs.alta.interpreter import View
from kleene.programs.alta.random_programs import GeneratedProgram, generate
from kleene.programs.alta.reference import run_mlp
from kleene.programs.alta.rules import act

seeds = st.integers(0, 2**32 - 1)


class Looked(Exception):
    """Raised where the MLP looks at a head that is undefined."""


def assignments(generated: GeneratedProgram, most: int = 150) -> list[dict[str, int]]:
    """Codes for all variables and heads: every combination, or a random choice where there are too many."""
    sizes = generated.program.sizes
    if math.prod(sizes.values()) <= most:
        return [dict(zip(sizes, codes)) for codes in itertools.product(*map(range, sizes.values()))]
    rng = random.Random(generated.seed)
    return [{n: rng.randrange(size) for n, size in sizes.items()} for _ in range(most)]


def by_the_function(program: alta.Program, codes: dict[str, int], undefined=()) -> dict[str, int]:
    """The codes of all variables after the MLP was run as it was written."""
    values = {n: program.domains[n].domain[c] for n, c in codes.items() if n not in undefined}
    written = run_mlp(program, values, dict.fromkeys(undefined, Looked))
    return {n: program.variables[n].code(written[n]) if n in written else codes[n] for n in program.variables}


def columns(rows: list[dict[str, int]]) -> dict[str, np.ndarray]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_the_traced_cases_write_what_the_function_writes_and_never_overlap(seed):
    generated = generate(seed)
    program, rows = generated.program, assignments(generated)
    expected = columns([by_the_function(program, row) for row in rows])
    codes = columns(rows)
    for target in program.variables:
        found, times = codes[target].copy(), np.zeros(len(rows), dtype=int)
        for c in program.updates.get(target, ()):
            holds = View(codes).holds(c)
            np.copyto(found, act(c, codes), where=holds)
            times += holds
        wrong = np.flatnonzero(found != expected[target])
        assert not len(wrong), f"{target!r} is wrong at {rows[wrong[0]]}; seed {seed}\n\n{generated.source}"
        assert times.max() <= 1, f"two cases of {target!r} hold at {rows[times.argmax()]}; seed {seed}"


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_the_paper_rules_write_what_the_function_writes(seed):
    generated = generate(seed)
    program, rows = generated.program, assignments(generated, 40)
    rules = program.rules()
    for row in rows:
        codes = np.array([row[n] for n in rules.variables])
        fires = ((rules.antecedents == -1) | (rules.antecedents == codes)).all(axis=1)
        targets = rules.targets[fires]
        assert len(set(targets.tolist())) == len(targets), f"two rules fire at once at {row}; seed {seed}"
        after = row | {rules.variables[t]: int(new) for t, new in zip(targets, rules.results[fires])}
        expected = by_the_function(program, row) | dict.fromkeys(program.heads, -1)
        assert after == expected, f"at {row}; seed {seed}\n\n{generated.source}"


@settings(max_examples=150, deadline=None)
@given(seeds)
def test_the_cases_that_read_heads_hold_exactly_where_the_function_looks_at_an_undefined_head(seed):
    generated = generate(seed)
    program, rng = generated.program, random.Random(seed)
    for row in assignments(generated, 40):
        undefined = {h for h in program.heads if rng.random() < 0.6}
        try:
            by_the_function(program, row, undefined)
            looked = False
        except Looked:
            looked = True
        codes = {n: np.array([-1 if n in undefined else c]) for n, c in row.items()}
        view = View(codes, {h: np.array([h in undefined]) for h in program.heads})
        found = any(view.holds(c)[0] for h in undefined for c in program.reads.get(h, ()))
        assert found == looked, f"at {row} with {undefined} undefined; seed {seed}\n\n{generated.source}"


VARIABLES = {
    "a": alta.input_var(4),
    "b": alta.var(4, position_init_fn=lambda i: i % 4),
    "n": alta.numeric_var([0, 1 / 3, 1]),
    "s": alta.set_var(4, [{0}, {1, 2}, {0, 1, 2, 3}]),
}
HEADS = {"h": alta.v_relative("a", 1)}


def build(mlp) -> alta.Program:
    return alta.program_spec(VARIABLES, HEADS, mlp, "a", 4, 8, name="tested")


def build_rules(*rules: alta.Rule) -> alta.Program:
    return alta.program_spec_from_rules(VARIABLES, HEADS, rules, "a", 4, 8, name="tested")


def refusal(mlp, *, line: int | None = None, kind=ProgramError) -> str:
    """The error that the function is refused with; `line` counts from the line of its `def`."""
    with pytest.raises(kind) as raised:
        build(mlp)
    if line is not None:
        assert f"line {inspect.getsourcelines(mlp)[1] + line}:" in str(raised.value)
    return str(raised.value)


def written(program: alta.Program, name: str, **codes: int) -> int:
    """The code of a variable after the traced MLP, other variables being 0."""
    arrays = {n: np.array([codes.get(n, 0)]) for n in program.domains}
    for c in program.updates.get(name, ()):
        if View(arrays).holds(c)[0]:
            return int(np.broadcast_to(act(c, arrays), 1)[0])
    return codes.get(name, 0)


def agrees(mlp) -> bool:
    """Whether the traced function writes what the function itself writes, wherever it is asked."""
    program = build(mlp)
    for codes in itertools.product(*map(range, program.sizes.values())):
        row = dict(zip(program.sizes, codes))
        expected = by_the_function(program, row)
        if any(written(program, n, **row) != expected[n] for n in program.variables):
            return False
    return True


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


def test_reads_give_the_values_from_before_the_function_whatever_was_written():
    def mlp(z):
        z["a"], z["b"] = z["b"], z["a"]
        z["b"] = z["a"]

    program = build(mlp)
    assert (written(program, "a", a=1, b=2), written(program, "b", a=1, b=2)) == (2, 1)


def test_the_third_argument_of_pow_is_the_modulus():
    def mlp(z):
        z["a"] = pow(z["a"], 2, 4)

    assert agrees(mlp)


def test_large_numbers_on_the_way_do_not_overflow():
    def mlp(z):
        z["a"] = (z["a"] + 2**62) * 2 % 5 % 4
        z["b"] = (z["b"] + 2**70) % 3

    assert agrees(mlp)


def test_sets_that_are_computed_may_be_decided_on():
    def mlp(z):
        z["a"] = len({1, 3} - z["s"])
        z["b"] = len(z["s"] & {0, 1})

    assert agrees(mlp)


def test_a_lookup_by_sum_survives_narrower_conditions_on_its_variables():
    def mlp(z):
        if abs(z["a"] - z["b"]) <= 1:
            z["a"] = (z["a"] - z["b"]) % 4
        elif z["b"] == 0:
            z["a"] = 1

    assert agrees(mlp)


def test_a_lookup_by_sum_is_merged_with_cases_that_list_sums_it_cannot_reach():
    variables = {"a": alta.input_var(2), "c": alta.position_var(4), "d": alta.var(5)}

    def mlp(z):
        distance = max(0, min(abs(z["a"] - z["c"]), 4))
        z["d"] = 4 if z["c"] == 0 else distance

    program = alta.program_spec(variables, {}, mlp, "d", 2, 4)
    assert program.run([0, 1, 0, 0]).output == [4, 0, 2, 3]


def test_an_array_is_not_taken_for_the_table_of_a_variable():
    table = np.array([3, 2, 1, 0])

    def mlp(z):
        z["a"] = table + z["a"]

    refusal(mlp, line=1)


def test_a_bad_initial_value_is_refused_naming_the_variable():
    variables = {"a": alta.input_var(2), "n": alta.numeric_var([0, 1], input_init_fn=lambda x: "one")}
    with pytest.raises(ProgramError, match="variable 'n'"):
        alta.program_spec(variables, {}, lambda z: None, "a", 2)


def test_pattern_matching_and_numpy_tables_are_traced():
    table = np.array([3, 2, 1, 0])

    def mlp(z):
        match z["a"]:
            case 0 | 1:
                z["a"] = table[z["b"]]
            case 3:
                z["b"] = np.int64(1) + z["b"] // 2

    assert agrees(mlp)


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
