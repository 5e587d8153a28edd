"""Proofs of how many positions are read, and that they are equal: true on every input, and found for sorting."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import ProgramError
from kleene.programs import rasp
from kleene.programs.rasp import lib
from kleene.programs.rasp.lowering import Lowering
from kleene.programs.rasp.random_programs import random_program
from kleene.programs.rasp.separation import most_positions, selects_equal
from kleene.traces.values import value_key
from tests.programs.rasp.wild_programs import wild_program

TOKENS, INDICES, COMPARED = rasp.tokens, rasp.indices, rasp.Comparison


def lowering_of(expr: rasp.SOp, vocab=(3, 1, 2), max_length: int = 4, *, causal: bool = False) -> Lowering:
    found = Lowering(expr, tuple(vocab), max_length, causal, "program")
    found.program()
    return found


def aggregates(found: Lowering) -> list[rasp.Aggregate]:
    return [part for part in rasp.parts_of(found.expr) if isinstance(part, rasp.Aggregate)]


def proven(expr: rasp.SOp, **how) -> tuple[int, bool]:
    """How many positions the last aggregate may read, and whether what it reads is proven to be equal."""
    found = lowering_of(expr, **how)
    last = aggregates(found)[-1]
    selection, values = found.selection(last.selector), found.tables[last.sop]
    return max(selection.possible_counts(found.max_length)), selects_equal(selection.keys, selection.chosen, values)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), causal=st.booleans(), wild=st.booleans())
def test_what_is_proven_holds_on_every_input(seed, causal, wild):
    made = wild_program(seed, 6, causal=causal) if wild else random_program(seed, size=6, max_length=3, causal=causal)
    try:
        found = lowering_of(made.expression, made.vocab, made.max_length, causal=causal)
    except (ProgramError, rasp.RaspError):
        return
    inputs = [xs for n in range(1, made.max_length + 1) for xs in product(made.vocab, repeat=n)]
    for part in aggregates(found):
        selection, values = found.selection(part.selector), found.tables[part.sop]
        most = most_positions(selection.keys, selection.chosen, made.max_length)
        is_equal = selects_equal(selection.keys, selection.chosen, values)
        for xs in inputs:
            try:
                on = rasp.evaluated(part, xs, causal)
            except rasp.RaspError:
                continue
            for row in on[part.selector]:
                read = [value for value, chosen in zip(on[part.sop], row) if chosen]
                assert len(read) <= most, (seed, xs)
                assert not is_equal or len(set(map(value_key, read))) <= 1, (seed, xs)


def test_sorting_reads_one_position_if_ties_are_broken_by_position():
    assert proven(lib.make_sort(TOKENS, TOKENS))[0] == 1
    by_fraction = rasp.SequenceMap(lambda x, i: x + i / 10, TOKENS, INDICES)
    assert proven(lib.make_sort_unique(TOKENS, by_fraction))[0] == 1
    before = rasp.Select(TOKENS, TOKENS, COMPARED.LT) | (
        rasp.Select(TOKENS, TOKENS, COMPARED.EQ) & rasp.Select(INDICES, INDICES, COMPARED.LT)
    )
    place = rasp.SelectorWidth(before)
    assert proven(rasp.Aggregate(rasp.Select(place, INDICES, COMPARED.EQ), TOKENS))[0] == 1
    by_too_large_fraction = rasp.SequenceMap(lambda x, i: x + i / 2, TOKENS, INDICES)
    assert proven(lib.make_sort_unique(TOKENS, by_too_large_fraction))[0] == 4


def test_a_rank_reads_equal_values_only_if_they_follow_from_what_is_ranked():
    largest = rasp.Select(rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, COMPARED.GT)), INDICES, lambda k, q: k == 0)
    assert proven(rasp.Aggregate(largest, TOKENS)) == (4, True)
    assert proven(rasp.Aggregate(largest, TOKENS * TOKENS))[1]
    assert not proven(rasp.Aggregate(largest, INDICES))[1]
    two = rasp.Select(rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, COMPARED.GT)), INDICES, lambda k, q: k < 2)
    assert not proven(rasp.Aggregate(two, TOKENS))[1]


def test_a_count_of_later_positions_is_no_rank_where_attention_is_causal():
    assert proven(lib.make_sort(TOKENS, TOKENS), causal=True)[0] == 4


def test_the_nth_occurrence_of_a_token_is_one_position():
    earlier = rasp.Select(TOKENS, TOKENS, COMPARED.EQ) & rasp.Select(INDICES, INDICES, COMPARED.LT)
    occurrence = rasp.SelectorWidth(earlier)
    here = rasp.SequenceMap(lambda x, n: (x, n), TOKENS, occurrence)
    last = rasp.SequenceMap(lambda x, n: (x, n - 1), TOKENS, occurrence)
    assert proven(rasp.Aggregate(rasp.Select(here, last, COMPARED.EQ), INDICES))[0] == 1
    assert proven(rasp.Aggregate(rasp.Select(occurrence, occurrence, COMPARED.EQ), INDICES))[0] == 4


@pytest.mark.parametrize("first", [False, True])
def test_what_a_filter_leaves_is_moved_together_from_one_position_each(first):
    earlier = rasp.Select(INDICES, INDICES, COMPARED.LT)
    occurrence = rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, COMPARED.EQ) & earlier)
    kept = (occurrence == 0) if first else (TOKENS > 1)
    place = rasp.SelectorWidth(rasp.Select(kept, kept, lambda key, query: key) & earlier)
    target = rasp.SequenceMap(lambda is_kept, at: at if is_kept else -1, kept, place)
    assert proven(rasp.Aggregate(rasp.Select(target, INDICES, COMPARED.EQ), TOKENS))[0] == 1
    dropped = rasp.SequenceMap(lambda is_kept, at: -1 if is_kept else at, kept, place)
    assert proven(rasp.Aggregate(rasp.Select(dropped, INDICES, COMPARED.EQ), TOKENS))[0] == 4


def test_keys_that_hold_only_at_some_positions_are_that_many():
    first = rasp.SequenceMap(lambda x, i: i < 2 and x == 3, TOKENS, INDICES)
    assert proven(rasp.Aggregate(rasp.Select(first, INDICES, lambda k, q: k), TOKENS))[0] == 2


@pytest.mark.parametrize("compared", [COMPARED.LT, COMPARED.LEQ, COMPARED.GT, COMPARED.GEQ])
def test_values_with_different_ranks_are_apart_and_the_same_value_is_not(compared):
    found = lowering_of(rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, compared)))
    selector = next(part for part in rasp.parts_of(found.expr) if isinstance(part, rasp.Select))
    ranking = found.selection(selector).ranking
    assert ranking is not None
    assert (ranking.apart == ~np.eye(3, dtype=bool)).all()
