"""Hidden recurrent networks: the same function, the same effect of interventions, and what is refused."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.compiling.automata import compile_dfa
from kleene.errors import InputError
from kleene.groundtruth.recurrent import hide_recurrent
from kleene.groundtruth.units import UnitMap
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.lstm.reading import LIVE, states_read
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.edits import Edit
from kleene.programs.automata import DFA
from tests.compiling.dfas import dfas, long_words

ENDS = DFA.from_regex("(a|b)*abb")
PARITY = DFA.from_regex("0*1(0|10*1)*")


@given(dfas(most_states=3, most_symbols=2), st.integers(1, 3), st.integers(0, 3), st.integers(0, 99))
@settings(max_examples=12)
def test_the_hidden_rnn_has_the_originals_vectors_without_rounding(dfa, copies, decoys, seed):
    network = compile_dfa(dfa)
    hidden = hide_recurrent(network, copies=copies, decoys=decoys, seed=seed)
    assert hidden.equality == "exact"
    assert hidden.accuracy == 1
    assert hidden.difference == 0
    for word in long_words(dfa.alphabet, count=2):
        expected = network.hidden(word).astype(float)
        found = np.asarray(hidden.network.hidden(word), dtype=np.float64)
        true = np.setdiff1d(np.arange(found.shape[1]), hidden.map.decoys)
        assert (found[:, true] == hidden.map.onto(expected)[:, true]).all()
        assert (hidden.map.back(found) == expected).all()


@given(dfas(most_states=3, most_symbols=2), st.integers(1, 3), st.integers(0, 3), st.integers(0, 99))
@settings(max_examples=6)
def test_the_hidden_lstm_has_the_automatons_states(dfa, copies, decoys, seed):
    network = compile_dfa(dfa, machine="lstm")
    hidden = hide_recurrent(network, copies=copies, decoys=decoys, seed=seed)
    assert hidden.equality == "exact"
    assert hidden.accuracy == 1
    assert hidden.difference < 1e-5
    for word in long_words(dfa.alphabet, count=2):
        vectors = hidden.map.back(np.asarray(hidden.network.hidden(word)[:, 0], dtype=np.float64))
        states = states_read(network.reading, np.where(np.abs(vectors) < 1e-7, 0, vectors))
        assert (states == dfa.run(word).data["state"]).all()


@pytest.mark.parametrize("machine", ["rnn", "lstm"])
def test_an_edit_of_the_hidden_network_does_what_the_edit_of_the_state_did(machine):
    network = compile_dfa(ENDS, machine=machine)
    hidden = hide_recurrent(network, copies=3, decoys=2, seed=4)
    word, changed = "abababb", 0
    for state in range(len(ENDS.states)):
        expected = network.run(word, edits=[Edit("state", step=4, value=state)]).output
        vector = np.zeros(network.size.hidden_units)
        vector[network.reading.units.index(state)] = 1
        if machine == "rnn":
            edits = [Edit("hidden", step=4, value=hidden.map.onto(vector))]
        else:
            parts = {"hidden.0": LIVE * vector, "cell.0": vector}
            edits = [Edit(name, step=4, value=hidden.map.onto(value)) for name, value in parts.items()]
        assert bool(hidden.network.run(word, edits=edits).output) == bool(expected)
        changed += bool(expected) != bool(network.run("abab", edits=()).output)
    assert changed


def test_no_zero_shows_who_reads_whom():
    network = compile_dfa(ENDS)
    before = np.mean(np.asarray(network.to_float().recurrent) == 0)
    after = np.mean(np.asarray(hide_recurrent(network, copies=3, decoys=3).network.recurrent) == 0)
    assert before > 0.7
    assert after < 0.05


def test_decoys_are_live_and_nothing_depends_on_them():
    hidden = hide_recurrent(compile_dfa(PARITY), copies=2, decoys=4, seed=2)
    decoys = hidden.map.decoys
    assert np.ptp(np.asarray(hidden.network.hidden("0110101"))[:, decoys], axis=0).any()
    moved = (
        np.asarray(hidden.network.start) + np.isin(np.arange(hidden.network.hidden_units), decoys) * hidden.map.scales
    )
    begun = SimpleRNN(**hidden.network.weights() | {"start": moved}, **hidden.network.description())
    for word in ("", "01", "0110"):
        assert (begun.outputs(word) == hidden.network.outputs(word)).all()


@pytest.mark.parametrize("activation", ["relu", "slu", "tanh"])
def test_a_network_that_was_not_compiled_is_the_same_up_to_rounding(activation):
    network = SimpleRNN.random("ab", 5, outputs=3, activation=activation, key=jax.random.key(3))
    hidden = hide_recurrent(network, copies=3, decoys=2)
    assert hidden.equality == "rounded"
    assert hidden.difference < 1e-5
    lstm = hide_recurrent(LSTM.random("ab", 5, outputs=3, key=jax.random.key(3)), copies=3, decoys=2)
    assert lstm.equality == "rounded"
    assert lstm.difference < 1e-5


def test_noise_changes_the_function_and_is_counted():
    network = compile_dfa(PARITY, machine="lstm")
    quiet, loud = (hide_recurrent(network, noise=noise, seed=1) for noise in (0.01, 2.0))
    assert (quiet.equality, quiet.accuracy) == ("changed", 1.0)
    assert quiet.difference > 0
    assert loud.accuracy < 0.8


def test_gates_that_are_not_saturated_have_gradients():
    network = compile_dfa(PARITY, machine="lstm")
    hard, soft = hide_recurrent(network), hide_recurrent(network, gates=8.0)
    assert soft.accuracy == 1
    assert soft.equality == "changed"

    def slope(network):
        begun = network(network.start, jnp.asarray(1))

        def output(embedding):
            moved = replace(network, embedding=embedding)
            return moved.read_out(moved(begun, jnp.asarray(0)))[0]

        return float(np.abs(jax.grad(output)(network.embedding)).max())

    assert slope(hard.network) == 0
    assert slope(soft.network) > 1e-4


def test_the_same_seed_gives_the_same_network_and_another_seed_another():
    network = compile_dfa(ENDS)
    first, again, other = (np.asarray(hide_recurrent(network, seed=s).network.recurrent) for s in (3, 3, 4))
    assert (first == again).all()
    assert not (first.shape == other.shape and (first == other).all())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"copies": 0}, "1 copy or more"),
        ({"decoys": -1}, "decoys are 0 or more"),
        ({"noise": float("nan")}, "0 or more"),
        ({"gates": 8.0}, "compiled from an automaton"),
        ({"copies": 5000}, "at most 4,096"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        hide_recurrent(compile_dfa(ENDS), **options)


def test_networks_that_cannot_be_hidden_this_way_are_refused():
    with pytest.raises(InputError, match="this one has 2"):
        hide_recurrent(LSTM.random("ab", 3, 2, outputs=1, key=jax.random.key(0)))
    with pytest.raises(InputError, match="not a DFA"):
        hide_recurrent(ENDS)


def test_a_map_comes_back_from_json_and_one_without_a_unit_is_refused():
    map = hide_recurrent(compile_dfa(ENDS), decoys=1).map
    again = UnitMap.from_json(map.as_json())
    assert again.as_json() == map.as_json()
    with pytest.raises(InputError, match="needs a copy"):
        UnitMap(np.array([0, 0]), np.ones(2), 2)
