"""Transformers in files, from the command line: decoded, taken apart, certified, and known when edited."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.programs.alta.library import parity
from tests.command_line import assert_refused


@pytest.fixture
def network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = kleene.compile(parity.relative())
    made.save("parity.safetensors")
    return made


def test_a_network_in_a_file_is_certified_against_the_librarys_program_of_its_name(run, network):
    found = run("certify", "parity.safetensors", "--json").json
    assert found["valid"]
    assert found["compared"] == (
        "the network in 'parity.safetensors' with the library's program 'parity_relative', whose name the file has"
    )
    assert run("certify", "parity.safetensors").out.splitlines()[-1] == f"compared: {found['compared']}"
    assert run("certify", "parity.safetensors", "--program", "sort").status == 1
    assert_refused(run("certify", "parity.safetensors", "--rules", "paper"), "is a network; leave it out")
    assert_refused(run("certify", "sort", "--program", "sort"), "--program is for a network in a file")


def test_a_network_of_ones_own_is_certified_against_the_program_that_is_given(run, mine):
    run("compile", f"{mine}:make", "-o", "mine.safetensors", "--rules", "paper")
    assert_refused(
        run("certify", "mine.safetensors"), "a program called 'mine', which is not in the library", "--program"
    )
    found = run("certify", "mine.safetensors", "--program", f"{mine}:make", "--length", "6", "--json").json
    assert found["valid"]
    assert found["compared"] == f"the network in 'mine.safetensors' with the program '{mine}:make'"


def test_a_network_in_a_file_is_taken_apart(run, network):
    named, filed = (run("rules", name, "1", "0", "--json").json for name in ("parity_relative", "parity.safetensors"))
    assert "library's program 'parity_relative'" in filed.pop("compared")
    assert filed == named
    assert "compared: the network in" in run("rules", "parity.safetensors").out
    assert_refused(run("rules", "parity.safetensors", "--program", "sort"), "these do not belong together", "'sort'")


def test_a_network_in_a_file_decodes(run, network):
    network = kleene.load("parity.safetensors")
    found = run("decode", "parity.safetensors", "2", "1", "--tokens", "3", "--json").json
    assert (
        found["output_tokens"]
        == network.decode([2, 1], tokens=3).tokens
        == parity.relative().decode([2, 1], tokens=3).tokens
    )
    assert found["compiled"]


def test_networks_of_another_kind_are_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kleene.compile(kleene.DFA.from_regex("(0|10*1)*")).save("even.safetensors")
    for words in (("certify",), ("rules",), ("decode",)):
        assert_refused(run(*words, "even.safetensors", *(["0"] if words == ("decode",) else [])), "holds a SimpleRNN")


def edited(network, **weights):
    return dataclasses.replace(
        network, **{name: change(np.array(getattr(network, name))) for name, change in weights.items()}
    )


def doubled(weights):
    return 2 * weights


@pytest.mark.parametrize("field", ["mlp_out", "mlp_bias", "relative", "value"])
def test_a_run_on_edited_weights_says_so_and_does_not_blame_the_program(run, network, field):
    changed = edited(network, **{field: doubled if field != "relative" else np.zeros_like})
    assert (network.is_edited, changed.is_edited) == (False, True)
    changed.save("changed.safetensors")
    result = run("run", "changed.safetensors", "2", "1", "0", "1")
    printed = result.out + result.err
    assert "weights" in printed
    assert "not those that" in printed
    assert "Guard the use" not in printed
    assert "max_layers" not in printed


def test_edited_weights_that_still_run_are_told_in_json(run, network):
    changed = edited(network, mlp_bias=lambda bias: bias - 1e-3)
    changed.save("changed.safetensors")
    kleene.load("changed.safetensors").save("again.safetensors")
    assert kleene.load("again.safetensors").is_edited
    assert not kleene.load("parity.safetensors").is_edited
    assert "edited" not in run("run", "parity.safetensors", "2", "1", "--json").json
    tokens = network.tokens.copy()
    tokens[1] = tokens[0]  # a 1 is read as a 0
    dataclasses.replace(network, tokens=tokens).save("deaf.safetensors")
    found = run("run", "deaf.safetensors", "2", "1", "0", "--json").json
    assert (found["output"], found["edited"]) == ([0, 0, 0], True)
    assert "not those that 'parity_relative' was compiled to" in run("run", "deaf.safetensors", "2", "1").out


def test_a_file_without_an_origin_is_read_and_a_broken_one_refused(network, monkeypatch):
    dataclasses.replace(network, origin=None).save("old.safetensors")
    assert kleene.load("old.safetensors").origin is None
    assert not kleene.load("old.safetensors").is_edited
    broken = dataclasses.replace(network.origin, options={"dtype": "float32"})
    dataclasses.replace(network, origin=broken).save("broken.safetensors")
    with pytest.raises(kleene.KleeneError, match="its origin is"):
        kleene.load("broken.safetensors")


def test_labels_that_do_not_fit_are_refused(network):
    for alphabet in (("a",), ("a", "a", "b"), ("a", "", "b")):
        layout = dataclasses.replace(network.layout, alphabet=alphabet)
        dataclasses.replace(network, layout=layout).save("odd.safetensors")
        with pytest.raises(kleene.KleeneError, match="3 different strings were expected"):
            kleene.load("odd.safetensors")
    assert Path("odd.safetensors").exists()
