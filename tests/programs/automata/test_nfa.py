import copy
import pickle
from itertools import pairwise

import pytest
from automata.fa.nfa import NFA as Library
from hypothesis import given
from hypothesis import strategies as st

import kleene
from kleene.errors import InputError, ProgramError
from kleene.programs.automata import DFA, NFA
from kleene.programs.automata.library import words
from kleene.programs.automata.nondeterministic import determinised
from tests.programs.automata.random_automata import random_nfa

nfas = st.builds(random_nfa, st.randoms(use_true_random=False))


def third_from_end(last: int = 2) -> NFA:
    """Words over a, b whose symbol that many before the last is a."""
    names = tuple(f"q{number}" for number in range(last + 2))
    table = {("q0", "a"): {"q0", "q1"}, ("q0", "b"): {"q0"}}
    table |= {(q, a): {r} for q, r in pairwise(names[1:]) for a in "ab"}
    return NFA(states=names, alphabet=("a", "b"), transitions=table, start="q0", accept=frozenset([names[-1]]))


def in_library(nfa: NFA) -> Library:
    table: dict = {state: {} for state in nfa.states}
    for (state, symbol), targets in nfa.transitions.items():
        table[state][symbol] = set(targets)
    return Library(
        states=set(nfa.states),
        input_symbols=set(nfa.alphabet),
        transitions=table,
        initial_state=nfa.start,
        final_states=set(nfa.accept),
    )


@given(nfas)
def test_an_nfa_its_dfa_and_automata_lib_accept_the_same_words(nfa):
    tried = list(words(nfa.alphabet, 5))
    library = in_library(nfa)
    expected = [library.accepts_input(word) for word in tried]
    assert nfa.accepts_batch(tried).tolist() == expected
    assert nfa.determinise().accepts_batch(tried).tolist() == expected
    assert nfa.minimise().equivalent(nfa.determinise())


@given(nfas)
def test_the_states_of_the_dfa_are_the_sets_that_words_lead_to(nfa):
    dfa = nfa.determinise()
    for word in words(nfa.alphabet, 4):
        held = nfa.closure([nfa.start])
        for symbol in word:
            held = nfa.following(held, symbol)
        trace = nfa.run(word)
        assert dfa.states[trace["state"][-1]] == nfa.set_name(held)
        assert bool(trace["accepting"][-1]) == (not held.isdisjoint(nfa.accept))


def test_the_dfa_of_an_nfa_can_be_exponentially_larger_and_has_a_limit():
    assert len(third_from_end(7).determinise().states) == 2**8
    with pytest.raises(ProgramError, match=r"9 states is given up after 10[0-9] sets of them"):
        third_from_end(7).determinise(most_states=100)
    assert third_from_end(60).accepts("a" * 80)
    with pytest.raises(ProgramError, match="exponentially larger"):
        third_from_end(60).determinise(most_states=1000)
    with pytest.raises(ProgramError, match="is given up"):
        determinised(third_from_end(7), most_work=50)


def test_many_states_that_epsilon_joins_are_given_up_before_memory_is_full():
    count = 3000
    table = {(n, ""): {n + 1} for n in range(count - 1)} | {(n, "a"): {0} for n in range(count)}
    chain = NFA(states=tuple(range(count)), alphabet=("a",), transitions=table, start=0, accept=frozenset([5]))
    assert chain.accepts("aaa")
    with pytest.raises(ProgramError, match="is given up"):
        determinised(chain, most_work=count)


def test_every_verb_takes_an_nfa_as_its_dfa():
    nfa = third_from_end()
    network = kleene.compile(nfa)
    assert network.run("babb") == nfa.run("babb")
    assert kleene.run(nfa, "babb").answer == "accept"
    assert kleene.run(nfa, "bbbb", compiled=True).answer == "reject"
    assert kleene.check(nfa, samples=5)
    assert kleene.extract(network).equivalent(nfa.determinise())


def test_a_set_of_states_in_the_trace_shows_its_members():
    labels = kleene.run(third_from_end(1), "ab").trace.channel("state").labels
    assert labels == ("{q0}", "{q0,q1}", "{q0,q1,q2}", "{q0,q2}")


def test_sets_have_different_names_even_if_states_have_commas_in_theirs():
    table = {("p", "a"): {"q", "r"}, ("p", "b"): {"q,r"}}
    nfa = NFA(states=("p", "q", "r", "q,r"), alphabet=("a", "b"), transitions=table, start="p", accept=frozenset(["r"]))
    assert set(nfa.determinise().states) == {"{p}", "{q,r}", "{q,r}'", "∅"}
    assert nfa.determinise().accepts("a")
    assert not nfa.determinise().accepts("b")


def test_the_table_and_the_diagram_show_epsilon_and_all_ways_of_a_word():
    table = {("p", "a"): {"p", "q"}, ("q", ""): {"r"}}
    nfa = NFA(states=("p", "q", "r"), alphabet=("a",), transitions=table, start="p", accept=frozenset(["r"]))
    assert str(nfa).splitlines()[0].split() == ["a", "ε"]
    graph = nfa.graph("a")
    assert graph.walk.caption == "'a' is accepted: {p} → {p,q,r}"
    assert graph.walk.arrows == {(0, 0), (0, 1), (1, 2)}
    assert graph.walk.last == 2
    assert [arrow.transitions for arrow in graph.arrows] == [("a",), ("a",), ("ε",)]
    assert "is rejected: {p}" in nfa.graph("").walk.caption


def test_the_picture_of_an_nfa_has_its_dfa_below_it_unless_that_is_too_large():
    picture = kleene.view(third_from_end(), "ab")
    assert picture.title == "NFA with 4 states, and its DFA with 8 states"
    assert "{q0,q1,q3}" in picture.svg
    assert str(picture).count("'ab' is rejected") == 2
    assert kleene.view(third_from_end(), minimise=True).title == "DFA with 8 states"
    large = kleene.view(third_from_end(6))
    assert large.title == "NFA with 8 states"
    assert "The DFA with 128 states is not drawn" in large.caption


def test_a_turing_machine_cannot_be_minimised():
    with pytest.raises(InputError, match="cannot be minimised"):
        kleene.view("tm:copy", minimise=True)


def test_copies_and_pickles_are_equal():
    nfa = third_from_end()
    assert pickle.loads(pickle.dumps(nfa)) == copy.deepcopy(nfa) == nfa
    assert hash(copy.copy(nfa)) == hash(nfa)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transitions": {("q0", "a"): "q1"}}, "leads to 'q1'; give a set of states"),
        ({"transitions": {("q0", "a"): {"q9"}}}, "leads to 'q9', which is not one of the states"),
        ({"transitions": {("q0", "a"): [["q1"]]}}, "not one of the states"),
        ({"transitions": {("q0", "c"): {"q1"}}}, "'c' is not in the alphabet; .* reads nothing is ''"),
        ({"transitions": {("q9", "a"): {"q1"}}}, "'q9' is not one of the states"),
        ({"transitions": {"q0": {"q1"}}}, "not a pair"),
        ({"transitions": [("q0", "a", "q1")]}, "give a dict"),
        ({"start": "q9"}, "the start state is 'q9'"),
        ({"accept": "q3"}, "as a list"),
        ({"alphabet": ()}, "the alphabet is empty"),
        ({"positions": {"q9": (1, 2)}}, "positions must map states"),
        ({"positions": {"q0": (1, float("nan"))}}, "finite"),
        ({"positions": {"q0": "x"}}, "pairs"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    given = {"states": ("q0", "q1"), "alphabet": ("a", "b"), "transitions": {}, "start": "q0", "accept": ["q1"]}
    with pytest.raises(ProgramError, match=message):
        NFA(**given | change)  # type: ignore[arg-type]


def test_a_table_with_two_rows_for_a_pair_points_to_the_nfa():
    with pytest.raises(ProgramError, match=r"kleene\.NFA"):
        DFA.from_table([("p", "a", "p"), ("p", "a", "q")], start="p", accept=["q"])
