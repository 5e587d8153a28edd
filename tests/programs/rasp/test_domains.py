"""Tables of values: a function is asked for all that a network cannot tell apart, or it is refused."""

import numpy as np
import pytest

from kleene.programs import rasp
from kleene.programs.rasp.domains import Atom, DomainError, ValueTable, combined

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
    tables = rounded("a", 1.0, 10), rounded("b", 2.0, 9)
    with pytest.raises(DomainError, match=r"the SequenceMap 'sum' .* has 110 lists of arguments .* only by rounding"):
        combined(SUM, lambda x, y: 0, tables, tables[0].inside)
