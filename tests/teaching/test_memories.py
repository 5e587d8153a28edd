"""The lesson of the NRAM: a machine that knows the circuit has nothing to learn, and the curriculum moves up."""

import dataclasses
import functools
from importlib import resources

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.compiling.circuits import compile_circuit
from kleene.errors import InputError
from kleene.programs.circuits.library import get
from kleene.tasks.memory import Instance, memory_task
from kleene.teaching.hints import Hints, hint_loss, reveal
from kleene.teaching.lesson import Setting
from kleene.teaching.loop import teach
from kleene.teaching.memories import (
    NOISE,
    CellsTask,
    Difficulty,
    circuit_draws,
    gradient_noise,
    memory_loss,
    nram_lesson,
)
from kleene.teaching.plan import Plan

QUICK = {"xla_backend_optimization_level": 0}  # these programs run once
SMALL = {"hidden": 2, "batch": 8, "start": 3, "end": 5, "lengths": (3, 6), "tests": 10}
LESSON = nram_lesson("increment", **SMALL)
KINDS = LESSON.kinds
KNOWING = dataclasses.replace(compile_circuit(memory_task("increment").circuit), steps=None)  # also of two hidden units


def setting(kind: str, strength: float = 40.0) -> Setting:
    return Setting(jnp.asarray(KINDS.index(kind)), jnp.asarray(1.0), jnp.asarray(strength))


@functools.partial(jax.jit, compiler_options=QUICK)
def lived(model, difficulty, setting):
    """What the lesson says of a model: its loss and what was measured, the next difficulty, the tests."""
    key, progress = jax.random.key(0), Difficulty(difficulty, jnp.asarray(0))
    examples = LESSON.examples(key, progress, setting)
    loss, measured = LESSON.loss(model, examples, setting)
    task_loss = LESSON.task.score(LESSON.machine.record(model, examples, training=True), examples).losses.mean()
    found = {"accuracy": measured.accuracy, "task_loss": task_loss}
    after = LESSON.advance(model, progress, key)
    return loss, found, after.difficulty, LESSON.test(model, key, setting)["accuracy_by_length"]


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
    draw = jax.jit(
        lambda key: LESSON.examples(key, Difficulty(jnp.asarray(5), jnp.asarray(0)), setting("none")).inputs.size
    )
    sizes = [np.asarray(draw(jax.random.key(seed))) for seed in range(20)]
    assert all((size == size[0]).all() for size in sizes)
    assert {int(size[0]) for size in sizes} == {3, 4, 5}


@pytest.mark.parametrize(
    ("accuracies", "expected"), [([1, 1, 0.8], True), ([1, 1, 0.6], False), ([1, 0.98, 1], False), ([1, 1, 1], True)]
)
def test_a_run_generalises_when_it_is_right_up_to_half_as_much_again_and_nearly_always_up_to_twice(
    accuracies, expected
):
    lesson = nram_lesson("increment", lengths=(10, 15, 20))
    assert lesson.generalises({"accuracy_by_length": np.array([accuracies])}).tolist() == [expected]


@pytest.mark.parametrize("options", [dict(start=2), dict(start=9, end=8), dict(lengths=(2, 9))])
def test_difficulties_without_instances_are_refused(options):
    with pytest.raises(InputError, match="the smallest is 3"):
        nram_lesson("increment", **options)


def test_every_lesson_says_what_decides_what_is_learned():
    assert nram_lesson("swap").facts() != nram_lesson("swap", hidden=64).facts()
    assert nram_lesson("merge").facts()["learning_rate"] == 0.05


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
    lesson = nram_lesson("increment", lengths=(10, 16))
    plan = Plan.grid(lesson, kinds=("none", "full", "corners"), strengths=(40.0,), seeds=6, test_every=100)
    progress, _ = teach(plan)
    errors = 1 - progress.tests[-1]["accuracy_by_length"][:, 1].reshape(3, 6).mean(axis=1)
    assert errors[0] >= 0.9
    assert (errors[1:] <= 0.05).all()


EXAMPLES, STEPS, MOST = 300, 6, 9
CIRCUIT, MEMORY = get("increment").build(), [2, 1, 3, 0]


@functools.cache
def hinted(kind: str, density: float = 1.0):
    """The targets and weights of many examples of one memory, whose run takes 6 of the 9 steps there is room for."""
    targets, weights = _told(jnp.asarray(KINDS.index(kind)), jnp.asarray(density))
    return np.asarray(targets), np.asarray(weights)


@functools.partial(jax.jit, compiler_options=QUICK)
def _told(kind, density):
    task = CellsTask(dataclasses.replace(memory_task("increment")), "increment", 4, 7, (4,), holes=True)
    memory, steps = jnp.array([*MEMORY, 0, 0, 0]), jnp.asarray(STEPS)  # seven cells have room for nine steps
    one = task._trace(memory, jnp.asarray(4), steps)
    trace = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (EXAMPLES, *leaf.shape)), one)
    draws = circuit_draws(jax.random.key(7), trace, 5)
    found = reveal(LESSON.policies, trace, draws, kind=kind, density=density)["command"]
    return found.targets, found.weights


def stated() -> np.ndarray:
    """What the circuit's text says at each step, [step, connection]: -1 for a hole; nothing after the run."""
    trace = CIRCUIT.run(MEMORY, STEPS)
    patterns = [(trace["r0"][t] == 0) + 2 * (trace["r1"][t] == 0) for t in range(STEPS)]
    rows = CIRCUIT.choices[CIRCUIT.block_of[np.array(patterns)]]
    return np.concatenate([rows, np.full((MOST - STEPS, rows.shape[1]), -1)])


def every_weight() -> np.ndarray:
    return np.where(stated() >= 0, (1.0 + np.arange(MOST)[:, None]) ** -2.0, 0.0)


def test_full_hints_tell_all_that_the_text_says_and_nothing_else():
    targets, weights = hinted("full")
    np.testing.assert_allclose(weights, np.broadcast_to(every_weight(), weights.shape), rtol=1e-6)
    assert (targets == stated())[weights > 0].all()


def test_none_tells_nothing():
    assert not hinted("none")[1].any()


@pytest.mark.parametrize(("kind", "registers"), [("registers", True), ("modules", False)])
def test_registers_and_modules_are_told_apart(kind, registers):
    is_register = np.array([c.name.endswith(".c") for c in CIRCUIT.wiring.connections])
    expected = every_weight() * (is_register == registers)
    np.testing.assert_allclose(hinted(kind)[1], np.broadcast_to(expected, hinted(kind)[1].shape), rtol=1e-6)


def test_corners_are_the_first_and_the_last_step_of_the_run():
    expected = every_weight() * np.isin(np.arange(MOST), (0, STEPS - 1))[:, None]
    np.testing.assert_allclose(hinted("corners")[1], np.broadcast_to(expected, hinted("corners")[1].shape), rtol=1e-6)


def test_a_single_timestep_is_any_step_of_the_run_whole():
    weights = hinted("single_timestep")[1]
    steps = weights.any(axis=2)
    assert (steps.sum(axis=1) == 1).all()
    assert set(np.argmax(steps, axis=1)) == set(range(STEPS))
    for row, step in zip(weights, np.argmax(steps, axis=1)):
        np.testing.assert_allclose(row[step], every_weight()[step], rtol=1e-6)


def test_a_single_hint_is_any_one_module_or_register_at_any_step():
    weights = hinted("single_hint")[1]
    units = np.array([c.unit for c in CIRCUIT.wiring.connections])
    found = set()
    for row in weights:
        steps, connections = np.nonzero(row)
        assert len(set(steps)) == 1
        assert len(set(units[connections])) == 1
        unit_stated = (stated()[steps[0]] >= 0) & (units == units[connections[0]])
        np.testing.assert_array_equal(row[steps[0]] > 0, unit_stated)
        found.add((steps[0], units[connections[0]]))
    possible = {(step, units[c]) for step, c in zip(*np.nonzero(stated() >= 0))}
    assert found <= possible
    assert len(found) > 0.8 * len(possible)


def test_noise_makes_one_hint_wrong_in_a_fifth_of_the_traces():
    targets, weights = hinted("noisy_full")
    clean, plain = hinted("full")
    np.testing.assert_array_equal(weights, plain)
    wrong = (targets != clean) & (weights > 0)
    counts = wrong.sum(axis=(1, 2))
    assert set(counts.tolist()) == {0, 1}
    assert abs(counts.mean() - NOISE) < 0.08
    limits = np.array([c.choices for c in CIRCUIT.wiring.connections])
    assert (targets < limits).all()
    assert (targets >= 0).all()


def test_density_is_the_share_of_examples_with_hints():
    some = hinted("full", 0.25)[1].any(axis=(1, 2))
    assert 0.15 < some.mean() < 0.35
    assert not hinted("full", 0.0)[1].any()


def test_the_paper_shows_the_whole_circuit_and_our_variant_what_is_stated():
    shown = {}
    for variant in ("paper", "stated"):
        taught = nram_lesson("increment", variant=variant, **SMALL)
        drawn = taught.examples(jax.random.key(0), taught.beginning(), setting("full")).hints["command"]
        shown[variant] = np.asarray(drawn.weights)[0]
    assert shown["paper"][0].all()
    assert 0 < (shown["stated"][0] > 0).sum() < shown["stated"].shape[1]
    ran = shown["stated"].any(axis=1)
    assert (shown["paper"].all(axis=1) == ran).all()
    assert (shown["paper"].any(axis=1) == ran).all()


def test_the_arguments_of_a_module_are_one_hint_in_the_paper():
    """Equation 11: both logarithms are added, and μ is counted once."""
    wiring, chances = CIRCUIT.wiring, np.log(np.full((1, 1, 40), 0.5))
    add = next(c.unit for c in wiring.connections if c.name == "ADD.a")
    units = np.array([c.unit for c in wiring.connections])
    hints = Hints(jnp.zeros((1, len(units)), jnp.int32), jnp.asarray((units == add)[None], jnp.float32))
    found = {"command": jnp.broadcast_to(chances, (1, len(units), 40))}
    shares = nram_lesson("increment").shares
    assert float(hint_loss(found, {"command": hints}, shares)) == pytest.approx(2 * np.log(2))
    assert float(hint_loss(found, {"command": hints})) == pytest.approx(np.log(2))


@pytest.mark.parametrize(("variant", "changes"), [("paper", False), ("on", True)])
def test_training_stops_at_the_last_difficulty_in_the_paper(variant, changes):
    ended = begun(nram_lesson("increment", variant=variant, **SMALL), Difficulty(jnp.asarray(5), jnp.asarray(7)))
    found = {}
    for iterations in (1, 3):
        plan = Plan.grid(ended, kinds=("full",), strengths=(40.0,), seeds=1, iterations=iterations)
        progress, learners = teach(plan)
        found[iterations] = jax.tree.map(np.asarray, learners.model)
    assert (not trees_equal(*found.values())) == changes
    assert progress.tests[-1]["updates"].tolist() == [10 if changes else 7]


def trees_equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other)))


def begun(taught, begins):
    """The lesson whose curriculum begins there."""

    class Begun(CellsTask):
        def beginning(self):
            return begins

    kept = {field.name: getattr(taught.task, field.name) for field in dataclasses.fields(taught.task)}
    return dataclasses.replace(taught, task=Begun(**kept))


def test_a_probability_that_rounding_made_negative_has_a_finite_loss_and_gradient():
    """Permute's runs ended so: values of -0.01 were seen, also at steps that the run does not end with."""
    expected, counts = jnp.array([1, 0]), jnp.array([True, True])
    instance = Instance(expected, expected, counts, jnp.array(2), jnp.array(2))
    cells = jnp.array([[[1.0, -0.01], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]])  # after each of two steps
    loss, gradient = jax.value_and_grad(memory_loss)(cells, jnp.array([0.0, 1.0]), instance)
    assert float(loss) == pytest.approx(0.0, abs=1e-5)
    assert np.isfinite(np.asarray(gradient)).all()
    worse = memory_loss(cells, jnp.array([1.0, 0.0]), instance)
    assert float(worse) == pytest.approx(-np.log(1e-6), rel=1e-4)


APPENDIX_G = {  # Partial Traces: registers, modules, steps, learning rate, difficulty at the start and at the end
    "swap": (5, "def", "7", 0.01, 6, 10),
    "increment": (2, "def+R", "M + 2", 0.01, 4, 10),
    "permute": (4, "R+def+R+W", "M + 3", 0.05, 7, 12),
    "list_k": (6, "def", "memory[1] + 5", 0.05, 9, 16),
    "merge": (8, "def*3", "M + 3", 0.05, 13, 16),
}


@pytest.mark.parametrize("name", APPENDIX_G)
def test_circuits_and_lessons_are_those_of_appendix_g(name):
    text = (resources.files("kleene.programs.circuits") / "texts" / f"{name}.nram").read_text()
    lines = [line.split("//")[0].split(maxsplit=1) for line in text.splitlines()]
    stated = {words[0]: words[1].strip() for words in lines if len(words) == 2}
    facts = nram_lesson(name).facts()
    found = (int(stated["registers"]), stated["modules"], stated["steps"])
    assert (*found, facts["learning_rate"], facts["start"], facts["end"]) == APPENDIX_G[name]
