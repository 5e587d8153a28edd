"""What was found as rows, and changes between families, network by network."""

import pytest

from kleene.errors import InputError
from kleene.groundtruth.judging.judged import Judged, JudgedRow
from kleene.groundtruth.judging.verdicts import INTERACTIONS, MethodVerdict


def verdict(family, by_network):
    return MethodVerdict(INTERACTIONS, "m", family, {}, 0.1, by_network, words=3)


FOUND = Judged(
    INTERACTIONS,
    (
        verdict("taught", {"a seed 0": [0.1, 0, 0.2, 0], "a seed 1": [0.3, 0, 0.9, 0], "b seed 0": [0.5, 0, None, 0]}),
        verdict("hinted", {"a seed 0": [0.2, 0, 0.3, 0], "a seed 1": [0.4, 0, 1.0, 0], "b seed 0": [0.7, 0, 0.0, 1]}),
        verdict("compiled", {"a": [0.1, 0, 0, 0], "b": [0.5, 0, 0, 0]}),
    ),
)


def test_a_change_is_the_mean_over_languages_of_differences_of_the_same_networks():
    found = FOUND.change("m", "hinted", "taught", "spearman_language")
    assert found.mean == pytest.approx((0.1 + 0.2) / 2)
    assert (found.low, found.high) == pytest.approx((0.1, 0.2))
    given_distance = FOUND.change("m", "hinted", "taught", "partial_language")  # one language has no number
    assert (given_distance.low, given_distance.high) == pytest.approx((0.1, 0.1))
    assert FOUND.change("m", "hinted", "taught", "partial_output").mean == 0.5


def test_networks_are_compared_with_the_only_one_of_their_language():
    assert FOUND.change("m", "taught", "compiled", "spearman_language").mean == pytest.approx(0.05)


def test_a_number_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="'lead_output' is not kept of each network; there are spearman_"):
        FOUND.change("m", "hinted", "taught", "lead_output")


def test_every_number_of_a_network_is_a_row():
    rows = FOUND.rows
    assert len(rows) == 8 * 4
    assert rows[0] == JudgedRow("m", "taught", "spearman_language", "a seed 0", 0.1)
    assert JudgedRow("m", "taught", "partial_language", "b seed 0", None) in rows
