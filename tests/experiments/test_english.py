import json
from collections import defaultdict

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.experiments.english import (
    English,
    WordPairs,
    on_grammar,
    pair_values,
    rank_correlation,
    untrained,
    words_known,
)
from kleene.experiments.reproduce import experiment
from kleene.explaining import interdependence
from kleene.machines.lstm.lstm import LSTM
from kleene.tasks import grammar
from kleene.tasks.text import END, Corpus, Vocabulary
from kleene.tasks.treebanks import CLOSED_CLASSES, OPEN_CLASSES, tree_distances
from tests.command_line import assert_refused

TRAINING = {"hidden": 4, "batch": 4, "steps": 8, "rate": 5.0}
SENTENCES = tuple(sorted(grammar.sentences(60, seed=3), key=len)[:20])  # short ones: few shapes to compile
PARSED = grammar.sentences(30, seed=1)
COUNTS = {"the": 50, "a": 7}


def small(model=None) -> English:
    words = [word for line in grammar.text(600, seed=1).splitlines() for word in (*line.split(), END)]
    known = Vocabulary.of(words, size=40) if model is None else words_known(model)
    corpus = Corpus("few", known, known.encode(words[:500]), known.encode(words[500:]))
    limits = {"panels": 3, "at_least": 5}
    return English("few", "a few words", corpus, SENTENCES, TRAINING, iterations=3, model=model, **limits)


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """What a small experiment came to, and its folder."""
    folder = tmp_path_factory.mktemp("few")
    return small().run(folder), folder


def test_a_language_model_is_taught_and_kept_with_what_was_measured(taught):
    content, folder = taught
    assert sorted(path.name for path in folder.iterdir()) == ["few.json", "few.safetensors", "few.svg"]
    kept = json.loads((folder / "few.json").read_text())
    assert kept == json.loads(json.dumps(content)) | {"checksum": kept["checksum"]}
    assert content["plans"][0]["iterations"] == 3
    assert content["settings"][0]["perplexity"] == pytest.approx(content["perplexity"], abs=0.01)
    unknown = [word not in Vocabulary.of(small().corpus.vocabulary).places for s in SENTENCES for word in s.words]
    assert content["unknown_words"] == pytest.approx(np.mean(unknown), abs=1e-3)


@pytest.mark.filterwarnings("ignore:the model does not know")
def test_means_are_those_of_the_interdependence_of_every_pair(taught):
    content, folder = taught
    model = LSTM.load(folder / "few.safetensors")
    for name, network in (("trained", model), ("untrained", untrained(model))):
        next_to = []
        for sentence in SENTENCES:
            matrix = interdependence(network, sentence.words)
            words = [place for place, one in enumerate(sentence.classes) if one != "PUNCT"]
            next_to += [matrix[place, place + 1] for place in words if place + 1 in words]
        first = content[name]["distance"][0]
        assert (first["distance"], first["cases"]) == (1, len(next_to))
        assert first["mean"] == pytest.approx(np.mean(next_to), rel=1e-3)


def test_a_model_from_a_file_is_looked_at_and_not_taught(taught, tmp_path):
    content, folder = taught
    again = small(LSTM.load(folder / "few.safetensors"))
    assert again.plans == ()
    found = again.run(tmp_path)
    assert found["trained"] == content["trained"]
    assert found["perplexity"] == pytest.approx(content["perplexity"], rel=1e-3)
    assert not (tmp_path / "few.safetensors").exists()


def test_an_untrained_network_has_the_same_shape_and_other_weights(taught):
    model = LSTM.load(taught[1] / "few.safetensors")
    fresh = untrained(model)
    assert jax.tree.map(np.shape, fresh) == jax.tree.map(np.shape, model)
    assert np.abs(fresh.embedding).max() <= 0.1
    assert not np.array_equal(fresh.layers[0].bias, model.layers[0].bias)


def test_the_grammar_experiment_has_text_and_sentences_of_its_own():
    found = on_grammar("quick", iterations=5)
    assert (found.plans[0].iterations, len(found.sentences)) == (5, 500)
    assert len(found.corpus.train) > 200_000


def test_a_model_without_words_is_refused():
    with pytest.raises(InputError, match="language model with words for tokens is needed"):
        words_known(LSTM.random(5, 3, key=jax.random.key(0)))


def test_a_model_for_an_experiment_that_teaches_its_own_is_refused():
    with pytest.raises(InputError, match="'rules' teaches its own networks; a model is for english"):
        experiment("rules", model=LSTM.random("ab", 3, key=jax.random.key(0)))


def test_the_command_line_lists_experiments_and_refuses_others(run, tmp_path):
    assert {"rules", "rule-frequency", "english", "english-grammar", "ntm-copy"} <= set(run("reproduce").out.split())
    assert_refused(run("reproduce", "nothing"), "no experiment 'nothing'")
    assert_refused(run("reproduce", "rules", "--iterations", "0"), "iterations is 0")


def test_english_says_what_data_it_needs(run, monkeypatch, tmp_path):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert_refused(run("reproduce", "english"), "'wikitext-2' is not on this machine")


PARSED = grammar.sentences(30, seed=1)


def spearman(one: np.ndarray, other: np.ndarray) -> float:
    """The correlation of mean ranks, counted one by one."""
    ranks = [[np.mean([int(v < w) + int(v <= w) for v in side]) for w in side] for side in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


def plain_pairs():
    """Every pair by a loop: sentence, places, distance, edges, classes."""
    for number, sentence in enumerate(PARSED):
        edges = tree_distances(sentence)
        for left in range(len(sentence)):
            for right in range(left + 1, len(sentence)):
                two = [sentence.classes[left], sentence.classes[right]]
                if all(one in OPEN_CLASSES | CLOSED_CLASSES for one in two):
                    is_open = [one in OPEN_CLASSES for one in two]
                    name = "open" if all(is_open) else "mixed" if any(is_open) else "closed"
                    yield number, left, right, right - left, int(edges[left, right]), name


def symmetric(seed: int) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    drawn = [draw.random((len(s), len(s))) for s in PARSED]
    return [one + one.T for one in drawn]


@pytest.mark.parametrize("seed", [0, 1])
def test_means_are_those_of_a_plain_loop_and_small_groups_are_left_out(seed):
    matrices = symmetric(seed)
    pairs, values = WordPairs.of(PARSED, COUNTS), pair_values(PARSED, matrices)
    groups = defaultdict(list)
    for number, left, right, distance, edges, classes in plain_pairs():
        if distance <= 3:
            groups[distance, classes, edges].append(matrices[number][left, right])
    found = {
        (row["distance"], row["classes"], row["edges"]): row
        for row in pairs.means(values, "distance", "classes", "edges", longest=3, at_least=20)
    }
    assert found.keys() == {key for key, members in groups.items() if len(members) >= 20}
    assert 0 < len(found) < len(groups)
    for key, row in found.items():
        members = np.array(groups[key])
        half = 1.96 * members.std(ddof=1) / np.sqrt(len(members))
        assert row["cases"] == len(members)
        assert [row["mean"], row["high"] - row["mean"]] == pytest.approx([members.mean(), half])


def test_frequency_is_the_mean_logarithm_of_both_words():
    pairs = WordPairs.of(PARSED, COUNTS)
    expected = [
        (np.log1p(COUNTS.get(PARSED[n].words[left], 0)) + np.log1p(COUNTS.get(PARSED[n].words[right], 0))) / 2
        for n, left, right, *_ in plain_pairs()
    ]
    assert pairs.frequency == pytest.approx(expected)


def test_trends_are_rank_correlations_within_a_distance_and_a_class():
    pairs, values = WordPairs.of(PARSED, COUNTS), pair_values(PARSED, symmetric(0))
    rows = pairs.trends(values, "edges", 2, at_least=20)
    chosen = [(e, v) for (*_, d, e, c), v in zip(plain_pairs(), values) if (d, c) == (2, "open")]
    row = next(row for row in rows if (row["distance"], row["classes"]) == (2, "open"))
    assert row["correlation"] == pytest.approx(spearman(*map(np.array, zip(*chosen))), abs=1e-4)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=30))
def test_rank_correlation_is_spearmans(points):
    one, other = np.array(points).T
    found = rank_correlation(one, other)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(spearman(one, other), abs=1e-4)
