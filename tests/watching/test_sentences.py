"""The page of a sentence: the matrix is that of `explain`, and the next words are those of the model."""

from pathlib import Path

import jax
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.pretrained import grammar_model
from kleene.machines.protocol import load
from kleene.watching.columns import unpacked
from kleene.watching.document import traces_of

FILES = Path(__file__).parents[1] / "machines" / "files"
SENTENCE = "the dog near the houses laughs"


@pytest.fixture(scope="module")
def model():
    return grammar_model()


def test_the_matrix_is_that_of_explain(model):
    content = kleene.watch(model, SENTENCE).document
    found = kleene.explain(model, SENTENCE)
    assert content["words"] == found.marked
    assert np.allclose(unpacked(content["matrix"]), found.matrix, rtol=1e-6, equal_nan=True)


def test_the_next_words_are_the_likeliest_of_the_run(model):
    content, trace = kleene.watch(model, SENTENCE).document, kleene.run(model, SENTENCE).trace
    labels = trace.channel("next").labels
    assert len(content["next"]) == trace.steps + 1
    for shown, probabilities in zip(content["next"], trace["next"]):
        assert [share for _, share in shown] == pytest.approx(sorted(probabilities)[: -len(shown) - 1 : -1], abs=1e-4)
        assert all(probabilities[labels.index(word)] == pytest.approx(share, abs=1e-4) for word, share in shown)
    assert content["answer"].startswith(content["next"][-1][0][0])


def test_the_words_are_kept_and_other_channels_on_demand(model):
    trace = kleene.run(model, SENTENCE).trace
    (found,) = traces_of(kleene.watch(model, SENTENCE).document)
    assert [c.name for c in found.channels] == ["word"]
    assert (found["word"] == trace["word"]).all()
    (more,) = traces_of(kleene.watch(model, SENTENCE, channels="word,hidden.0").document)
    assert np.allclose(more["hidden.0"], trace["hidden.0"], rtol=1e-6)


def test_a_transformer_predicts_nothing_before_the_first_word():
    content = kleene.watch(load(FILES / "transformer_lm.safetensors"), ["a", "b"]).document
    assert content["next"][0] == []
    assert len(content["next"][1]) == 2


def test_a_page_of_a_sentence_takes_no_edits(model):
    units = model.start.hidden.shape[-1]
    assert kleene.watch(model, SENTENCE).document["editable"] == []
    with pytest.raises(InputError, match="without edits; `kleene run` takes them"):
        kleene.watch(model, SENTENCE, edits=[kleene.Edit("hidden.0", step=1, value=[0.0] * units)])


def test_an_lstm_that_accepts_has_the_page_of_a_word():
    compiled = kleene.compile(kleene.DFA.from_regex("(0|1)*011"), machine="lstm")
    taught = LSTM.random("01", 3, outputs=1, key=jax.random.key(0))
    for network in (compiled, taught):
        content = kleene.watch(network, "0110").document
        (found,) = traces_of(content)
        assert (content["view"], "symbol" in found, "accepting" in found) == ("word", True, True)
