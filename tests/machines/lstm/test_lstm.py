"""The LSTM against the textbook's equations written out in numpy, on disk, and on what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.machines.lstm.lstm import LSTM, Memory


def network(layers: int = 2, *, outputs: int | None = 1, **options) -> LSTM:
    made = LSTM.random("abc", 5, layers, outputs=outputs, embedding=3, key=jax.random.key(7), **options)
    shape = made.start.hidden.shape
    start = Memory(jax.random.normal(jax.random.key(8), shape), jax.random.normal(jax.random.key(9), shape))
    return LSTM(made.embedding, made.layers, start, made.decoder, made.decoder_bias, made.vocabulary, made.threshold)


SHALLOW, DEEP = network(1), network(2)
WORDS = st.lists(st.text("abc", max_size=40), max_size=12)


def sigmoid(x: float) -> float:
    return 1 / (1 + np.exp(-x))


def by_hand(net: LSTM, word: str) -> np.ndarray:
    """Every output, one unit and one gate at a time, in double precision."""
    net = jax.tree.map(lambda leaf: np.asarray(leaf, dtype=float), net)
    hidden, cell = net.start.hidden.tolist(), net.start.cell.tolist()
    units = range(len(hidden[0]))

    def read_out():
        return [bias + sum(w * h for w, h in zip(row, hidden[-1])) for row, bias in zip(net.decoder, net.decoder_bias)]

    outputs = [read_out()]
    for symbol in word:
        entry = net.embedding[net.vocabulary.index(symbol)]
        for k, layer in enumerate(net.layers):
            w, v, b = layer.inputs, layer.recurrent, layer.bias
            gate = [sum(w[r] * entry) + sum(v[r] * hidden[k]) + b[r] for r in range(4 * len(units))]
            i, f, g, o = (gate[len(units) * q : len(units) * (q + 1)] for q in range(4))
            cell[k] = [sigmoid(f[u]) * cell[k][u] + sigmoid(i[u]) * np.tanh(g[u]) for u in units]
            hidden[k] = [sigmoid(o[u]) * np.tanh(cell[k][u]) for u in units]
            entry = hidden[k]
        outputs.append(read_out())
    return np.array(outputs)


@pytest.mark.parametrize("net", [SHALLOW, DEEP])
@settings(max_examples=25)
@given(word=st.text("abc", max_size=35))
def test_outputs_are_those_of_the_equations(net, word):
    np.testing.assert_allclose(net.outputs(word), by_hand(net, word), atol=2e-6)


@settings(max_examples=25)
@given(words=WORDS)
def test_a_batch_says_at_the_end_of_each_word_what_a_single_run_says(words):
    found = DEEP.outputs_batch(words)
    assert found.shape == (len(words), 1)
    for word, last in zip(words, found):
        np.testing.assert_allclose(last, DEEP.outputs(word)[-1], atol=1e-6)


def test_a_batch_larger_than_what_is_run_at_once_keeps_its_order():
    words = ["abc"[i % 3] * (i % 7) for i in range(1100)]
    assert DEEP.outputs_batch(words)[1093:1100] == pytest.approx(DEEP.outputs_batch(words[1093:1100]), abs=1e-6)


def test_the_empty_word_has_the_outputs_of_the_start():
    net = network(outputs=4)
    assert net.outputs("")[0] == pytest.approx(np.asarray(net.read_out(net.start)), abs=1e-6)
    assert net.outputs_batch([""])[0] == pytest.approx(np.asarray(net.read_out(net.start)), abs=1e-6)
    assert net.outputs_batch([]).shape == (0, 4)


def test_one_step_is_the_call():
    memory = SHALLOW(SHALLOW.start, jnp.int32(2))
    assert SHALLOW.hidden("c")[1] == pytest.approx(np.asarray(memory.hidden), abs=1e-6)
    assert np.asarray(SHALLOW.memories("c").cell[1]) == pytest.approx(np.asarray(memory.cell), abs=1e-6)


def test_a_word_is_accepted_above_the_threshold():
    words = ["", "a", "ab", "cab", "bbbb"]
    values = DEEP.outputs_batch(words)[:, 0]
    middle = float(np.sort(values)[2:4].mean())  # no word's own value: alone and in a batch they differ by rounding
    net = network(2, threshold=middle)
    assert net.accepts_batch(words).tolist() == (values > middle).tolist()
    assert 0 < net.accepts_batch(words).sum() < len(words)
    assert [net.accepts(word) for word in words] == (values > middle).tolist()


def test_there_is_an_output_for_every_token_unless_told_otherwise():
    model = LSTM.random(("the", "cat", "sat"), 4, 2, key=jax.random.key(0))
    assert model.decoder.shape == (3, 4)
    assert LSTM.random(5, 4, key=jax.random.key(0)).outputs([4, 0]).shape == (3, 5)
    with pytest.raises(InputError, match="has 3 outputs, and an acceptor has one"):
        model.accepts(["cat"])


def test_the_same_key_gives_the_same_network_and_another_key_another():
    a, b, c = (LSTM.random("ab", 4, key=jax.random.key(k)) for k in (1, 1, 2))
    assert np.array_equal(a.decoder, b.decoder)
    assert not np.array_equal(a.decoder, c.decoder)


@pytest.mark.parametrize("word", ["abx", ["a", "b", "x"]])
def test_an_unknown_token_is_named_with_its_place_and_the_vocabulary(word):
    with pytest.raises(InputError, match=r"token 2 of word 1 is .* vocabulary is 'a', 'b', 'c'"):
        DEEP.accepts_batch(["ab", word])


@pytest.mark.parametrize("made", [("", 4, 1), ("aa", 4, 1), ("ab", 0, 1), ("ab", 4, 0)])
def test_a_network_without_tokens_units_or_layers_is_refused(made):
    with pytest.raises(InputError, match="an LSTM needs different tokens"):
        LSTM.random(*made, key=jax.random.key(0))


def test_a_saved_network_comes_back_with_every_weight(tmp_path):
    net = network(2, threshold=0.25)
    back = LSTM.load(net.save(tmp_path / "net.safetensors"))
    assert jax.tree.structure(back) == jax.tree.structure(net)
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(back), jax.tree.leaves(net)))
    assert back.accepts_batch(["ab", "", "ccc"]).tolist() == net.accepts_batch(["ab", "", "ccc"]).tolist()
    assert back.threshold == 0.25


def test_whole_numbers_are_saved_as_whole_numbers(tmp_path):
    assert LSTM.load(LSTM.random(3, 2, key=jax.random.key(0)).save(tmp_path / "n")).vocabulary == (0, 1, 2)
