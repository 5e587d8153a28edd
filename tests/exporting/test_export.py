"""`kleene.export` writes whole folders, never over something else, and refuses what would not be exact."""

import json
import os
from fractions import Fraction

import numpy as np
import pytest

import kleene
from kleene.errors import InputError, ModelFileError
from kleene.exporting.folders import write_folder
from kleene.exporting.sources import program_source
from kleene.machines.modeling import source_of
from kleene.machines.rnn import library
from kleene.programs import alta, rasp
from kleene.programs.alta.library import parity
from kleene.tensors import read_arrays

FILES = ["README.md", "config.json", "example.py", "model.safetensors", "modeling.py"]


def test_a_folder_has_weights_a_model_an_example_and_a_card(tmp_path):
    made = kleene.export("parity_relative", "torch", tmp_path / "parity", layers="unrolled", max_length=5)
    assert sorted(os.listdir(tmp_path / "parity")) == list(made.files) == FILES
    config = json.loads((tmp_path / "parity" / "config.json").read_text())
    assert config["residual_labels"][:4] == ["parity=0", "parity=1", "done=0", "done=1"]
    assert (config["depth"], config["max_length"], config["shared"]) == (4, 5, False)
    card = (tmp_path / "parity" / "README.md").read_text()
    for shown in ('if not z["done"] and z["done_left"]:', "| 3 | done=1 |", "| 4 | done_left |", "## Certificate"):
        assert shown in card
    assert made.examples[0] == ([2, 1, 0, 1, 1], [0, 1, 1, 0, 1])
    assert "wrote" in str(made)
    assert made.as_json()["format"] == "torch"


def test_the_weights_are_those_of_the_network(tmp_path):
    network = kleene.compile(parity.relative())
    kleene.export(network, "torch", tmp_path / "parity")
    arrays = read_arrays(tmp_path / "parity" / "model.safetensors")
    assert np.array_equal(arrays["layers.0.mlp.inputs"], network.mlp_in)
    assert np.array_equal(arrays["tokens"], network.tokens)
    assert "if not z" in (tmp_path / "parity" / "README.md").read_text()  # a network just compiled knows its program


def test_a_network_from_a_file_has_no_program_in_its_card(tmp_path):
    file = kleene.compile(parity.relative()).save(tmp_path / "parity.safetensors")
    made = kleene.export(str(file), "torch", tmp_path / "parity")
    assert "does not hold its program" in (tmp_path / "parity" / "README.md").read_text()
    assert made.certified == "There is no certificate, because the program is not known here."


def test_the_models_import_torch_and_safetensors_alone():
    for name in ("transformer", "rnn"):
        imports = [line for line in source_of(name).splitlines() if line.startswith(("import ", "from "))]
        assert {line.split()[1].split(".")[0] for line in imports} == {"json", "pathlib", "safetensors", "torch"}


def test_rules_are_shown_in_words_where_there_is_no_function():
    variables = {"x": alta.input_var(2)}
    rules = [alta.Rule((("x", 1),), "x", 0)]
    program = alta.program_spec_from_rules(variables, {}, rules, "x", 2, name="zero")
    assert "x := 0   where x = 1" in program_source(program)


def test_an_earlier_export_is_replaced_and_anything_else_is_left_alone(tmp_path):
    place = tmp_path / "made"
    kleene.export("dfa:(a|b)*abb", "torch", place)
    (place / "__pycache__").mkdir()
    kleene.export("dfa:1*0", "torch", place)
    assert json.loads((place / "config.json").read_text())["alphabet"] == ["0", "1"]
    assert sorted(os.listdir(tmp_path)) == ["made"]
    (place / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds something else, such as 'README\.md', and is left alone"):
        kleene.export("dfa:1*0", "torch", place)
    assert (place / "notes.txt").read_text() == "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file, and an export is a folder"):
        kleene.export("dfa:1*0", "torch", tmp_path / "file")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"holds something else, such as 'config\.json'"):
        kleene.export("dfa:1*0", "torch", tmp_path / "own")


def test_a_folder_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    place = tmp_path / "made"
    kleene.export("dfa:1*0", "torch", place)
    monkeypatch.setattr("kleene.files.os.replace", fails)
    with pytest.raises(ModelFileError, match="No space left on device"):
        write_folder(place, {"config.json": "{}"})
    assert sorted(os.listdir(place)) == FILES
    assert os.listdir(tmp_path) == ["made"]


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: kleene.compile(parity.relative(), dtype="bfloat16"), "a network in bfloat16 is not exported"),
        (lambda: kleene.compile(kleene.DFA.from_regex("a*b"), activation="slu"), "this network's is slu; compile"),
        (library.majority_slu, "activations relu and tanh, and this network's is slu"),
    ],
)
def test_what_would_not_be_exact_is_refused(tmp_path, make, complaint):
    with pytest.raises(InputError, match=complaint):
        kleene.export(make(), "torch", tmp_path / "made")
    assert not os.listdir(tmp_path)


def test_weights_that_no_float_holds_are_refused(tmp_path):
    third = library.majority_relu()
    weights = third.weights() | {"bias": third.weights()["bias"].__class__.from_rows([[Fraction(1, 3)]] * 3)}
    network = type(third)(**weights, **third.description())
    with pytest.raises(InputError, match="is not exported, because it would not be exact: "):
        kleene.export(network, "torch", tmp_path / "made")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["addition", "--to", "onnx"], "no format 'onnx' to export to"),
        (["tm:copy", "--to", "torch"], "a network of the kind 'Turing machine' is not exported to PyTorch"),
        (["no_such", "--to", "torch"], "no program 'no_such'"),
        (["addition", "--to", "torch", "--form", "live"], "form"),
        (["parity_relative", "--to", "torch", "--layers", "unrolled"], "--max-length 12"),
    ],
)
def test_bad_exports_are_refused_on_the_command_line(run, tmp_path, words, complaint):
    result = run("export", *words, "-o", str(tmp_path / "made"))
    assert result.status == 2
    assert complaint in result.err
    assert not os.listdir(tmp_path)


def test_an_export_is_made_on_the_command_line(run, tmp_path):
    place = tmp_path / "addition"
    assert run("export", "addition", "--to", "torch", "-o", str(place)).out.startswith(f"wrote {place}: README.md")
    made = run("export", "addition", "--to", "torch", "-o", str(place), "--json").json
    assert made["examples"][0] == [[10, 7, 8, 9, 11, 4, 5, 6, 12], [0, 0, 0, 0, 1, 2, 4, 5, 0]]


def test_to_torch_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(InputError, match=r"not installed: pip install 'kleene\[torch\]'"):
        kleene.compile(parity.relative()).to_torch()


def test_rasp_programs_are_exported_with_their_vocabulary(tmp_path):
    made = kleene.export("rasp:reverse", "torch", tmp_path / "reverse", vocab="xy", max_length=3, layers="unrolled")
    assert made.examples[0] == (["x", "y", "x"], ["x", "y", "x"])
    config = json.loads((tmp_path / "reverse" / "config.json").read_text())
    assert (config["vocabulary"], config["max_length"]) == (["x", "y"], 4)  # positions, the start's among them
    assert made.certified == "reverse in float32: network equals program for every input up to length 3"
    card = (tmp_path / "reverse" / "README.md").read_text()
    assert "Aggregate" in card
    kleene.export(rasp.tokens, "torch", tmp_path / "copy", vocab=(1, 2), max_length=3)
    with pytest.raises(InputError, match="max_length says how to compile a program, and this is a network"):
        kleene.export(kleene.compile(parity.relative()), "torch", tmp_path / "parity", max_length=3)
