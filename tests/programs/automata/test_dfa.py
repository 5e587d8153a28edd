import copy
import pickle
import random
import re
from base64 import b64decode
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError, KleeneError, ProgramError
from kleene.programs.automata import DFA
from kleene.programs.automata.library import brackets, divisible_by, entries, get, words
from tests.programs.automata.random_automata import random_dfa, random_word
from tests.work import calls

dfas = st.builds(random_dfa, st.randoms(use_true_random=False))
PARITY = dict(
    states=("q0", "q1"),
    alphabet=("0", "1"),
    transitions={("q0", "0"): "q0", ("q0", "1"): "q1", ("q1", "0"): "q1", ("q1", "1"): "q0"},
    start="q0",
    accept=["q1"],
)


def walked(dfa: DFA, word) -> list:
    """The states on the way, by looking into the transitions alone."""
    path = [dfa.start]
    for symbol in word:
        path.append(dfa.transitions[path[-1], symbol])
    return path


def language(dfa: DFA, longest: int = 6) -> set[str]:
    return {word for word in words(dfa.alphabet, longest) if walked(dfa, word)[-1] in dfa.accept}


def test_parity_on_its_acceptance_words():
    dfa = DFA(**PARITY)
    assert [dfa.accepts(word) for word in ("", "1", "111", "101")] == [False, True, True, False]
    assert DFA.from_regex("(0|10*1)*").accepts("")
    assert DFA.from_regex("(0|10*1)*").accepts("110")


def test_the_trace_of_parity_on_110():
    trace = DFA(**PARITY).run("110")
    assert [c.name for c in trace.channels] == ["symbol", "state", "accepting"]
    assert trace["symbol"].tolist() == [-1, 1, 1, 0]
    assert trace["state"].tolist() == [0, 1, 0, 0]
    assert trace["accepting"].tolist() == [0, 1, 0, 0]
    assert (trace.axes, trace.source, trace.output, trace.output_name) == (("step",), "program", 0, "accepting")
    assert trace.channel("state").labels == ("q0", "q1")
    assert trace.channel("symbol").per_step


@given(dfas, st.randoms(use_true_random=False))
def test_runs_batches_and_verdicts_agree_with_the_transitions(dfa, rng):
    tried = [random_word(rng, dfa.alphabet, 12) for _ in range(5)]
    batch = dfa.run_batch(tried)
    for word, trace, verdict in zip(tried, batch, dfa.accepts_batch(tried)):
        path = walked(dfa, word)
        assert [dfa.states[code] for code in trace["state"]] == path
        assert trace["accepting"].tolist() == [int(state in dfa.accept) for state in path]
        assert trace == dfa.run(word)
        assert bool(verdict) == dfa.accepts(word) == dfa.accepts(list(word)) == (path[-1] in dfa.accept)
    assert batch.outputs == [int(v) for v in dfa.accepts_batch(tried)]


def test_an_empty_batch_is_an_empty_answer():
    dfa = DFA(**PARITY)
    assert dfa.accepts_batch([]).shape == (0,)
    assert len(dfa.run_batch([])) == 0
    assert dfa.accepts_batch([""]).tolist() == [False]


def test_symbols_of_several_characters_make_words_of_sequences():
    rows = [("off", "press", "on"), ("off", "wait", "off"), ("on", "press", "off"), ("on", "wait", "on")]
    lamp = DFA.from_table(rows, start="off", accept=["on"])
    assert lamp.accepts(["press", "wait"])
    assert lamp.run(["press", "press"]).channel("symbol").labels == ("press", "wait")
    assert lamp.distinguishing_word(lamp.complement()) == ()
    with pytest.raises(InputError, match="symbol 0 of the word is 'p', which is not in the alphabet: press wait"):
        lamp.accepts("press")


def test_states_may_be_numbers_and_sets_of_symbols_are_sorted():
    table = {(state, symbol): (state + int(symbol)) % 3 for state in range(3) for symbol in "10"}
    dfa = DFA(states=range(3), alphabet={"1", "0"}, transitions=table, start=0, accept=[2])  # type: ignore[arg-type]
    assert dfa.alphabet == ("0", "1")
    assert dfa.accepts("0101")
    assert dfa.run("11").channel("state").labels == ("0", "1", "2")


def test_automata_are_values():
    a, b = DFA(**PARITY), DFA(**PARITY)
    assert a == b
    assert hash(a) == hash(b)
    assert a != a.complement()
    assert pickle.loads(pickle.dumps(a)) == a
    with pytest.raises(AttributeError):
        a.start = "q1"  # type: ignore[misc]


def test_a_later_change_of_the_table_it_was_built_from_changes_nothing():
    table = dict(PARITY["transitions"])
    dfa = DFA(**PARITY | {"transitions": table})
    table["q0", "1"] = "q0"
    assert dfa.accepts("1")


def test_it_prints_as_a_table():
    assert str(DFA(**PARITY)).splitlines() == ["       0   1", "→  q0  q0  q1", "*  q1  q1  q0"]
    assert repr(DFA(**PARITY)) == "<DFA of 2 states over 0 1>"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": ()}, "there are no states"),
        ({"states": 3}, "states is 3; list the names"),
        ({"states": ("q0", "q0", "q1")}, "two states are called q0"),
        ({"states": ("q0", "q1", ["q2"])}, r"state \['q2'\] is a list"),
        ({"states": ("q0", "q1", 1, "1")}, "two states are called 1: 1 and '1'"),
        ({"alphabet": ()}, "the alphabet is empty"),
        ({"alphabet": ("0", "1", "0")}, "the symbol '0' twice"),
        ({"alphabet": ("0", 1)}, "the alphabet has 1; symbols are strings that are not empty: '1'"),
        ({"alphabet": ("0", "1", "")}, "the alphabet has ''"),
        ({"alphabet": ("0", "1", "2")}, r"incomplete: there is no transition for \(q0, 2\), \(q1, 2\)\. Every state"),
        ({"states": [f"q{n}" for n in range(9)]}, r"\(q2, 0\), \(q2, 1\), \(q3, 0\), \(q3, 1\) and 10 more"),
        ({"transitions": [1]}, "transitions is .* give a dict"),
        ({"transitions": {"q0": "q1"}}, "the key 'q0' of transitions is not a pair"),
        ({"transitions": {("q9", "0"): "q1"}}, "'q9' is not one of the states q0 q1"),
        ({"transitions": {("q0", "7"): "q1"}}, "'7' is not in the alphabet: 0 1"),
        ({"transitions": {("q0", "0"): "q7"}}, r"state 'q0' goes to 'q7' on symbol '0'.*fix transitions\['q0', '0'\]"),
        ({"start": "q7"}, "the start state is 'q7', which is not one of the states q0 q1"),
        ({"accept": ["q7"]}, "accept has 'q7', which is not one of the states"),
        ({"accept": "q1"}, r"accept is 'q1'; give the accepting states as a list, as in accept=\['q1'\]"),
        ({"accept": None}, "accept is None"),
    ],
)
def test_a_bad_table_is_refused_with_the_entry_named(change, message):
    with pytest.raises(ProgramError, match=message):
        DFA(**PARITY | change)


def test_rows_that_contradict_each_other_are_refused():
    rows = [("a", "0", "a"), ("a", "1", "b"), ("a", "0", "b")]
    with pytest.raises(ProgramError, match="ambiguous: from 'a' on '0' it goes to 'a' and, in row 2, to 'b'"):
        DFA.from_table(rows, start="a", accept=[])
    with pytest.raises(ProgramError, match="row 0 of the table is"):
        DFA.from_table([("a", "0")], start="a", accept=[])  # type: ignore[list-item]


@pytest.mark.parametrize("method", ["accepts", "run"])
def test_a_symbol_outside_the_alphabet_is_named_with_its_position(method):
    with pytest.raises(InputError, match=r"^symbol 2 of the word is '2', which is not in the alphabet: 0 1$"):
        getattr(DFA(**PARITY), method)("012")


@given(dfas)
def test_dead_states_are_those_from_which_nothing_is_accepted(dfa):
    for state in dfa.states:
        from_here = DFA(
            states=dfa.states, alphabet=dfa.alphabet, transitions=dfa.transitions, start=state, accept=dfa.accept
        )
        assert (state in dfa.dead) == (not language(from_here))


@given(dfas)
def test_minimise_keeps_the_language_and_leaves_no_two_states_alike(dfa):
    small = dfa.minimise()
    assert language(small) == language(dfa)
    assert small.equivalent(dfa)
    assert small.alphabet == dfa.alphabet
    assert small.states == tuple(f"q{n}" for n in range(len(small.states)))
    assert small.start == "q0" or small.states == ("q0",)
    rests = [
        frozenset(word for word in words(small.alphabet, 5) if walked_from(small, state, word) in small.accept)
        for state in small.states
    ]
    assert len(set(rests)) == len(rests)
    assert small.minimise() == small


def walked_from(dfa: DFA, state, word):
    for symbol in word:
        state = dfa.transitions[state, symbol]
    return state


@given(st.randoms(use_true_random=False))
def test_complement_union_and_intersection_are_those_of_the_languages(rng):
    a, b = random_dfa(rng, 4), random_dfa(rng, 4)
    everything = set(words(a.alphabet, 6))
    assert language(a.complement()) == everything - language(a)
    if a.alphabet != b.alphabet:
        for method in ("union", "intersection", "equivalent", "distinguishing_word"):
            with pytest.raises(InputError, match="the alphabets differ"):
                getattr(a, method)(b)
        return
    assert language(a.union(b)) == language(a) | language(b)
    assert language(a.intersection(b)) == language(a) & language(b)


@given(st.randoms(use_true_random=False))
def test_a_distinguishing_word_is_a_shortest_one_and_there_is_none_only_for_equals(rng):
    a, b = random_dfa(rng, 3, 2), random_dfa(rng, 3, 2)
    if a.alphabet != b.alphabet:
        return
    found = a.distinguishing_word(b)
    apart = language(a) ^ language(b)  # two automata of 3 states differ, if at all, on a word of at most 4 symbols
    if found is None:
        assert not apart
        assert a.equivalent(b)
    else:
        assert a.accepts(found) != b.accepts(found)
        assert len(found) == min(map(len, apart))
        assert not a.equivalent(b)


def test_the_order_of_the_alphabet_makes_no_difference_to_equivalence():
    a, b = DFA.from_regex("(ab)*", "ab"), DFA.from_regex("(ab)*", "ba")
    assert a.equivalent(b)
    assert a.distinguishing_word(DFA.from_regex("(ba)*", "ba")) in ("ab", "ba")
    assert a.union(DFA.from_regex("(ba)*", "ba")).accepts("baba")


@pytest.mark.parametrize("entry", entries().values(), ids=list(entries()))
def test_every_automaton_of_the_shelf_accepts_its_language(entry):
    dfa = entry.build()
    tried = list(words(dfa.alphabet, 9))
    assert dfa.accepts_batch(tried).tolist() == [entry.reference(word) for word in tried]
    assert dfa.accepts(entry.example[0]) == entry.reference(entry.example[0])
    assert entry.summary


def test_a_name_that_is_not_on_the_shelf_gets_a_hint():
    with pytest.raises(InputError, match="no automaton 'tomita3' on the shelf; did you mean tomita_3"):
        get("tomita3")
    with pytest.raises(InputError, match="there are parity"):
        get("zzz")
    with pytest.raises(KleeneError, match="base 2 to 10"):
        divisible_by(3, base=11)
    assert divisible_by(7, base=10).accepts("1001")
    assert brackets(1).accepts("()()")
    assert not brackets(1).accepts("(())")


def test_two_thousand_states_are_built_and_run_quickly():
    built = calls(lambda: DFA.from_regex("(a|b)*a(a|b){10}"))
    dfa = DFA.from_regex("(a|b)*a(a|b){10}")
    assert len(dfa.states) == 2048
    rng = np.random.default_rng(0)
    tried = ["".join(row) for row in rng.choice(["a", "b"], size=(10_000, 20))]
    ran = calls(lambda: dfa.accepts_batch(tried))
    verdicts = dfa.accepts_batch(tried)
    assert verdicts.tolist() == [word[-11] == "a" for word in tried]
    assert built < 1000 * 2048  # calls: a tenth of a second
    assert ran < 20 * 10_000  # a few for each word, and none for each of its 20 symbols


def test_random_automata_are_the_same_for_the_same_seed_and_of_every_kind():
    made = [random_dfa(random.Random(seed), 5, 3) for seed in range(200)]
    assert made == [random_dfa(random.Random(seed), 5, 3) for seed in range(200)]
    assert {len(dfa.states) for dfa in made} == {1, 2, 3, 4, 5}
    assert {len(dfa.alphabet) for dfa in made} == {1, 2, 3}
    assert {bool(dfa.dead) for dfa in made} == {True, False}
    assert any(len(dfa.dead) > 1 and dfa.accept for dfa in made)


def test_all_words_are_listed_short_ones_first():
    assert list(words(("a", "b"), 2)) == ["", "a", "b", "aa", "ab", "ba", "bb"]
    assert len(set(product("ab", repeat=3))) == sum(len(w) == 3 for w in words(("a", "b"), 3))
    assert re.fullmatch("[ab]*", "".join(words(("a", "b"), 3)))


def test_nothing_of_an_automaton_can_be_changed():
    dfa = DFA(**PARITY)
    with pytest.raises(TypeError):
        dfa.transitions["q0", "0"] = "q1"
    for array in (dfa.table, dfa.accepting):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    again = pickle.loads(pickle.dumps(dfa))
    assert (again, hash(again), copy.deepcopy(dfa)) == (dfa, hash(dfa), dfa)


def test_states_that_are_equal_under_two_names_are_refused():
    for states in ((1, True), ("q", 2, 2.0)):
        with pytest.raises(ProgramError, match="are equal"):
            DFA(**PARITY | {"states": states})


def test_states_that_cannot_be_looked_up_are_refused():
    with pytest.raises(ProgramError, match="name states with strings or numbers"):
        DFA(**PARITY | {"states": (("q0", []), "q1")})
    with pytest.raises(ProgramError, match="name states with strings or numbers"):
        DFA.from_table([("q", "a", "q")], start=["q"], accept=[])
    with pytest.raises(ProgramError, match="accept has"):
        DFA.from_table([("q", "a", "q")], start="q", accept=[["q"]])


def test_a_word_may_be_an_iterator():
    dfa = DFA(**PARITY)
    assert dfa.run(iter("110")) == dfa.run("110")
    assert dfa.accepts(iter("111"))
    assert dfa.accepts_batch(iter([iter("1"), "11"])).tolist() == [True, False]
    assert dfa.run_batch(iter(["1", iter("10")]))[1] == dfa.run("10")


def test_in_a_notebook_it_is_its_diagram_with_every_name_escaped():
    shown = DFA.from_table([("<b>", "&", "<b>")], start="<b>", accept=["<b>"])._repr_html_()
    image = re.fullmatch('<img alt="DFA with .*" src="data:image/svg\\+xml;base64,(.*)">', shown)
    drawn = ElementTree.fromstring(b64decode(image[1]))
    assert drawn.tag.endswith("svg")
    assert {"<b>", "&"} <= {text.strip() for text in drawn.itertext()}


def test_in_a_notebook_a_large_one_is_a_table_with_every_name_escaped():
    rows = [("<b>", symbol, "<b>") for symbol in "&abcdefghijklmnop"]
    table = DFA.from_table(rows, start="<b>", accept=["<b>"])._repr_html_()
    assert table.startswith("<table><tr><th></th><th></th><th>&amp;</th><th>a</th>")
    assert "<td>→*</td><td>&lt;b&gt;</td><td>&lt;b&gt;</td>" in table
    long = get("divisible_by_20").build().union(DFA.from_regex("(0|1)*1(0|1){6}"))
    assert f"… {len(long.states) - 60} more" in long._repr_html_()
    wide = DFA.from_regex("[\u0100-\u0200]")
    assert wide._repr_html_().count("<th>") == 61


def test_what_is_built_from_another_automaton_is_an_automaton():
    dfa = get("tomita_3").build()
    made = [dfa.minimise(), dfa.complement(), dfa.union(dfa), DFA.from_json(dfa.to_json()), DFA.from_dot(dfa.to_dot())]
    assert {type(one) for one in [*made, DFA.from_automata(dfa.to_automata()), DFA.from_regex("a*")]} == {DFA}


def test_a_graph_has_every_state_and_arrow_and_the_walk_of_a_word():
    dfa = DFA.from_regex("ab*")
    graph = dfa.graph("ab", dead=False)
    assert [node.name for node in graph.nodes] == ["q0", "q1"]
    assert [(arrow.source, arrow.target, arrow.transitions) for arrow in graph.arrows] == [
        (0, 1, ("a",)),
        (1, 1, ("b",)),
    ]
    assert (graph.total, graph.start, graph.walk.visits, graph.walk.last) == (3, 0, {0: [0], 1: [1, 2]}, 1)
    assert graph.walk.caption == "'ab' is accepted: q0 → q1 → q1"
    assert dfa.graph(iter("ab")).walk.visits == graph.walk.visits
