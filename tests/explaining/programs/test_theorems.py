"""ALTA's theorems: derivatives against exact differences of the loss, minimality against dropping rules one by one."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from kleene.compiling.alta.compiler import passes
from kleene.errors import InputError
from kleene.explaining.programs import MLPPairs, check_minimality, minimal, mlp_pairs
from kleene.programs.alta.library import addition, get, parity
from kleene.programs.alta.rules import Rule

NAMES = ("x", "y", "a")
PENALTIES = ("l1", "l2")


def words(most: int) -> list[list[int]]:
    """All bit words of 1 to `most` bits after START."""
    return [[2, *w] for n in range(1, most + 1) for w in itertools.product((0, 1), repeat=n)]


def rule(variable: str, value: int, **antecedent: int) -> Rule:
    return Rule(tuple(antecedent.items()), variable, value)


def holds(antecedent: tuple, assignment: dict) -> bool:
    return all(assignment[n] == v for n, v in antecedent)


def compatible(one: Rule, other: Rule) -> bool:
    """Whether some assignment lets both set one variable."""
    shared = dict(one.antecedent).keys() & dict(other.antecedent).keys()
    agree = all(dict(one.antecedent)[n] == dict(other.antecedent)[n] for n in shared)
    return one.variable == other.variable and agree


@st.composite
def rule_sets(draw) -> tuple[list[Rule], MLPPairs]:
    """Rules in the paper's form over three variables, and some of all assignments with what the rules make of them."""
    sizes = {name: draw(st.integers(2, 3)) for name in NAMES}
    values = {name: st.integers(0, size - 1) for name, size in sizes.items()}
    rules: list[Rule] = []
    for _ in range(draw(st.integers(1, 4))):
        target = draw(st.sampled_from(["x", "y"]))
        tested = draw(st.sets(st.sampled_from(NAMES))) | {target}
        antecedent = {n: draw(values[n]) for n in NAMES if n in tested}
        new = (antecedent[target] + draw(st.integers(1, sizes[target] - 1))) % sizes[target]
        found = rule(target, new, **antecedent)
        if not any(compatible(found, other) for other in rules):
            rules.append(found)
    assignments = [dict(zip(NAMES, codes)) for codes in itertools.product(*(range(s) for s in sizes.values()))]
    if draw(st.booleans()):  # often few examples, so that something is not needed; else all or nearly all
        chosen = draw(st.lists(st.sampled_from(assignments), min_size=1, max_size=8))
    else:
        left_out = draw(st.sets(st.integers(0, len(assignments) - 1), max_size=3))
        chosen = [a for i, a in enumerate(assignments) if i not in left_out]
    return rules, MLPPairs.of([(a, applied(rules, a)) for a in chosen])


def applied(rules: list[Rule], assignment: dict) -> dict:
    return assignment | {r.variable: r.value for r in rules if holds(r.antecedent, assignment)}


Effects = list[tuple[tuple, str, int, int]]  # constraints, variable, the value that goes, the value that comes


def effects(rules: list[Rule]) -> Effects:
    return [(r.antecedent, r.variable, dict(r.antecedent)[r.variable], r.value) for r in rules]


def residual(effects: Effects, assignment: dict) -> dict:
    """What the residual stream holds: each effect takes one value out and puts another in."""
    stream = dict.fromkeys(assignment.items(), 1)
    for antecedent, name, old, new in effects:
        if holds(antecedent, assignment):
            stream[name, old] = stream.get((name, old), 0) - 1
            stream[name, new] = stream.get((name, new), 0) + 1
    return {feature: amount for feature, amount in stream.items() if amount}


def dropped_one_by_one(rules: list[Rule], pairs: MLPPairs) -> set[tuple[int, str | None]]:
    """Definition 1 by trial: the rules, and the constraints of the other rules, whose loss no pair shows."""
    assignments = [dict(zip(pairs.variables, row)) for row in pairs.inputs.tolist()]
    whole = effects(rules)

    def same(changed: Effects) -> bool:
        return all(residual(changed, a) == residual(whole, a) for a in assignments)

    found: set[tuple[int, str | None]] = set()
    for r, (antecedent, *rest) in enumerate(whole):
        if same(whole[:r] + whole[r + 1 :]):
            found.add((r, None))
            continue
        for constraint in antecedent:
            weaker = (tuple(c for c in antecedent if c != constraint), *rest)
            if same([*whole[:r], weaker, *whole[r + 1 :]]):
                found.add((r, f"{constraint[0]} = {constraint[1]}"))
    return found


def some_alpha(rules: list[Rule], penalty: str, percent: int) -> Fraction:
    """A weight of the penalty within ALTA's bounds."""
    largest = max(1, *(len(r.antecedent) - 1 for r in rules))
    return Fraction(percent, 100) * (1 if penalty == "l1" else Fraction(1, 2 * largest))


@settings(max_examples=300, deadline=None)
@given(rule_sets(), st.sampled_from(PENALTIES))
def test_definition_1_agrees_with_dropping_rules_and_constraints_one_by_one(case, penalty):
    rules, pairs = case
    check = check_minimality(rules, pairs, penalty)
    assert {(u.rule, u.constraint) for u in check.unneeded} == dropped_one_by_one(rules, pairs)


@settings(max_examples=300, deadline=None)
@given(rule_sets(), st.sampled_from(PENALTIES), st.integers(1, 99))
def test_theorem_2_holds_and_joint_moves_show_exactly_what_is_not_minimal(case, penalty, percent):
    rules, pairs = case
    check = check_minimality(rules, pairs, penalty, some_alpha(rules, penalty, percent))
    minimal = not dropped_one_by_one(rules, pairs)
    event(f"minimal {minimal}, coordinate optimum {check.coordinate_optimum}")
    assert check.theorem_2
    assert check.joint_optimum == minimal


@settings(max_examples=300, deadline=None)
@given(rule_sets(), st.sampled_from(PENALTIES), st.integers(1, 99))
def test_coordinates_alone_show_rules_that_never_fire_or_never_nearly_fire(case, penalty, percent):
    rules, pairs = case
    assignments = [dict(zip(pairs.variables, row)) for row in pairs.inputs.tolist()]

    def failures(r: Rule) -> set[int]:
        return {sum(a[n] != v for n, v in r.antecedent) for a in assignments}

    kept = all(0 in failures(r) and (1 in failures(r) or len(r.antecedent) == 1) for r in rules)
    alpha = some_alpha(rules, penalty, percent)
    assert check_minimality(rules, pairs, penalty, alpha).coordinate_optimum == kept


# --- the derivatives, against the loss itself ---------------------------------------------------------------------


SCALE = 7  # weights are integers over 7 here, so that a move is 1/7 and everything stays exact


def loss(check, inputs: np.ndarray, bias: np.ndarray, outputs: np.ndarray) -> Fraction:
    """The regularised loss of W¹, b¹ and W², given times SCALE, by running the network."""
    form, right = check.form, check.slopes.weights
    z = np.array([[int(row[v] == code) for v, code in form.features] for row in form.pairs.inputs.tolist()])
    made = np.clip(z @ inputs.T + bias, 0, SCALE) @ outputs
    wanted = np.clip(z @ right.inputs.T + right.bias, 0, 1) @ right.outputs
    wrong = int(form.pairs.counts @ np.abs(made - SCALE**2 * wanted).sum(axis=1))
    parameters = np.concatenate([a.ravel() for a in (inputs, bias, outputs)])
    size = Fraction(int(np.abs(parameters).sum()), SCALE)
    square = Fraction(int((parameters**2).sum()), SCALE**2)
    return Fraction(wrong, SCALE**2) + check.alpha * (size if check.penalty == "l1" else square)


def rise(check, *moves: tuple[int, tuple[int, ...], int]) -> Fraction:
    """By how much the loss rises if entries of (W¹, b¹, W²) move by ±1/SCALE at once, over the length of the move."""
    weights = check.slopes.weights
    here = [SCALE * a for a in (weights.inputs, weights.bias, weights.outputs)]
    there = [a.copy() for a in here]
    for group, at, sign in moves:
        there[group][at] += sign
    return (loss(check, *there) - loss(check, *here)) * SCALE


@settings(max_examples=60, deadline=None)
@given(rule_sets(), st.sampled_from(PENALTIES))
def test_each_derivative_is_the_exact_difference_of_the_loss(case, penalty):
    check = check_minimality(*case, penalty)
    alpha, slopes = check.alpha, check.slopes
    square = alpha / SCALE if penalty == "l2" else 0  # (w + ε)² - w² = 2wε + ε²
    for group, family in enumerate((slopes.inputs, slopes.bias, slopes.outputs)):
        for at in np.ndindex(family.left.shape):
            assert family.total(alpha, at) == (
                square - rise(check, (group, at, -1)),
                rise(check, (group, at, 1)) - square,
            )
    for r, k in np.argwhere(slopes.weights.inputs == 1).tolist():
        along, against = (rise(check, (0, (r, k), -sign), (1, (r,), sign)) for sign in (1, -1))
        assert slopes.joint.total(alpha, (r, k)) == (2 * square - against, along - 2 * square)


# --- cases by hand ------------------------------------------------------------------------------------------------

ONE_RULE = [rule("x", 1, x=0, a=1)]


def one_rule_pairs(*given: tuple[int, int]) -> MLPPairs:
    return MLPPairs.of([({"x": x, "a": a}, {"x": 1 if a else x, "a": a}) for x, a in given])


@pytest.mark.parametrize("penalty", PENALTIES)
def test_theorem_1_fails_where_one_constraint_is_needed_and_another_is_not(penalty):
    """a is 1 in both examples, so `a = 1` is not needed; but no coordinate alone can be improved."""
    check = check_minimality(ONE_RULE, one_rule_pairs((0, 1), (1, 1)), penalty)
    assert [u.constraint for u in check.unneeded] == ["a = 1"]
    assert check.coordinate_optimum
    assert not check.theorem_1
    assert [(i.move, i.slope) for i in check.joint] == [("lowering the weight of a = 1 and raising the bias", -1)]


def test_theorem_1_holds_where_a_rule_never_fires():
    check = check_minimality(ONE_RULE, one_rule_pairs((1, 1), (0, 0)))
    assert [u.constraint for u in check.unneeded] == [None]
    assert ("raising the output weight on x = 0", Fraction(-1, 2)) in [(i.move, i.slope) for i in check.coordinates]
    assert {i.shows for i in check.coordinates} == {"it never fires"}
    assert check.theorem_1


def test_a_minimal_rule_set_is_an_optimum():
    check = check_minimality(ONE_RULE, one_rule_pairs((0, 1), (1, 1), (0, 0)))
    assert check.minimal
    assert check.joint_optimum
    assert check.as_json()["coordinates"] == []


def test_a_constraint_of_a_rule_with_no_other_is_flat_and_not_a_strict_optimum():
    check = check_minimality([rule("x", 1, x=0)], MLPPairs.of([({"x": 0}, {"x": 1})]), "l1")
    assert [i.slope for i in check.joint] == [0]
    assert not check.minimal
    assert not check.joint_optimum


def test_with_squared_l2_a_weight_of_zero_may_have_slope_zero_and_still_be_strict():
    """Proposition 1 does not cover this: the second derivative decides."""
    check = check_minimality(ONE_RULE, one_rule_pairs((0, 1), (1, 1), (0, 0)), "l2")
    k = check.form.features.index((1, 0))  # a = 0 is never on where the rule fires
    assert check.slopes.inputs.total(check.alpha, (0, k))[0] == 0
    assert check.coordinate_optimum


@pytest.mark.parametrize("penalty", PENALTIES)
def test_parity_is_minimal_on_words_of_three_bits_and_not_on_two(penalty):
    program = parity.relative()
    assert check_minimality(program, mlp_pairs(program, words(3)), penalty).joint_optimum
    short = check_minimality(program, mlp_pairs(program, words(2)), penalty)
    assert {u.constraint for u in short.unneeded} == {"done = 0"}
    assert not short.theorem_1


def test_a_single_word_leaves_parity_rules_that_never_fire():
    program = parity.relative()
    check = check_minimality(program, mlp_pairs(program, [[2, 0]]))
    assert [u.constraint for u in check.unneeded] == [None, None, "done = 0", "done_left = 1"]
    assert not check.coordinate_optimum


@pytest.mark.parametrize("name", ["parity_relative", "addition"])
def test_the_weights_are_those_that_the_compiler_makes(name):
    program = get(name).build()
    given = [[2, 1, 0]] if name == "parity_relative" else [addition.tokens("7", "5")]
    check = check_minimality(program, mlp_pairs(program, given))
    made = passes(program, rules="paper")
    columns = [made.features.columns[check.form.rules.variables[v]][code] for v, code in check.form.features]
    rules = len(check.form.rules)
    assert np.array_equal(made.mlp.inputs[columns][:, :rules].T, check.slopes.weights.inputs)
    assert np.array_equal(made.mlp.bias[:rules], check.slopes.weights.bias)
    assert np.array_equal(made.mlp.outputs[:rules][:, columns], check.slopes.weights.outputs)


@pytest.mark.slow
def test_no_coordinate_shows_that_addition_has_constraints_that_no_example_needs():
    program = get("addition").build()
    inputs = [addition.tokens(str(a), str(b)) for a in range(100) for b in range(100)]
    check = check_minimality(minimal(program, inputs).rules, mlp_pairs(program, inputs))
    assert (len(check.form.rules), np.count_nonzero(check.form.rules.antecedents >= 0)) == (842, 4258)
    assert len(check.unneeded) == len(check.joint) == 1578
    assert check.coordinate_optimum


def test_no_rules_at_all_are_minimal():
    assert check_minimality([], [({"x": 1}, {"x": 1})]).joint_optimum


def test_counts_weigh_the_derivatives_and_not_the_answer():
    once, often = (check_minimality(ONE_RULE, one_rule_pairs(*[(0, 1)] * n, (1, 1), (0, 0))) for n in (1, 5))
    assert often.slopes.bias.left[0] == 5 * once.slopes.bias.left[0]
    assert once.joint_optimum
    assert often.joint_optimum


def test_theorem_2_fails_if_only_rule_sets_that_keep_to_appendix_b_1_count():
    """No constraint of the first rule can go: without a = 0 it meets the second rule, without b = 0 the third.

    But nothing in the data set needs either one, and its bias can be raised.
    """
    rules = [rule("x", 1, x=0, a=0, b=0), rule("x", 2, x=0, a=1, c=0), rule("x", 3, x=0, b=1, c=1)]
    given = [dict(x=0, a=a, b=b, c=c) for a, b, c in ((0, 0, 0), (1, 1, 0), (1, 1, 1))]
    pairs = MLPPairs.of([(a, applied(rules, a)) for a in given])
    check = check_minimality(rules, pairs)
    kept_apart = []
    for unneeded in check.unneeded:
        name = unneeded.constraint.split(" ")[0]
        if name != "x":  # every rule names the old value of what it sets
            weaker = rules[unneeded.rule]
            weaker = rule(weaker.variable, weaker.value, **{n: v for n, v in weaker.antecedent if n != name})
            kept_apart.append(any(compatible(weaker, other) for other in rules if other != rules[unneeded.rule]))
    assert kept_apart
    assert all(kept_apart)
    assert ("raising the bias", 0) in {(i.move, i.rule) for i in check.coordinates}


def test_read_as_an_assignment_parity_would_not_need_that_done_is_0():
    with_old, without = rule("done", 1, done=0, done_left=1), rule("done", 1, done_left=1)
    for done, left in itertools.product((0, 1), (0, 1, None)):
        given = {"done": done, "done_left": left}
        assert applied([with_old], given) == applied([without], given)


def test_the_minimal_version_drops_constraints_that_the_check_names_unless_they_guard_what_is_undefined():
    program = parity.relative()
    dropped = {(r.value, v) for r, v in minimal(program, words(2), constraints=True).loosened}
    check = check_minimality(program, mlp_pairs(program, words(2)))
    named = {(int(check.form.rules.results[u.rule]), u.constraint.split(" ")[0]) for u in check.unneeded}
    assert named == {(0, "done"), (1, "done")}
    assert dropped == {(0, "done")}  # at START parity is 0, and nothing is to the left: `done = 0` keeps a rule off it


# --- refusals -----------------------------------------------------------------------------------------------------

GOOD = one_rule_pairs((0, 1))


@pytest.mark.parametrize(
    ("rules", "pairs", "options", "message"),
    [
        (ONE_RULE, [], {}, "there are no pairs"),
        (parity.relative(), mlp_pairs(parity.relative(), []), {}, "there are no pairs"),
        (ONE_RULE, [({}, {})], {}, "name no variables"),
        (ONE_RULE, [({"x": 0, "a": -2}, {"x": 0, "a": -2})], {}, "'a' is -2 in a pair"),
        (ONE_RULE, MLPPairs.of([({"x": 0, "a": 1}, {"x": 0, "a": 1})]), {}, "they make x 1, and the pair says 0"),
        ([*ONE_RULE, rule("x", 1, x=0)], GOOD, {}, "two rules can set one variable at once"),
        ([*ONE_RULE, *ONE_RULE], GOOD, {}, "two rules can set one variable at once"),
        ([rule("x", 1, a=1)], GOOD, {}, "does not name the old value"),
        ([rule("x", 0, x=0)], GOOD, {}, "sets what is so already"),
        ([rule("x", 1, x=0, b=1)], GOOD, {}, "names 'b'"),
        ([rule("x", 1, x=0, a=0.5)], GOOD, {}, "0.5 is no category"),
        ([Rule((("x", 0), ("x", 1)), "x", 1)], GOOD, {}, "tests one variable twice"),
        (ONE_RULE, GOOD, {"penalty": "l3"}, "penalty is 'l3'"),
        (ONE_RULE, GOOD, {"alpha": 1}, "less than 1"),
        (ONE_RULE, GOOD, {"alpha": "1/2", "penalty": "l2"}, "less than 1/2"),
        (ONE_RULE, GOOD, {"alpha": "little"}, "a fraction such as"),
        (parity.relative(), GOOD, {}, "the rules name parity"),
        (parity.sum_modulo(), GOOD, {}, "assume categorical variables, and 'start', 'average' are not"),
        (parity.relative(), MLPPairs.of([(dict.fromkeys(parity.relative().domains, 2),) * 2]), {}, "'parity' is 2"),
    ],
)  # fmt: skip
def test_what_the_theorems_do_not_cover_is_refused(rules, pairs, options, message):
    with pytest.raises(InputError, match=message):
        check_minimality(rules, pairs, **options)


def test_pairs_of_a_program_with_numbers_are_refused():
    with pytest.raises(InputError, match="assume categorical variables, and 'start', 'average' are not"):
        mlp_pairs(parity.sum_modulo(), [[2, 1]])


def test_pairs_that_name_different_variables_are_refused():
    with pytest.raises(InputError, match="another x"):
        MLPPairs.of([({"x": 0, "a": 1}, {"x": 1})])
