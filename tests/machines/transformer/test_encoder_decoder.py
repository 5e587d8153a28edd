"""The encoder-decoder Transformer: what it writes is what teacher forcing finds likeliest, step by step."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.machines.transformer.encoder_decoder import EncoderDecoder

SIZES = {"most": 6, "width": 8, "heads": 2, "key_size": 3, "units": 8, "layers": 3}
TOKENS = jnp.array([0, 2, 1, 1, 0])


@eqx.filter_jit
def network(seed=0, **given):
    """One whose attention by distance matters, and whose outputs vary from step to step."""
    made = EncoderDecoder.random(("a", "b", "c"), ("X", "Y", "Z"), **SIZES | given, key=jax.random.key(seed))
    drawn = 3 * jax.random.normal(jax.random.key(seed + 100), made.answer_distances.shape)
    return eqx.tree_at(lambda m: (m.answer_distances, m.readout), made, (drawn, 20 * made.readout))


@eqx.filter_jit
def written(made, length):
    return made.write(TOKENS, length)


@eqx.filter_jit
def forced(made, length, answer):
    return made(TOKENS, length, answer)


@pytest.mark.parametrize("given", [{}, {"shared": True, "places": 5}])
def test_what_is_written_is_the_likeliest_word_after_those_before_it_step_by_step(given):
    different = set()
    for seed in range(4):
        made, length = network(jnp.array(seed), **given), jnp.array(2 + seed % 3)
        found, answer = np.asarray(written(made, length)), np.zeros(6, np.int32)
        for step in range(6):
            answer[step] = np.argmax(np.asarray(forced(made, length, jnp.asarray(answer)))[step])
        assert found.tolist() == answer.tolist()
        different.add(tuple(answer))
    assert len(different) > 1
    assert any(len(set(answer)) > 1 for answer in different)


def test_a_word_depends_on_those_before_it_and_on_the_sentence_but_on_nothing_behind():
    made, length = network(), jnp.array(3)
    logits = np.asarray(forced(made, length, jnp.array([1, 2, 3, 1, 2, 3])))
    later = np.asarray(forced(made, length, jnp.array([1, 2, 3, 2, 2, 2])))
    np.testing.assert_allclose(later[:4], logits[:4], rtol=1e-5)
    assert not np.allclose(later[4], logits[4])
    longer = eqx.filter_jit(lambda made, tokens: made(tokens, length, jnp.array([1, 2, 3, 1, 2, 3])))
    np.testing.assert_allclose(longer(made, jnp.array([0, 2, 1, 0, 0])), logits, rtol=1e-5)
    assert not np.allclose(longer(made, jnp.array([0, 2, 2, 0, 0])), logits)


def test_layers_of_their_own_with_equal_weights_write_what_a_shared_layer_writes():
    shared = network(shared=True)
    own = jax.tree.map(lambda weights: jnp.concatenate([weights] * 3), (shared.encoder, shared.decoder))
    own = eqx.tree_at(lambda made: (made.encoder, made.decoder), shared, own)
    answer = jnp.array([1, 2, 3, 1, 2, 3])
    np.testing.assert_allclose(
        forced(own, jnp.array(4), answer), forced(shared, jnp.array(4), answer), rtol=1e-3, atol=1e-3
    )
    assert written(own, jnp.array(4)).tolist() == written(shared, jnp.array(4)).tolist()


def test_a_run_ends_before_the_first_end_and_says_whether_there_was_one():
    made = network()
    either = jnp.zeros((4, 8)).at[1].set(1.0).at[2].set(-1.0)  # one of the two is above 0, and END is 0
    endless = eqx.tree_at(lambda m: m.readout, made, either).run("a b")
    assert (endless.steps, endless.halted) == (6, False)
    assert set(endless.output) <= {1, 2}
    assert endless["written"][2].tolist() == [*endless.output[:2], -1, -1, -1, -1]
    at_once = eqx.tree_at(lambda m: (m.readout, m.decoder_gain), made, (jnp.zeros((4, 8)), jnp.ones(8)))
    assert at_once.run(["a"]).output == []
    assert at_once.run("a").halted


def test_bad_sentences_and_sizes_are_refused():
    with pytest.raises(InputError, match="token 1 of word 0 is 'd', and the network's vocabulary is 'a', 'b', 'c'"):
        network().run("a d")
    with pytest.raises(InputError, match="a sentence of 0 words"):
        network().run("")
    with pytest.raises(InputError, match="a sentence of 6 words; the network reads 1 to 5"):
        network(places=5).run("a b c a b c")
    with pytest.raises(InputError, match="an encoder-decoder has sizes of 1 or more"):
        EncoderDecoder.random(("a",), ("X",), **SIZES | {"layers": 0}, key=jax.random.key(0))
