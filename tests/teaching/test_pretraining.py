"""Pretraining of the English model: the best epoch is kept, and perplexities of different vocabularies compare."""

import jax
import numpy as np
import pytest

from kleene.machines.lstm.lstm import LSTM
from kleene.machines.lstm.packing import unpack
from kleene.tasks.grammar import text
from kleene.tasks.text import END, Corpus, Vocabulary
from kleene.teaching.pretraining import judged, pretrain_english

SMALL = {"hidden": 6, "batch": 4, "steps": 5, "epochs": 3, "steady": 1, "dropout": 0.1}


def words_of(count, seed):
    return [word for line in text(count, seed=seed).splitlines() for word in (*line.split(), END)]


def corpus_of(size=None):
    train, held_out = words_of(600, 1), words_of(150, 2)
    known = Vocabulary.of(train, minimum=2, size=size)
    return Corpus("sentences", known, known.encode(train), known.encode(held_out))


def test_the_file_has_the_epoch_with_the_lowest_perplexity_on_held_out_text(tmp_path):
    tests = []

    def look(progress):
        tests.append(float(progress.tests[-1]["perplexity"].min()))

    path = pretrain_english(tmp_path / "model.safetensors", corpus_of(), seeds=2, rate=200.0, on_test=look, **SMALL)
    found = unpack(path)
    assert len(tests) == 3
    assert min(tests) < 0.9 * tests[-1]
    assert judged(found, corpus_of(), batch=4, steps=5)["perplexity"] == pytest.approx(min(tests), rel=0.03)  # rounded
    assert np.array_equal(found.embedding, found.decoder)


def test_training_that_ran_out_of_time_has_a_file_and_goes_on_from_its_checkpoint(tmp_path):
    counted = []
    asked = {"checkpoint": tmp_path / "checkpoint", "on_test": lambda now: counted.append(now.iteration), **SMALL}
    path = pretrain_english(tmp_path / "model.safetensors", corpus_of(), seconds=0, **asked)
    assert path.is_file()
    assert len(counted) == 1
    pretrain_english(path, corpus_of(), **asked)
    assert len(counted) == 3


def test_a_model_that_knows_fewer_words_is_judged_in_all_words_of_the_corpus():
    whole = corpus_of()
    few = corpus_of(size=20).vocabulary.words
    flat = jax.tree.map(np.zeros_like, LSTM.random(few, 4, key=jax.random.key(0)))  # all words are equally likely
    found = judged(flat, whole, batch=4, steps=5)
    assert found["perplexity"] == pytest.approx(20, rel=1e-3)

    counts = np.bincount(whole.train, minlength=len(whole.vocabulary))
    rare = np.array([word not in few[1:] for word in whole.vocabulary.words])
    chances = np.where(rare, counts / counts[rare].sum() / 20, 1 / 20)
    assert chances.sum() == pytest.approx(1)
    assert found["in_all_words"] == pytest.approx(np.exp(-np.log(chances[whole.held_out[1:]]).mean()), rel=1e-3)


def test_a_model_that_knows_all_words_has_one_perplexity():
    whole = corpus_of()
    flat = jax.tree.map(np.zeros_like, LSTM.random(whole.vocabulary.words, 4, key=jax.random.key(0)))
    found = judged(flat, whole, batch=4, steps=5)
    assert found["in_all_words"] == found["perplexity"] == pytest.approx(len(whole.vocabulary), rel=1e-3)
