"""The language models that ship with Kleene, and the text that the one of the grammar was taught on."""

from importlib.resources import files
from itertools import islice

import numpy as np
import pytest

from kleene.data import data_file
from kleene.explaining import decompose_batch
from kleene.machines.pretrained import english_model, grammar_model
from kleene.tasks.grammar import sentences, vocabulary
from kleene.tasks.grammar_text import grammar_words
from kleene.tasks.lexicon import PEOPLE, nouns
from kleene.tasks.text import UNKNOWN, Vocabulary, unigram_perplexity, words_of
from kleene.teaching.pretraining import grammar_corpus
from tests.tasks.published import need


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


PAIRS = [(noun.singular, noun.plural) for noun in nouns(PEOPLE) if not noun.after]


@pytest.mark.parametrize("place", ["house", "houses"])
def test_verbs_agree_with_subjects_that_are_not_beside_them(model, place):
    sentences = [f"the {noun} near the {place}".split() for pair in PAIRS for noun in pair]
    singular, plural = _for_laughs(model, np.array([model.outputs(words)[-1] for words in sentences]))
    assert (singular > 0).all()
    assert (plural < 0).all()


def _for_laughs(model, logits):
    """By how much 'laughs' is ahead of 'laugh', for singular and for plural nouns."""
    laughs, laugh = (model.vocabulary.index(form) for form in ("laughs", "laugh"))
    return (logits[:, laughs] - logits[:, laugh]).reshape(-1, 2).T


@pytest.mark.parametrize("place", ["house", "houses"])
def test_a_subject_alone_speaks_for_the_form_of_the_verb_that_agrees_with_it(model, place):
    sentences = [f"the {noun} near the {place}".split() for pair in PAIRS for noun in pair]
    found = decompose_batch(model, sentences, [1] * len(sentences))
    singular, plural = _for_laughs(model, np.array([one.logits[-1] for one in found]))
    assert (singular > plural).all()


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


def test_the_file_of_the_english_model_is_small_and_it_begins_with_the_most_frequent_words():
    assert (files("kleene.machines.pretrained") / "english.safetensors").stat().st_size < 4_300_000
    known = english_model().vocabulary
    assert known[:8] == (UNKNOWN, "<eos>", "the", ",", ".", "of", "and", "in")
    assert len(known) >= 10_000
    assert {"The", "government", "she", "dogs", "sick", "@-@"} <= set(known)


@pytest.mark.parametrize(
    ("before", "likelier", "other"),
    [
        ("He was one of the", "most", "is"),
        ("The game was released in", "the", "they"),
        ("She did not want to", "be", "was"),
        ("In the early 20th", "century", "them"),
        ("The books on the table", "were", "it"),
    ],
)
def test_the_english_model_expects_words_that_fit(before, likelier, other):
    model = english_model()
    logits = dict(zip(model.vocabulary, model.outputs(before.split())[-1]))
    assert logits[likelier] > logits[other]


def test_on_wikitext_2_the_english_model_is_far_better_than_the_frequencies_of_words():
    need("wikitext-2")
    words = list(islice(words_of(data_file("wikitext-2", "test.txt")), 3000))
    model, known = english_model(), Vocabulary(tuple(map(str, english_model().vocabulary)))
    codes = known.encode(words)
    outputs = model.outputs(known.decode(codes))[:-1].astype(np.float64)
    chances = outputs - np.logaddexp.reduce(outputs, axis=1, keepdims=True)
    perplexity = np.exp(-chances[np.arange(len(codes)), codes].mean())
    train = known.encode(words_of(data_file("wikitext-2", "train.txt")))
    assert unigram_perplexity(train, codes, len(known)) > 3 * perplexity
