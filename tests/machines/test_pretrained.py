"""The language model that ships with Kleene, and the text that it was taught on."""

from importlib.resources import files

import jax
import numpy as np
import pytest

from kleene.explaining import interdependence
from kleene.machines.lstm import LSTM
from kleene.machines.pretrained import grammar_model
from kleene.tasks.grammar import sentences, vocabulary
from kleene.tasks.text import UNKNOWN, unigram_perplexity
from kleene.teaching.pretraining import grammar_corpus, grammar_words


@pytest.fixture(scope="module")
def model():
    return grammar_model()


def test_its_file_is_small_and_it_knows_every_word_of_the_grammar(model):
    assert (files("kleene.machines.pretrained") / "grammar.safetensors").stat().st_size < 400_000
    assert set(vocabulary()) | {UNKNOWN, "<eos>", "The", "When"} <= set(model.vocabulary)


def test_on_new_text_its_perplexity_is_far_below_that_of_the_words_frequencies(model):
    places = {word: place for place, word in enumerate(model.vocabulary)}
    train = [places[word] for word in grammar_words(30_000, seed=2)]
    words = grammar_words(1500, seed=3)
    codes = [places[word] for word in words]
    outputs = model.outputs(words)[:-1].astype(np.float64)
    chances = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    perplexity = np.exp(-np.log(chances[np.arange(len(codes)), codes]).mean())
    assert perplexity < 25
    assert unigram_perplexity(train, codes, len(places)) > 5 * perplexity


@pytest.mark.parametrize(("subject", "verb", "other"), [("man", "laughs", "laugh"), ("men", "laugh", "laughs")])
def test_verbs_agree_with_a_subject_that_is_not_beside_them(model, subject, verb, other):
    for place in ("house", "houses"):
        said = dict(zip(model.vocabulary, model.outputs(["the", subject, "near", "the", place])[-1]))
        assert said[verb] > said[other]


def test_a_verb_goes_with_its_subject_and_in_an_untrained_network_with_the_word_beside_it(model):
    subjects, places = [("man", "laughs"), ("girls", "wait")], ["house", "rivers"]
    said = [f"the old {noun} near the {place} {verb}" for noun, verb in subjects for place in places]
    untrained = LSTM.random(model.vocabulary, 48, key=jax.random.key(1))
    goes_with = [[int(np.nanargmax(interdependence(one, text)[-1])) for text in said] for one in (model, untrained)]
    assert goes_with == [[2] * 4, [5] * 4]


def test_the_text_hides_some_words_of_open_classes_and_capitalises_half_of_the_sentences():
    words, lines = grammar_words(20_000, seed=0), sentences(2000, seed=0)
    plain = [word for line in lines for word in (*line.words, "<eos>")][: len(words)]
    changed = [(old, new) for old, new in zip(plain, words) if old != new]
    hidden = [old for old, new in changed if new == UNKNOWN]
    assert all(new in (UNKNOWN, old.capitalize()) for old, new in changed)
    assert 0.008 < len(hidden) / len(words) < 0.03
    assert not {"the", "a", "of", ".", ","} & set(hidden)
    starts = [word for before, word in zip(["<eos>", *words], words) if before == "<eos>" and word != UNKNOWN]
    assert 0.45 < np.mean([word[0].isupper() for word in starts]) < 0.7  # names always are
    corpus = grammar_corpus(3000, 100)
    assert corpus.train.tolist() == corpus.vocabulary.encode(grammar_words(3000, seed=0)).tolist()
