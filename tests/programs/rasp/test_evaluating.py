"""Random programs mean what a second evaluator says, which has nothing in common with the first."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.programs import rasp
from kleene.programs.rasp.evaluating import evaluated
from kleene.programs.rasp.random_programs import random_program
from tests.programs.rasp.second_evaluator import value_at

SEEDS = st.integers(0, 10**6)


@given(seed=SEEDS, causal=st.booleans(), chance=st.randoms(use_true_random=False))
def test_random_programs_mean_what_a_second_evaluator_says(seed, causal, chance):
    program = random_program(seed, size=5, causal=causal)
    for length in range(program.max_length + 1):
        xs = [chance.choice(program.vocab) for _ in range(length)]
        expected = [value_at(program.expression, xs, at, causal) for at in range(length)]
        assert program.evaluate(xs) == expected, (seed, xs)


@given(seed=SEEDS)
def test_a_causal_program_does_not_change_when_tokens_follow(seed):
    program = random_program(seed, causal=True)
    for xs in product(program.vocab, repeat=3):
        assert program.evaluate(xs)[:2] == program.evaluate(xs[:2])


def test_random_programs_have_every_kind_of_expression():
    kinds = {type(part).__name__ for seed in range(60) for part in random_program(seed, causal=False).parts}
    expected = {"TokensType", "IndicesType", "LengthType", "Map", "SequenceMap", "LinearSequenceMap", "Full"}
    assert expected | {"SelectorWidth", "Aggregate", "Select", "SelectorAnd", "SelectorOr", "SelectorNot"} <= kinds


def test_the_value_of_every_part_is_told():
    twice = (rasp.indices * 2).named("twice")
    whole = rasp.SequenceMap(lambda x, y: x - y, twice, rasp.tokens)
    values = evaluated(whole, [1, 1])
    assert all(one is other for one, other in zip(values, rasp.parts_of(whole), strict=True))
    assert (values[twice], values[whole]) == ([0, 2], [-1, 1])


def test_what_is_no_expression_is_not_evaluated():
    with pytest.raises(InputError, match="3 is not a RASP expression"):
        evaluated(3, "ab")
