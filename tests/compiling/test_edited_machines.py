"""Automata, Turing machines and circuits agree with their networks under interventions."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene import naming
from kleene.errors import InputError, RunError
from kleene.notation.edits import Edit
from tests.compiling.dfas import dfas


@settings(max_examples=40)
@given(dfa=dfas(), seed=st.integers(0, 10**6), dtype=st.sampled_from(["exact", "float32"]))
def test_an_automaton_and_its_network_read_on_from_the_same_state(dfa, seed, dtype):
    rng = random.Random(seed)
    word = [rng.choice(dfa.alphabet) for _ in range(rng.randint(0, 6))]
    steps = sorted(rng.sample(range(len(word) + 1), rng.randint(1, min(2, len(word) + 1))))
    edits = [Edit("state", step=step, value=str(rng.choice(dfa.states))) for step in steps]
    ours = dfa.run(word, edits=edits)
    assert [ours.channel("state").show(ours["state"][edit.layer]) for edit in edits] == [e.value for e in edits]
    network = kleene.compile(dfa, form="textbook", dtype=dtype)
    entered = {str(state) for state in dfa.transitions.values()} | {str(dfa.start)}
    if all(edit.value in entered for edit in edits):
        assert network.run(word, edits=edits).difference(ours) is None
    else:
        with pytest.raises(InputError, match="no unit for the state"):
            network.run(word, edits=edits)


def test_the_live_form_says_which_state_it_has_no_unit_for():
    table = [("p", "a", "p"), ("q", "a", "p")]
    dfa = kleene.DFA.from_table(table, start="p", accept=["q"])
    assert dfa.run("a", edits=[Edit("state", step=1, value="q")]).output == 1
    with pytest.raises(InputError, match="no unit for the state 'q', because no word leads there"):
        kleene.compile(dfa).run("a", edits=[Edit("state", step=1, value="q")])


def test_a_batch_of_words_takes_edits_for_all_or_for_each():
    dfa = kleene.DFA.from_regex("(a|b)*abb")
    words = ["abb", "ab", "bbabb"]
    for subject in (dfa, kleene.compile(dfa)):
        for_all = subject.run_batch(words, edits=[Edit("state", step=1, value="q2")])
        assert [trace["state"][1] for trace in for_all] == [2, 2, 2]
        each = subject.run_batch(words, edits=[[], [Edit("state", step=2, value="q3")], []])
        assert [trace.output for trace in each] == [1, 1, 1]
        with pytest.raises(InputError, match="ended after step 2"):
            subject.run_batch(words, edits=[Edit("state", step=3, value="q0")])


def test_a_network_without_states_goes_on_from_another_hidden_vector():
    network = naming.find("rnn:dyck1").subject
    plain = network.run("(())")
    assert plain.output == 1
    swapped = network.run("(())", edits=[Edit.from_run("hidden", network.run("(("), step=2)])
    assert swapped == plain
    assert network.run("(())", edits=[Edit.from_run("hidden", network.run("()"), step=2)]).output == 0
    with pytest.raises(InputError, match="takes 3 numbers"):
        network.run("()", edits=[Edit("hidden", step=1, value=[1, 2])])


@pytest.mark.parametrize("name", ["tm:copy", "tm:increment", "tm:bump"])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_a_turing_machine_and_its_network_go_on_from_the_same_configuration(name, seed):
    machine, rng = naming.find(name).subject, random.Random(seed)
    network = _compiled(name)
    word = [rng.choice(machine.input_alphabet) for _ in range(rng.randint(1, 4))]
    plain = machine.run(word, max_steps=60)
    edits = []
    for _ in range(rng.randint(1, 3)):
        step = rng.randint(0, min(plain.steps, 12))
        what = rng.choice(["state", "head", "tape"])
        at = plain.configurations[step]
        if what == "state":
            edits.append(Edit("state", step=step, value=rng.choice(machine.states)))
        elif what == "head":
            edits.append(Edit("head", step=step, value=rng.randint(0, len(at.tape))))
        else:
            cell, symbol = rng.randint(0, len(at.tape)), rng.choice(machine.tape_alphabet)
            edits.append(Edit("tape", step=step, position=cell, value=symbol))
    outcomes = []
    for subject in (machine, network):
        try:
            outcomes.append(subject.run(word, max_steps=60, edits=edits))
        except InputError as error:
            outcomes.append(str(error).partition(":")[2])
    assert outcomes[0] == outcomes[1], edits


_networks = {}


def _compiled(name):
    if name not in _networks:
        _networks[name] = kleene.compile(naming.find(name).subject)
    return _networks[name]


def test_edits_of_a_turing_machine_can_end_a_run_and_begin_one_again():
    for subject in (naming.find("tm:copy").subject, _compiled("tm:copy")):
        plain = subject.run("ab")
        ended = subject.run("ab", edits=[Edit("state", step=3, value="done")])
        assert (ended.verdict, ended.steps) == ("accept", 3)
        again = subject.run("ab", edits=[Edit("state", step=plain.steps, value="next")])
        assert again.steps > plain.steps
        assert list(again.configurations[: plain.steps]) == list(plain.configurations[: plain.steps])


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("stat@1=done", "did you mean state"),
        ("state@1=nowhere", "takes one of next carry_a"),
        ("tape@1,99=a", "is for position 99"),
        ("head@1=99", "takes an integer in 0.."),
        ("state@999=done", "the run ended after step"),
        ("state=done", "has no step; name it"),
        ("tape@1=a", "has no position; name it"),
        ("head@1,2=0", "has a position, and 'head' has none"),
    ],
)
def test_edits_that_a_turing_machine_cannot_take_are_refused_by_machine_and_network(edit, said):
    for subject in (naming.find("tm:copy").subject, _compiled("tm:copy")):
        with pytest.raises(InputError, match=said):
            subject.run("ab", edits=[Edit.parse(edit)])


def test_a_circuit_and_its_network_agree_under_edits_of_registers_and_memory():
    circuit = naming.find("increment").subject
    network, rng = kleene.compile(circuit), random.Random(4)
    memories, edits = [], []
    for _ in range(12):
        size = rng.randint(3, 5)
        memories.append([rng.randrange(1, size) for _ in range(size - 1)] + [0])
        step, value = rng.randint(0, size), rng.randrange(size)
        where = {"r0": None, "r1": None, "memory": rng.randrange(size)}
        name = rng.choice(list(where))
        edits.append([Edit(name, step=step, position=where[name], value=value)])
    plain = circuit.run_batch(memories)
    ours, theirs = circuit.run_batch(memories, edits=edits), network.run_batch(memories, edits=edits)
    assert [a.difference(b) for a, b in zip(ours, theirs)] == [None] * len(memories)
    assert sum(a != b for a, b in zip(ours, plain)) > 6
    assert [circuit.run(m, edits=e) for m, e in zip(memories, edits)] == ours


def test_a_register_that_no_block_is_for_ends_a_circuits_run():
    circuit = kleene.naming.find("increment").subject.from_text(
        "registers 1\nmodules READ+INC+WRITE\nsteps 3\nwhen 0: READ(r0) INC(READ) WRITE(r0, INC)  r0 = r0"
    )
    assert circuit.run([1, 0, 0]).steps == 3
    with pytest.raises(RunError, match="at step 1 of input 0"):
        circuit.run([1, 0, 0], edits=[Edit("r0", step=1, value=2)])


def test_an_lstm_goes_on_from_another_memory():
    import jax

    network = kleene.LSTM.random("ab", 3, layers=2, key=jax.random.key(1))
    plain, other = network.run("abab"), network.run("bbba")
    memories = network.memories("bb")
    whole = [Edit(f"{part}.{layer}", step=2, value=np.asarray(getattr(memories, part)[-1, layer]))
             for part in ("hidden", "cell") for layer in range(2)]  # fmt: skip
    swapped = network.run("abab", edits=whole)
    expected = network.run("bbab")
    for name in ("hidden.0", "hidden.1"):
        assert np.allclose(swapped[name][:2], plain[name][:2], atol=1e-6)
        assert np.allclose(swapped[name][2:], expected[name][2:], atol=1e-6)
    one = network.run("abab", edits=[Edit.from_run("hidden.0", other, step=2)])
    assert np.allclose(one["hidden.0"][2], other["hidden.0"][2])
    assert np.allclose(one["hidden.1"][2], plain["hidden.1"][2])
    assert not np.allclose(one["hidden.1"][4], plain["hidden.1"][4])
    with pytest.raises(InputError, match="takes 3 numbers"):
        network.run("abab", edits=[Edit("hidden.0", step=2, value=[1.0])])
    with pytest.raises(InputError, match=r"did you mean hidden\.0"):
        network.run("abab", edits=[Edit("hidden.9", step=2, value=[1.0])])
