"""The Neural GPU's lesson: answers stand where inputs stood, saturation costs, dropout is for training alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.machines.neural_gpu import NeuralGPU
from kleene.programs.circuits import Circuit
from kleene.tasks.memory import memory_task, memory_tasks
from kleene.tasks.sequences import TASKS, VARIANTS
from kleene.teaching.lesson import Setting
from kleene.teaching.neural_gpus import neural_gpu_lesson, places_of

SMALL = {"hidden": 6, "batch": 4, "longest": 3, "lengths": (1, 2, 4), "tests": 3}
MEMORY = SMALL | {"shortest": 3, "longest": 4, "lengths": (3, 5)}
NONE = Setting.without_hints()


@pytest.mark.parametrize("name", TASKS)
def test_the_answer_of_a_sequence_task_stands_where_the_word_stood(name):
    places, longest = places_of(name), 5
    draw = jax.jit(lambda key, length: places.draw(key, length, longest, True))
    for seed in range(12):
        length = 1 + seed % longest
        drawn = jax.tree.map(np.asarray, draw(jax.random.key(seed), jnp.array(length)))
        word = drawn.symbols[:length].tolist()
        assert drawn.answers[: drawn.length].tolist() == TASKS[name].answer(word)
        assert drawn.symbols[: drawn.length].tolist() == places.typed(word)


@pytest.mark.parametrize("name", memory_tasks())
def test_the_answer_of_a_memory_task_is_the_memory_at_the_end(name):
    task, places = memory_task(name), places_of(name)
    for seed in range(3):
        key, size = jax.random.key(seed), jnp.array(task.start)
        drawn, instance = places.draw(key, size, task.end, False), task.sample(key, size, task.end)
        assert int(drawn.length) == task.start
        assert jnp.array_equal(drawn.symbols, instance.memory)
        assert jnp.array_equal(drawn.answers, instance.expected)
        assert places.typed(instance.memory.tolist()) == instance.memory.tolist()


def test_positions_past_an_answer_are_not_asked_for():
    lesson = neural_gpu_lesson("repeat_copy_twice", **SMALL)
    examples = jax.jit(lambda key: lesson.examples(key, (), NONE))(jax.random.key(0))
    counts = np.arange(7) < np.asarray(examples.inputs.length)[:, None]
    assert (np.asarray(examples.targets >= 0) == counts).all()
    assert set(np.asarray(examples.inputs.length).tolist()) <= {3, 5, 7}


def test_saturation_adds_to_the_loss_in_proportion_to_its_weight():
    losses = []
    for weight in (0.0, 1.0, 3.0):
        lesson = neural_gpu_lesson("increment", **MEMORY, saturation=weight, dropout=0.0)
        model = jax.tree.map(lambda leaf: 3 * leaf, lesson.fresh(jax.random.key(0)))
        losses.append(float(lesson.loss(model, lesson.examples(jax.random.key(1), (), NONE), NONE)[0]))
    assert losses[1] > losses[0] + 0.1
    assert losses[2] - losses[0] == pytest.approx(3 * (losses[1] - losses[0]), rel=1e-4)


def test_dropout_is_for_training_alone():
    lesson = neural_gpu_lesson("reverse", **SMALL, dropout=0.5)
    model, drawn = lesson.fresh(jax.random.key(0)), lesson.examples(jax.random.key(1), (), NONE)
    record = jax.jit(lambda model, training: lesson.machine.record(model, drawn, training=training), static_argnums=1)
    found = {training: record(model, training).output for training in (True, False)}
    assert not jnp.allclose(found[True], found[False])
    words = zip(drawn.inputs.symbols.tolist(), drawn.inputs.length.tolist())
    answers = [trace.output for trace in model.run_batch([symbols[:length] for symbols, length in words])]
    for row, answer in enumerate(answers):
        assert jnp.argmax(found[False][row], axis=-1)[: len(answer)].tolist() == answer


def test_a_training_set_has_as_many_different_examples_as_it_was_given():
    lesson = neural_gpu_lesson("increment", **(MEMORY | {"batch": 20}), samples=3)
    draw = jax.jit(lambda key: lesson.examples(key, (), NONE).inputs)
    drawn = [draw(jax.random.key(seed)) for seed in range(3)]
    memories = {tuple(memory) for inputs in drawn for memory in inputs.symbols.tolist()}
    assert 1 < len(memories) <= 3
    keys = {tuple(key) for inputs in drawn for key in jax.random.key_data(inputs.key).tolist()}
    assert len(keys) == 60  # dropout differs all the same


def test_a_machine_is_taught_saved_and_traced(tmp_path):
    taught = kleene.teach("reverse", machine="neural_gpu", seeds=2, iterations=2, model=tmp_path / "m", **SMALL)
    again = kleene.load(tmp_path / "m")
    assert isinstance(again, NeuralGPU)
    trace = taught.trace([3, 1])
    assert trace == again.run([3, 1, 8])  # with the delimiter
    assert trace.steps == 3
    assert set(taught.report.progress.tests[-1]) >= {"positions", "positions_by_length"}


def test_a_circuit_of_ones_own_is_taught():
    text = "registers 1\nmodules READ+INC+W\nsteps 1\nwhen -: READ(r0) INC(READ) WRITE(r0, INC) r0 = r0"
    lesson = neural_gpu_lesson(Circuit.from_text(text, "one_more"), **(MEMORY | {"shortest": 4, "lengths": (4,)}))
    drawn = lesson.examples(jax.random.key(0), (), NONE)
    before, after = np.asarray(drawn.inputs.symbols), np.asarray(drawn.targets)
    assert (after[:, 0] == (before[:, 0] + 1) % 4).all()
    assert (after[:, 1:] == before[:, 1:]).all()
    assert lesson.facts()["circuit"].startswith("registers 1")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"shortest": 2}, "the smallest is 3, and shortest is at most longest"),
        ({"shortest": 9, "longest": 8}, "taught at lengths 9 to 8"),
        ({"lengths": (2, 9)}, "tested at 2, 9"),
        ({"hidden": 0}, "hidden is 0; give 1 or more"),
        ({"lengths": ()}, r"lengths is \(\); give a list of whole numbers"),
        ({"rate": float("nan")}, "rate is nan; give a number, above 0"),
    ],
)
def test_what_cannot_be_taught_is_refused(options, complaint):
    with pytest.raises(InputError, match=complaint):
        neural_gpu_lesson("increment", **options)


@pytest.mark.parametrize("variant", ["online", "online_walks"])
def test_a_task_that_is_answered_while_it_is_read_is_refused(variant):
    with pytest.raises(InputError, match="dyck_words: this reading is answered while the word is read"):
        neural_gpu_lesson(VARIANTS["dyck_words"][variant])


def test_every_option_decides_the_result():
    facts = neural_gpu_lesson("merge").facts()
    for option in ({"samples": 10_000}, {"dropout": 0.0}, {"saturation": 0.0}, {"hidden": 48}, {"longest": 20}):
        assert neural_gpu_lesson("merge", **option).facts() != facts
    assert facts["learning_rate"] == pytest.approx(0.005)


def test_readings_of_a_task_with_one_name_have_different_facts():
    pairs, walks = (neural_gpu_lesson(VARIANTS["dyck_words"][name]).facts() for name in ("pairs", "walks"))
    assert pairs == neural_gpu_lesson("dyck_words").facts()
    assert "reading" not in pairs
    assert walks != pairs


@pytest.mark.slow
def test_reversing_is_learned_and_generalises_to_twice_the_length():
    taught = kleene.teach("reverse", machine="neural_gpu", hidden=24, seeds=4, iterations=1000, test_every=100)
    assert taught.report.settings()[0]["generalised"] >= 2
