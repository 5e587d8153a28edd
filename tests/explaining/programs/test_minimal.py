"""The minimal version of a program: what a data set needs of it, and nothing else."""

import itertools
import random

import numpy as np
import pytest

import kleene
from kleene.errors import InputError, ProgramError, RunError
from kleene.explaining import minimal
from kleene.explaining.programs.constraints import SeenAssignments, spare, without_spare
from kleene.explaining.programs.rule_log import RuleLog
from kleene.explaining.programs.watching import watch
from kleene.programs import alta
from kleene.programs.alta.library import get, parity
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.programs.alta.rules import RuleSet
from kleene.programs.alta.variables import Numeric


def bits(longest: int, *front: int) -> list[list[int]]:
    """For every length, bits with every number of ones."""
    return [[*front, *[1] * k, *[0] * (n - k)] for n in range(1, longest + 1) for k in range(n + 1)]


@pytest.mark.parametrize(
    ("name", "front", "rules", "of"),
    [("parity_relative", (2,), 7, 7), ("parity_absolute", (), 7, 7), ("parity_sum_modulo", (2,), 31, 202)],
)
def test_minimal_parity_programs_have_the_rules_that_alta_counts(name, front, rules, of):
    found = minimal(get(name).build(), bits(20, *front))
    assert (len(found.rules), len(found.log.rules)) == (rules, of)


def test_addition_of_three_digits_needs_884_rules_and_adds_fifty():
    entry, rng = get("addition"), random.Random(0)
    program = entry.build()
    found = minimal(program, [entry.build().inputs.sample(rng, n) for n in (1, 2, 3) for _ in range(1_000)])
    assert (len(found.rules), len(found.log.rules)) == (884, 16_466)
    long = [entry.build().inputs.sample(rng, 50) for _ in range(20)]
    assert watch(found.program, long) == [entry.reference(tokens) for tokens in long]


@pytest.mark.parametrize("averaging", [False, True])
def test_a_minimal_program_does_on_its_inputs_what_the_program_does(averaging):
    for seed, program, inputs in random_programs(30, averaging=averaging):
        for constraints in (False,) if has_numbers(program) else (False, True):
            found = minimal(program, inputs, constraints=constraints)
            assert [found.program.run(t) for t in inputs] == [program.run(t) for t in inputs], seed
            assert (found.fired > 0).all()


def runnable(program, inputs):
    kept = []
    for tokens in inputs:
        try:
            program.run(tokens)
        except RunError:
            continue
        kept.append(tokens)
    return kept


def has_numbers(program):
    return any(isinstance(v, Numeric) for v in program.domains.values())


def random_programs(count: int, *, averaging: bool = False, categorical: bool = False):
    """Random programs that write something, each with its seed and with inputs that it runs on."""
    for seed in itertools.count():
        program = generate(seed, averaging=averaging).program
        inputs = runnable(program, random_inputs(random.Random(seed), program, 8, 4))
        if inputs and any(program.updates.values()) and not (categorical and has_numbers(program)):
            yield seed, program, inputs
            count -= 1
        if not count:
            return


def test_no_rule_and_no_constraint_more_can_be_dropped():
    """By brute force over every example of the MLP, as Definition 1 says it."""
    loosened = 0
    for seed, program, inputs in random_programs(25, categorical=True):
        found = minimal(program, inputs, constraints=True)
        examples = SeenAssignments(program)
        watch(program, inputs, examples.see)
        rules = [r for r in range(len(found.rules)) if found.rules.results[r] >= 0]
        before = outcomes(found.rules, rules, examples.array)
        for rule in rules:
            assert outcomes(found.rules, [r for r in rules if r != rule], examples.array) != before, seed
            for variable in np.flatnonzero(found.rules.antecedents[rule] >= 0):
                if variable == found.rules.targets[rule]:
                    continue
                kept = found.rules.antecedents[rule, variable]
                found.rules.antecedents[rule, variable] = -1
                changed = outcomes(found.rules, rules, examples.array) != before
                assert changed or overlapping(found.rules, rules, rule), (seed, rule, variable)
                found.rules.antecedents[rule, variable] = kept
        loosened += len(found.loosened)
    assert loosened > 20  # else nothing was tested


def outcomes(rules, chosen, examples):
    """For every example, which rules hold, where an undefined reading may be anything."""
    found = []
    for example in examples:
        asked = [(r, zip(rules.antecedents[r], example)) for r in chosen]
        found.append([r for r, pairs in asked if all(a in (-1, code) or code == -1 for a, code in pairs)])
    return found


def overlapping(rules, chosen, rule):
    mine = rules.antecedents[rule]
    others = [rules.antecedents[r] for r in chosen if r != rule and rules.targets[r] == rules.targets[rule]]
    return any(all(a in (-1, b) or b == -1 for a, b in zip(mine, other)) for other in others)


def test_rules_that_were_loosened_have_no_spare_constraint_but_those_that_keep_rules_apart():
    program = parity.relative()
    found = minimal(program, [[2, 1, 0]], constraints=True)
    assert found.loosened  # two bits do not show what every condition is for
    examples = SeenAssignments(program)
    watch(program, [[2, 1, 0]], examples.see)
    assert len(spare(found.rules, examples.array)) < len(spare(found.log.rules, examples.array))


def one_rule() -> RuleSet:
    """x := 1 where x = 0, a = 1 and b = 1."""
    return RuleSet(("x", "a", "b"), np.array([[0, 1, 1]], np.int32), np.array([0], np.int32), np.array([1], np.int32))


def test_a_constraint_that_is_spare_only_beside_another_stays_once_that_is_dropped():
    # No example misses by a alone or by b alone, but without both the rule would fire on the second.
    examples = np.array([[0, 1, 1], [0, 0, 0]], np.int16)
    assert spare(one_rule(), examples) == [(0, 1), (0, 2)]
    left, dropped = without_spare(one_rule(), examples)
    assert dropped == [(0, 1)]
    assert left.antecedents.tolist() == [[0, -1, 1]]


def test_an_undefined_reading_counts_as_satisfied_so_the_other_constraint_is_needed():
    examples = np.array([[0, 1, 1], [0, 0, -1]], np.int16)  # b could not be read
    assert without_spare(one_rule(), examples)[1] == [(0, 2)]


def test_the_rule_log_counts_firings_and_names_the_first_input():
    log = RuleLog(parity.relative())
    watch(log.program, [[2, 0], [2, 1, 1], [2, 1]], log.see)
    done = log.rules.variables.index("done")
    rule = np.flatnonzero((log.rules.targets == done) & (log.rules.results == 1))
    assert log.counts[rule].tolist() == [4]
    assert log.first[rule].tolist() == [0]
    lowered = (log.rules.targets == 0) & (log.rules.results == 0)
    assert (log.counts[lowered].tolist(), log.first[lowered].tolist()) == ([1], [1])


def test_unseen_tokens_and_positions_start_at_defaults():
    variables = {"seen": alta.input_var(4, default=0), "place": alta.position_var(6, default=5)}
    program = alta.program_spec(variables, {}, lambda z: None, "seen", 4, position_range=6, max_layers=0)
    found = minimal(program, [[0, 1], [2]])
    trace = found.program.run([3, 1, 2])
    assert trace.output == [0, 1, 2]
    assert trace["place"][0].tolist() == [0, 1, 5]
    assert (found.dropped_tokens, found.dropped_positions) == ((3,), (2, 3, 4, 5))


def test_a_minimal_program_compiles_and_is_checked():
    found = minimal(parity.sum_modulo(), bits(4, 2)).program
    assert kleene.compile(found).run([2, 1, 1, 1, 0]).output == [1] * 5
    assert kleene.check(found, samples=5)


def test_a_minimal_program_shows_itself():
    found = minimal(parity.sum_modulo(), bits(4, 2))
    assert repr(found) == "<Minimal parity_sum_modulo: 7 of 202 rules on 14 inputs>"
    assert "99 of 101 rules never fired" in str(found)
    assert "parity := 1 where parity = 0" in str(found)
    assert found._repr_html_().startswith("<pre>parity_sum_modulo: 7 of 202")
    told = found.as_json()
    assert (told["rules"], told["minimal_rules"], told["dropped"]["rules"]) == (202, 7, 195)
    assert sum(row["fired"] for row in told["log"] if row["rule"].startswith("empty average")) == sum(
        map(len, bits(4, 2))
    )
    assert "position" in str(minimal(parity.absolute(), bits(4)))


@pytest.mark.parametrize(
    ("inputs", "told"),
    [([], "the training set is empty"), ([[2, 1], [7]], "input 1 of the training set"), ([[2] + [1] * 200], "input 0")],
)
def test_bad_inputs_are_refused(inputs, told):
    with pytest.raises(InputError, match=told):
        minimal(parity.sum_modulo(), inputs)


def test_what_has_no_rules_is_refused():
    with pytest.raises(InputError, match="no transformer program"):
        minimal(kleene.DFA.from_regex("ab"), ["ab"])  # pyright: ignore[reportArgumentType]
    with pytest.raises(ProgramError, match="has numeric variables"):
        minimal(parity.sum_modulo(), [[2, 1]], constraints=True)
