"""Tables of values: a function is asked for all that a network cannot tell apart, or it is refused."""

import collections
import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kleene
from kleene.errors import FunctionError, ProgramError
from kleene.programs import rasp
from kleene.programs.rasp.domains import Atom, DomainError, ValueTable, combined
from kleene.programs.rasp.lowering import lowered
from kleene.programs.rasp.program import RaspProgram

SUM = rasp.SequenceMap(lambda x, y: x + y, rasp.tokens, rasp.indices).named("sum")


def rounded(name: str, number: float, twins: int) -> ValueTable:
    """The table of an s-op with one value, and with twins that differ from it by rounding."""
    inside = np.ones((1, 1), dtype=bool)
    atom = Atom(name, 1, 0, np.zeros((1, 1), dtype=np.int64))
    others = tuple(number + k * 1e-15 for k in range(1, twins + 1))
    return ValueTable((atom,), np.zeros(1, dtype=np.int64), (number,), inside, twins={0: others})


def test_a_function_is_asked_for_every_combination_of_values_that_differ_by_rounding():
    tables = rounded("a", 1.0, 9), rounded("b", 2.0, 9)
    asked = []
    combined(SUM, lambda x, y: asked.append((x, y)) or 0, tables, tables[0].inside)
    assert len(set(asked)) == 100


def test_combinations_too_many_to_ask_for_are_refused_with_the_expression():
    tables = rounded("a", 1.0, 15), rounded("b", 2.0, 16)
    with pytest.raises(DomainError, match=r"the SequenceMap 'sum' .* has 272 lists of arguments .* only by rounding"):
        combined(SUM, lambda x, y: 0, tables, tables[0].inside)


class Token:
    """Equal to every other token, and pickled with what it is."""

    def __init__(self, name: str):
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Token)

    def __hash__(self) -> int:
        return 1


def hidden_class() -> type[Token]:
    """Tokens that nothing tells from their equals: pickle does not find their class."""

    class Hidden(Token):
        def __repr__(self) -> str:
            return "<hidden>"

    return Hidden


def counting(then: Callable[[int], Any] = int) -> Callable[..., Any]:
    calls = itertools.count()
    return lambda *_: then(next(calls))


def remembering(then: Callable[[Any], Any] = str) -> Callable[..., Any]:
    kept = [None]
    return lambda x, *_: then((kept.append(x), kept[-2])[1])


TOKENS, MAP = rasp.tokens, rasp.Map
IMPURE: list[rasp.SOp] = [
    MAP(counting(), TOKENS),
    MAP(remembering(), TOKENS),
    rasp.SequenceMap(counting(), TOKENS, rasp.indices),
    rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, counting(lambda n: n % 3 == 0))),
    rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, remembering(lambda x: x == "a"))),
    rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, counting(lambda n: 1 // (n % 7)))),
    MAP(lambda x, seen=set(): x in seen or bool(seen.add(x)), TOKENS),
    rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, lambda k, q: random.random() < 0.5)),
    MAP(lambda x: [1][counting()()] if x == "a" else random.random(), TOKENS),
]


@pytest.mark.parametrize("impure", IMPURE, ids=range(len(IMPURE)))
def test_a_function_that_does_not_answer_the_same_again_is_refused_with_both_answers(impure):
    with pytest.raises(
        FunctionError, match=r"\(test_domains.py line \d+\) .* gave .* the first time and .* the second"
    ):
        kleene.compile(impure, vocab="ab", max_length=3)


def test_a_function_is_asked_again_in_the_opposite_order_and_more_often_where_questions_are_few():
    asked = []
    lowered(rasp.SequenceMap(lambda x, y: asked.append((x, y)) or 0, TOKENS, rasp.indices), "ab", 2)
    assert asked[4:] == 4 * asked[3::-1]
    asked.clear()
    lowered(rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, lambda k, q: asked.append((k, q)) or True)), "ab", 2)
    assert asked[4:] == 4 * asked[3::-1]


def test_a_function_that_asks_which_object_a_value_is_is_refused():
    code = 1000
    with pytest.raises(FunctionError, match="for 1000 its function gave True the first time and False the second"):
        kleene.compile(MAP(lambda x: x is code, TOKENS), vocab=[1, code], max_length=3)
    with pytest.raises(FunctionError, match=r"for 2.5, 2.5 .* or on `is` between numbers"):
        kleene.compile(rasp.SelectorWidth(rasp.Select(TOKENS, TOKENS, lambda k, q: k is q)), vocab=[2.5], max_length=3)


def test_equal_objects_are_held_apart_by_what_they_hold_or_refused_with_both():
    program = RaspProgram(MAP(lambda token: token.name, MAP(Token, TOKENS)), "ab", 3)
    assert program.run("aba").output == list("aba")
    made = hidden_class()
    hidden = made(""), made("")
    apart = RaspProgram(MAP(lambda x: hidden[0] is x, MAP(lambda x: hidden["ab".index(x)], TOKENS)), "ab", 3)
    assert apart.run("ab").output == [True, False]
    with pytest.raises(
        ProgramError, match=r"the Map 'made' .* the values <hidden> and <hidden> for 'a', which are equal"
    ):
        kleene.compile(MAP(lambda x: made(""), TOKENS).named("made"), vocab="ab", max_length=3)


def test_a_mean_of_both_zeros_is_one_number_and_a_function_that_tells_them_apart_is_refused():
    everything = rasp.Select(TOKENS, TOKENS, rasp.Comparison.TRUE)
    mean = rasp.Aggregate(everything, TOKENS)
    assert mean([0.0, -0.0]) == [0.0, 0.0]
    assert [*map(str, mean([-0.0, -0.0]))] == ["-0.0", "-0.0"]
    with pytest.raises(DomainError, match=r"another value for (-0.0|0.0) than for .* add 0.0 first"):
        kleene.compile(MAP(str, mean), vocab=[0.0, -0.0], max_length=3)
    summed = MAP(lambda x: str(float(x) + 0.0), mean)
    assert kleene.compile(summed, vocab=[0.0, -0.0], max_length=3).run([-0.0]).output == ["0.0"]


def test_means_in_named_tuples_stay_named_tuples():
    pair = collections.namedtuple("pair", "mean place")
    mean = rasp.Aggregate(rasp.Select(TOKENS, TOKENS, rasp.Comparison.TRUE), TOKENS)
    made = rasp.SequenceMap(pair, mean, rasp.indices)
    doubled = MAP(lambda both: 2 * both.mean, made, simplify=False)
    assert kleene.compile(doubled, vocab=[0, 1, 2], max_length=2).run([0, 1]).output == [1.0, 1.0]
    with pytest.raises(DomainError, match=r"apply float\(\) first"):
        kleene.compile(MAP(lambda both: str(both.mean), made, simplify=False), vocab=[0, 1, 2], max_length=2)
