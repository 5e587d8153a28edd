"""Changes between families, network by network."""

import pytest

from kleene.errors import InputError
from kleene.explaining.interactions.changes import change
from kleene.explaining.interactions.ranking import Interval
from kleene.explaining.interactions.verdicts import InteractionVerdicts, MeasureVerdict

NOTHING = Interval(0.0, 0.0, 0.0)


def verdict(family, by_network):
    numbers = dict.fromkeys(("language", "output"), NOTHING)
    return MeasureVerdict("m", family, numbers, numbers, numbers, NOTHING, 0.1, len(by_network), 3, by_network)


FOUND = InteractionVerdicts(
    (
        verdict("taught", {"a seed 0": [0.1, 0, 0.2, 0], "a seed 1": [0.3, 0, 0.9, 0], "b seed 0": [0.5, 0, None, 0]}),
        verdict("hinted", {"a seed 0": [0.2, 0, 0.3, 0], "a seed 1": [0.4, 0, 1.0, 0], "b seed 0": [0.7, 0, 0.0, 1]}),
        verdict("compiled", {"a": [0.1, 0, 0, 0], "b": [0.5, 0, 0, 0]}),
    )
)


def test_a_change_is_the_mean_over_languages_of_differences_of_the_same_networks():
    found = change(FOUND, "m", "hinted", "taught", what="spearman")
    assert found.mean == pytest.approx((0.1 + 0.2) / 2)
    assert (found.low, found.high) == pytest.approx((0.1, 0.2))
    given_distance = change(FOUND, "m", "hinted", "taught")  # one language has no number
    assert (given_distance.low, given_distance.high) == pytest.approx((0.1, 0.1))
    assert change(FOUND, "m", "hinted", "taught", truth="output").mean == 0.5


def test_networks_are_compared_with_the_only_one_of_their_language():
    assert change(FOUND, "m", "taught", "compiled", what="spearman").mean == pytest.approx(0.05)


def test_a_number_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="a change of 'lead' for 'language'; there are spearman, partial"):
        change(FOUND, "m", "hinted", "taught", what="lead")
