"""Theorem 4.6: a network with integer weights becomes the automaton of its reachable hidden vectors."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.compiling.automata import compile_dfa
from kleene.errors import InputError, ModelFileError, RunError
from kleene.explaining.automata.extraction import extract, extraction
from kleene.machines.rnn import library
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.exact import ExactMatrix
from kleene.programs.automata import DFA
from tests.compiling.dfas import dfas
from tests.machines.rnn.networks import all_words, large_integers, networks, reference_accepts, small_integers
from tests.programs.automata.random_automata import random_dfa


def worked_example(start=(1, 0)):
    """The network that the notes turn into an automaton."""
    return SimpleRNN(
        recurrent=ExactMatrix.from_rows([[1, -2], [-3, 4]]),
        inputs=ExactMatrix.identity(2),
        bias=ExactMatrix.zeros(2),
        start=ExactMatrix.column(start),
        readout=ExactMatrix.from_rows([[1, 0]]),
        readout_bias=ExactMatrix.zeros(1),
        activation="slu",
        alphabet=("a", "b"),
    )


def test_the_notes_network_steps_as_their_table_says():
    table = {"00": "10 01", "01": "01 01", "10": "10 10", "11": "01 01"}
    for vector in product((0, 1), repeat=2):
        network = worked_example(vector)
        reached = [network.hidden(symbol)[-1].tolist() for symbol in "ab"]
        assert " ".join("".join(map(str, h)) for h in reached) == table["".join(map(str, vector))]
        assert network.accepts("") == (vector[0] == 1)


@pytest.mark.parametrize(
    ("start", "states", "accepting"),
    [((1, 0), "10", "10"), ((0, 0), "00 10 01", "10"), ((1, 1), "11 01", "11"), ((0, 1), "01", "")],
)
def test_extraction_from_the_notes_network_follows_only_reachable_vectors(start, states, accepting):
    dfa = extract(worked_example(start))
    assert dfa.states == tuple(states.split())
    assert dfa.accept == frozenset(accepting.split())
    assert dfa.start == dfa.states[0]


def test_the_notes_network_accepts_everything_and_is_one_state():
    assert extract(worked_example()).equivalent(DFA.from_regex("(a|b)*"))
    assert len(extract(worked_example()).minimise().states) == 1


@pytest.mark.parametrize(("form", "activation"), [*product(("live", "textbook"), ("relu", "slu"))])
def test_what_is_extracted_from_a_compiled_automaton_is_equivalent_to_it(form, activation):
    @given(dfas())
    @settings(max_examples=25)
    def check(dfa):
        assert extract(compile_dfa(dfa, form=form, activation=activation)).equivalent(dfa)

    check()


@pytest.mark.parametrize("numbers", [small_integers, large_integers], ids=["small", "large"])
@pytest.mark.parametrize("narrow", [0, 1000], ids=["in arrays", "one by one"])
def test_any_integer_slu_network_and_its_automaton_accept_the_same_words(numbers, narrow):
    @given(networks(numbers).filter(lambda network: network.activation == "slu"))
    @settings(max_examples=15)
    def check(network):
        dfa = extract(network, narrow=narrow)
        words = all_words(network.alphabet, 3)
        assert dfa.accepts_batch(words).tolist() == [reference_accepts(network, word) for word in words]
        assert len(dfa.states) <= 2**network.hidden_units + 1

    check()


def test_states_are_named_by_their_vectors_in_a_small_network_and_numbered_in_a_larger_one():
    assert extract(compile_dfa(DFA.from_regex("(0|10*1)*"))).start == "1000"
    states = extract(compile_dfa(DFA.from_regex("(a|b)*a(a|b)(a|b)"))).states
    assert states == tuple(f"q{n}" for n in range(len(states)))


@given(st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_larger_random_automata_are_extracted_too(rng):
    dfa = random_dfa(rng, states=30, symbols=4)
    assert extract(compile_dfa(dfa)).equivalent(dfa)


def test_2048_states_are_extracted():
    dfa = DFA.from_regex("(a|b)*a(a|b){10}")
    assert extract(compile_dfa(dfa)).equivalent(dfa)


def test_a_network_that_counts_is_given_up_at_the_limit():
    with pytest.raises(RunError, match="more than max_states = 500 different hidden vectors"):
        extract(library.majority_relu(), max_states=500)


def test_a_relu_network_with_finitely_many_vectors_is_taken():
    toggle = SimpleRNN(
        recurrent=ExactMatrix.from_rows([[-1]]),
        inputs=ExactMatrix.from_rows([[7]]),
        bias=ExactMatrix.zeros(1),
        start=ExactMatrix.zeros(1),
        readout=ExactMatrix.identity(1),
        readout_bias=ExactMatrix.zeros(1),
        activation="relu",
        alphabet=("a",),
    )
    assert extract(toggle).equivalent(DFA.from_regex("a(aa)*"))


@pytest.mark.parametrize("name", ["recurrent", "inputs", "bias", "start"])
def test_a_weight_that_is_not_an_integer_is_named(name):
    network = worked_example()
    weight = getattr(network, name)
    broken = weight + ExactMatrix.from_entries(weight.shape, {(1, 0): Fraction(1, 2)})
    network = SimpleRNN(**(network.weights() | {name: broken}), **network.description())
    with pytest.raises(InputError, match=rf"needs integer weights, and {name}\[1, 0\] is -?\d/2"):
        extract(network)


def test_a_rational_read_out_is_fine():
    network = worked_example((0, 0))
    halves = ExactMatrix.from_rows([[Fraction(2, 3), Fraction(1, 3)]])
    network = SimpleRNN(**(network.weights() | {"readout": halves}), **network.description())
    assert extract(network).accept == {"10"}


def test_floats_other_networks_and_unknown_methods_are_refused_with_advice():
    with pytest.raises(InputError, match="this network's are floats; use the method lstar"):
        extract(worked_example().to_float())
    with pytest.raises(InputError, match="this is a dict; give such a network"):
        extract({})
    with pytest.raises(InputError, match="the methods are 'reachable', 'textbook' and 'lstar'"):
        extract(worked_example(), method="guess")


def test_what_is_no_network_of_an_automaton_is_refused_in_fitting_words():
    from kleene.compiling.turing import compile_turing
    from kleene.programs.turing.library import stored

    even = DFA.from_regex("(0|10*1)*")
    for method in ("reachable", "lstar"):
        with pytest.raises(InputError, match="need not be a regular language"):
            extract(compile_turing(stored("bump")), method)
        with pytest.raises(InputError, match="max_states is 'x'"):
            extract(compile_dfa(even), method, max_states="x")
    with pytest.raises(InputError, match="an automaton already"):
        extract(even)
    with pytest.raises(InputError, match="this is a NoneType; give such a network"):
        extract(None)


def test_a_network_whose_numbers_grow_without_end_is_given_up_before_they_fill_the_memory():
    doubling = SimpleRNN(
        recurrent=ExactMatrix.from_rows([[2**60]]),
        inputs=ExactMatrix.zeros(1, 1),
        bias=ExactMatrix.column([1]),
        start=ExactMatrix.column([1]),
        readout=ExactMatrix.identity(1),
        readout_bias=ExactMatrix.zeros(1),
        activation="relu",
        alphabet=("a",),
    )
    with pytest.raises(RunError, match="a number of more than 10,000 binary digits was reached"):
        extract(doubling)


def test_an_extraction_shows_itself_and_is_saved(tmp_path):
    even = DFA.from_regex("(0|10*1)*")
    found = extraction(compile_dfa(even), minimise=True, output=str(tmp_path / "even.json"))
    assert repr(found) == "Extracted(2 states over 0 1)"
    assert str(found).splitlines()[0] == "2 states over 0 1"
    assert str(found).splitlines()[-1] == f"wrote {found.file}"
    assert DFA.load(found.file).equivalent(even)
    assert found.as_json()["states"] == 2
    assert found.draw(str(tmp_path / "even.svg")).read_text().startswith("<")
    with pytest.raises(ModelFileError, match=r"\.svg"):
        extraction(compile_dfa(even), output="even.txt")


def test_what_was_learned_says_how_far_to_trust_it():
    seen = []
    found = extraction(compile_dfa(DFA.from_regex("(0|10*1)*")), "lstar", progress=seen.append)
    assert repr(found) == "Extracted(2 states over 0 1, learned, agreement 100.00%)"
    assert found.as_json()["report"]["agreement"] == 1
    assert [now.rounds for now in seen] == list(range(1, found.report.rounds + 1))


def test_the_whole_automaton_of_the_notes_network_is_their_table():
    """Equations 4.24 to 4.26; q0 is final here, because the output at the start is 1."""
    dfa = extract(worked_example(), "textbook")
    assert dfa.states == ("q0", "00", "01", "10", "11")
    table = {"q0": "10 10", "00": "10 01", "01": "01 01", "10": "10 10", "11": "01 01"}
    assert {q: " ".join(dfa.transitions[q, a] for a in "ab") for q in dfa.states} == table
    assert dfa.accept == {"q0", "10", "11"}


@given(drawn=networks(small_integers))
def test_the_whole_automaton_accepts_where_the_output_is_exactly_one(drawn):
    network = replace(drawn, activation="slu")
    dfa = extract(network, "textbook")
    assert len(dfa.states) == 2**network.hidden_units + 1
    for word in all_words(network.alphabet, 3):
        assert dfa.accepts(word) == (network.outputs(word)[-1][0] == 1)


@settings(max_examples=20)
@given(dfa=dfas(most_states=3, most_symbols=2))
def test_the_whole_automaton_of_a_compiled_one_has_its_language(dfa):
    assert extract(compile_dfa(dfa, activation="slu"), "textbook").equivalent(dfa)


def test_the_whole_automaton_is_of_saturating_units_and_bounded():
    with pytest.raises(InputError, match=r"units that saturate .SLU., and these are relu"):
        extract(library.majority_relu(), "textbook")
    with pytest.raises(InputError, match=r"5 units, so this automaton has 2\^5 \+ 1 states, and max_states is 32"):
        extract(compile_dfa(DFA.from_regex("(0|10*1)*"), activation="slu", form="textbook"), "textbook", max_states=32)
