"""The cases and rules that are derived from an MLP against the MLP itself."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import ProgramError
from kleene.programs import alta
from kleene.programs.alta.cases import View, act
from kleene.programs.alta.random_programs import GeneratedProgram, generate
from tests.programs.alta.small_programs import Looked, agrees, build, by_the_function, refusal, written

seeds = st.integers(0, 2**32 - 1)


def assignments(generated: GeneratedProgram, most: int = 150) -> list[dict[str, int]]:
    """Codes for all variables and heads: every combination, or a random choice where there are too many."""
    sizes = generated.program.sizes
    if math.prod(sizes.values()) <= most:
        return [dict(zip(sizes, codes)) for codes in itertools.product(*map(range, sizes.values()))]
    rng = random.Random(generated.seed)
    return [{n: rng.randrange(size) for n, size in sizes.items()} for _ in range(most)]


def columns(rows: list[dict[str, int]]) -> dict[str, np.ndarray]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_the_cases_write_what_the_function_writes_and_never_overlap(seed):
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


def test_pattern_matching_and_numpy_tables_mean_what_they_do():
    table = np.array([3, 2, 1, 0])

    def mlp(z):
        match z["a"]:
            case 0 | 1:
                z["a"] = table[z["b"]]
            case 3:
                z["b"] = np.int64(1) + z["b"] // 2

    assert agrees(mlp)
