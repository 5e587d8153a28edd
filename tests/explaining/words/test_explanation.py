"""`kleene.explain`, its command, and the model that ships for it."""

import dataclasses
import json
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import jax
import numpy as np
import pytest
from rich.console import Console

import kleene
from kleene.errors import InputError, UnknownWordsWarning
from kleene.explaining import Sharing, decompose, interdependence, state_after
from kleene.explaining.words.baselines import information_matrix, mutual_informations
from kleene.explaining.words.explained import Explained
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.lstm.pytorch import save_state_dict
from kleene.machines.ntm.ntm import NTM
from kleene.machines.pretrained import english_model, grammar_model
from kleene.machines.transformer_lm import TransformerLM
from kleene.tasks.grammar import sentences
from tests.command_line import assert_refused

SENTENCE = "The blorgish sweep has sick zyzzyvas"
CONLLU = "# a comment\n1\tdogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
BROKEN = CONLLU + "\n1\tcats\t_\tNOUN\t_\t_\tabove\troot\t_\t_\n"


@pytest.fixture(scope="module")
def model():
    return grammar_model()


@pytest.fixture(scope="module")
def networks(tmp_path_factory, model):
    """A folder of other networks. Those of the model's shape share its compiled functions."""
    folder = tmp_path_factory.mktemp("networks")
    size = len(model.vocabulary)
    retold(model, range(size)).save(folder / "numbers.safetensors")
    retold(model, [chr(ord("a") + place) for place in range(size)]).save(folder / "letters.safetensors")
    retold(model, [word.strip("<>") for word in model.vocabulary]).save(folder / "no_unk.safetensors")
    retold(model, model.vocabulary, outputs=1).save(folder / "acceptor.safetensors")
    save_state_dict(model, folder / "torch.safetensors")
    transformer = TransformerLM.random(["<unk>", "a", "man"], 4, 2, 1, positions=8, key=jax.random.key(0))
    transformer.save(folder / "transformer.safetensors")
    NTM.random(3, width=2, hidden=(2, 2), key=jax.random.key(0)).save(folder / "ntm.safetensors")
    (folder / "tree.conllu").write_text(CONLLU)
    (folder / "broken.conllu").write_text(BROKEN)
    return folder


def retold(model: LSTM, vocabulary, outputs: int | None = None) -> LSTM:
    """The model with other names for its tokens, and fewer outputs."""
    decoder = {"decoder": model.decoder[:outputs], "decoder_bias": model.decoder_bias[:outputs]}
    return dataclasses.replace(model, vocabulary=tuple(vocabulary), **decoder)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch, networks):
    import matplotlib

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
    for file in networks.iterdir():
        (tmp_path / file.name).symlink_to(file)


def texts(path) -> list[str]:
    return [text.strip() for text in ET.parse(path).getroot().itertext() if text.strip()]


def assert_matrix(shown, expected):
    found = np.array(shown, dtype=float)  # None is NaN
    assert np.allclose(found, expected, atol=1e-6, equal_nan=True)


def test_the_matrix_is_that_of_interdependence_and_a_picture_is_written(run, model):
    found = run("explain", SENTENCE, "--json").json
    assert_matrix(found["matrix"], interdependence(model, SENTENCE))
    assert found["words"] == SENTENCE.split()
    assert [found["words"][place] for place in found["unknown"]] == ["blorgish", "zyzzyvas"]
    assert {"The", "blorgish*", "sick", "* read as <unk>: blorgish, zyzzyvas"} <= set(texts(found["file"]))


def test_the_table_has_words_at_its_edges_and_says_what_was_read_as_unknown(run, model):
    result = run("explain", SENTENCE, "--plot", "di.png")
    lines = [line.split() for line in result.out.splitlines()]
    assert lines[0] == ["The", "blorgish*", "sweep", "has", "sick", "zyzzyvas*"]
    values = interdependence(model, SENTENCE)
    assert lines[5][:3] == ["4", "sick", f"{values[4, 0]:.2f}"[1:]]
    assert lines[5][6] == "·"
    assert result.out.splitlines()[-2:] == ["* read as <unk>: blorgish, zyzzyvas", "wrote di.png"]


def test_words_that_the_grammar_lacks_are_read_by_the_english_model_which_is_named(run):
    sentence = "The government of the country was elected in April"
    found = run("explain", sentence, "--json").json
    assert (found["model"], found["unknown"]) == ("english", [])
    assert_matrix(found["matrix"], interdependence(english_model(), sentence))
    assert "model: english" in run("explain", sentence).out.splitlines()
    assert "model: english" in texts("interdependence.svg")


def test_words_that_both_shipped_models_know_are_read_by_that_of_the_grammar(run):
    assert run("explain", "the man laughs", "--json").json["model"] == "grammar"
    assert run("explain", "the man", "--after", "The government was elected .", "--json").json["model"] == "english"


def test_a_shipped_model_is_chosen_by_its_name(run):
    for name in ("grammar", "english"):
        found = run("explain", "the government", "--model", name, "--json").json
        assert (found["model"], found["unknown"]) == (name, [1] if name == "grammar" else [])
    assert kleene.explain("english", "the man").facts["model"] == "english"


def test_a_sentence_of_mostly_unknown_words_is_explained_with_a_warning_that_names_them(run):
    result = run("explain", "The blorg has zyzzyvas florply", "--json")
    told = "the model does not know 3 of the 5 words and reads each as <unk>"
    assert result.err.splitlines() == [f"kleene: warning: {result.json['warning']}"]
    assert told in result.err
    assert result.err.endswith(": blorg, zyzzyvas, florply\n")
    assert result.json["unknown"] == [1, 3, 4]
    known = run("explain", SENTENCE, "--json")
    assert (known.err, known.json["warning"]) == ("", None)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 300])
def test_a_long_sentence_is_numbered_and_cut_into_blocks_that_fit_the_page(capsys, width):
    words = list(next(found for found in sentences(3000, seed=3) if len(found) == 26).words)
    for table in Explained(words, [], np.add.outer(np.arange(26), np.arange(26)) / 100, {}).tables(width):
        Console(width=width).print(table)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    by_words = width == 300
    heads = [head for row in rows[::27] for head in row[not by_words :]]
    assert heads == (words if by_words else [str(place) for place in range(26)])
    for place, word in enumerate(words):
        block_rows = rows[1 + place :: 27]
        assert all(row[:2] == [str(place), word] for row in block_rows)
        assert [cell for row in block_rows for cell in row[2:]] == [f".{place + other:02}" for other in range(26)]


@pytest.mark.parametrize(
    ("options", "function", "expected"),
    [
        (["--at", "logits"], "pairwise.interdependence", {"at": "logits"}),
        (["--step", "last"], "pairwise.interdependence", {"step": "last"}),
        (["--step", "1", "--layer", "0"], "pairwise.interdependence", {"step": 1, "layer": 0}),
        (["--sets", "man; 0"], "pairwise.interdependence", {"sets": [[1], [0]]}),
        (["--sharing", "bias=shapley"], "pairwise.interdependence", {"sharing": Sharing(bias="shapley")}),
        (["--method", "erasure"], "baselines.erasure", {"start": None}),
        (["--method", "gradient"], "baselines.gradient_times_input", {"start": None}),
    ],
)
def test_options_go_to_the_function_that_they_name(run, monkeypatch, options, function, expected):
    asked = []

    def measure(model, tokens, **given):
        asked.append((tokens, given))
        return np.array([[np.nan, 0.25], [0.25, np.nan]])

    monkeypatch.setattr(f"kleene.explaining.words.{function}", measure)
    assert run("explain", "a man", *options, "--json").json["matrix"] == [[None, 0.25], [0.25, None]]
    if function == "pairwise.interdependence":
        defaults = {"at": "hidden", "sharing": Sharing()} | dict.fromkeys(("step", "layer", "sets", "start"))
        expected = defaults | expected
    assert asked == [(["a", "man"], expected)]


def test_the_focus_is_given_by_words_or_positions_and_its_logits_add_up(run, model):
    by_words = run("explain", SENTENCE, "--focus", "sick,sweep", "--json").json["focus"]
    assert run("explain", SENTENCE, "--focus", "4 2", "--json").json["focus"] == by_words
    assert by_words["positions"] == [2, 4]
    expected = decompose(model, SENTENCE, {2, 4}).probabilities[-1]
    known = [word if word in model.vocabulary else "<unk>" for word in SENTENCE.split()]
    says = jax.nn.softmax(model.outputs(known)[-1])
    assert [row["by_focus"] for row in by_words["next"]] == pytest.approx(np.sort(expected)[::-1][:8])
    for row in by_words["next"]:
        assert row["logit"] == pytest.approx(row["focus"] + row["rest"] + row["bias"], abs=1e-5)
        assert row["by_all"] == pytest.approx(float(says[model.vocabulary.index(row["word"])]), rel=1e-3)


@pytest.mark.parametrize("asked", ["1-2", "blorgish sweep", "1,2"])
def test_the_focus_may_be_a_span_or_a_phrase(run, model, asked):
    found = run("explain", SENTENCE, "--focus", asked, "--json").json["focus"]
    assert found["positions"] == [1, 2]
    expected = decompose(model, SENTENCE, {1, 2}).probabilities[-1]
    assert found["next"][0]["by_focus"] == pytest.approx(expected.max())
    assert "going by: blorgish sweep" in run("explain", SENTENCE, "--focus", asked).out


def test_phrases_are_compared_instead_of_words(run, model):
    asked = ("explain", SENTENCE, "--sets", "The blorgish sweep; 3; sick zyzzyvas", "--heads", "3 3 4 0 6 4")
    found = run(*asked, "--json").json
    assert found["sets"] == [[0, 1, 2], [3], [4, 5]]
    assert_matrix(found["matrix"], interdependence(model, SENTENCE, sets=[(0, 1, 2), (3,), (4, 5)]))
    assert {"The blorgish* sweep", "has", "sick zyzzyvas*"} <= set(texts(found["file"]))
    lines = run(*asked).out.splitlines()
    assert lines[0].split() == ["The", "blorgish*", "sweep", "has", "sick", "zyzzyvas*"]
    assert lines[2].split()[:3] == ["1", "has", f"{found['matrix'][1][0]:.2f}"[1:]]
    assert "<th>sick zyzzyvas*</th>" in kleene.explain(model, SENTENCE, sets=[range(4), "sick zyzzyvas"])._repr_html_()


def test_sets_that_are_no_spans_are_labelled_with_dots(run):
    out = run("explain", SENTENCE, "--sets", "1,4; 2-3").out
    assert out.splitlines()[1].startswith("0 blorgish* … sick")


def test_the_conventions_of_the_decomposition_are_chosen_and_shown(run, model):
    asked = ("explain", SENTENCE, "--sharing", "output_gate=decomposed,bias=shapley", "--focus", "sick")
    sharing = Sharing(bias="shapley", output_gate="decomposed")
    found = run(*asked, "--json").json
    assert found["sharing"] == "bias=shapley, output_gate=decomposed"
    assert_matrix(found["matrix"], interdependence(model, SENTENCE, sharing=sharing))
    expected = decompose(model, SENTENCE, {4}, sharing=sharing).probabilities[-1]
    assert found["focus"]["next"][0]["by_focus"] == pytest.approx(expected.max())
    assert "sharing: bias=shapley, output_gate=decomposed" in run(*asked).out.splitlines()
    assert "sharing" not in run("explain", SENTENCE, "--sharing", "bias=first", "--json").json  # the papers'
    assert run(*asked, "--method", "erasure", "--json").json["focus"] == found["focus"]


def test_a_sentence_is_read_after_a_text(run, model):
    asked = ("explain", SENTENCE, "--after", "The blorg laughs .", "--focus", "sick")
    found = run(*asked, "--json").json
    start = state_after(model, "The blorg laughs .")
    assert found["after"] == {"words": ["The", "blorg", "laughs", "."], "unknown": [1]}
    assert_matrix(found["matrix"], interdependence(model, SENTENCE, start=start))
    assert np.nanmax(np.abs(np.array(found["matrix"], float) - interdependence(model, SENTENCE))) > 0.01
    first = found["focus"]["next"][0]
    assert first["by_focus"] == pytest.approx(decompose(model, SENTENCE, {4}, start=start).probabilities[-1].max())
    lines = run(*asked).out.splitlines()
    assert "* read as <unk>: blorg, blorgish, zyzzyvas" in lines
    assert "read before: The blorg* laughs ." in lines
    assert_matrix(found["matrix"], kleene.explain(model, SENTENCE, start=start).matrix)
    assert kleene.explain(model, SENTENCE, start=start).as_json()["start"] == "given"


def test_of_a_long_text_before_the_last_words_are_shown_and_unknown_ones_warned_of(run):
    result = run("explain", "a man", "--after", "blorg " * 20, "--json")
    assert result.json["after"]["words"] == ["blorg"] * 20
    assert "the model does not know 20 of the 20 words" in result.err
    assert f"read before: … {'blorg* ' * 12}".rstrip() in run("explain", "a man", "--after", "blorg " * 20).out


def test_what_the_focus_says_is_shown_at_any_step(run):
    asked = ("explain", SENTENCE, "--focus", "sick", "--step", "4")
    first = run(*asked, "--json").json["focus"]["next"][0]
    lines = run(*asked).out.splitlines()
    at = next(
        place for place, line in enumerate(lines) if line.strip() == "What would come after 'sick', going by: sick"
    )
    assert lines[at + 2].split()[:2] == [first["word"], f"{first['by_focus']:.3f}"]


def test_a_tree_is_taken_from_heads_or_from_a_treebank_file(run):
    drawn = {}
    for name, asked in {
        "plain": ["dogs bark"],
        "heads": ["dogs bark", "--heads", "2,0"],
        "conllu": ["--conllu", "tree.conllu:1"],
        "first": ["--conllu", "tree.conllu"],
    }.items():
        found = run("explain", *asked, "--plot", f"{name}.svg", "--json").json
        assert (found["words"], found.get("heads")) == (["dogs", "bark"], None if name == "plain" else [2, 0])
        drawn[name] = Path(f"{name}.svg").read_text()
    assert drawn["heads"] == drawn["conllu"] == drawn["first"] != drawn["plain"]


def test_tokens_may_be_numbers_or_letters(run, model):
    found = run("explain", "3 11 0", "--model", "numbers.safetensors", "--json").json
    letters = run("explain", "dla", "--model", "letters.safetensors", "--json").json
    assert_matrix(found["matrix"], interdependence(model, [model.vocabulary[place] for place in (3, 11, 0)]))
    assert (letters["words"], letters["matrix"]) == (["d", "l", "a"], found["matrix"])


def test_a_transformer_is_explained_from_its_file(run, networks):
    found = run("explain", "a man a", "--model", "transformer.safetensors", "--focus", "man", "--json").json
    network = TransformerLM.load(networks / "transformer.safetensors")
    assert_matrix(found["matrix"], interdependence(network, ["a", "man", "a"]))
    assert {row["word"] for row in found["focus"]["next"]} == {"<unk>", "a", "man"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a man", "--focus", "2"], "'2' in it, and the sentence has 2 words: give some of them, or positions 0..1"),
        (["a man", "--focus", "woman"], "--focus has 'woman' in it"),
        (["a man sees a dog", "--focus", "a"], "'a', which is at [0, 3]"),
        (["a man", "--focus", " "], "--focus is empty"),
        (["a man sees", "--focus", "1-3"], "--focus has '1-3' in it, and the sentence has 3 words"),
        (["a man sees", "--sets", "0-1; man"], "--sets has 'man', position 1, in 'a man' and in 'man'; sets must not"),
        (["a man sees", "--sets", "0-1"], "--sets has one set, and interdependence is between two"),
        (["a man sees", "--sets", "0; 7"], "set 1 of --sets has '7' in it"),
        (["a " * 501, "--sets", "0; 7"], "has 501 words, and --sets has 2 sets; there may be 500 words and 100 sets"),
        (["a " * 101, "--sets", ";".join(map(str, range(101)))], "101 words, and --sets has 101 sets"),
        (["a man", "--sets", "0; 1", "--method", "erasure"], "--sets is for --method interdependence"),
        (["a man", "--sharing", "bias=none"], "it can be first or shapley"),
        (["a man", "--sharing", "gate=whole"], "--sharing has 'gate=whole'; its choices are bias=first|shapley"),
        (["a man", "--sharing", "bias=shapley", "--method", "gradient"], "--sharing is for --method interdependence"),
        (["a " * 101, "--sharing", "start=relevant"], "101 words, and all its pairs can be shown for 100 at most"),
        (["a man", "--after", " "], "--after is empty"),
        (["a man", "--model", "transformer.safetensors", "--after", "a"], "this network has no state to begin in"),
        (["a man", "--model", "no_unk.safetensors", "--after", "barks"], "--after cannot be read: token 0"),
        (["parity_relative", "--train", "length<=3", "--sets", "0; 1"], "--sets is about a sentence"),
        (["parity_relative", "--train", "length<=3", "--after", "a"], "--after is about a sentence"),
        ([" "], "the text is empty"),
        ([], "give a TEXT to explain, or --conllu"),
        (["a man", "--conllu", "tree.conllu"], "and not both"),
        (["a man", "--model", "ntm.safetensors"], "the network in 'ntm.safetensors' cannot be explained"),
        (["a man", "--model", "missing.safetensors"], "missing.safetensors"),
        (["a man", "--model", "tree.conllu"], "tree.conllu"),
        (["a man", "--model", "torch.safetensors"], "kleene.LSTM.from_torch('torch.safetensors', vocabulary="),
        (["a man", "--model", "transformer.safetensors", "--method", "erasure"], "not yet for a TransformerLM"),
        (["dogs bark", "--model", "no_unk.safetensors"], "is 'bark', and the model's vocabulary is"),
        (["3 9000", "--model", "numbers.safetensors"], "token 1 of sentence 0 is '9000'"),
        (["a man", "--model", "acceptor.safetensors", "--focus", "0"], "this network is no language model"),
        (["--conllu", "broken.conllu"], "'broken.conllu', line 5: 'cats' has the head 'above'"),
        (["--conllu", "missing.conllu:3"], "there is no file 'missing.conllu'"),
        (["--conllu", "tree.conllu:²"], "there is no file 'tree.conllu:²'"),
        (["--conllu", "tree.conllu:2"], "has 1 sentences, and no sentence 2"),
        (["--conllu", "tree.conllu", "--heads", "2 0"], "leave out --heads"),
        (["a man", "--heads", "2 0 1"], "--heads has 3 numbers, and the sentence has 2 words"),
        (["a " * 501], "the sentence has 501 words, and all its pairs can be shown for 500 at most. Give one"),
        (["a " * 101, "--method", "erasure"], "101 words, and all its pairs can be shown for 100 at most; an LSTM"),
        (["a " * 101, "--step", "last"], "101 words, and all its pairs can be shown for 100 at most"),
        (["a man", "--heads", "2 1"], "no tree: the sentence has no root"),
        (["a man", "--heads", "man 0"], "the number of its head"),
        (["a man", "--method", "guess"], "there are interdependence, erasure, gradient"),
        (["a man", "--method", "erasure", "--step", "1"], "--step is for --method interdependence"),
        (["a man", "--step", "second"], "--step is 'second'"),
        (["a man", "--step", "2"], "a position 0..1"),
        (["a man", "--at", "cells"], "not at 'cells'"),
        (["a man", "--layer", "1"], "there is no layer 1"),
        (["a man", "--plot", "di.gif"], "pictures are written as .svg, .png, .pdf"),
    ],
)
def test_what_cannot_be_explained_is_refused(run, tmp_path, words, told):
    assert_refused(run("explain", *words), told)
    assert not (tmp_path / "interdependence.svg").exists()


def test_an_explanation_shows_itself(model, run, tmp_path):
    found = kleene.explain("grammar", SENTENCE, heads=[3, 3, 4, 0, 6, 4], focus="sick")
    assert repr(found) == f"Explained({SENTENCE!r}, 'interdependence')"
    typed = run("explain", SENTENCE, "--focus", "sick").out
    assert [line.rstrip() for line in str(found).splitlines()] == [line.rstrip() for line in typed.splitlines()[:-1]]
    assert json.loads(json.dumps(found.as_json()))["heads"] == [3, 3, 4, 0, 6, 4]
    assert found.draw(tmp_path / "found.svg") == tmp_path / "found.svg"
    assert "blorgish*" in texts(tmp_path / "found.svg")


def test_in_a_notebook_larger_numbers_are_darker_and_words_are_escaped():
    matrix = np.array([[np.nan, 0.5, 0.25], [0.5, np.nan, 0], [0.25, 0, np.nan]])
    page = Explained(["<b>", "&", "c"], [1], matrix, {"method": "interdependence"})._repr_html_()
    cells = ET.fromstring(f"<div>{page}</div>").findall(".//td")
    assert [cell.text for cell in cells] == ["·", ".50", ".25", ".50", "·", ".00", ".25", ".00", "·"]
    assert [cell.get("style").split(",")[3][:4] for cell in cells[:3]] == ["0.00", "1.00", "0.50"]
    assert "&lt;b&gt;" in page
    assert "&amp;*" in page


@pytest.mark.parametrize("focus", ["4 2", ["sick", "sweep"], {2, 4}, [np.int64(4), "sweep"]])
def test_the_focus_may_be_words_and_positions(model, focus):
    found = kleene.explain(model, SENTENCE, focus=focus).focus
    assert found is not None
    assert found["positions"] == [2, 4]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"focus": "woman"}, "`focus` has 'woman' in it"),
        ({"focus": 7}, "`focus` has '7' in it"),
        ({"sets": [(0, 1), (1, 2)]}, "`sets` has 'man', position 1, in 'a man' and in 'man sees'"),
        ({"sharing": "bias"}, "`sharing` has 'bias'; its choices are"),
        ({"sharing": 3}, "`sharing` is 3; give kleene.explaining.Sharing"),
        ({"start": "zero"}, "`start` is 'zero'"),
        ({"focus": ()}, "`focus` is empty"),
        ({"heads": [0]}, "`heads` has 1 numbers, and the sentence has 3 words"),
        ({"method": "guess"}, "`method` is 'guess'"),
        ({"method": "gradient", "at": "logits"}, "`at` is for `method` interdependence"),
        ({"most_words": 2}, "3 words, and all its pairs can be shown for 2 at most. Give"),
        ({"step": 1, "most_by_pair": 2}, "3 words, and all its pairs can be shown for 2 at most; an LSTM takes 500"),
    ],
)
def test_from_python_errors_name_the_arguments_of_the_function(model, options, said):
    with pytest.raises(InputError, match=said):
        kleene.explain(model, "a man sees", **options)


def test_what_cannot_be_decomposed_is_named_by_its_class_or_by_its_file():
    with pytest.raises(InputError, match=r"^only an LSTM.*this is a dict"):
        kleene.explain({}, "a man")
    with pytest.raises(InputError, match=r"the network in 'ntm.safetensors' cannot be explained: only an LSTM"):
        kleene.explain(Path("ntm.safetensors"), "a man")


def test_unknown_words_are_warned_of_once(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = kleene.explain(model, "The blorg has zyzzyvas florply", focus="blorg")
    assert [str(one.message) for one in caught if one.category is UnknownWordsWarning] == [found.warning]


def test_information_is_counted_in_the_text_that_is_given(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("the old man laughs\na dog sees the man\n")
    found = kleene.explain(None, "the old man laughs", method="information", corpus=file)
    counts = mutual_informations([line.split() for line in file.read_text().splitlines()], range(1, 4))
    expected = information_matrix(found.words, counts)
    assert np.array_equal(found.matrix, expected, equal_nan=True)
    assert found.title == "Pointwise mutual information, in nats"


def test_information_without_a_text_is_of_the_grammar_or_refused_with_advice(run, tmp_path):
    matrix = kleene.explain(None, "the old man laughs", method="information").matrix
    assert matrix[1, 2] > matrix[0, 2]  # old–man, the–man
    named = kleene.explain("grammar", "the old man laughs", method="information").matrix
    assert np.array_equal(named, matrix, equal_nan=True)
    file = grammar_model().save(tmp_path / "model.safetensors")
    assert_refused(run("explain", "the man laughs", "--method", "information", "--model", str(file)), "with --corpus")
    english = "The government of the country was elected in April"  # which the model of English reads
    assert_refused(run("explain", english, "--method", "information"), "with --corpus")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--method", "erasure", "--corpus", "x"), "--corpus is for --method information"),
        (("--method", "information", "--at", "logits"), "information is of two words, counted in a text"),
        (("--method", "information", "--after", "the man"), "--after says where the network begins"),
        (("--method", "information", "--corpus", "nothing.txt"), "there is no file"),
    ],
)
def test_what_information_does_not_take_is_refused(run, options, words):
    assert_refused(run("explain", "the man laughs", *options), words)


def test_negative_numbers_are_short_and_have_no_negative_zero():
    matrix = np.array([[np.nan, -0.25, -0.001], [-0.25, np.nan, -1.5], [-0.001, -1.5, np.nan]])
    shown = str(Explained(words=["a", "b", "c"], unknown=[], matrix=matrix, facts={"method": "information"}))
    assert all(words in shown for words in ("-.25", "-1.5"))
    assert "-.00" not in shown
