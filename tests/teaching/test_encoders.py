"""Teaching encoder Transformers end to end, on parity as ALTA has it and on other programs."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import kleene
from kleene.errors import InputError
from kleene.machines.transformer.stack import LayerStack
from kleene.programs.alta.library import moving, parity
from kleene.teaching.encoders import encoder_lesson
from kleene.teaching.lesson import Record, Setting
from kleene.teaching.lessons import lesson
from kleene.teaching.optimisers import by_layer, optimiser_of
from kleene.teaching.parity_words import BalancedParity, balanced, length_chances

SMALL = {"longest": 4, "width": 8, "attention": 2, "key": 3, "hidden": 16, "batch": 6, "pool": 16}
NONE = Setting.without_hints()


def test_words_of_parity_have_every_number_of_ones_equally_often():
    rng, sample = random.Random(0), balanced(parity.sum_modulo(), 6)
    chances = length_chances(6)
    lengths = rng.choices(range(7), chances, k=14_000)
    words = [sample(rng, length) for length in lengths]
    assert all(word[0] == parity.START and len(word) == length + 1 for word, length in zip(words, lengths))
    counts = np.bincount([word.count(1) for word in words])
    assert len(counts) == 7
    assert (abs(counts - 2000) < 200).all()
    assert balanced(parity.absolute(), 6)(rng, 3) in ([a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1))


def test_lengths_in_training_are_drawn_by_their_chances():
    taught = encoder_lesson(parity.sum_modulo(), **SMALL | {"batch": 5000})
    found = np.bincount(taught.task.training_lengths(jax.random.key(0), (), 5000), minlength=5)
    expected = length_chances(4) * (np.arange(5) > 0)
    assert found[0] == 0
    np.testing.assert_allclose(found / 5000, expected / expected.sum(), atol=0.03)


def test_tests_measure_by_length_by_ones_and_beyond_what_was_trained():
    taught = encoder_lesson(parity.sum_modulo(), **SMALL, answer="last", lengths=range(1, 9))
    assert isinstance(taught.task, BalancedParity)

    def record(examples):  # right up to four ones, and always 1 beyond
        ones = jnp.sum(examples.inputs.tokens == 1, axis=1)  # padding is 0
        said = jax.nn.one_hot(jnp.where(ones <= 4, ones % 2, 1), 2)
        return Record(
            jnp.broadcast_to(said[:, None], (64, 9, 2)), dict.fromkeys(taught.task.read, jnp.zeros((64, 5, 9, 2)))
        )

    found = jax.jit(lambda key: taught.task.test(record, None, key, NONE, 64))(jax.random.key(0))
    assert found["accuracy_within"] == 1
    np.testing.assert_allclose(found["accuracy_by_ones"], [1, 1, 1, 1, 1, 1, 0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(found["prediction_by_ones"], [0, 1, 0, 1, 0, 1, 1, 1, 1], atol=1e-6)
    assert (found["accuracy_by_length"][:5] == 1).all()
    assert found["accuracy_by_length"][-1] < 1
    assert 0 < found["accuracy_many_ones"] < found["accuracy_beyond"] < 1


def test_a_short_network_has_no_hints_and_one_with_enough_layers_all_those_of_a_transformer():
    assert encoder_lesson(parity.relative(), **SMALL).kinds == ("none",)
    deep = encoder_lesson(parity.relative(), **SMALL, layers=8)
    assert {"full", "scattered", "ends", "heads", "done"} < set(deep.kinds)
    kept = deep.examples(jax.random.key(0), (), Setting(jnp.array(1), jnp.array(1.0), jnp.array(1.0)))
    assert kept.hints["parity"].weights.any()
    with pytest.raises(InputError, match="no hints of kind 'full' for parity_relative encoder; there are none"):
        lesson("parity_relative", "encoder", hints=["full"], **SMALL)


@pytest.mark.parametrize("given", [{"optimiser": "adam", "positions": "absolute"}, {"shared": True, "layers": 8}])
def test_updates_lower_the_loss_and_what_was_taught_runs_and_is_saved(tmp_path, given):
    hints = "full" if "layers" in given else None
    options = SMALL | {"answer": "last", "rate": 0.03} | given
    taught = kleene.teach(
        parity.relative(), machine="encoder", hints=hints, seeds=2, iterations=80, test_every=40, **options
    )
    before, after = (test["loss"] for test in taught.report.progress.tests)
    assert (after < before).all()
    trace = taught.trace([2, 1, 0, 1])
    assert trace.steps == options.get("layers", 4)
    assert kleene.load(taught.save(tmp_path / "taught.safetensors")).run([2, 1, 0, 1]) == trace
    row = taught.as_json()["settings"][0]
    assert len(row["accuracy_by_ones"]) == len(row["prediction_by_ones"]) == 9


def test_other_programs_are_taught_on_their_own_words():
    taught = encoder_lesson(moving.reverse(), **SMALL)
    examples = taught.examples(jax.random.key(0), (), NONE)
    assert not isinstance(taught.task, BalancedParity)
    for tokens, length, target in zip(examples.inputs.tokens, examples.inputs.lengths, examples.targets):
        assert moving.reverse().run(tokens[:length].tolist()).output == target[:length].tolist()


def test_a_layer_of_a_stack_is_changed_as_if_it_stood_alone():
    alone = optax.adafactor(0.1)

    @jax.jit
    def weighted():
        stack = LayerStack.random(3, width=130, inner=128, units=4, key=jax.random.key(0))
        grown = jax.tree.map(lambda rows: rows * jnp.arange(1.0, 4).reshape(3, *[1] * (rows.ndim - 1)), stack)
        weights = {"stack": grown, "bias": jnp.arange(4.0)}
        return weights, jax.tree.map(lambda leaf: jnp.cos(100 * leaf), weights)

    weights, gradient = weighted()
    found = jax.jit(lambda: by_layer(alone).update(gradient, by_layer(alone).init(weights), weights)[0])()
    change = jax.jit(lambda of, rows: alone.update(of, alone.init(rows), rows)[0])
    pairs = [(found["stack"].layer(n), change(gradient["stack"].layer(n), weights["stack"].layer(n))) for n in range(3)]
    for ours, expected in [*pairs, (found["bias"], change(gradient["bias"], weights["bias"]))]:
        for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(expected)):
            np.testing.assert_allclose(a, b, rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positions": "rotary"}, "positions is 'rotary'; give relative or absolute"),
        ({"layers": 0}, "layers is 0; give 1 or more"),
        ({"noise": 0.5}, "'parity_relative' on 'encoder' has no option 'noise'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        lesson("parity_relative", "encoder", **SMALL | options)


def test_the_rate_of_an_optimiser_grows_and_then_stays():
    weights = jnp.ones(4)
    changes = []
    chosen = optimiser_of("adam", 0.1)
    state = chosen.init(weights)
    for _ in range(250):
        change, state = chosen.update(jnp.ones(4), state, weights)
        changes.append(float(-change[0]))
    assert changes[0] == 0
    assert changes[100] == pytest.approx(0.05, rel=0.02)
    assert changes[-1] == pytest.approx(0.1, rel=1e-3)
