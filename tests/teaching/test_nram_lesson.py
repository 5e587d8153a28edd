"""The lesson of the NRAM: a machine that knows the circuit has nothing to learn, and the curriculum moves up."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.compiling.circuits.compiler import compile_circuit
from kleene.errors import InputError
from kleene.tasks.memory import memory_task
from kleene.teaching.gradient_noise import gradient_noise
from kleene.teaching.lessons import Setting
from kleene.teaching.loop import Plan, teach
from kleene.teaching.nram_hints import KINDS
from kleene.teaching.nram_lesson import NRAMLesson, Progress

QUICK = {"xla_backend_optimization_level": 0}  # these programs run once
LESSON = NRAMLesson("increment", hidden=2, batch=8, start=3, end=5, lengths=(3, 6), tests=10)
KNOWING = dataclasses.replace(compile_circuit(memory_task("increment").circuit), steps=None)  # also of two hidden units


def setting(kind: str, strength: float = 40.0) -> Setting:
    return Setting(jnp.asarray(KINDS.index(kind)), jnp.asarray(1.0), jnp.asarray(strength))


@functools.partial(jax.jit, compiler_options=QUICK)
def lived(model, difficulty, setting):
    """What the lesson says of a model: its loss and what was measured, the next difficulty, the tests."""
    key, progress = jax.random.key(0), Progress(difficulty)
    loss, measured = LESSON.loss(model, LESSON.examples(key, progress, setting), setting)
    after = LESSON.advance(model, progress, key, setting)
    return loss, measured, after.difficulty, LESSON.test(model, key)["accuracy_by_length"]


def test_a_machine_that_runs_the_circuit_has_no_loss_and_moves_up():
    for difficulty, after in ((3, 4), (5, 5)):
        loss, measured, reached, by_length = lived(KNOWING, jnp.array(difficulty, jnp.int32), setting("full"))
        assert abs(float(loss)) < 1e-4
        assert float(measured["accuracy"]) == 1
        assert int(reached) == after
        assert by_length.tolist() == [1, 1]


def test_a_fresh_machine_stays_and_hints_add_to_its_loss_in_proportion_to_their_strength():
    model = jax.jit(LESSON.fresh, compiler_options=QUICK)(jax.random.key(1))
    found = [lived(model, LESSON.beginning().difficulty, setting("full", strength)) for strength in (0.0, 1.0, 40.0)]
    losses = [float(loss) for loss, *_ in found]
    assert losses[0] == pytest.approx(float(found[0][1]["task_loss"]))
    assert losses[2] - losses[0] == pytest.approx(40 * (losses[1] - losses[0]), rel=1e-4)
    assert losses[1] > losses[0] > 0
    assert [int(reached) for _, _, reached, _ in found] == [3, 3, 3]
    unhinted = lived(model, LESSON.beginning().difficulty, setting("none"))
    assert float(unhinted[0]) == losses[0]


def test_difficulties_are_drawn_up_to_the_one_reached():
    draw = jax.jit(lambda key: LESSON.examples(key, Progress(jnp.asarray(5)), setting("none")).instances.size)
    sizes = [np.asarray(draw(jax.random.key(seed))) for seed in range(20)]
    assert all((size == size[0]).all() for size in sizes)
    assert {int(size[0]) for size in sizes} == {3, 4, 5}


@pytest.mark.parametrize(
    ("accuracies", "expected"), [([1, 1, 0.8], True), ([1, 1, 0.6], False), ([1, 0.98, 1], False), ([1, 1, 1], True)]
)
def test_a_run_generalises_when_it_is_right_up_to_half_as_much_again_and_nearly_always_up_to_twice(
    accuracies, expected
):
    lesson = NRAMLesson("increment", lengths=(10, 15, 20))
    assert lesson.generalises({"accuracy_by_length": np.array([accuracies])}).tolist() == [expected]


@pytest.mark.parametrize("options", [dict(start=2), dict(start=9, end=8), dict(lengths=(2, 9))])
def test_difficulties_without_instances_are_refused(options):
    with pytest.raises(InputError, match="the smallest is 3"):
        NRAMLesson("increment", **options)


def test_every_lesson_says_what_decides_what_is_learned():
    assert NRAMLesson("swap").facts() != NRAMLesson("swap", hidden=64).facts()
    assert NRAMLesson("merge").facts()["learning_rate"] == 0.05


def test_gradient_noise_dies_away_and_every_run_has_its_own():
    noise = gradient_noise(0.3)
    weights = {"a": jnp.ones(4000), "b": jnp.zeros((2, 3))}
    still = jax.tree.map(jnp.zeros_like, weights)
    update, init = jax.jit(noise.update, compiler_options=QUICK), jax.jit(noise.init, compiler_options=QUICK)
    first, state = update(still, init(weights))
    assert float(jnp.std(first["a"])) == pytest.approx(0.3**0.5, rel=0.05)
    later, _ = update(still, state._replace(count=jnp.asarray(999)))
    assert float(jnp.std(later["a"])) == pytest.approx((0.3 / 1000**0.55) ** 0.5, rel=0.05)
    again, _ = update(still, init(weights))
    assert (again["a"] == first["a"]).all()
    other, _ = update(still, init({**weights, "b": weights["b"].at[0, 0].set(0.5)}))
    assert (other["a"] != first["a"]).all()


@pytest.mark.slow
def test_increment_is_learned_from_hints_and_not_without():
    lesson = NRAMLesson("increment", lengths=(10, 16))
    plan = Plan.grid(lesson, kinds=("none", "full", "corners"), strengths=(40.0,), seeds=6, test_every=100)
    progress, _ = teach(plan)
    errors = 1 - progress.tests[-1]["accuracy_by_length"][:, 1].reshape(3, 6).mean(axis=1)
    assert errors[0] >= 0.9
    assert (errors[1:] <= 0.05).all()
