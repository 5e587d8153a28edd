import json

import pytest
from automata.fa.dfa import DFA as Library
from automata.fa.nfa import NFA
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError, ModelFileError, ProgramError
from kleene.programs.automata import DFA
from kleene.programs.automata.library import entries, get, words
from tests.programs.automata.random_automata import random_dfa

dfas = st.builds(random_dfa, st.randoms(use_true_random=False))
ODD = [
    r"\n",
    r"\l",
    "\\",
    r"\\",
    "\n",
    "\r",
    "\t",
    "\u2028",
    '"',
    "a,b",
    ",",
    " ",
    " a ",
    "&",
    "&amp;",
    "&#44;",
    "//",
    "->",
]
odd_names = st.sampled_from(ODD) | st.text(min_size=1, max_size=6)


@st.composite
def oddly_named(draw) -> DFA:
    """An automaton whose states and symbols are called all sorts of things."""
    states = draw(st.lists(odd_names, min_size=1, max_size=4, unique=True))
    symbols = draw(st.lists(odd_names, min_size=1, max_size=3, unique=True))
    table = {(q, a): draw(st.sampled_from(states)) for q in states for a in sorted(symbols)}
    accept = draw(st.lists(st.sampled_from(states)))
    return DFA(
        states=tuple(states), alphabet=tuple(sorted(symbols)), transitions=table, start=states[-1], accept=accept
    )


@given(dfas | oddly_named())
def test_an_automaton_comes_back_from_json(dfa):
    assert DFA.from_json(dfa.to_json()) == dfa
    assert DFA.from_json(json.loads(dfa.to_json())) == dfa


@given(dfas | oddly_named())
def test_an_automaton_comes_back_from_dot(dfa):
    assert DFA.from_dot(dfa.to_dot()) == dfa


@given(dfas)
def test_an_automaton_comes_back_from_automata_lib(dfa):
    back = DFA.from_automata(dfa.to_automata())
    assert back.equivalent(dfa)
    assert set(back.states) == set(dfa.states)
    assert dict(back.transitions) == dict(dfa.transitions)
    tried = list(words(dfa.alphabet, 5))
    assert dfa.accepts_batch(tried).tolist() == [dfa.to_automata().accepts_input(word) for word in tried]


def test_numbers_stay_numbers_in_json_and_other_names_become_texts():
    table = {(q, "a"): q for q in (0, "0'", (1, 2))}
    dfa = DFA(states=(0, "0'", (1, 2)), alphabet="a", transitions=table, start=(1, 2), accept=[0])  # type: ignore[arg-type]
    assert DFA.from_json(dfa.to_json()).states == (0, "0'", "(1, 2)")
    assert DFA.from_json(dfa.to_json()).start == "(1, 2)"


@pytest.mark.parametrize("ending", [".json", ".dot", ".gv"])
def test_an_automaton_is_saved_and_loaded(tmp_path, ending):
    dfa = get("tomita_3").build()
    path = dfa.save(tmp_path / f"t3{ending}")
    assert DFA.load(path) == dfa


def test_files_that_hold_no_automaton_are_refused(tmp_path):
    dfa = get("parity").build()
    with pytest.raises(ModelFileError, match=r"'a.txt' cannot be .* its name ends in .json, .dot, .gv or .jff"):
        dfa.save(tmp_path / "a.txt")
    with pytest.raises(ModelFileError, match=r"its name ends in .json, .dot, .gv or .jff"):
        DFA.load(tmp_path / "a.txt")
    with pytest.raises(ModelFileError, match="there is no file"):
        DFA.load(tmp_path / "a.json")
    for name, content in {"b.json": b"{", "c.json": b"\xff", "d.dot": b"digraph {", "e.json": b"[]"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ModelFileError, match="does not hold an automaton"):
            DFA.load(tmp_path / name)


GOOD = {
    "states": ["a"],
    "alphabet": ["x"],
    "start": "a",
    "accept": [],
    "transitions": [["a", "x", "a"]],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "the format is 'other'"),
        ({"states": None}, "'states' is None in the JSON; it must be a list"),
        ({"start": ["a"]}, "it must be the name of a state"),
        ({"accept": "a"}, "'accept' is 'a'"),
        ({"transitions": [["a", "x"]]}, "row 0 of the table"),
        ({"transitions": [["a", "x", "a"], ["a", "x", "a"]]}, "ambiguous"),
        ({"transitions": []}, "incomplete"),
        ({"transitions": [["a", "x", ["a"]]]}, "row 0 of the table"),
        ({"transitions": [["a", "x", "a"], [["a"], "x", "a"]]}, "row 1 of the table"),
    ],
)
def test_json_that_is_no_automaton_is_refused(change, message):
    assert DFA.from_json(GOOD).states == ("a",)
    with pytest.raises(ProgramError, match=message):
        DFA.from_json(GOOD | change)


def test_a_partial_automaton_of_automata_lib_gets_a_dead_state():
    partial = Library(
        states={"s", "dead"},
        input_symbols={"a", "b"},
        transitions={"s": {"a": "dead"}, "dead": {"b": "s"}},
        initial_state="s",
        final_states={"s"},
        allow_partial=True,
    )
    dfa = DFA.from_automata(partial)
    assert set(dfa.states) == {"s", "dead", "dead1"}
    assert [word for word in words(dfa.alphabet, 4) if dfa.accepts(word)] == ["", "ab", "abab"]


def test_an_nfa_becomes_the_smallest_dfa():
    nfa = NFA(
        states={0, 1},
        input_symbols={"a", "b"},
        transitions={0: {"a": {0, 1}, "b": {0}}, 1: {}},
        initial_state=0,
        final_states={1},
    )
    assert DFA.from_automata(nfa) == DFA.from_regex("(a|b)*a")


def test_something_else_than_an_automaton_is_refused():
    with pytest.raises(InputError, match="str was given, and an automata-lib DFA or NFA was expected"):
        DFA.from_automata("a*")
    nothing = Library(states={0}, input_symbols=set(), transitions={0: {}}, initial_state=0, final_states={0})
    with pytest.raises(ProgramError, match="no input symbols"):
        DFA.from_automata(nothing)


DRAWN = {
    "as learning tools write it": """
        digraph learnedModel {
        s0 [label="s0"];
        s1 [label="s1", shape=doublecircle];
        s0 -> s0 [label="0"];
        s0 -> s1 [label="1"];
        s1 -> s1 [label="0"];
        s1 -> s0 [label="1"];
        __start0 [shape=none, label=""];
        __start0 -> s0 [label=""];
        }""",
    "as the Graphviz gallery writes it": """
        // an automaton
        digraph finite_state_machine {
            fontname="Helvetica,Arial,sans-serif"
            rankdir=LR; size="8,5"
            node [shape = point]; init
            node [shape = doublecircle]; s1;
            node [shape = circle];
            /* now the
               arrows */
            init -> s0;
            s0 -> s0 [label = "0"];
            s0 -> s1 [label = "1"];
            s1 -> s1 [label = "0"];
            s1 -> s0 [label = 1];
        }""",
    "with an invisible start, peripheries and a subgraph": """
        # made by hand
        strict digraph "parity" { graph [rankdir=LR]
            subgraph cluster_0 { node [shape=circle] s0; s1 [peripheries=2] }
            start [style="invis"]; start -> s0
            edge [label="0"]; s0 -> s0; s1 -> s1
            s0 -> s1 [label="1"][color=red]; s1 -> s0 [label="1"];
        }""",
}


@pytest.mark.parametrize("text", DRAWN.values(), ids=list(DRAWN))
def test_dot_is_read_as_most_tools_write_it(text):
    dfa = DFA.from_dot(text)
    assert set(dfa.states) == {"s0", "s1"}
    assert (dfa.start, dfa.accept) == ("s0", frozenset({"s1"}))
    assert dfa.equivalent(get("parity").build())


def test_a_learned_automaton_is_read_from_what_aalpy_writes():
    from aalpy.automata import Dfa

    learned = Dfa.from_state_setup({"a": (False, {"0": "a", "1": "b"}), "b": (True, {"0": "b", "1": "a"})})
    assert DFA.from_dot(str(learned)).equivalent(get("parity").build())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the end where digraph was expected"),
        ("graph { a -- b }", "line 1: 'graph' where digraph was expected"),
        ("digraph {\n a -> }", "line 2: '}' where a name was expected"),
        ("digraph {\n a [shape] }", "line 2: ']' where = was expected"),
        ("digraph { a", "the end where a name was expected"),
        ("digraph { a [label=<b>] }", "cannot be read in line 1, at '<b>"),
        ('digraph { a -> a [label="x"] }', "there is no start state"),
        ("digraph { a; a -> a }", "the arrow from 'a' to 'a' has no label"),
        ('digraph { a; a -> a [label=" "] }', "the arrow from 'a' to 'a' has no label"),
        ("digraph { i [shape=none]; j [shape=none]; i -> a; j -> b }", "there are 2 start states"),
        ('digraph { i [shape=none]; i -> a; a -> b [label="x, y"]; b -> a [label=x] }', r"incomplete.*\(b, y\)"),
        ('digraph { i [shape=none]; i -> a; a -> a [label="x"]; a -> b [label=x] }', "ambiguous"),
    ],
)
def test_dot_that_draws_no_automaton_is_refused(text, message):
    with pytest.raises(ProgramError, match=message):
        DFA.from_dot(text)


@pytest.mark.parametrize(
    ("label", "symbols"),
    [
        (r"\\n", [r"\n"]),
        (r"a\nb\lc\rd", ["a", "b", "c", "d"]),
        (r"a, b,c", ["a", "b", "c"]),
        (",", [","]),
        (r"\"", ['"']),
        ("&#44;, &#x20;, &amp;, &nothing;, &#99999999;", [" ", "&", "&#99999999;", "&nothing;", ","]),
        ("a\\\nb", ["ab"]),
    ],
)
def test_a_label_is_read_as_graphviz_reads_it(label, symbols):
    arrows = f'i [shape=none]; i -> q; q -> q [label="{label}"]'
    assert sorted(DFA.from_dot(f"digraph {{ {arrows} }}").alphabet) == sorted(set(symbols))


@pytest.mark.parametrize("ending", [".json", ".dot"])
def test_a_file_may_begin_with_the_mark_of_an_editor(tmp_path, ending):
    path = get("parity").build().save(tmp_path / f"parity{ending}")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert DFA.load(path) == get("parity").build()


def test_the_whole_shelf_survives_every_format():
    for entry in entries().values():
        dfa = entry.build()
        assert DFA.from_json(dfa.to_json()) == DFA.from_dot(dfa.to_dot()) == dfa


def test_texts_that_nest_without_end_are_refused():
    with pytest.raises(ProgramError, match="nested too deeply"):
        DFA.from_dot("digraph {" + "{" * 100_000)
    with pytest.raises(ProgramError, match="nested too deeply"):
        DFA.from_json("[" * 1_000_000)


def test_an_automaton_of_automata_lib_that_reads_numbers_is_refused():
    peer = Library(
        states={0}, input_symbols={"a", 1}, transitions={0: {"a": 0, 1: 0}}, initial_state=0, final_states={0}
    )
    with pytest.raises(ProgramError, match="the alphabet has 1; symbols are strings"):
        DFA.from_automata(peer)
