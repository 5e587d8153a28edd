"""Language models: the loop teaches them as plain truncated backpropagation would, text by text and seed by seed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.machines.lstm.lstm import LSTM, Memory
from kleene.tasks.text import unigram_perplexity
from kleene.teaching.language import language_lesson
from kleene.teaching.lesson import Setting
from kleene.teaching.lessons import lesson
from kleene.teaching.loop import teach
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport

WORDS = ("a", "b", "c", "d")
ROUND = np.arange(170) % 4  # a b c d a b c d …
NOISE = np.random.default_rng(0).integers(0, 4, 170)
SIZES = dict(hidden=5, batch=3, steps=4)


def made(train=ROUND, held_out=NOISE[:50], **options):
    return language_lesson(WORDS, train, held_out, **SIZES | options)


def first_run(learners):
    return jax.tree.map(lambda leaf: leaf[0], learners.model)


def plain_loss(network, tokens, memory):
    """The mean loss of a chunk [step, stream] by single steps, and the memory after it."""

    def step(memory, now):
        token, target = now
        memory = jax.vmap(network)(memory, token)
        chances = jax.nn.log_softmax(jax.vmap(network.read_out)(memory))
        return memory, -jnp.take_along_axis(chances, target[:, None], axis=1)

    memory, losses = jax.lax.scan(step, memory, (tokens[:-1], tokens[1:]))
    return losses.mean(), memory


def taught_plainly(network, text, updates, *, batch, steps, rates, clip):
    """Truncated backpropagation through time as one would write it down, without the loop and the fast gradients."""
    columns = len(text) // batch
    streams = text[: columns * batch].reshape(batch, columns).T
    chunks = (columns - 1) // steps

    @jax.jit
    def updated(network, tokens, memory, rate):
        found, after = jax.grad(plain_loss, has_aux=True)(network, tokens, memory)
        norm = jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(found)))
        scale = rate * jnp.minimum(1, clip / norm)
        return jax.tree.map(lambda weight, slope: weight - scale * slope, network, found), after

    empty = Memory(*[jnp.zeros((batch, len(network.layers), network.decoder.shape[1]))] * 2)
    memory = empty
    for update in range(updates):
        at = update % chunks * steps
        network, after = updated(network, streams[at : at + steps + 1], memory, rates(update // chunks))
        memory = empty if (update + 1) % chunks == 0 else after
    return network


def test_the_loop_teaches_as_plain_truncated_backpropagation_does_across_epochs():
    taught = made(NOISE, layers=2, rate=2.0, steady=1, decay=0.5)
    assert taught.task.epoch == 13
    plan = Plan.grid(taught, seeds=1, iterations=30, test_every=30)
    _, learners = teach(plan)
    start = taught.fresh(jax.random.split(jax.random.key(0))[0])
    expected = taught_plainly(start, NOISE, 30, batch=3, steps=4, rates=lambda epoch: 2.0 * 0.5**epoch, clip=0.25)
    for ours, theirs in zip(jax.tree.leaves(first_run(learners)), jax.tree.leaves(expected)):
        assert np.asarray(ours) == pytest.approx(np.asarray(theirs), abs=1e-5)
    assert int(learners.progress.chunk[0]) == 30 % 13
    assert not np.asarray(learners.model.start.hidden).any()


@pytest.mark.parametrize("length", [2, 13, 50])
def test_perplexity_is_that_of_every_word_but_the_first_in_streams_from_an_empty_memory(length):
    taught = made(held_out=NOISE[:length], test_streams=3)
    network = taught.fresh(jax.random.key(1))
    found = jax.jit(taught.test)(network, jax.random.key(2), Setting.without_hints())
    chances, right, columns = [], [], -(-(length - 1) // 3)
    for first in range(0, length - 1, columns):
        outputs = network.outputs([WORDS[n] for n in NOISE[first : min(first + columns, length - 1)]])[1:]
        for logits, target in zip(outputs, NOISE[first + 1 :]):
            chances.append(np.exp(logits[target]) / np.exp(logits).sum())
            right.append(logits.argmax() == target)
    assert len(chances) == length - 1
    assert float(found["perplexity"]) == pytest.approx(np.exp(-np.mean(np.log(chances))), rel=1e-4)
    assert float(found["accuracy_by_length"][0]) == pytest.approx(np.mean(right), abs=1e-6)
    assert float(found["unigram_perplexity"]) == pytest.approx(unigram_perplexity(ROUND, NOISE[:length], 4), rel=1e-5)


def test_several_texts_are_taught_at_once_each_run_its_own():
    probes = {"which": lambda network, key, kind: kind, "chance": lambda network, key, kind: network.decoder_bias[:2]}
    held_out = {"round": ROUND[:50], "noise": NOISE[:40]}
    both = made({"round": ROUND, "noise": NOISE}, held_out, probes=probes, rate=2.0, clip=1.0)
    plan = Plan.grid(both, kinds=both.kinds, seeds=2, iterations=400, test_every=200)
    progress, learners = teach(plan)
    found = TeachingReport(plan, progress).settings()
    assert [row["hints"] for row in found] == ["round", "noise"]
    assert found[0]["perplexity"] < 1.2 < 2 < found[1]["perplexity"]
    assert found[0]["generalised"] == 2
    assert found[0]["accuracy_by_length"]["1"] > 0.95 > 0.6 > found[1]["accuracy_by_length"]["1"]
    assert [row["which"] for row in found] == [0, 1]
    assert progress.tests[-1]["chance"].shape == (4, 2)
    alone = made(ROUND, ROUND[:50], rate=2.0, clip=1.0)
    _, single = teach(Plan.grid(alone, seeds=2, iterations=400, test_every=400))
    for ours, theirs in zip(jax.tree.leaves(learners.model), jax.tree.leaves(single.model)):
        assert np.asarray(ours)[:2] == pytest.approx(np.asarray(theirs), abs=1e-3)


def test_weights_begin_as_in_the_word_language_model_of_pytorch():
    network = made(hidden=50).fresh(jax.random.key(0))
    for matrix in (network.embedding, network.decoder):
        assert 0.09 < np.abs(np.asarray(matrix)).max() <= 0.1
    assert not np.asarray(network.decoder_bias).any()
    assert 0.13 < np.abs(np.asarray(network.layers[0].recurrent)).max() <= 50**-0.5
    assert network.vocabulary == WORDS


def test_dropout_is_drawn_anew_for_each_update_and_not_for_tests():
    taught = made(dropout=0.5, layers=2)
    network = taught.fresh(jax.random.key(0))
    setting = Plan.grid(taught, seeds=1).setting()
    one = jax.tree.map(lambda leaf: leaf[0], setting)
    loss = jax.jit(lambda key: taught.loss(network, taught.examples(key, taught.beginning(), one), one)[0])
    assert len({float(loss(jax.random.key(seed))) for seed in range(3)}) == 3
    masks = np.stack(taught.machine.masks(jax.random.key(1), (4, 3)))
    assert set(np.unique(masks)) == {0.0, 2.0}
    assert 0.4 < masks.mean() / 2 < 0.6


def test_a_plan_without_kinds_has_the_first_text():
    both = made({"round": ROUND, "noise": NOISE}, NOISE)
    assert [setting["kind"] for setting in Plan.grid(both).settings] == ["round"]
    assert [setting["kind"] for setting in Plan.grid(made()).settings] == ["none"]
    with pytest.raises(InputError, match="no hints of kind 'none'"):
        Plan.grid(both, kinds=("none",))


def test_another_text_is_another_plan():
    assert made().facts() == made().facts()
    for other in (made(NOISE), made(held_out=ROUND), made(hidden=6), made(dropout=0.1)):
        assert other.facts() != made().facts()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train": ROUND[:14]}, "has 14 words, and at least 15 are needed"),
        ({"held_out": ROUND[:1]}, "the text held out has 1 words"),
        ({"train": np.append(ROUND, 4)}, "has the number 4 as its word 170; numbers are below 4"),
        ({"train": {"x": ROUND, "y": NOISE[:-1]}}, "the same number of words, but x has 170, y has 169"),
        ({"train": {"x": ROUND}, "held_out": {"y": NOISE}}, "texts to learn are x, and held out are y"),
        ({"hidden": 0}, "hidden is 0; give 1 or more"),
        ({"dropout": 1.0}, "dropout is 1.0; give a number below 1"),
    ],
)
def test_a_lesson_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        made(**options)


def test_a_text_file_is_a_task_of_the_catalog(tmp_path):
    file = tmp_path / "poem.txt"
    file.write_text("a rose is a rose\n" * 20)
    found = lesson(f"text:{file}", hidden=4, batch=2, steps=3)
    assert (found.name, found.kinds) == ("poem lstm", ("none",))
    with pytest.raises(InputError, match="not for the machine 'rnn'; it is for lstm"):
        lesson(f"text:{file}", "rnn")
    with pytest.raises(InputError, match="has no option"):
        lesson(f"text:{file}", wheels=3)


def test_an_lstm_can_be_drawn_under_jit_and_is_the_same():
    drawn = jax.jit(lambda key: LSTM.random("ab", 3, 2, key=key))(jax.random.key(4))
    for one, other in zip(jax.tree.leaves(drawn), jax.tree.leaves(LSTM.random("ab", 3, 2, key=jax.random.key(4)))):
        assert np.asarray(one) == pytest.approx(np.asarray(other), abs=1e-6)


def test_tied_weights_stay_equal_and_learn_by_the_gradients_of_both_places():
    taught = made(NOISE, rate=2.0, settling=None, clip=100.0, tied=True)
    plan = Plan.grid(taught, seeds=2, iterations=1, test_every=1)
    before = taught.fresh(jax.random.split(jax.random.key(0))[0])
    after = first_run(teach(plan)[1])
    assert np.array_equal(after.embedding, after.decoder)
    streams = NOISE[:168].reshape(3, 56).T
    empty = Memory(*[jnp.zeros((3, 1, 5))] * 2)
    slopes = jax.grad(lambda network: plain_loss(network, streams[:5], empty)[0])(before)
    assert np.allclose(after.embedding, before.embedding - 2.0 * (slopes.embedding + slopes.decoder), atol=1e-6)
    assert np.allclose(after.layers[0].bias, before.layers[0].bias - 2.0 * slopes.layers[0].bias, atol=1e-6)
    assert "tied" in taught.config
    assert "tied" not in made().config
