"""Scores against the true circuit."""

import numpy as np
import pytest

from kleene.explaining.circuits.patching import Pairs
from kleene.groundtruth.judging.circuits import SIZES, average_precision, scored
from tests.explaining.circuits.samples import compiled, drawn


@pytest.fixture(scope="module")
def known():
    network, circuit = compiled("hist")
    return circuit, Pairs.of(network, *drawn("abc", 16))


def test_the_truth_is_perfect_and_its_opposite_is_not(known):
    circuit, pairs = known
    found = scored(circuit.edges.astype(float), circuit, pairs)
    assert (found.edges_roc, found.edges_precision, found.nodes_roc, found.nodes_precision) == (1, 1, 1, 1)
    assert found.faithfulness == pytest.approx(1)
    assert found.curve[SIZES.index(1.0)] == found.faithfulness > found.curve[0]
    wrong = scored(-circuit.edges.astype(float), circuit, pairs)
    assert wrong.edges_roc == 0
    assert wrong.faithfulness < 1


def test_scores_of_nodes_say_nothing_of_edges(known):
    circuit, pairs = known
    found = scored(circuit.nodes.astype(float), circuit, pairs)
    assert np.isnan([found.edges_roc, found.edges_precision]).all()
    assert (found.nodes_roc, found.nodes_precision) == (1, 1)
    assert found.faithfulness == pytest.approx(1)


def test_what_is_not_judged_is_not_looked_at(known):
    circuit, pairs = known
    scores = np.where(circuit.judged, circuit.edges, 9.0)
    assert scored(scores, circuit, pairs) == scored(circuit.edges.astype(float), circuit, pairs)


def test_equal_scores_are_taken_at_once():
    positive = np.array([True, True, False, False])
    assert average_precision(positive, np.ones(4)) == pytest.approx(0.5)
    assert average_precision(positive, np.array([2.0, 1, 1, 1])) == pytest.approx((1 + 2 / 4) / 2)
    assert average_precision(positive, np.array([np.inf, 1, 0, -np.inf])) == pytest.approx(1)
    assert np.isnan(average_precision(~positive & positive, np.ones(4)))
