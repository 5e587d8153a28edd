"""Every machine answers the same protocol: it runs to traces, saves to a path, has a size, and shows itself."""

import jax
import numpy as np
import pytest

import kleene
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.ntm.ntm import NTM
from kleene.machines.protocol import Machine
from kleene.traces import Trace
from tests.machines.samples import INPUTS, KEY, MACHINES, VARIANTS

ALL = MACHINES | VARIANTS
SHORTER = {"nram": [1, 0]}  # whose numbers are less than its length


@pytest.mark.parametrize("which", ALL)
def test_it_is_a_machine(which):
    assert isinstance(ALL[which], Machine)


@pytest.mark.parametrize("kind", MACHINES)
def test_a_run_is_a_trace_and_a_batch_has_the_same_ones(kind):
    machine, given = MACHINES[kind], INPUTS[kind]
    trace = machine.run(given)
    assert isinstance(trace, Trace)
    assert trace.output is not None
    assert list(trace.as_json()["data"]) == [channel.name for channel in trace.channels]
    batch = machine.run_batch([given, SHORTER.get(kind, given[:2])])
    assert len(batch) == 2
    assert all(isinstance(found, Trace) for found in batch)
    assert batch[0] == trace


@pytest.mark.parametrize("kind", MACHINES)
def test_a_trace_of_every_machine_is_saved_and_comes_back(tmp_path, kind):
    trace = MACHINES[kind].run(INPUTS[kind])
    assert Trace.load(trace.save(tmp_path / "trace.json")) == trace


@pytest.mark.parametrize("which", ALL)
def test_its_size_counts_all_weights(which):
    size = ALL[which].size
    assert size.parameters == ALL[which].parameter_count() > 0
    assert 0 < size.nonzero <= size.parameters
    assert size.hidden_units >= 0


@pytest.mark.parametrize("which", ALL)
def test_it_shows_itself_in_a_line_and_in_a_few(which):
    machine = ALL[which]
    assert repr(machine).startswith(f"<{type(machine).__name__} of {machine.size.parameters:,} parameters: reads ")
    assert len(repr(machine)) < 200
    assert "\n" not in repr(machine)
    lines = str(machine).splitlines()
    assert lines[0] == type(machine).__name__
    assert f"{machine.size.nonzero:,} nonzero" in lines[-1]
    assert machine._repr_html_().startswith(f"<table><caption>{type(machine).__name__}</caption>")
    assert set(machine.as_json()) >= {"machine", "reads", "answers", "size"}


def test_a_machine_with_many_words_shows_the_first():
    assert "reads 90 tokens: 0 1 2 3 4 5 6 7 …" in repr(LSTM.random(90, 2, key=KEY))


def test_machines_are_shown_while_jax_traces_them():
    def shown(network):
        seen.append(repr(network))
        return network.decoder_bias

    seen: list[str] = []
    jax.jit(shown)(MACHINES["transformer language model"])
    assert seen == [repr(MACHINES["transformer language model"])]


def test_a_language_model_gives_each_word_each_layer_and_the_next_one():
    model = LSTM.random("abc", 4, 2, key=KEY)
    trace = model.run("cab")
    assert [channel.name for channel in trace.channels] == ["word", "hidden.0", "hidden.1", "next"]
    assert trace["word"].tolist() == [-1, 2, 0, 1]
    np.testing.assert_allclose(trace["hidden.1"], model.hidden("cab")[:, 1])
    logits = model.outputs("cab").astype(np.float64)
    np.testing.assert_allclose(trace["next"], np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(trace["next"].sum(axis=1), 1)


def test_an_acceptor_gives_its_verdict_after_each_token():
    network = MACHINES["lstm"]
    trace = network.run("abba")
    assert trace["accepting"].tolist() == (network.outputs("abba")[:, 0] > 0.25).tolist()
    assert trace.output == network.accepts("abba")


def test_a_transformer_language_model_says_nothing_before_the_first_token():
    model, word = MACHINES["transformer language model"], INPUTS["transformer language model"]
    trace = model.run(word)
    assert np.isnan(trace["hidden.1"][0]).all()
    np.testing.assert_allclose(trace["hidden.1"][1:], model.hidden(word)[:, 1])
    np.testing.assert_allclose(np.argmax(trace["next"][1:], axis=1), np.argmax(model.outputs(word), axis=1))


def test_an_ntm_has_enough_cells_that_no_head_wraps_around():
    machine = NTM.random(2, width=2, hidden=(3, 3), key=KEY)
    trace = machine.run([0, 1, 1])
    assert trace["tape"].shape == (4, 7, 2)
    assert machine.run([0, 1, 1], cells=3)["tape"].shape == (4, 3, 2)
    assert machine.run([])["read"].tolist() == [[1.0]]


def test_a_turing_machine_and_its_network_run_to_traces():
    from kleene.programs.turing.library import stored

    machine = stored("sipser")
    words = ["1", "11", "111"]
    for program, network in zip(machine.run_batch(words), kleene.compile(machine).run_batch(words)):
        assert isinstance(program, Trace)
        assert program == network
        assert program.output == program.verdict


@pytest.mark.parametrize("kind", ["lstm", "transformer language model"])
def test_many_words_of_unequal_length_are_run_at_once_as_each_alone(kind):
    machine = MACHINES[kind]
    longest = {"lstm": 40, "transformer language model": 5}[kind]  # the first takes several jitted calls
    words = [[machine.vocabulary[(i + k) % 3] for k in range(i % (longest + 1))] for i in range(140)]
    found = machine.run_batch(words)
    assert len(found) == len(words)
    for i in (0, 1, 4, 5, 39, 40, 41, 64, 139):
        assert found[i] == machine.run(words[i]), i
    assert machine.run_batch([]) == []
