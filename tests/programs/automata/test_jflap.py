import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import ModelFileError, ProgramError
from kleene.programs import jflap
from kleene.programs.automata import DFA, NFA
from kleene.programs.automata.jflap import from_drawing, to_drawing
from kleene.programs.automata.library import entries, words
from kleene.programs.automata.nfa import drawn
from kleene.programs.automata.nondeterministic import completed
from tests.programs.automata.random_automata import random_dfa, random_nfa
from tests.programs.jflap.examples import ENDS_IN_AB, ODD

rngs = st.randoms(use_true_random=False)
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4) | st.sampled_from(
    ["\n", "\r\n", "\t", " ", "]]>", "-->", "&amp;", "<", '"', "'", "--"]
)
symbols = st.lists(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="["), min_size=1, max_size=3)


def as_text(table) -> str:
    return jflap.written(to_drawing(table))


def back(text: str):
    return from_drawing(jflap.read(text.encode()))


def as_saved_by_jflap(text: str) -> str:
    """The file without comments, which JFLAP drops."""
    return re.sub("<!--.*?-->", "", text)


@st.composite
def oddly_named(draw) -> DFA:
    states = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    alphabet = list(dict.fromkeys(draw(symbols)))
    table = {(q, a): draw(st.sampled_from(states)) for q in states for a in alphabet}
    return DFA(states=states, alphabet=alphabet, transitions=table, start=states[-1], accept=states[:1])  # type: ignore[arg-type]


@given(st.builds(random_dfa, rngs) | oddly_named())
def test_a_dfa_comes_back_from_jflap(dfa):
    assert DFA.of(completed(back(as_text(dfa)))) == dfa


@given(st.builds(random_nfa, rngs))
def test_an_nfa_comes_back_from_jflap(nfa):
    assert NFA.of(back(as_text(nfa))) == nfa


@given(st.builds(random_nfa, rngs))
def test_what_jflap_saves_again_has_the_same_language(nfa):
    text = as_saved_by_jflap(as_text(nfa))
    if "<read>" not in text:
        with pytest.raises(ProgramError, match="no transition reads a symbol"):
            back(text)
        return
    again = NFA.of(back(text))
    tried = [word for word in words(nfa.alphabet, 4) if set(word) <= set(again.alphabet)]
    assert again.accepts_batch(tried).tolist() == nfa.accepts_batch(tried).tolist()


@pytest.mark.parametrize("name", entries())
def test_every_automaton_of_the_shelf_is_saved_and_loaded(tmp_path, name):
    dfa = entries()[name].build()
    loaded = DFA.load(dfa.save(tmp_path / "x.jff"))
    assert loaded == dfa
    assert DFA.load(loaded.save(tmp_path / "y.jff")).positions == loaded.positions != {}


def test_positions_are_kept_and_a_state_that_was_missing_is_put_below(tmp_path):
    (tmp_path / "x.jff").write_text(ODD.replace('<state id="3">', '<state id="3"><x>7</x><y>9.5</y>'))
    dfa = DFA.load(tmp_path / "x.jff")
    assert dfa.positions == {"q3": (7.0, 9.5)}
    assert DFA.load(dfa.save(tmp_path / "y.jff")).positions == {"q3": (7.0, 9.5), "q5": (80.0, 109.5)}
    assert dfa.complement().positions == dfa.positions


def test_an_nfa_of_jflap_is_determinised_where_a_dfa_is_wanted(tmp_path):
    file = tmp_path / "x.jff"
    file.write_text(ENDS_IN_AB)
    nfa = drawn(file)
    assert isinstance(nfa, NFA)
    assert nfa.states == ("q0", "q1", "q2", "q0:a")  # between the letters of a label there is a state
    for word in words(("a", "b"), 5):
        assert nfa.accepts(word) == DFA.load(file).accepts(word) == word.endswith("ab")


def test_a_deterministic_drawing_keeps_its_states_and_is_completed(tmp_path):
    file = tmp_path / "x.jff"
    file.write_text(ODD.replace("<from>5</from><to>5</to><read>0</read>", "<from>5</from><to>5</to><read>2</read>"))
    dfa = drawn(file)
    assert isinstance(dfa, DFA)
    assert dfa.states == ("q3", "q5", "dead")
    assert dfa.alphabet == ("0", "1", "2")
    assert dfa.accepts("0122")
    assert not dfa.accepts("10")


def test_a_long_label_has_short_names_between_its_letters_and_a_limit():
    table = back(ODD.replace("<read>0</read>", f"<read>{'0' * 40}</read>", 1))
    assert len(table.states) == 2 + 39
    assert max(map(len, table.states)) < 20
    assert NFA.of(table).accepts("0" * 40 + "1")
    with pytest.raises(ProgramError, match="more than 200,000 states"):
        back(ODD.replace("<read>0</read>", f"<read>{'0' * 300_000}</read>", 1))


def test_a_range_stands_for_all_of_its_symbols():
    table = back(ODD.replace("<read>0</read>", "<read>[2-5]</read>", 1))
    assert table.alphabet == ("0", "1", "2", "3", "4", "5")
    assert table.transitions["q3", "4"] == {"q3"}
    for wrong, message in (("[5-2]", "ends before it begins"), ("[\u0001-\U0010ffff]", "more than .* symbols")):
        with pytest.raises(ProgramError, match=message):
            back(ODD.replace("<read>0</read>", f"<read>{wrong}</read>", 1).replace("\u0001", "!"))


def test_symbols_of_several_letters_are_written_if_jflap_can_tell_them_apart(tmp_path):
    table = {("p", "jump"): "q", ("p", "walk"): "p", ("q", "jump"): "q", ("q", "walk"): "p"}
    dfa = DFA(states=("p", "q"), alphabet=("jump", "walk"), transitions=table, start="p", accept=frozenset(["q"]))
    assert DFA.load(dfa.save(tmp_path / "x.jff")) == dfa
    letters = NFA.of(back(as_saved_by_jflap(as_text(dfa))))
    assert letters.accepts("walkjump")
    assert not letters.accepts("jumpwalk")
    assert not letters.accepts("jum")


@pytest.mark.parametrize(
    ("symbol", "message"),
    [("[", "begins a range"), ("\x00", "XML cannot hold"), ("ab", "cannot tell the symbols 'a' and 'ab' apart")],
)
def test_symbols_that_jflap_would_take_for_something_else_are_refused(tmp_path, symbol, message):
    dfa = DFA(
        states=("p",), alphabet=("a", symbol), transitions={("p", "a"): "p", ("p", symbol): "p"}, start="p", accept=[]
    )  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=message):
        dfa.save(tmp_path / "x.jff")
    assert not (tmp_path / "x.jff").exists()


def test_an_nfa_has_only_jflap_files(tmp_path):
    nfa = NFA(states=("p",), alphabet=("a",), transitions={}, start="p", accept=frozenset())
    with pytest.raises(ProgramError, match=r"ends in \.jff"):
        nfa.save(tmp_path / "x.json")
    with pytest.raises(ModelFileError, match=r"ends in \.jff"):
        NFA.load(tmp_path / "x.json")
