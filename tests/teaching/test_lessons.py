"""Lessons: all answer one protocol, and tasks, circuits, policies and whole lessons of a user's are taught."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.programs.circuits import Circuit
from kleene.tasks.sequences import SequenceTask
from kleene.teaching import Examples, Hints, Lesson, Policy, ProgramTrace, Task
from kleene.teaching.hints import corners, draw_chances, everything, reveal
from kleene.teaching.lesson import Record, Setting, Trainable
from kleene.teaching.lessons import hint_kinds, lesson, maker_of
from kleene.traces import Trace
from tests.command_line import assert_refused

ROSES = "a rose is a rose\n" * 20
CIRCUIT = "registers 1\nmodules READ+INC+W\nsteps 1\nwhen -: READ(r0) INC(READ) WRITE(r0, INC) r0 = r0\n"
OWN = """
from kleene.tasks.sequences import SequenceTask
from kleene.teaching.sequences import ntm_lesson

class Twice(SequenceTask):
    def stored(self, words):
        return (2 * words) % self.alphabet
    def answer(self, word):
        return [2 * symbol % self.alphabet for symbol in word] + [self.alphabet]

twice = Twice("twice", alphabet=3, longest=2, tested=3, hidden=(4, 4))

def first(trace):
    steps = trace.targets["read"].shape[0]
    return {"read": [1.0] + [0.0] * (steps - 1)}

def made(rate=0.5):
    return ntm_lesson(twice, rate=rate, batch=2, tests=2, width=2)

def broken():
    raise RuntimeError("no")
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("roses.txt").write_text(ROSES)
    Path("own.nram").write_text(CIRCUIT)
    Path("own.py").write_text(OWN)


SUBJECTS = {
    "copy": {"width": 2, "controller": (4, 4), "lengths": (1, 2), "longest": 2, "tests": 2, "batch": 2},
    "increment": {"hidden": 2, "start": 3, "end": 3, "lengths": (3,), "batch": 2, "tests": 2},
    "circuit:own.nram": {"hidden": 2, "end": 4, "lengths": (4,), "batch": 2, "tests": 2},
    "dfa:tomita_1": {"hidden": 2, "batch": 2},
    "text:roses.txt": {"hidden": 2, "batch": 2, "steps": 3},
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_lesson_answers_what_the_loop_asks_for(subject):
    made = lesson(subject, **SUBJECTS[subject])
    assert made.kinds[0] == "none"
    assert made.facts() == json.loads(json.dumps(made.facts()))
    setting, key = Setting.without_hints(), jax.random.key(0)

    def shapes():
        model, progress = made.fresh(key), made.beginning()
        examples = made.examples(key, progress, setting)
        loss, measured = made.loss(model, examples, setting)
        after = made.advance(model, progress if measured.progress is None else measured.progress, key)
        return loss, measured.accuracy, progress, after, made.test(model, key, setting)

    loss, accuracy, before, after, tested = jax.eval_shape(shapes)
    assert loss.shape == accuracy.shape == ()
    assert jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), before) == jax.tree.map(
        lambda leaf: (leaf.shape, leaf.dtype), after
    )
    assert tested["accuracy_by_length"].shape == (len(made.lengths),)
    runs = {name: np.ones((3, *leaf.shape)) for name, leaf in tested.items()}
    assert made.generalises(runs).shape == (3,)
    machine = made.machine.bare(made.fresh(key))
    assert all(callable(getattr(machine, name)) for name in ("save", "load"))


def test_a_circuit_of_ones_own_is_taught_by_name_and_as_an_object(run):
    small = ("--hidden", "2", "--batch", "2", "--seeds", "1", "--iterations", "1", "--hints", "full", "--json")
    found = run("teach", "circuit:own.nram", *small, "--model", "m.safetensors").json
    assert (found["lesson"], found["settings"][0]["hints"]) == ("own", "full")
    assert kleene.load("m.safetensors").run([1, 0, 0, 0], steps=1).steps == 1
    made = lesson(Circuit.from_text(CIRCUIT, "own"), hidden=2)
    assert made.facts()["circuit"] != lesson(Circuit.from_text(CIRCUIT.replace("r0 = r0", "r0 = INC"), "own")).facts()
    assert made.lengths == (4, 6, 8, 10, 12, 16)


def test_a_task_a_policy_and_a_lesson_in_a_file_of_ones_own_are_taught(run):
    asked = ("--seeds", "1", "--iterations", "1", "--json")
    found = run("teach", "own.py:made", "--rate", "0.25", "--hints", "none,own.py:first", *asked, "--results", "kept")
    assert [row["hints"] for row in found.json["settings"]] == ["none", "first"]
    facts = json.loads(Path(found.json["file"]).read_text())["plan"]["lesson"]
    assert (facts["task"], facts["learning_rate"], facts["kinds"]) == ("twice", 0.25, ["none", "first"])
    assert lesson("own.py:twice", width=2).facts()["width"] == 2


def test_what_was_taught_shows_itself_runs_and_is_kept():
    taught = kleene.teach("own.py:made", seeds=2, iterations=1)
    assert repr(taught).startswith("<Taught twice: ")
    assert "twice" in str(taught)
    assert taught.as_json()["lesson"] == "twice"
    trace = taught.trace([1, 2])
    assert isinstance(trace, Trace)
    assert trace.steps == taught.lesson.task.task.program([1, 2]).steps
    assert taught.save("ntm.safetensors") == Path("ntm.safetensors")
    again, best = jax.tree.leaves(kleene.load("ntm.safetensors")), jax.tree.leaves(taught.best)
    assert all((np.asarray(a) == np.asarray(b)).all() for a, b in zip(again, best))
    assert taught.store("kept").parent == Path("kept")
    found = kleene.results("kept")
    assert (len(found), [row["lesson"] for row in found.as_json()]) == (1, ["twice"])
    assert "twice" in str(found)
    assert taught.report.runs.as_json() == found.runs.as_json()


def test_a_dfa_and_a_task_are_taught_as_objects():
    dfa = kleene.DFA.from_regex("(ab)*")
    assert lesson(dfa, "lstm").name == "language lstm"
    assert lesson(SequenceTask("mine", longest=2, tested=3)).name == "mine"
    made = lesson(dfa)
    assert lesson(made) is made
    assert repr(made) == "<Lesson language rnn: 2,000 iterations, kinds none, states, scattered>"
    with pytest.raises(InputError, match="a int cannot be taught; give a Lesson, a DFA"):
        kleene.teach(7)
    with pytest.raises(InputError, match="it has no options"):
        lesson(made, batch=3)


def test_options_are_those_that_the_lesson_declares():
    assert {"rate", "width", "clip", "decoder", "batch"} <= set(maker_of(SequenceTask()).options("ntm"))
    facts = lesson("copy", rate=0.5, width=3, clip=2.0, decoder=5).facts()
    assert [facts[name] for name in ("learning_rate", "width", "clip", "decoder")] == [0.5, 3, 2.0, 5]
    with pytest.raises(InputError, match=r"'swap' on 'nram' has no option 'width'; its options are hidden, batch"):
        lesson("swap", width=3)


def test_the_machine_says_whether_a_task_or_a_program_of_that_name_is_meant():
    assert "address" in lesson("reverse").kinds
    small = {"longest": 2, "lengths": (2,), "pool": 4}
    assert "full" in lesson("reverse", "transformer", **small).kinds


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("nothing.py:lesson",), "there is no file 'nothing.py'"),
        (("own.py:nothing",), "'own.py' defines no 'nothing'"),
        (("own.py:broken",), "calling broken() in 'own.py' raised RuntimeError: no"),
        (("own.py:made", "--hidden", "3"), "'own.py:made' has no option 'hidden'; its options are rate"),
        (("own.py:made", "--machine", "nram"), "'own.py:made' is not for the machine 'nram'"),
        (("own.py:made", "--hints", "own.py:nothing"), "'own.py' defines no 'nothing'"),
        (
            ("own.py:made", "--hints", "own.py:twice"),
            "'twice' in 'own.py' is a Twice; a policy is a function of a trace",
        ),
        (("copy", "--clip", "-1"), "--clip is -1.0; give a number above 0"),
        (("copy", "--hidden", "5"), "its options are cells, test_cells, width"),
    ],
)
def test_what_cannot_be_taught_is_refused_in_words(run, words, problem):
    assert_refused(run("teach", *words), problem)


TRACE = ProgramTrace.of({"a": jnp.array([[0, 1], [-1, 2], [3, -1], [-1, -1]]), "b": jnp.array([0, 0, 1, -1])})


def test_a_trace_of_plain_arrays_states_what_is_not_negative():
    assert TRACE.stated["a"].tolist() == [[True, True], [False, True], [True, False], [False, False]]
    assert TRACE.steps.item() == 3


def many(count):
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape)), TRACE)


def revealed(policy, density=1.0, count=2):
    trace = many(count)
    draws = draw_chances(jax.random.key(0), trace, policy.chances)
    return reveal([policy], trace, draws, kind=jnp.array(0), density=jnp.array(density))


def test_policies_reveal_what_they_say_and_never_what_is_not_stated():
    everywhere = revealed(Policy(everything))
    assert everywhere["a"].weights[0].tolist() == [[1, 1], [0, 1], [1, 0], [0, 0]]
    ends = revealed(Policy(corners))
    assert ends["a"].weights[1].tolist() == [[1, 1], [0, 0], [1, 0], [0, 0]]
    assert ends["b"].weights[1].tolist() == [1, 0, 1, 0]
    assert list(revealed(Policy(lambda trace: {"b": 0.5}))) == ["b"]
    with pytest.raises(InputError, match="hints are on 'c', and the trace has the channels a, b"):
        revealed(Policy(lambda trace: {"c": 1.0}))


def test_a_policy_may_draw_and_may_change_the_targets():
    wrong = Policy(lambda trace, chances: {"b": Hints(trace.targets["b"] + 1, jnp.full(4, chances[0]))}, chances=1)
    found = revealed(wrong, count=50)["b"]
    assert found.targets[0].tolist() == [1, 1, 2, 1]
    assert len(set(found.weights[:, 0].tolist())) == 50


def test_density_is_a_share_of_examples_or_of_entries_and_the_same_for_every_policy():
    whole = np.asarray(revealed(Policy(everything), 0.3, 1000)["b"].weights)
    assert 0.25 < whole[:, 0].mean() < 0.35
    assert (whole[:, :3].min(axis=1) == whole[:, :3].max(axis=1)).all()
    scattered = np.asarray(revealed(Policy(everything, scattered=True), 0.3, 1000)["b"].weights)
    assert 0.25 < scattered[:, :3].mean() < 0.35
    assert (scattered[:, 0] != scattered[:, 1]).any()


def test_kinds_of_hints_are_names_policies_or_both():
    assert hint_kinds("all", ("none", "read")) == {"none": None, "read": None}
    assert hint_kinds("none, read", ()) == {"none": None, "read": None}
    assert hint_kinds(everything, ()) == {"everything": everything}
    assert list(hint_kinds({"mine": corners}, ())) == ["mine"]


class Ends(Task):
    """Which bit was the first?"""

    name, longest, lengths = "ends", 3, (2, 3)

    def draw(self, key, length, longest):
        bits = jax.random.randint(key, (longest,), 0, 2)
        return Examples(bits, jnp.where(jnp.arange(longest) == length - 1, bits[0], -1))


def test_a_task_scores_the_steps_that_have_a_target():
    task, record = Ends(), jnp.log(jnp.array([[[0.5, 0.5], [0.25, 0.75], [0.9, 0.1]]]))
    examples = Examples(None, jnp.array([[-1, 1, -1]]))
    score = Lesson(task, Trainable()).task.score(Record(record, {}), examples)
    assert score.losses[0] == pytest.approx(-np.log(0.75), rel=1e-5)
    assert score.right.tolist() == [True]
    drawn = task.examples(jax.random.key(0), jnp.array([2, 3]), 3)
    assert (drawn.targets >= 0).sum(axis=1).tolist() == [1, 1]
