"""Attention patterns: those of compiled and of taught Transformers, and what they have to do with what heads read."""

import pickle
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import RunError
from kleene.machines.transformer.encoder import EncoderTransformer
from kleene.machines.transformer.patching import ablate
from kleene.machines.transformer.shared import SharedTransformer, normed
from kleene.machines.transformer_lm import TransformerLM
from kleene.notation.edits import Edit
from kleene.programs.alta.library import get, parity
from kleene.traces import Trace


@pytest.mark.parametrize("name", ["sort", "addition", "reverse", "shuffle_dyck_2", "most_frequent_sort"])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_pattern_reads_what_the_head_read(name, backend):
    entry = get(name)
    network = kleene.compile(entry.build())
    values = {name: head.value for name, head in entry.build().heads.items()}
    trace = network.run_batch([entry.build().inputs.sample(random.Random(n), 4) for n in range(2)], backend=backend)[1]
    patterns = trace.attention
    assert patterns.heads == network.layout.heads
    assert np.allclose(patterns.weights.sum(axis=-1), 1)
    for head in patterns.heads:
        read, channel = trace[head], trace.channel(head)
        held = trace[values[head]][:-1]
        for layer, query in zip(*np.nonzero(~np.isnan(read[1:]) if channel.kind == "number" else read[1:] >= 0)):
            weights = patterns[head][layer, query]
            if channel.kind == "number":
                assert weights @ held[layer] == pytest.approx(read[layer + 1, query], abs=1e-6)
            else:
                assert held[layer, int(weights.argmax())] == read[layer + 1, query]
                assert weights.max() == pytest.approx(1)


def test_the_patterns_from_a_trace_are_those_that_softmax_attention_computed():
    network, word = kleene.compile(get("sort").build()), get("sort").read(["3", "1", "2"])
    beyond = network.run(word).steps + 1
    nothing = ablate(dimension=0, position=(), layer=range(beyond))
    computed = network.run(word, edits=[nothing])
    assert computed == network.run(word)
    assert np.array_equal(computed.attention.weights, network.run(word).attention.weights)


@pytest.mark.parametrize("name", ["sort", "addition", "most_frequent_sort", "shuffle_dyck_2"])
def test_program_and_network_have_the_same_patterns_wherever_a_head_reads_something(name):
    program, word = get(name).build(), get(name).build().inputs.sample(random.Random(3), 4)
    network = kleene.compile(program)
    edits = [Edit("number", layer=1, position=0, value=0)] if name == "sort" else []
    ours, theirs = (subject.run(word, edits=edits).attention for subject in (program, network))
    assert ours.heads == theirs.heads
    reads = ours.weights.sum(axis=-1) > 0
    assert reads.any()
    assert np.allclose(ours.weights[reads], theirs.weights[reads], atol=1e-6)


def test_a_trace_that_was_pickled_has_its_entries_and_no_patterns():
    trace = parity.relative().run([2, 1, 0])
    copied = pickle.loads(pickle.dumps(trace))
    assert copied == trace
    with pytest.raises(RunError, match="has no attention patterns"):
        _ = copied.attention


def test_patterns_of_one_word_of_a_batch_are_those_of_its_own_run():
    network = kleene.compile(parity.relative())
    words = [[2, 1, 0, 1, 1], [2], [2, 0, 1]]
    for word, trace in zip(words, network.run_batch(words)):
        alone = network.run(word).attention.weights
        assert trace.attention.weights.shape == alone.shape == (len(word) - 1, 2, len(word), len(word))
        assert np.array_equal(trace.attention.weights, alone)


def test_a_trace_without_attention_says_so(tmp_path):
    network = kleene.compile(parity.relative())
    saved = network.run([2, 1]).save(tmp_path / "trace.json")
    for trace in (Trace.load(saved), kleene.DFA.from_regex("a*").run("a")):
        with pytest.raises(RunError, match="has no attention patterns"):
            _ = trace.attention
    with pytest.raises(KeyError, match="no head 'parity' in this run; it has parity_left, done_left"):
        network.run([2, 1]).attention["parity"]


def test_a_shared_transformers_patterns_mix_the_values_into_its_own_stream():
    network = SharedTransformer.random(3, {"a": 2}, width=8, heads=2, units=4, layers=1, key=jax.random.key(0))
    trace = network.run([0, 1, 2, 1])
    patterns = trace.attention
    assert patterns.weights.shape == (trace.steps, 2, 4, 4)
    streams = network.residual_streams([[0, 1, 2, 1]])
    state = streams.states[0, 1]
    mixed = np.einsum("hqj,jd,hdk,hke->qe", patterns.weights[1], state, network.value, network.out)
    assert np.allclose(normed(jnp.asarray(state + mixed)) * network.attention_gain, streams.attended[0, 1], atol=1e-4)


@pytest.mark.parametrize("places", [None, 8])
def test_an_encoders_patterns_sum_to_one_and_differ_between_layers(places):
    network = EncoderTransformer.random(
        3, {"a": 2}, width=8, heads=2, key_size=4, units=8, layers=2, places=places, key=jax.random.key(1)
    )
    weights = network.run([0, 1, 2]).attention.weights
    assert weights.shape == (2, 2, 3, 3)
    assert np.allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert not np.allclose(weights[0], weights[1])


def test_a_language_models_patterns_never_look_ahead():
    model = TransformerLM.random("ab", width=8, heads=2, layers=2, key=jax.random.key(2))
    weights = model.run("abba").attention.weights
    assert weights.shape == (2, 2, 4, 4)
    assert np.allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert (weights[..., ~np.tri(4, dtype=bool)] == 0).all()
