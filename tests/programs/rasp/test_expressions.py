"""RASP expressions: names, notes, operators, identity, and what is refused."""

import numpy as np
import pytest

from kleene.errors import ProgramError
from kleene.programs import rasp
from kleene.programs.rasp import RaspError
from kleene.programs.rasp.definition import RaspDefinition, vocabulary
from kleene.programs.rasp.graph import definitions

EVERYTHING = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.TRUE)


def test_names_are_those_of_tracr_until_others_are_given():
    made = rasp.Map(len, rasp.tokens)
    assert (made.name, made.label) == ("map", f"map_{made.unique_id}")
    assert made.named("lengths") is made
    assert (made.name, rasp.tokens.label) == ("lengths", "tokens")
    assert made.annotated(colour="red").annotations["colour"] == "red"
    assert len({rasp.Map(len, rasp.tokens).label for _ in range(5)}) == 5


def test_what_all_programs_share_is_copied_when_it_is_named():
    mine = rasp.numerical(rasp.tokens.named("mine"))
    assert (rasp.tokens.name, mine.name) == ("tokens", "mine")
    assert rasp.is_numerical(mine)
    assert rasp.is_categorical(rasp.tokens)
    assert mine("ab") == ["a", "b"]


def test_an_expression_is_frozen():
    made = rasp.Map(len, rasp.tokens)
    with pytest.raises(ProgramError, match="is frozen: make a new expression"):
        made.inner = rasp.indices


def test_a_copy_is_another_expression_with_the_same_meaning():
    made = (rasp.indices + 1).named("next")
    twin = made.copy()
    assert twin is not made
    assert twin.named("other").name == "other"
    assert made.name == "next"
    assert twin("ab") == made("ab")
    assert twin.unique_id != made.unique_id


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda x: x + 1, [1, 2, 3]),
        (lambda x: 1 + x, [1, 2, 3]),
        (lambda x: x - 1, [-1, 0, 1]),
        (lambda x: 1 - x, [1, 0, -1]),
        (lambda x: x * 2, [0, 2, 4]),
        (lambda x: 2 * x, [0, 2, 4]),
        (lambda x: x / 2, [0, 0.5, 1]),
        (lambda x: 6 / (x + 1), [6, 3, 2]),
        (lambda x: (x + 5) // 2, [2, 3, 3]),
        (lambda x: 7 // (x + 1), [7, 3, 2]),
        (lambda x: x % 2, [0, 1, 0]),
        (lambda x: 7 % (x + 2), [1, 1, 3]),
        (lambda x: x**2, [0, 1, 4]),
        (lambda x: 2**x, [1, 2, 4]),
        (lambda x: -x, [0, -1, -2]),
        (lambda x: abs(x - 1), [1, 0, 1]),
        (lambda x: ~x, [True, False, False]),
        (lambda x: x < 1, [True, False, False]),
        (lambda x: x <= 1, [True, True, False]),
        (lambda x: x > 1, [False, False, True]),
        (lambda x: x >= 1, [False, True, True]),
        (lambda x: x == 1, [False, True, False]),
        (lambda x: x != 1, [True, False, True]),
        (lambda x: 1 < x, [False, False, True]),  # noqa: SIM300
        (lambda x: x == x * x, [True, True, False]),
        (lambda x: x < x * x, [False, False, True]),
        (lambda x: x - x * x, [0, 0, -2]),
        (lambda x: (x > 0) & (x < 2), [False, True, False]),
        (lambda x: (x == 0) | (x == 2), [True, False, True]),
        (lambda x: x & 7, [0, 7, 7]),
        (lambda x: 7 & x, [0, 1, 2]),
        (lambda x: x | 7, [7, 1, 2]),
        (lambda x: 0 | x, [0, 1, 2]),
    ],
)
def test_operators_work_on_values_position_by_position(made, expected):
    assert made(rasp.indices)("abc") == expected
    assert made(rasp.indices.copy())("abc") == expected


def test_an_s_op_has_no_truth_value_so_that_a_forgotten_operator_is_found():
    with pytest.raises(ProgramError, match="is neither true nor false"):
        assert rasp.tokens == "a"


def test_none_passes_through_maps_and_is_refused_by_comparisons():
    before = rasp.Aggregate(rasp.Select(rasp.indices, rasp.indices, lambda k, q: k == q - 1), rasp.tokens)
    assert (before == "a")("ab") == [None, True]
    assert rasp.SequenceMap(lambda x, y: x + y, rasp.tokens, before)("ab") == [None, "ba"]
    with pytest.raises(RaspError, match=r"the Select 'same' .* has no value for None, 'a'.* the key is None"):
        rasp.Select(before, rasp.tokens, rasp.Comparison.EQ).named("same")("ab")
    assert rasp.Select(before, rasp.tokens, lambda k, q: k == q)("aa") == [[False, True], [False, True]]


def test_a_map_of_a_map_is_one_map_unless_told_otherwise():
    inner = rasp.Map(lambda x: None if x == "a" else x, rasp.tokens)
    assert rasp.Map(lambda x: x is None, inner)("ab") == [True, False]
    assert rasp.Map(lambda x: x is None, inner).inner is rasp.tokens
    assert rasp.Map(lambda x: x is None, inner, simplify=False)("ab") == [None, False]


def test_an_aggregate_gives_the_mean_a_single_value_or_the_default():
    upto = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LT)
    assert rasp.Aggregate(upto, rasp.tokens, default=-1)([2, 4, 9]) == [-1, 2, 3.0]
    assert rasp.Aggregate(EVERYTHING, rasp.tokens == "a")("ab") == [0.5, 0.5]
    assert rasp.Aggregate(EVERYTHING, rasp.tokens)("zz") == ["z", "z"]
    assert rasp.Aggregate(EVERYTHING, rasp.Full((1, "a")))("xy") == [(1, "a")] * 2
    with pytest.raises(RaspError, match="selects several values that have no mean: 'a', 'b'"):
        rasp.Aggregate(EVERYTHING, rasp.tokens)("ab")
    with pytest.raises(RaspError, match="have no mean: 1, None"):
        rasp.Aggregate(EVERYTHING, rasp.Map(lambda x: 1 if x == "a" else None, rasp.tokens))("ab")


def test_a_mean_of_floats_does_not_depend_on_their_order():
    mean = rasp.Aggregate(EVERYTHING, rasp.tokens)
    assert mean([0.1, 0.2, 0.3]) == mean([0.3, 0.2, 0.1])
    assert mean([0.1, 0.2, 0.3, 0.1, 0.2, 0.3])[0] == mean([0.1, 0.2, 0.3])[0]
    with pytest.raises(RaspError, match="numbers that have no finite mean"):
        mean([1.0, float("inf")])


def test_the_encoding_does_not_change_the_value():
    before = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ)
    values = [encoded(rasp.Aggregate(before, rasp.tokens))([2, 2, 5]) for encoded in (rasp.numerical, rasp.categorical)]
    assert values == [[2, 2, 3.0], [2, 2, 3.0]]
    assert [type(value) for value in values[0]] == [int, int, float]


def test_selectors_combine_as_their_rows_do():
    less = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LT)
    same = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
    given = "aba"
    one, other = np.array(less(given)), np.array(same(given))
    for simplify in (True, False):
        assert np.array_equal(rasp.selector_and(less, same, simplify)(given), one & other)
        assert np.array_equal(rasp.selector_or(less, same, simplify)(given), one | other)
        assert np.array_equal(rasp.selector_and(less, ~less, simplify)(given), one & ~one)
        assert np.array_equal(rasp.selector_not(same, simplify)(given), ~other)


def test_selectors_of_the_same_s_ops_become_one_and_constants_count_as_any():
    less = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LT)
    late = rasp.Select(rasp.indices, rasp.Full(1), rasp.Comparison.GEQ)
    both = less & late
    assert isinstance(both, rasp.Select)
    assert both("abc") == rasp.SelectorAnd(less, late)("abc")
    fixed = rasp.Select(rasp.Full(2), rasp.indices, rasp.Comparison.GT)
    assert (less | fixed)("abcd") == rasp.SelectorOr(less, fixed)("abcd")
    assert isinstance(less & EVERYTHING, rasp.SelectorAnd)


def test_causal_evaluation_masks_every_selector_and_leaves_the_length():
    same = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
    assert rasp.evaluate(same, "aa", causal=True) == [[True, False], [True, True]]
    assert rasp.evaluate(rasp.SelectorNot(same), "ab", causal=True) == [[False, False], [True, False]]
    assert rasp.evaluate(rasp.SelectorWidth(EVERYTHING), "abc", causal=True) == [1, 2, 3]
    assert rasp.evaluate(rasp.length, "abc", causal=True) == [3, 3, 3]


def test_constants_are_for_inputs_of_their_length():
    assert rasp.ConstantSOp([3, 1])("ab") == [3, 1]
    assert rasp.ConstantSOp([3, 1, 4], check_length=False)("ab") == [3, 1]
    assert rasp.ConstantSelector([[True, False], [False, True]])("ab") == [[True, False], [False, True]]
    with pytest.raises(RaspError, match="has 2 values, and the input has 3"):
        rasp.ConstantSOp([3, 1])("abc")
    with pytest.raises(RaspError, match="is for 1 positions, and the input has 2"):
        rasp.ConstantSelector([[True]])("ab")
    with pytest.raises(ProgramError, match="is not square"):
        rasp.ConstantSelector([[True], [False]])


def test_a_shared_expression_is_computed_once():
    calls = []
    seen = rasp.Map(lambda x: calls.append(x) or x, rasp.tokens, simplify=False)
    assert rasp.SequenceMap(lambda x, y: x + y, seen, seen)([1, 2]) == [2, 4]
    assert calls == [1, 2]


def test_numbers_of_numpy_become_plain_ones():
    values = rasp.Map(np.sqrt, rasp.tokens)([4, 9])
    assert values == [2, 3]
    assert type(values[0]) is float
    assert rasp.LinearSequenceMap(rasp.tokens, rasp.indices, np.int64(2), np.float32(0.5))([1, 2]) == [2, 4.5]
    assert rasp.Select(rasp.tokens, rasp.tokens, np.less)([1, 2]) == [[False, False], [True, False]]


def test_an_input_may_be_an_array():
    values = RaspDefinition(rasp.tokens, np.arange(3), 4).evaluate(np.array([2, 0]))
    assert values == [2, 0]
    assert type(values[0]) is int


def test_deep_graphs_are_evaluated():
    deep = rasp.tokens
    for _ in range(3_000):
        deep = rasp.SequenceMap(lambda x, y: x + y, deep, rasp.Full(1))
    assert deep([5]) == [3_005]


def test_errors_name_the_expression_the_line_and_the_value():
    broken = rasp.Map(lambda x: x + 1, rasp.tokens).named("next")
    with pytest.raises(
        RaspError, match=r"the Map 'next' \(test_expressions.py line \d+\) has no value for 'a': .*TypeE"
    ):
        broken("ab")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rasp.Map("f", rasp.tokens), "the Map .*: 'f' is not a function of values"),
        (lambda: rasp.Map(rasp.tokens, rasp.tokens), "is not a function of values"),
        (lambda: rasp.Map(len, "abc"), "`inner` is 'abc'; it has to be an s-op"),
        (lambda: rasp.SequenceMap(max, rasp.tokens, 3), "`snd` is 3; it has to be an s-op"),
        (lambda: rasp.Select(rasp.tokens, "a", rasp.Comparison.EQ), "`queries` is 'a'; it has to be an s-op"),
        (lambda: rasp.Select(rasp.tokens, rasp.tokens, "=="), "'==' is not a function of values"),
        (lambda: rasp.SelectorWidth(rasp.tokens), "`selector` is <TokensType>; it has to be a selector"),
        (lambda: rasp.Aggregate(rasp.tokens, EVERYTHING), "it has to be a selector"),
        (lambda: rasp.SelectorAnd(EVERYTHING, rasp.tokens), "`snd` is <TokensType>; it has to be a selector"),
        (lambda: EVERYTHING & rasp.tokens, "it has to be a selector"),
        (lambda: rasp.tokens & EVERYTHING, "a selector is combined only with selectors"),
        (lambda: rasp.tokens + EVERYTHING, "a selector is combined only with selectors"),
        (lambda: rasp.LinearSequenceMap(rasp.tokens, rasp.tokens, "1", 2), "are numbers, not '1' and 2"),
        (lambda: rasp.SOp()("ab"), "a SOp has no value of its own"),
        (lambda: rasp.Selector()("ab"), "a Selector has no value of its own"),
    ],
)
def test_what_is_no_expression_is_refused_when_it_is_made(make, message):
    with pytest.raises(ProgramError, match=message):
        make()


def test_the_vocabulary_is_a_collection_of_distinct_tokens():
    assert vocabulary({"b", "a"}) == ("a", "b")
    assert vocabulary({"b", 1}) == (1, "b")
    for given, message in [
        ("", "is empty"),
        (3, "vocab is 3; it is a collection"),
        ("aba", "'a' is in it twice"),
        ([1, True, 1.0, 1], "1 is in it twice"),
        ([None], "None is no token"),
        ([[1]], r"\[1\], which has no hash"),
    ]:
        with pytest.raises(ProgramError, match=message):
            vocabulary(given)


def test_a_definition_refuses_what_cannot_be_a_program():
    with pytest.raises(ProgramError, match="a RASP program is an s-op"):
        RaspDefinition(EVERYTHING, "ab", 3)
    with pytest.raises(ValueError, match="max_length is 0; it is the greatest number of tokens"):
        RaspDefinition(rasp.tokens, "ab", 0)
    with pytest.raises(ValueError, match="the token 'c' at position 1 is not in the vocabulary, which is a b"):
        RaspDefinition(rasp.tokens, "ab", 3).evaluate("ac")
    with pytest.raises(ValueError, match="the input has 4 tokens, and max_length is 3"):
        RaspDefinition(rasp.tokens, "ab", 3).evaluate("abab")


def test_a_causal_program_that_reads_the_length_looks_ahead_and_is_refused():
    mirrored = (rasp.length - rasp.indices).named("mirrored")
    with pytest.raises(ProgramError, match=r"'mirrored' \(.*\) reads `length`, which looks ahead"):
        RaspDefinition(mirrored, "ab", 3, causal=True)
    assert RaspDefinition(mirrored, "ab", 3).evaluate("ab") == [2, 1]
    with pytest.raises(ProgramError, match="the program reads `length`, which looks ahead"):
        RaspDefinition(rasp.length, "ab", 3, causal=True)


def test_an_expression_is_shown_as_definitions():
    hist = rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)).named("hist")
    often = rasp.SequenceMap(lambda n, h: 2 * h > n, rasp.length, hist)
    shown = rasp.Aggregate(rasp.Select(often, rasp.Full(True), rasp.Comparison.EQ), rasp.tokens * 2 + 1, default=0)
    assert definitions(shown) == {
        "hist": "SelectorWidth(Select(tokens, tokens, EQ))",
        "aggregate": "Aggregate(Select(SequenceMap(lambda n, h: 2 * h > n, length, hist), True, EQ), "
        "(tokens * 2) + 1, default=0)",
    }


def test_two_expressions_of_one_name_are_told_apart_in_what_is_shown():
    one, other = ((rasp.indices + n).named("x") for n in (1, 2))
    assert definitions(rasp.SequenceMap(max, one, other)) == {
        "x": "indices + 1",
        "x_2": "indices + 2",
        "sequence_map": "SequenceMap(max, x, x_2)",
    }


def test_the_other_names_of_tracrs_module_are_there_and_mean_what_they_do_there():
    same = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
    assert rasp.Aggregate[int](same, rasp.tokens)([1, 2]) == [1, 2]
    assert rasp.ConstantSOp[int] is rasp.ConstantSOp
    assert isinstance(rasp.Comparison.EQ, rasp.Predicate)
    assert not isinstance("==", rasp.Predicate)
    assert rasp.DefaultRASPEvaluator().evaluate(rasp.indices, "ab") == [0, 1]
    assert issubclass(rasp.DefaultRASPEvaluator, rasp.RASPEvaluator)
    assert (rasp.default_name(same), rasp.default_encoding(rasp.tokens)) == ("select", rasp.Encoding.CATEGORICAL)
    assert {"VT", "T", "RASPExprT", "SOpT", "Annotator"} <= set(dir(rasp))


def test_annotations_are_set_and_have_defaults_that_others_may_add_to(monkeypatch):
    flag = rasp.tokens == "a"
    flag.annotations = {"name": "flag", "owner": "me"}
    assert (flag.name, flag.annotations["owner"], flag.annotations["encoding"]) == (
        "flag",
        "me",
        rasp.Encoding.CATEGORICAL,
    )
    monkeypatch.setitem(rasp.DEFAULT_ANNOTATORS, "size", lambda expr: len(expr.children))
    assert flag.annotations["size"] == 1
    with pytest.raises(ProgramError, match="all programs share 'tokens'"):
        rasp.tokens.annotations = {"name": "mine"}
