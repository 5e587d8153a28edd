"""Theorem 4.4: a compiled automaton does what the automaton does, state by state, in both forms."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.automata import compile_dfa
from kleene.errors import CompileError
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.exact import ExactMatrix
from kleene.programs.alta.library import get as get_program
from kleene.programs.automata import DFA
from kleene.programs.turing.library import get as get_machine
from tests.compiling.dfas import dfas, long_words
from tests.machines.rnn.networks import all_words
from tests.programs.automata.random_automata import random_dfa, random_word

FORMS = [*product(("live", "textbook"), ("relu", "slu"))]


def parity(accept="q1"):
    return DFA(
        states=("q0", "q1"),
        alphabet=("0", "1"),
        transitions={("q0", "0"): "q0", ("q0", "1"): "q1", ("q1", "0"): "q1", ("q1", "1"): "q0"},
        start="q0",
        accept=frozenset({accept}),
    )


def test_parity_on_110_goes_through_the_units_of_the_acceptance_table():
    network = compile_dfa(parity(), form="textbook")
    units = ["start", *product(("q0", "q1"), ("0", "1"))]
    live = [[units[u] for u in np.flatnonzero(vector)] for vector in network.hidden("110")]
    assert live == [["start"], [("q0", "1")], [("q1", "1")], [("q0", "0")]]
    assert network.outputs("110").tolist() == [[0], [1], [0], [0]]
    assert network.size.hidden_units == 5


def test_parity_gives_the_verdicts_of_the_acceptance_table():
    for form, activation in FORMS:
        network = compile_dfa(parity(), form=form, activation=activation)
        assert [network.outputs(word)[-1, 0] for word in ("", "1", "111", "101")] == [0, 1, 1, 0]


def test_even_parity_accepts_the_empty_word():
    for form, activation in FORMS:
        network = compile_dfa(parity(accept="q0"), form=form, activation=activation)
        assert network.outputs("").tolist() == [[1]]
        assert network.accepts("")


@pytest.mark.parametrize(("form", "activation"), FORMS)
def test_the_networks_trace_is_the_automatons_on_all_short_words_and_long_random_ones(form, activation):
    @given(dfas())
    @settings(max_examples=25)
    def check(dfa):
        network = compile_dfa(dfa, form=form, activation=activation)
        words = all_words(dfa.alphabet, 6) + long_words(dfa.alphabet)
        traces, expected = network.run_batch(words), dfa.run_batch(words)
        for name in ("symbol", "state", "accepting"):
            assert (traces.data[name] == expected.data[name]).all()
        assert traces[len(words) - 1] == expected[len(words) - 1]
        assert (network.accepts_batch(words) == dfa.accepts_batch(words)).all()

    check()


@given(st.randoms(use_true_random=False), st.sampled_from(FORMS))
@settings(max_examples=20)
def test_the_traces_of_larger_random_automata_are_the_same(rng, options):
    dfa = random_dfa(rng, states=30, symbols=4)
    network = compile_dfa(dfa, form=options[0], activation=options[1])
    words = [random_word(rng, dfa.alphabet, 30) for _ in range(20)]
    assert network.run_batch(words) == dfa.run_batch(words)


@given(dfas())
@settings(max_examples=40)
def test_the_textbook_form_has_a_unit_for_each_transition_and_weights_of_minus_one_to_one(dfa):
    network = compile_dfa(dfa, form="textbook")
    assert network.size.hidden_units == len(dfa.states) * len(dfa.alphabet) + 1
    assert {value for weight in network.weights().values() for value in weight.numerators} <= {-1, 1}
    assert all(weight.denominator == 1 for weight in network.weights().values())


@given(dfas())
@settings(max_examples=60)
def test_the_live_form_of_a_minimal_automaton_has_a_unit_for_each_live_transition_and_a_start_only_if_needed(dfa):
    dfa = dfa.minimise()
    live = [(q, a) for (q, a), r in dfa.transitions.items() if r not in dfa.dead]
    needs_start = all(dfa.transitions[edge] != dfa.start for edge in live)
    expected = max(1, len(live) + needs_start) if dfa.accept else 1
    assert compile_dfa(dfa).size.hidden_units == expected


def test_parity_has_four_units_in_the_live_form():
    assert compile_dfa(parity()).size.hidden_units == 4


def test_dead_states_that_differ_stay_apart_in_the_trace():
    two_sinks = DFA.from_table(
        [("s", "a", "left"), ("s", "b", "right"), *((q, a, q) for q in ("left", "right") for a in "ab")],
        start="s",
        accept=["s"],
    )
    network = compile_dfa(two_sinks)
    for word in ("", "ab", "ba", "aab", "bba"):
        assert network.run(word) == two_sinks.run(word)
    assert network.reading.dead is not None
    assert network.size.hidden_units < compile_dfa(two_sinks, form="textbook").size.hidden_units


def test_dead_states_that_take_turns_stay_apart_in_the_trace():
    turns = DFA.from_table([("s", "a", "tick"), ("tick", "a", "tock"), ("tock", "a", "tick")], start="s", accept=["s"])
    network = compile_dfa(turns)
    assert network.reading.dead is None
    assert network.run("aaaaa") == turns.run("aaaaa")


def test_the_empty_language_has_a_network_of_one_unit_that_is_never_live():
    nothing = DFA(states=("q",), alphabet=("a",), transitions={("q", "a"): "q"}, start="q", accept=frozenset())
    for activation in ("relu", "slu"):
        network = compile_dfa(nothing, activation=activation)
        assert network.size.hidden_units == 1
        assert network.run("aaa") == nothing.run("aaa")
        assert not network.accepts_batch(["", "a", "aaaa"]).any()


def test_an_illegal_hidden_vector_reads_as_no_state_instead_of_a_guess():
    network = compile_dfa(parity())
    both = ExactMatrix.column([1, 1, 0, 0])
    broken = SimpleRNN(**(network.weights() | {"start": both}), **network.description())
    assert broken.run("1")["state"][0] == -1
    assert broken.run("1").difference(parity().run("1")) is not None
    assert (broken.to_float().run("1")["state"] == broken.run("1")["state"]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_compiled_automaton_is_the_same_in_floats(dtype):
    dfa = DFA.from_regex("(0|10*1)*1?")
    words = all_words(dfa.alphabet, 5)
    network = compile_dfa(dfa, activation="slu").to_float(dtype)
    assert network.run_batch(words) == dfa.run_batch(words)


def test_a_compiled_automaton_comes_back_from_a_file_with_its_states(tmp_path):
    dfa = DFA.from_regex("(a|b)*abb")
    compile_dfa(dfa).save(tmp_path / "abb.safetensors")
    assert SimpleRNN.load(tmp_path / "abb.safetensors").run("ababb") == dfa.run("ababb")


def test_words_may_be_sequences_of_longer_symbols():
    moves = [("p", "up", "q"), ("p", "down", "p"), ("q", "up", "q"), ("q", "down", "p")]
    dfa = DFA.from_table(moves, start="p", accept="q")
    assert compile_dfa(dfa).run(["up", "down", "up"]) == dfa.run(["up", "down", "up"])


def test_2048_states_stay_sparse_and_decide_many_words_at_once():
    dfa = DFA.from_regex("(a|b)*a(a|b){10}")
    network = compile_dfa(dfa)
    assert network.size.hidden_units <= 4097
    assert network.size.nonzero < 20_000
    words = long_words("ab", count=500, length=40)
    assert network.accepts_batch(words).tolist() == [word[-11] == "a" for word in words]
    assert network.run_batch(words[:20]) == dfa.run_batch(words[:20])


def test_unknown_forms_and_activations_are_refused():
    with pytest.raises(CompileError, match="no form 'small'"):
        compile_dfa(parity(), form="small")
    with pytest.raises(CompileError, match="'relu' or 'slu', not 'tanh'"):
        compile_dfa(parity(), activation="tanh")


@pytest.mark.parametrize("program", [parity(), get_machine("bump").build(), get_program("parity_relative").build()])
def test_an_option_that_there_is_not_is_refused_with_those_that_there_are(program):
    with pytest.raises(CompileError, match=r"has no compile option 'foo'; its options are .*dtype"):
        kleene.compile(program, foo=1)


def test_words_that_outgrow_a_floating_network_are_counted_apart():
    report = kleene.check(get_machine("palindrome").build(), dtype="float32", samples=30, max_length=20)
    assert report
    assert report.refused > 0
    assert report.of + report.refused == 60
