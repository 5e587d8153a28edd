"""Controls keep what they say that they keep."""

from collections import Counter

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.machines.lstm.lstm import LSTM
from kleene.tasks import grammar
from kleene.tasks.treebanks import tree_distances
from kleene_papers.interdependence.controls import permuted, shuffled, untrained

MODEL = LSTM.random(["<unk>", "dogs", "bark"], 4, layers=2, key=jax.random.key(1))
SENTENCES = grammar.sentences(20, seed=5)


@given(st.integers(0, 2**32 - 1))
def test_permuting_keeps_the_multiset_of_weights_of_each_matrix(seed):
    for before, after in zip(jax.tree.leaves(MODEL), jax.tree.leaves(permuted(MODEL, seed)), strict=True):
        assert before.shape == after.shape
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(np.sort(before, axis=None), np.sort(after, axis=None))


def test_permuting_moves_weights_and_another_seed_moves_them_elsewhere():
    one, other = permuted(MODEL, 0), permuted(MODEL, 1)
    for matrices in zip(*(jax.tree.leaves(m.layers) for m in (MODEL, one, other))):
        assert len({np.asarray(matrix).tobytes() for matrix in matrices}) == 3
    assert one.vocabulary == MODEL.vocabulary


@given(st.sampled_from(SENTENCES), st.integers(0, 2**32 - 1))
def test_shuffling_keeps_the_bag_of_words_and_the_tree(sentence, seed):
    found = shuffled(sentence, np.random.default_rng(seed))
    order = np.random.default_rng(seed).permutation(len(sentence))
    columns = [zip(one.words, one.classes, one.relations) for one in (sentence, found)]
    assert Counter(columns[0]) == Counter(columns[1])
    assert found.words == tuple(sentence.words[place] for place in order)
    np.testing.assert_array_equal(tree_distances(found), tree_distances(sentence)[np.ix_(order, order)])


def test_an_untrained_network_has_the_same_shape_and_other_weights():
    fresh, other = untrained(MODEL, 0), untrained(MODEL, 1)
    assert jax.tree.map(np.shape, fresh) == jax.tree.map(np.shape, MODEL)
    assert np.abs(fresh.embedding).max() <= 0.1
    assert not np.array_equal(fresh.layers[0].bias, MODEL.layers[0].bias)
    assert not np.array_equal(fresh.layers[0].bias, other.layers[0].bias)
    assert np.abs(fresh.layers[1].recurrent).max() == pytest.approx(0.5, abs=0.1)
