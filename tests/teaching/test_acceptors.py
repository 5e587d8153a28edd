"""Teaching recurrent networks regular languages, with states as hints."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.programs.automata import DFA
from kleene.programs.automata.library import get
from kleene.teaching.acceptors import POLICIES, acceptor_lesson
from kleene.teaching.lesson import Setting
from kleene.teaching.lessons import lesson
from kleene.teaching.loop import teach
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport

KINDS = ("none", *POLICIES)
TOMITA = get("tomita_4").build()


def setting(kind="none", density=0.0, strength=0.0):
    return Setting(jnp.array(KINDS.index(kind)), jnp.array(density), jnp.array(strength))


def drawn(taught, chosen, seed=0):
    return jax.tree.map(np.asarray, jax.jit(taught.examples)(jax.random.key(seed), (), chosen))


def spelled(taught, words):
    alphabet = taught.task.dfa.alphabet
    return ["".join(alphabet[s] for s in row[:n]) for row, n in zip(words.inputs.symbols, words.inputs.lengths)]


@pytest.mark.parametrize("name", ["tomita_1", "tomita_2", "tomita_4", "divisible_by_5"])
def test_labels_and_states_are_the_automatons_and_half_of_the_words_are_accepted(name):
    dfa = get(name).build()
    taught = acceptor_lesson(dfa, batch=200, longest=12)
    words = drawn(taught, setting("states", 1.0))
    texts = spelled(taught, words)
    assert words.targets.tolist() == dfa.accepts_batch(texts).tolist()
    for text, states in zip(texts, words.hints["state"].targets):
        assert states[: len(text)].tolist() == dfa.run(text)["state"][1:].tolist()
    assert set(words.inputs.lengths.tolist()) == set(range(1, 13))
    assert 0.2 <= words.targets.mean() <= 0.9  # tomita_2 has no words of odd length


def test_accepted_words_are_drawn_evenly():
    dfa = DFA.from_regex("(a|b)(aa|bb)")  # four words of length 3
    taught = acceptor_lesson(dfa, batch=4000, longest=3, lengths=(3,))
    words = drawn(taught, setting())
    chosen = [text for text in spelled(taught, words)[::2] if len(text) == 3]
    counts = {word: chosen.count(word) for word in ("aaa", "abb", "baa", "bbb")}
    assert sum(counts.values()) == len(chosen)
    assert max(counts.values()) < 1.3 * min(counts.values())


def test_a_language_without_a_word_to_test_is_refused():
    dfa = DFA.from_regex("(a|b)(aa|bb)")
    for lengths in ((1, 2), (4, 5)):
        with pytest.raises(InputError, match=f"accepts no word of {lengths[0]}, {lengths[1]} symbols"):
            acceptor_lesson(dfa, lengths=lengths)
    assert acceptor_lesson(dfa, lengths=(2, 3)).lengths == (2, 3)


def test_hints_are_revealed_by_kind_and_density():
    taught = acceptor_lesson(TOMITA, batch=400)
    inside = np.arange(taught.task.longest) < drawn(taught, setting()).inputs.lengths[:, None]
    assert drawn(taught, setting("none", 1.0)).hints["state"].weights.sum() == 0
    assert (drawn(taught, setting("states", 1.0)).hints["state"].weights == inside).all()
    some = drawn(taught, setting("states", 0.3)).hints["state"].weights
    rows = some.any(axis=1)
    assert 0.2 < rows.mean() < 0.4
    assert (some[rows] == inside[rows]).all()
    scattered = drawn(taught, setting("scattered", 0.3)).hints["state"].weights
    assert 0.25 < scattered[inside].mean() < 0.35
    assert 0 < scattered.any(axis=1).mean() < 1


@pytest.mark.parametrize("machine", ["rnn", "lstm"])
def test_hints_of_no_weight_leave_the_loss_as_it_is(machine):
    taught = acceptor_lesson(TOMITA, machine=machine, hidden=4, batch=8)
    model = taught.fresh(jax.random.key(0))
    losses = []
    for chosen in (setting(), setting("states", 0.0, 5.0), setting("states", 1.0, 0.0)):
        batch = taught.examples(jax.random.key(1), (), chosen)
        losses.append(float(taught.loss(model, batch, chosen)[0]))
    assert losses[0] == losses[1] == losses[2]
    hinted = setting("states", 1.0, 1.0)
    assert float(taught.loss(model, taught.examples(jax.random.key(1), (), hinted), hinted)[0]) > losses[0]


def test_an_rnn_learns_a_language_and_sooner_with_states():
    taught = acceptor_lesson(TOMITA)
    plan = Plan.grid(taught, kinds=("none", "states"), seeds=4, iterations=600, test_every=200)
    progress, learners = teach(plan)
    none, states = TeachingReport(plan, progress).settings()
    assert states["accuracy_by_length"]["40"] > none["accuracy_by_length"]["40"] - 0.02
    assert states["accuracy_by_length"]["15"] > 0.97
    one = jax.tree.map(lambda leaf: leaf[4], learners.model)
    words = ["".join(word) for word in np.random.default_rng(0).choice(list("01"), (200, 12))]
    assert (taught.machine.bare(one).accepts_batch(words) == TOMITA.accepts_batch(words)).mean() > 0.95


def test_lessons_are_found_by_name_and_bad_ones_refused():
    assert lesson("dfa:(ab)*", "lstm").name == "(ab)* lstm"
    for task, machine, message in (
        ("cpoy", None, "no task 'cpoy'"),
        ("dfa:tomita_4", "ntm", "not for the machine 'ntm'"),
        ("increment", "rnn", "not for the machine 'rnn'"),
    ):
        with pytest.raises(InputError, match=message):
            lesson(task, machine)
    with pytest.raises(InputError, match="has no option"):
        lesson("dfa:tomita_4", "rnn", wheels=4)
    with pytest.raises(InputError, match="batch is 1; give 2 or more"):
        lesson("dfa:tomita_4", "rnn", batch=1)
