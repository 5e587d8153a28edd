"""Programs as people publish them mean what plain Python says, at every length."""

from itertools import product

import pytest

from kleene.programs.rasp import evaluate
from tests.programs.rasp.published_style import PROGRAMS, Published, same_values


@pytest.mark.parametrize("published", PROGRAMS, ids=lambda published: published.name)
def test_a_program_gives_what_plain_python_gives_at_every_length(published: Published):
    expression = published.make()
    compared = 0
    for length in range(1, published.max_length + 1):
        for given in product(published.vocab, repeat=length):
            if published.valid(list(given)):
                found = evaluate(expression, given, published.causal)
                assert same_values(found, published.reference(list(given))), given
                compared += 1
    assert compared > published.max_length - 1
