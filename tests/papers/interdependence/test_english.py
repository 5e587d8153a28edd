import json
from dataclasses import replace
from xml.etree import ElementTree

import jax
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.explaining import interdependence
from kleene.explaining.words.baselines import erasure, gradient_times_input, information_matrix, mutual_informations
from kleene.machines.lstm.lstm import LSTM
from kleene.tasks import grammar
from kleene.tasks.text import END, Corpus, Vocabulary
from kleene_papers.interdependence import pair_measures, word_pairs
from kleene_papers.interdependence.controls import permuted, shuffled, untrained
from kleene_papers.interdependence.english import STUDIES, English, on_grammar, words_known
from kleene_papers.interdependence.english_numbers import (
    beside_permuted,
    correlations_by_network,
    english_runs,
    strata,
    strata_ends,
    strata_mean,
    stratum,
    words_apart,
)
from kleene_papers.interdependence.english_report import draw
from kleene_papers.interdependence.english_tables import by_distance, overview, tables
from kleene_papers.interdependence.pair_measures import MEASURES, PairCells, information, measured
from kleene_papers.interdependence.word_pairs import pair_places, pair_values
from kleene_papers.report import pictures
from kleene_papers.reproduce import trial_of
from kleene_papers.stored import Result, stored
from kleene_papers.study import run as run_study
from tests.command_line import assert_refused

TRAINING = {"hidden": 4, "batch": 4, "steps": 8, "rate": 5.0}
STUDY = replace(STUDIES[1], name="few")
RUNS = (
    "compose-figure-3",
    "compose-figure-3-quick",
    "compose-figure-3-shipped",
    "ours-english-grammar",
    "ours-english-grammar-two",
)
SENTENCES = tuple(sorted(grammar.sentences(60, seed=3), key=len)[:20])  # short ones: few shapes to compile


def small(model=None) -> English:
    words = [word for line in grammar.text(600, seed=1).splitlines() for word in (*line.split(), END)]
    known = Vocabulary.of(words, size=40) if model is None else words_known(model)
    corpus = Corpus("few", known, known.encode(words[:500]), known.encode(words[500:]))
    limits = {"panels": 3, "at_least": 5, "draws": 50}
    return English("few", corpus, SENTENCES, TRAINING, iterations=3, model=model, **limits)


def measured_in(folder, model=None, watch=None) -> Result:
    """The result of a small trial."""
    return run_study(STUDY, small(model).trial(), folder, watch=watch)


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """What a small trial came to, and its folder."""
    folder = tmp_path_factory.mktemp("few")
    return measured_in(folder), folder


def test_a_language_model_is_taught_and_kept_with_what_was_measured(taught):
    result, folder = taught
    assert sorted(path.name for path in folder.iterdir()) == ["few.json", "few.safetensors", "few.svg"]
    assert Result.load(folder / "few.json") == replace(result, found=json.loads(json.dumps(result.found)))
    assert result.plans[0]["iterations"] == 3
    assert result.rows[0]["perplexity"] == pytest.approx(result["perplexity"], abs=0.01)
    assert result.provenance.seeds == [0, 1]
    unknown = [word not in Vocabulary.of(small().corpus.vocabulary).places for s in SENTENCES for word in s.words]
    assert result["unknown_words"] == pytest.approx(np.mean(unknown), abs=1e-3)


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
    result, folder = taught
    model, sentences, chance = LSTM.load(folder / "few.safetensors"), SENTENCES, np.random.default_rng(0)
    if group == "shuffled":
        sentences = tuple(shuffled(sentence, chance) for sentence in SENTENCES)
    network = {"untrained": untrained(model, 0), "permuted": permuted(model, 0)}.get(group, model)
    single = {"erasure": erasure, "gradient": gradient_times_input}.get(measure, interdependence)
    options = {"at": "logits"} if measure == "logits" else {}
    next_to = neighbours([single(network, sentence.words, **options) for sentence in sentences], sentences)
    first = result["measures"][measure][group]["distance"][0]
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


def test_a_trial_that_was_stopped_measures_only_what_is_missing(tmp_path, monkeypatch, taught):
    calls = []

    def counted(name, *others):
        calls.append(name)
        return measured(name, *others)

    def stop(share, line):
        if line == "logits in untrained network 2 of 2":
            raise KeyboardInterrupt

    monkeypatch.setattr(pair_measures, "measured", counted)
    with pytest.raises(KeyboardInterrupt):
        measured_in(tmp_path, watch=stop)
    assert calls == [*(name for name in MEASURES for _ in range(2)), "hidden", "hidden", "logits"]
    assert not (tmp_path / "few.json").exists()
    result = measured_in(tmp_path)
    assert len(calls) == len(MEASURES) * 4 * 2  # four kinds of two networks
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.json", "few.safetensors", "few.svg"]
    assert result["measures"] == taught[0]["measures"]


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
    result, folder = taught
    model = LSTM.load(folder / "few.safetensors")
    assert small(model).trial().plans == ()
    found = measured_in(tmp_path, model)
    ours, theirs = (one["measures"]["hidden"] for one in (found, result))
    assert ours["untrained"] == theirs["untrained"]
    assert [row["mean"] for row in ours["trained"]["distance"]] == [
        row["networks"][0] for row in theirs["trained"]["distance"]
    ]
    assert found["perplexity"] == pytest.approx(result["perplexities"][0], rel=1e-3)
    assert not (tmp_path / "few.safetensors").exists()
    assert (result["networks"], result["control_networks"]) == (2, 2)
    assert (found["networks"], found["control_networks"], len(found["perplexities"])) == (1, 2, 1)
    assert result.summary[0].endswith("; 2 networks of each kind")
    assert found.summary[0].endswith("; 1 trained network, 2 of each other kind")
    assert all(table.rows for table in tables(found))


def test_the_number_of_networks_can_be_chosen():
    assert [len(on_grammar(size, 5).trial().plans[0].seeds) for size in ("quick", "full")] == [2, 5]
    assert len(trial_of("ours-english-grammar", networks=3).plans[0].seeds) == 3
    with pytest.raises(InputError, match="networks is 0; give 1 or more"):
        on_grammar(networks=0)
    with pytest.raises(InputError, match="networks is 0; give 1 or more"):
        trial_of("compose-figure-3", networks=0)
    with pytest.raises(InputError, match="compose-figure-3 takes no --corpora"):
        trial_of("compose-figure-3", corpora=2)


def test_the_grammar_has_text_and_sentences_of_its_own():
    found = on_grammar("quick", iterations=5)
    assert (found.trial().plans[0].iterations, len(found.sentences)) == (5, 500)
    assert len(found.corpus.train) > 200_000


def test_a_model_without_words_is_refused():
    with pytest.raises(InputError, match="language model with words for tokens is needed"):
        words_known(LSTM.random(5, 3, key=jax.random.key(0)))


def test_a_model_that_is_not_a_language_model_is_refused():
    with pytest.raises(InputError, match="the study looks at an LSTM"):
        trial_of("ours-english-grammar", model=kleene.SimpleRNN.random("ab", 3, key=jax.random.key(0)))


def test_the_grammar_is_taught_as_in_the_stored_result():
    (plan,) = trial_of("ours-english-grammar", networks=5).plans
    assert plan.facts() == stored("ours-english-grammar").plans[0]


def test_english_is_taught_as_in_the_stored_result():
    try:
        (plan,) = trial_of("compose-figure-3", networks=5).plans
    except InputError as error:
        pytest.skip(str(error))
    assert plan.facts() == stored("compose-figure-3-quick").plans[0]


def test_english_says_what_data_it_needs(run, monkeypatch, tmp_path):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert_refused(run("reproduce", "compose-figure-3", "--run", "quick"), "'wikitext-2' is not on this machine")


@pytest.mark.parametrize("name", RUNS)
def test_every_stored_run_has_tables_with_the_papers_claims(name):
    result = stored(name)
    found = {table.title: table for table in tables(result)}
    assert all(table.rows for table in found.values())
    assert ("tree, given the place" in found) == (name == "compose-figure-3-shipped")
    told = [row[1] for row in found["the papers and ours"].rows]
    assert set(told) == {*result.paper.values(), ""}


def test_tables_have_the_numbers_of_the_stored_result():
    found = {table.title: [" | ".join(row) for row in table.rows] for table in tables(stored("compose-figure-3"))}
    assert found["DI at the hidden state"][0] == (
        "DI at the hidden state, trained | 0.522 ±0.008 | 0.363 ±0.006 | 0.220 ±0.004 | 0.135 ±0.007 | "
        "+0.010 (−0.005 to +0.024) | 13, 8 of 24 | +0.178 (+0.154 to +0.203)"
    )
    assert found["other measures"][-1] == (
        "mutual information, text | 1.739 ±0.011 | 0.768 ±0.010 | 0.287 ±0.007 | 0.224 ±0.007 | −0.123 | "
        "22, 0 of 24 | −0.078"
    )
    assert found["tree, interdependence"][8].startswith("mixed: DI at the hidden state, trained | +0.34 ±0.03 | +0.09")
    assert found["tree, other measures"][1].startswith("open: erasure, trained | −0.07 ±0.01 | −0.14 ±0.01")
    assert found["run"][0].startswith("`compose-figure-3 --run full` | 5 | 400 | 35,724 | 117.0–118.5 | 967.4 | 8.4%")
    distance, trained, *_ = found["the papers and ours"]
    assert "1 apart 0.522 (0.514–0.530)" in distance
    assert "1 apart 0.367 (0.357–0.376)" in distance
    assert "open −0.02 (−0.03 to −0.01); closed +0.03 (+0.01 to +0.04); mixed +0.03 (+0.00 to +0.05)" in trained
    shipped = {table.title: [*map(" | ".join, table.rows)] for table in tables(stored("compose-figure-3-shipped"))}
    assert shipped["tree, given the place"][1].startswith("open: trained, given the place | +0.04 ±0.03 | −0.01 ±0.03")
    (models,) = STUDIES[2].tables(*map(stored, STUDIES[2].results))
    assert models.rows[1] == ["16,000 words, 192 units, ships", "3.7 MB", "117.5", "111.8", "8.6%"]


def test_two_networks_are_told_as_two_values_and_not_as_an_interval():
    rows = [{"distance": 1, "classes": "open", "correlation": 0.15, "low": 0.1, "high": 0.2, "networks": [0.1, 0.2]}]
    rows[0]["over_networks"] = [-0.49, 0.79]
    mean = {"distance": 1, "mean": 0.3, "low": 0.2, "high": 0.4, "over_networks": [-1, 1.6], "networks": [0.2, 0.4]}
    group = {"distance": [mean], "syntax_trends": rows, "frequency_trends": rows}
    table = overview({"hidden": {"trained": group}}, ("hidden",), "")
    trends = ["+0.100 / +0.200", "0, 1 of 1", "+0.100 / +0.200"]
    assert table.rows == [["DI at the hidden state, trained", "0.200 / 0.400", "", "", "", *trends]]
    assert by_distance([("two", group)], "").rows == [["open: two", "+0.10 / +0.20"], ["closed: two", ""],
                                                      ["mixed: two", ""]]  # fmt: skip


def test_a_stratum_in_which_nothing_varies_has_no_number():
    row = {"distance": 1, "classes": "open", "correlation": None, "cases": 200}
    group = {"distance": [], "syntax_trends": [row], "frequency_trends": [row]}
    assert by_distance([("none", group)], "").rows[0] == ["open: none", ""]
    assert overview({"hidden": {"trained": group}}, ("hidden",), "").rows[0][5:] == ["–", "0, 0 of 0", "–"]


def test_sentences_find_their_numbers_in_the_stored_results():
    full = "compose-figure-3"
    assert words_apart(full, "hidden", "trained", 8)["mean"] == pytest.approx(0.135, abs=5e-4)
    assert strata_ends(strata(full, "hidden", "trained", range(6, 9))) == "−0.03 to −0.08"
    assert stratum(full, "hidden", "trained", 1, "closed", "frequency")["correlation"] == pytest.approx(0.49, abs=5e-3)
    assert strata_mean(strata(full, "erasure", "trained")) == pytest.approx(-0.131, abs=5e-4)
    assert beside_permuted(full, range(6, 9)) == "−0.006 (−0.015 to +0.004)"
    assert correlations_by_network("ours-english-grammar", "ours-english-grammar-two").splitlines()[2] == (
        "| DI at the hidden state | −0.062, −0.069, −0.056, −0.069, −0.061 | −0.029, −0.085 |"
    )
    assert len(english_runs(*RUNS).splitlines()) == 2 + len(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_every_stored_run_can_be_drawn(name, tmp_path):
    drawn = draw(stored(name), tmp_path / "one.svg")
    written = " ".join(ElementTree.parse(drawn).getroot().itertext())
    assert all(words in written for words in ("DI at the hidden state", "DI and edges, mixed pairs", "8 apart"))
    assert {"compose-figure-3", "ours-english-grammar"} <= {*pictures()}
