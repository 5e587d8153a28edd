"""Machines without a program are run from their files: language models, acceptors, NTMs and Neural GPUs."""

import jax
import pytest

from kleene.machines.lstm import LSTM
from kleene.machines.neural_gpu import NeuralGPU
from kleene.machines.ntm import NTM
from kleene.machines.transformer_lm import TransformerLM
from tests.command_line import assert_refused

KEY = jax.random.key(0)
WORDS = ("the", "man", "laughs", "<unk>")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "model",
    [LSTM.random(WORDS, 4, key=KEY), TransformerLM.random(WORDS, 4, heads=2, layers=1, positions=8, key=KEY)],
    ids=["lstm", "transformer"],
)
def test_a_language_model_says_what_may_come_next(run, model):
    model.save("model.safetensors")
    found = run("run", "model.safetensors", "the", "man", "--json").json
    assert found["output"] in WORDS
    assert sum(found["next"].values()) == pytest.approx(1, abs=1e-3)
    assert found["output"] == max(found["next"], key=found["next"].get)
    assert found["steps"] == 2
    unknown = run("run", "model.safetensors", "the zebra", "--json").json
    assert unknown["input"] == ["the", "<unk>"]
    assert run("run", "model.safetensors", "the").out.splitlines()[1].startswith("network read 1 words")


def test_an_acceptor_says_whether_it_accepts(run):
    network = LSTM.random("ab", 3, outputs=1, key=KEY)
    network.save("acceptor.safetensors")
    found = run("run", "acceptor.safetensors", "abba", "--json").json
    assert found["accepted"] == bool(network.accepts("abba"))
    assert found["verdict"] == ("accept" if found["accepted"] else "reject")


def test_a_neural_turing_machine_is_run_on_symbols(run):
    machine = NTM.random(3, width=2, hidden=(2, 2), key=KEY)
    machine.save("ntm.safetensors")
    found = run("run", "ntm.safetensors", "0", "1", "2", "--json").json
    assert found["output"] == machine.run([0, 1, 2])["output"][1:].argmax(axis=1).tolist()
    assert_refused(run("run", "ntm.safetensors", "0", "x"), "give numbers of symbols from 0 to 2")
    assert_refused(run("run", "ntm.safetensors", "0", "3"), "symbol 3")


def test_a_neural_gpu_is_run_on_symbols(run):
    machine = NeuralGPU.random(3, hidden=6, key=KEY)
    machine.save("gpu.safetensors")
    found = run("run", "gpu.safetensors", "0", "1", "2", "--json").json
    assert (found["output"], found["steps"]) == (machine.run([0, 1, 2]).output, 3)
    assert "state" not in run("run", "gpu.safetensors", "0 1 2", "--trace").out
    assert_refused(run("run", "gpu.safetensors", "x"), "give numbers of symbols from 0 to 2")
    assert_refused(run("run", "gpu.safetensors", "0", "3"), "symbol 3")


def test_a_machine_without_a_program_is_not_compiled_or_checked(run):
    LSTM.random("ab", 3, outputs=1, key=KEY).save("acceptor.safetensors")
    assert_refused(run("compile", "acceptor.safetensors"), "is a network already")
    assert_refused(run("check", "acceptor.safetensors"), "there is no program to check it against")
