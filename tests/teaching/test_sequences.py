"""The NTM's lesson: its loss is equation 8, hints of no weight change nothing, and hints teach Copy."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.tasks.sequences import TASKS, VARIANTS
from kleene.teaching.hints import draw_chances, reveal
from kleene.teaching.lesson import Setting
from kleene.teaching.loop import teach
from kleene.teaching.plan import Plan
from kleene.teaching.sequences import POLICIES, ntm_lesson, program_trace

KINDS = ("none", *POLICIES)
SMALL = {"controller": (12, 12), "width": 4, "longest": 3, "lengths": (1, 3, 4, 6), "tests": 4, "batch": 6, "unroll": 1}


def setting(kind, density=1.0, strength=1.0):
    return Setting(jnp.array(list(KINDS).index(kind)), jnp.array(density), jnp.array(strength))


@pytest.fixture(scope="module")
def lesson():
    return ntm_lesson("copy", **SMALL)


@pytest.fixture(scope="module")
def measure(lesson):
    """The loss, its gradient and the batch of a fresh pupil with the hints of a setting, and the pupil."""

    def found(setting, seed):
        model = lesson.fresh(jax.random.key(seed))
        batch = lesson.examples(jax.random.key(7), (), setting)
        return *jax.value_and_grad(lambda m: lesson.loss(m, batch, setting)[0])(model), batch, model

    return found


@pytest.fixture(scope="module")
def measured(measure):
    return jax.jit(measure)


@pytest.fixture(scope="module")
def traces(lesson, measured):
    """What that pupil does on each word of that batch; hints change neither."""
    _, _, batch, model = measured(setting("none"), 0)
    found = []
    for column in np.asarray(batch.inputs.symbols).T:
        trace = lesson.machine.trace(model, [int(s) for s in column if s < 8])
        tape = jnp.array(trace["tape"][1:].transpose(0, 2, 1), jnp.float32)
        found.append((trace, np.asarray(jax.nn.softmax(model.decoder(tape), axis=1))))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_equation_8_example_by_example(measured, traces, kind):
    loss, _, batch, _ = jax.tree.map(np.asarray, measured(setting(kind, 0.5, 0.7), 0))
    examples, expected = batch.inputs, []
    for i, (trace, decoded) in enumerate(traces):
        answers = [(t, examples.answers[t, i]) for t in np.flatnonzero(examples.answering[:, i])]
        hints = []
        for t in np.flatnonzero(examples.live[:, i]):
            probabilities = {
                "read": trace["read"][t + 1, examples.read[t, i]],
                "write": trace["write"][t + 1, examples.write[t, i]],
                "value": decoded[t, examples.value[t, i], examples.write[t, i]],
            }
            hints += [-np.log(probabilities[name]) for name in probabilities if batch.hints[name].weights[t, i] > 0]
        right = np.mean([-np.log(trace["output"][t + 1, symbol]) for t, symbol in answers])
        expected.append(right + 0.7 * (np.mean(hints) if hints else 0))
    np.testing.assert_allclose(loss, np.mean(expected), rtol=1e-4)


def test_density_is_the_share_of_examples_with_hints():
    many = ntm_lesson("copy", **{**SMALL, "batch": 4000})
    weights = jax.jit(many.examples)(jax.random.key(0), (), setting("read", 0.1)).hints["read"].weights
    assert np.asarray(weights.sum(0) > 0).mean() == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "none"])
def test_no_hints_or_no_strength_leave_the_very_baseline(measured, kind):
    baseline = measured(setting("none", 0.0, 0.0), 3)
    for other in (setting(kind, 0.0, 1.0), setting(kind, 1.0, 0.0)):
        loss, gradient, _, _ = measured(other, 3)
        assert loss == baseline[0]
        for ours, theirs in zip(jax.tree.leaves(gradient), jax.tree.leaves(baseline[1])):
            assert (ours == theirs).all()


def test_only_value_hints_teach_the_decoder(measured):
    for kind, moves in (("address", False), ("value", True), ("addr+val", True)):
        gradient = measured(setting(kind), 0)[1].decoder
        assert any(bool((leaf != 0).any()) for leaf in jax.tree.leaves(gradient)) is moves


def test_a_lesson_without_value_hints_has_the_same_loss_for_other_kinds(lesson, measured):
    fewer = ntm_lesson("copy", kinds=("none", "address"), **SMALL)
    chosen = Setting(jnp.array(1), jnp.array(1.0), jnp.array(1.0))
    batch = fewer.examples(jax.random.key(7), (), chosen)
    assert sorted(batch.hints) == ["read", "write"]
    loss, measured_too = jax.jit(fewer.loss)(fewer.fresh(jax.random.key(0)), batch, chosen)
    np.testing.assert_allclose(loss, measured(setting("address"), 0)[0], rtol=1e-5)
    assert measured_too.accuracy.shape == ()


def test_a_lesson_without_any_hints_has_the_loss_of_the_baseline(measured):
    bare = ntm_lesson("copy", kinds=("none",), **SMALL)
    chosen = Setting(jnp.array(0), jnp.array(0.0), jnp.array(0.0))
    batch = bare.examples(jax.random.key(7), (), chosen)
    assert batch.hints == {}
    loss, _ = jax.jit(bare.loss)(bare.fresh(jax.random.key(0)), batch, chosen)
    np.testing.assert_allclose(loss, measured(setting("none"), 0)[0], rtol=1e-5)


def test_a_run_among_others_is_the_run_alone(measure, measured):
    kinds, seeds = ("none", "corner", "addr+val"), jnp.array([4, 5, 0])
    several = jax.tree.map(lambda *each: jnp.stack(each), *[setting(kind) for kind in kinds])
    losses, gradients, _, _ = jax.jit(jax.vmap(measure))(several, seeds)
    for i, kind in enumerate(kinds):
        loss, gradient, _, _ = measured(setting(kind), seeds[i])
        np.testing.assert_allclose(losses[i], loss, rtol=1e-5)
        for many, one in zip(jax.tree.leaves(gradients), jax.tree.leaves(gradient)):
            np.testing.assert_allclose(many[i], one, rtol=1e-3, atol=1e-6)


def test_generalising_is_perfect_to_one_and_a_half_and_nine_tenths_to_twice_the_length():
    lesson = ntm_lesson("copy")
    accuracy = np.ones((4, 20))
    accuracy[0, 10:] = 0.0  # past twice the length nothing counts
    accuracy[1, 6] = 0.97  # length 7 must be perfect
    accuracy[2, 7:10] = [1.0, 0.5, 0.5]
    accuracy[3, 7:10] = [1.0, 0.5, 0.4]
    assert lesson.generalises({"accuracy_by_length": accuracy}).tolist() == [True, False, True, False]


def test_tests_measure_every_length_and_the_peak_of_the_reading_head(lesson):
    tested = jax.jit(lesson.test)(lesson.fresh(jax.random.key(0)), jax.random.key(1), Setting.without_hints())
    assert tested["accuracy_by_length"].shape == tested["peak_by_length"].shape == (4,)
    assert 1 / lesson.machine.test_cells < tested["peak"] < 1
    np.testing.assert_allclose(tested["peak"], tested["peak_by_length"].mean(), rtol=1e-5)


def test_the_trace_of_a_pupil_has_the_steps_of_the_program(lesson):
    trace, program = lesson.machine.trace(lesson.fresh(jax.random.key(0)), [1, 2]), lesson.task.task.program([1, 2])
    assert trace.steps == program.steps
    assert trace["input"].tolist() == program["input"].tolist()


def test_bad_lessons_are_refused_in_words():
    with pytest.raises(InputError, match="Give 43 cells or more"):
        ntm_lesson("copy", test_cells=30)
    with pytest.raises(InputError, match="words of 5 symbols take 12 steps"):
        ntm_lesson("copy", cells=12)
    with pytest.raises(InputError, match='they begin with "none"'):
        ntm_lesson("copy", kinds=("address",))
    with pytest.raises(InputError, match="no hints of kind 'circuit' for copy; there are none, read"):
        ntm_lesson("copy", kinds=("none", "circuit"))
    with pytest.raises(InputError, match="batch is 0; give 1 or more"):
        ntm_lesson("copy", batch=0)


def test_readings_of_a_task_with_one_name_have_different_facts():
    facts = [ntm_lesson(task).facts() for task in VARIANTS["dyck_words"].values()]
    assert all(one != other for n, one in enumerate(facts) for other in facts[:n])
    assert json.loads(json.dumps(facts)) == facts
    assert all("reading" not in ntm_lesson(task).facts() for task in TASKS.values())
    assert "reading" not in ntm_lesson("dyck_words", variant="walks").facts()  # stored with its variant's name


def test_lessons_take_the_papers_numbers():
    assert ntm_lesson("repeat_copy_twice").machine.controller == (100, 100)
    flips = ntm_lesson("repeat_flip_3d")
    assert (flips.facts()["learning_rate"], flips.task.longest) == (5e-4, 16)
    assert (flips.lengths[-1], flips.machine.cells) == (32, 67)
    assert flips.facts()["task"] == "repeat_flip_3d"


REVEALED = {
    "none": (),
    "read": ("read",),
    "write": ("write",),
    "address": ("read", "write"),
    "value": ("value",),
    "addr+val": ("read", "write", "value"),
    "corner": ("read", "write"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["copy", "dyck_words"])
def test_each_kind_tells_its_channels_at_its_steps(name, kind):
    task, word = TASKS[name], [1, 0, 0, 1]
    padded = jnp.array([*word, 0, 0])[:, None]
    found = task.laid_out(padded, jnp.array([len(word)]))
    trace, policies = program_trace(found), ntm_lesson(name).policies
    draws = draw_chances(jax.random.key(0), trace, 0)
    shown = reveal(policies, trace, draws, kind=jnp.array(KINDS.index(kind)), density=jnp.array(1.0), axis=-1)
    steps = np.asarray(found.corner if kind == "corner" else found.live)
    for channel in ("read", "write", "value"):
        expected = steps if channel in REVEALED[kind] else np.zeros_like(steps)
        if channel == "read":
            expected = expected & np.asarray(found.read_known)
        assert np.asarray(shown[channel].weights).tolist() == expected.astype(float).tolist()


@pytest.mark.slow
def test_hints_on_both_heads_teach_copy_to_nine_of_ten_in_a_thousand_iterations():
    lesson = ntm_lesson("copy", kinds=("none", "address"))
    plan = Plan.grid(lesson, kinds=("none", "address"), seeds=10, iterations=1000, test_every=500)
    half, whole = teach(plan)[0].tests
    assert whole["generalises"][10:].sum() >= 9
    assert whole["peak"][10:].mean() >= 0.99
    assert half["generalises"][:10].sum() <= half["generalises"][10:].sum() - 3
