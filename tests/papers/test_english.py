import json
from dataclasses import replace

import jax
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.explaining import interdependence
from kleene.explaining.words.baselines import erasure, gradient_times_input, information_matrix, mutual_informations
from kleene.machines.lstm.lstm import LSTM
from kleene.tasks import grammar
from kleene.tasks.text import END, Corpus, Vocabulary
from kleene_papers.interdependence import pair_measures, word_pairs
from kleene_papers.interdependence.controls import permuted, shuffled, untrained
from kleene_papers.interdependence.english import English, on_grammar, words_known
from kleene_papers.interdependence.pair_measures import MEASURES, PairCells, information, measured
from kleene_papers.interdependence.word_pairs import pair_places, pair_values
from kleene_papers.reproduce import experiment
from tests.command_line import assert_refused

TRAINING = {"hidden": 4, "batch": 4, "steps": 8, "rate": 5.0}
SENTENCES = tuple(sorted(grammar.sentences(60, seed=3), key=len)[:20])  # short ones: few shapes to compile


def small(model=None) -> English:
    words = [word for line in grammar.text(600, seed=1).splitlines() for word in (*line.split(), END)]
    known = Vocabulary.of(words, size=40) if model is None else words_known(model)
    corpus = Corpus("few", known, known.encode(words[:500]), known.encode(words[500:]))
    limits = {"panels": 3, "at_least": 5, "draws": 50}
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


def neighbours(matrices: list[np.ndarray], sentences) -> list[float]:
    """The entries of two words next to each other, without punctuation."""
    found = []
    for matrix, sentence in zip(matrices, sentences, strict=True):
        words = [place for place, one in enumerate(sentence.classes) if one != "PUNCT"]
        found += [matrix[place, place + 1] for place in words if place + 1 in words]
    return found


@pytest.mark.filterwarnings("ignore:the model does not know")
@pytest.mark.parametrize("measure", ["hidden", "logits", "erasure", "gradient"])
@pytest.mark.parametrize("group", ["trained", "untrained", "permuted", "shuffled"])
def test_means_are_those_of_every_pair_in_each_network(taught, measure, group):
    content, folder = taught
    model, sentences, chance = LSTM.load(folder / "few.safetensors"), SENTENCES, np.random.default_rng(0)
    if group == "shuffled":
        sentences = tuple(shuffled(sentence, chance) for sentence in SENTENCES)
    network = {"untrained": untrained(model, 0), "permuted": permuted(model, 0)}.get(group, model)
    single = {"erasure": erasure, "gradient": gradient_times_input}.get(measure, interdependence)
    options = {"at": "logits"} if measure == "logits" else {}
    next_to = neighbours([single(network, sentence.words, **options) for sentence in sentences], sentences)
    first = content["measures"][measure][group]["distance"][0]
    assert (first["distance"], first["cases"], len(first["networks"])) == (1, len(next_to), 2)
    assert first["networks"][0] == pytest.approx(np.mean(next_to), rel=2e-3)
    assert first["networks"][0] != first["networks"][1]
    assert first["mean"] == pytest.approx(np.mean(first["networks"]), rel=1e-4)


def test_both_places_of_the_measure_have_means_by_edges(taught):
    for measure in ("hidden", "logits"):
        for group in ("trained", "untrained"):
            assert taught[0]["measures"][measure][group]["syntax"]
    assert len({taught[0]["measures"][m]["trained"]["distance"][0]["mean"] for m in ("hidden", "logits")}) == 2


def test_information_is_that_of_the_text_that_was_learned():
    corpus = small().corpus
    lines = " ".join(corpus.vocabulary.words[code] for code in np.asarray(corpus.train)).split(f" {END}")
    statistics = mutual_informations([line.split() for line in lines], range(1, 5))
    expected = []
    for sentence in SENTENCES:
        words = [word if word in corpus.vocabulary.places else "<unk>" for word in sentence.words]
        expected.append(information_matrix(words, statistics))
    found = information(corpus, SENTENCES, 4)
    np.testing.assert_allclose(found, pair_values(SENTENCES, expected, 4), rtol=1e-9)
    assert 0 < np.isnan(found).mean() < 1


def test_an_experiment_that_was_stopped_measures_only_what_is_missing(tmp_path, monkeypatch, taught):
    calls = []

    def counted(name, *others):
        calls.append(name)
        return measured(name, *others)

    def stop(share, line):
        if line == "logits in untrained network 2 of 2":
            raise KeyboardInterrupt

    monkeypatch.setattr(pair_measures, "measured", counted)
    with pytest.raises(KeyboardInterrupt):
        small().run(tmp_path, watch=stop)
    assert calls == [*(name for name in MEASURES for _ in range(2)), "hidden", "hidden", "logits"]
    assert not (tmp_path / "few.json").exists()
    content = small().run(tmp_path)
    assert len(calls) == len(MEASURES) * 4 * 2  # four kinds of two networks
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.json", "few.safetensors", "few.svg"]
    assert content["measures"] == taught[0]["measures"]


def test_values_of_another_network_are_measured_again(taught, tmp_path):
    model, cells = LSTM.load(taught[1] / "few.safetensors"), PairCells(tmp_path / "pairs")
    first = cells.values("one", "hidden", model, SENTENCES, 3)
    np.testing.assert_array_equal(first, cells.values("one", "hidden", model, SENTENCES, 3))
    assert not np.array_equal(first, cells.values("one", "hidden", permuted(model), SENTENCES, 3))


def test_values_of_pairs_that_other_word_classes_choose_are_measured_again(taught, tmp_path, monkeypatch):
    model, cells = LSTM.load(taught[1] / "few.safetensors"), PairCells(tmp_path / "pairs")
    first = cells.values("one", "hidden", model, SENTENCES, 3)
    relabelled = tuple(replace(one, classes=("PUNCT", *one.classes[1:])) for one in SENTENCES)
    fewer = cells.values("one", "hidden", model, relabelled, 3)
    assert len(fewer) == sum(len(pair_places(one, 3)[0]) for one in relabelled) < len(first)
    monkeypatch.setattr(word_pairs, "OPEN_CLASSES", frozenset())  # closed words alone are left, in another process
    pair_measures._pairs_digest.cache_clear()
    assert len(cells.values("one", "hidden", model, relabelled, 3)) < len(fewer)


def test_a_model_from_a_file_is_looked_at_and_not_taught(taught, tmp_path):
    content, folder = taught
    again = small(LSTM.load(folder / "few.safetensors"))
    assert again.plans == ()
    found = again.run(tmp_path)
    ours, theirs = (one["measures"]["hidden"] for one in (found, content))
    assert ours["untrained"] == theirs["untrained"]
    assert [row["mean"] for row in ours["trained"]["distance"]] == [
        row["networks"][0] for row in theirs["trained"]["distance"]
    ]
    assert found["perplexity"] == pytest.approx(content["perplexities"][0], rel=1e-3)
    assert not (tmp_path / "few.safetensors").exists()
    assert (content["networks"], content["control_networks"]) == (2, 2)
    assert (found["networks"], found["control_networks"], len(found["perplexities"])) == (1, 2, 1)
    assert content["summary"][0].endswith("; 2 networks of each kind")
    assert found["summary"][0].endswith("; 1 trained network, 2 of each other kind")


def test_the_number_of_networks_can_be_chosen_and_is_told():
    assert [len(on_grammar(size, 5).plans[0].seeds) for size in ("quick", "full")] == [2, 5]
    assert len(experiment("english-grammar", networks=3).plans[0].seeds) == 3
    with pytest.raises(InputError, match="networks is 0; give 1 or more"):
        on_grammar(networks=0)
    with pytest.raises(InputError, match="networks is 0; give 1 or more"):
        experiment("rules", networks=0)
    with pytest.raises(InputError, match="'ntm-copy' has no number of networks"):
        experiment("ntm-copy", networks=2)
    with pytest.raises(InputError, match="'english' has no number of corpora"):
        experiment("english", corpora=2)


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
