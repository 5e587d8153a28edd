"""An automaton as an LSTM: its states decode exactly on every word, and what cannot be is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.automata import compile_dfa
from kleene.errors import CompileError, ModelFileError
from kleene.machines.lstm.reading import LIVE, states_read
from kleene.programs.automata import DFA
from kleene.programs.automata.library import entries
from tests.compiling.dfas import dfas, long_words
from tests.machines.rnn.networks import all_words
from tests.programs.automata.random_automata import random_dfa, random_word

PARITY = DFA.from_regex("0*1(0|10*1)*")


@pytest.mark.parametrize("form", ["live", "textbook"])
def test_the_lstms_trace_is_the_automatons_on_all_short_words_and_long_random_ones(form):
    @given(dfas(most_states=3, most_symbols=2))
    @settings(max_examples=8)
    def check(dfa):
        network = compile_dfa(dfa, machine="lstm", form=form)
        words = all_words(dfa.alphabet, 4) + long_words(dfa.alphabet)
        assert network.run_batch(words) == list(dfa.run_batch(words))
        assert (network.accepts_batch(words) == dfa.accepts_batch(words)).all()

    check()


@given(st.randoms(use_true_random=False))
@settings(max_examples=2)
def test_the_trace_of_a_larger_random_automaton_is_the_same_on_long_words(rng):
    dfa = random_dfa(rng, states=20, symbols=3)
    words = [random_word(rng, dfa.alphabet, 200) for _ in range(8)]
    assert compile_dfa(dfa, machine="lstm").run_batch(words) == list(dfa.run_batch(words))


def test_the_gates_are_saturated_without_rounding():
    network = compile_dfa(PARITY, machine="lstm")
    memories = network.memories("1101001")
    assert set(np.unique(memories.cell)) == {0.0, 1.0}
    assert np.count_nonzero(memories.hidden, axis=(1, 2)).tolist() == [1] * 8
    assert network.size.hidden_units == compile_dfa(PARITY).size.hidden_units


def test_a_vector_that_no_word_leads_to_reads_as_no_state():
    network = compile_dfa(PARITY, machine="lstm")
    strange = np.zeros((4, network.size.hidden_units))
    strange[0, 0], strange[1, 0], strange[2, :2] = LIVE, 0.5, LIVE
    assert states_read(network.reading, strange).tolist()[1:] == [-1, -1, network.reading.nothing]
    assert states_read(network.reading, strange)[0] >= 0


def test_a_gate_that_is_not_closed_is_found_by_the_check():
    network = compile_dfa(PARITY, machine="lstm")
    (layer,) = network.layers
    units = network.size.hidden_units
    leaking = layer.bias.at[units : 2 * units].set(-3.0)  # the forget gates
    broken = replace(network, layers=(replace(layer, bias=leaking),))
    assert kleene.check(PARITY, network=network, samples=10, max_length=5)
    assert not kleene.check(PARITY, network=broken, samples=10, max_length=5)


@pytest.mark.parametrize("name", ["parity", "tomita_3", "brackets_3"])
def test_the_shelf_checks_as_lstms(name):
    assert kleene.check(entries()[name], machine="lstm", samples=20, max_length=8)


def test_it_runs_by_name_as_an_automaton_does():
    outcome = kleene.run("dfa:tomita_4", "10010", compiled=True, machine="lstm")
    assert outcome.answer == "accept"
    assert outcome.trace == kleene.run("dfa:tomita_4", "10010").trace


def test_a_state_is_set_in_the_lstm_as_in_the_automaton():
    dfa = entries()["tomita_3"].build()
    network = kleene.compile(dfa, machine="lstm")
    for state in ("odd", "lost"):  # lost has no unit: the zero vector stands for it
        edit = kleene.Edit("state", layer=2, value=state)
        assert network.run("110100", edits=[edit]) == dfa.run("110100", edits=[edit])
        assert network.run("110100", edits=[edit]) != dfa.run("110100")


def test_what_is_saved_comes_back_with_its_reading(tmp_path):
    network = compile_dfa(PARITY, machine="lstm")
    again = kleene.load(network.save(tmp_path / "parity.safetensors"))
    assert again.reading == network.reading
    assert again.run("0110") == PARITY.run("0110")


def test_a_file_whose_reading_is_of_other_units_is_refused(tmp_path):
    network = compile_dfa(PARITY, machine="lstm")
    other = replace(network, reading=replace(network.reading, units=(0, 1)))
    with pytest.raises(ModelFileError, match="its reading is of 2 units"):
        kleene.load(other.save(tmp_path / "parity.safetensors"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"activation": "relu"}, "an LSTM has its own gates"),
        ({"dtype": "exact"}, "float32 weights, not exact"),
        ({"dtype": "float64"}, "float32 weights, not float64"),
    ],
)
def test_options_of_the_simple_rnn_are_refused(options, words):
    with pytest.raises(CompileError, match=words):
        kleene.compile(PARITY, machine="lstm", **options)


def test_an_unknown_machine_is_refused():
    with pytest.raises(CompileError, match="'rnn' or 'lstm', not 'gru'"):
        kleene.compile(PARITY, machine="gru")
