"""All pairs of many sentences at once are those of each pair by itself."""

import jax
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.explaining.words.baseline_pairs import erasure_batch, gradient_times_input_batch
from kleene.explaining.words.baselines import erasure, gradient_times_input
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer_lm import TransformerLM
from tests.explaining.words import slow_decomposition as slow

SENTENCES = [[3, 0, 5, 5], [1], [2, 4], [int(n) % 6 for n in np.arange(18) ** 2]]  # the last one is padded to 32 words
BOTH = [(erasure_batch, erasure), (gradient_times_input_batch, gradient_times_input)]


@pytest.mark.parametrize(("batched", "single"), BOTH)
def test_a_batch_of_unequal_sentences_has_the_values_of_each_pair_by_itself(batched, single):
    model = slow.double_lstm(1, started=True)
    for matrix, sentence in zip(batched(model, SENTENCES), SENTENCES, strict=True):
        np.testing.assert_allclose(matrix, single(model, sentence), rtol=1e-9)
        np.testing.assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize(("batched", "single"), BOTH)
def test_two_layers_and_simple_networks_are_measured_too(batched, single):
    deep, simple = slow.double_lstm(2, layers=2), SimpleRNN.random("abcdef", 5, key=jax.random.key(3))
    for model, sentence in ((deep, [3, 0, 5, 5]), (simple, "dabb")):
        np.testing.assert_allclose(batched(model, [sentence])[0], single(model, sentence), rtol=1e-4)


@pytest.mark.parametrize("batched", [erasure_batch, gradient_times_input_batch])
def test_a_transformer_is_refused(batched):
    with pytest.raises(InputError, match="not yet for a TransformerLM"):
        batched(TransformerLM.random("ab", 6, 2, 1, positions=8, key=jax.random.key(0)), ["ab"])
