"""What predicates say of pairs: comparisons all at once as one by one, and what happens where they raise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene
from kleene.errors import ProgramError
from kleene.programs import rasp
from kleene.programs.rasp import lib
from kleene.programs.rasp.predicates import answers

SIMPLE = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, -2.5]), st.sampled_from("ab")
)
VALUES = st.lists(st.one_of(SIMPLE, st.tuples(SIMPLE, SIMPLE)), min_size=1, max_size=5)


@given(compared=st.sampled_from(list(rasp.Comparison)), keys=VALUES, queries=VALUES)
def test_comparisons_of_all_pairs_are_those_of_each_pair(compared, keys, queries):
    select = rasp.Select(rasp.tokens, rasp.tokens, compared)
    chosen, raised = answers(select, keys, queries)
    for q, query in enumerate(queries):
        for k, key in enumerate(keys):
            try:
                assert chosen[q, k] == select.holds(key, query)
                assert not raised[q, k]
            except rasp.RaspError:
                assert raised[q, k]
                assert not chosen[q, k]


def test_tokens_that_cannot_be_compared_are_a_vocabulary_that_the_program_cannot_take():
    with pytest.raises(ProgramError, match=r"'smaller' .* no value for .*'a'.*TypeError.* cannot take this vocabulary"):
        kleene.compile(lib.make_sort(rasp.tokens, rasp.tokens), vocab=[3, "a", 1], max_length=3)
    with pytest.raises(ProgramError, match="cannot take this vocabulary"):
        kleene.run("rasp:sort", "3 a", vocab=[3, "a"], compiled=True)


def test_a_predicate_may_raise_for_none_and_for_values_that_never_meet():
    before = lib.shift_by(1, rasp.tokens)
    later = rasp.SelectorWidth(rasp.Select(before, before, lambda key, query: len(key) == len(query)))
    assert kleene.compile(later, vocab=["a", "bb"], max_length=1)  # only None is there, and len(None) raises
    parts = rasp.Map(lambda i: "first" if i == 0 else i, rasp.indices)
    ends = rasp.SequenceMap(lambda i, n: "end" if i == n - 1 else i, rasp.indices, rasp.length)
    joined = rasp.Select(parts, ends, lambda key, query: (key == "first") if query == "end" else key != "x")
    apart = rasp.Select(rasp.Full(1), parts, lambda key, query: {1: True}[key])
    assert kleene.compile(rasp.SelectorWidth(joined & apart), vocab="ab", max_length=3).run("ab").output == [2, 1]


def test_where_values_never_meet_a_predicate_may_raise():
    half = rasp.SequenceMap(lambda i, n: ("odd", i) if n % 2 else ("even", i), rasp.indices, rasp.length)

    def same(key, query):
        if key[0] != query[0]:
            raise ValueError("lengths differ")
        return key[1] <= query[1]

    width = rasp.SelectorWidth(rasp.Select(half, half, same))
    network = kleene.compile(width, vocab="ab", max_length=4)
    assert [network.run("abab"[:n]).output for n in range(1, 5)] == [list(range(1, n + 1)) for n in range(1, 5)]


def test_a_program_without_a_value_on_any_input_says_why():
    never = rasp.SequenceMap(lambda x, y: x / y, rasp.tokens, rasp.tokens - rasp.tokens).named("never")
    with pytest.raises(rasp.RaspError, match=r"'never' .* has no value for 1, 0: .* ZeroDivisionError"):
        kleene.compile(never, vocab=[1, 2], max_length=3)
