"""JFLAP files as such: read safely, in all versions, and refused by name where they hold what we lack."""

import pytest

from kleene.errors import InputError, ModelFileError, ProgramError
from kleene.naming import find
from kleene.programs.automata import DFA, NFA
from kleene.programs.jflap import JflapState, placed, prefix_of, read
from kleene.programs.turing import TuringMachine
from tests.programs.jflap.examples import A_N_B_N, ENDS_IN_AB, ODD, of_type


def test_states_positions_and_marks_are_read_as_drawn():
    drawing = read(ENDS_IN_AB.encode())
    assert drawing.kind == "fa"
    assert drawing.states[0] == JflapState("q0", (84.0, 111.0), is_initial=True)
    assert drawing.states[2] == JflapState("q2", (401.0, 111.0), is_final=True)
    assert [(arrow.source, arrow.read, arrow.target) for arrow in drawing.transitions] == [
        ("q0", "a", "q0"),
        ("q0", "b", "q0"),
        ("q0", "ab", "q1"),
        ("q1", "", "q2"),
    ]


def test_a_file_of_jflap_4_has_neither_names_nor_positions():
    drawing = read(ODD.encode())
    assert [state.name for state in drawing.states] == ["q3", "q5"]
    assert drawing.positions == {}
    assert read(ODD.replace('id="3"', 'id="3" name="p"').encode()).start == "p"
    assert read(ODD.replace('id="3">', 'id="3"><name>p</name>').encode()).start == "p"


def test_states_of_one_name_are_told_apart():
    twice = ODD.replace('id="3"', 'id="3" name="p"').replace('id="5"', 'id="5" name="p"')
    assert [state.name for state in read(twice.encode()).states] == ["p", "p'"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_files_of_any_encoding_that_they_declare_are_read(encoding):
    text = ODD.replace('<?xml version="1.0"?>', f'<?xml version="1.0" encoding="{encoding}"?>')
    content = text.replace('id="3"', 'id="3" name="größer"').encode(encoding)
    assert read(content).start == "größer"


ENTITY = '<!DOCTYPE structure [<!ENTITY x "boom">]>'
BOMB = '<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi")
)


@pytest.mark.parametrize(
    "head",
    [
        ENTITY,
        f"{BOMB}]>",
        '<!DOCTYPE structure SYSTEM "http://127.0.0.1:9/x.dtd">',
        '<!DOCTYPE structure [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    ],
)
def test_a_document_type_is_refused_so_that_no_entity_is_ever_read(head):
    with pytest.raises(ProgramError, match=r"line 2: the XML declares a document type \(DOCTYPE\)"):
        read(ODD.replace("<structure>", f"{head}<structure>").encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not XML: line 1: no element found"),
        ("no xml", "not XML"),
        (ODD[:-30], "not XML: line 9"),
        (ODD.replace("</type>", ""), "mismatched tag"),
        ("<a>" * 100_000, "nested too deep"),
        ("<?xml version='1.0' encoding='klingon'?><structure/>", "the encoding of the XML is not known|not XML"),
        ("<html/>", "outermost element is <html>, and JFLAP's is <structure>"),
        ("<structure/>", "has no <type>"),
        ('<structure type="editor_panel"/>', "JFLAP 8"),
        ("<structure><type>fa</type></structure>", "it has no states"),
        (ODD.replace('id="5"', 'id="3"'), "line 5: a state has the id '3', as another has"),
        (ODD.replace('id="5"', ""), "line 5: a state has no id"),
        (ODD.replace("<to>5</to>", "<to>7</to>", 1), "line 7: a transition leads to the id '7', which no state has"),
        (ODD.replace("<from>3</from>", "", 1), "line 6: a transition has no <from>"),
        (ODD.replace("<initial/>", ""), "no state is initial"),
        (ODD.replace("<final/>", "<initial/>"), "the states q3 and q5 are initial"),
        (ODD.replace("<read>", "<no>").replace("</read>", "</no>"), "no transition reads a symbol"),
        (of_type("pda"), "it is a pushdown automaton. Kleene reads finite automata"),
        (of_type("mealy"), "a Mealy machine"),
        (of_type("moore"), "a Moore machine"),
        (of_type("grammar"), "a grammar"),
        (of_type("re"), "dfa:REGEX"),
        (of_type("lsystem"), "an L-system"),
        (of_type("context-free pumping lemma"), "pumping lemma"),
        (of_type("turtle"), "it is of the type 'turtle'"),
        (of_type("turing", "<tapes>2</tapes>"), "a Turing machine with 2 tapes"),
        (A_N_B_N.replace("<Machine1/>", '<Machine1><block id="0"/></Machine1>'), "Machine1 is a building block"),
        (A_N_B_N.replace("<read>a</read>", "<read>a,b}x</read>", 1), "variables are JFLAP's own"),
        (A_N_B_N.replace("<read>a</read>", "<read>aa</read>", 1), "each is one character"),
        (A_N_B_N.replace("<move>R</move>", "<move>up</move>", 1), "moves 'up'; a machine moves L, R or S"),
        (A_N_B_N.replace("<read>b</read>", "<read>a</read>", 1), "nondeterministic: from seek on 'a'"),
        (of_type("turing").replace("<initial/>", "<initial/><final/>"), "it has no transitions"),
        (f"<!--kleene nonsense-->{of_type('fa')}", "Kleene's comment in the file is damaged"),
        (f'<!--kleene {{"alphabet": 7}}-->{of_type("fa")}', "a list of symbols was expected"),
    ],
)
def test_files_that_cannot_be_read_are_refused_with_the_reason(tmp_path, content, message):
    file = tmp_path / "drawn.jff"
    file.write_text(content)
    with pytest.raises(ModelFileError, match=message) as refusal:
        find(str(file))
    assert str(file) in str(refusal.value)


def test_the_drawing_says_which_kind_it_is(tmp_path):
    automaton, machine = tmp_path / "a.jff", tmp_path / "m.jff"
    automaton.write_text(ODD)
    machine.write_text(A_N_B_N)
    assert (prefix_of(automaton), prefix_of(machine)) == ("dfa:", "tm:")
    assert isinstance(find(str(automaton)).subject, DFA)
    assert isinstance(find(f"tm:{machine}").subject, TuringMachine)
    with pytest.raises(ModelFileError, match=r"another kind; name it dfa:a\.jff"):
        find(f"tm:{automaton}")
    with pytest.raises(ModelFileError, match=r"another kind; name it tm:m\.jff"):
        DFA.load(machine)
    with pytest.raises(ModelFileError, match="there is no file"):
        find(str(tmp_path / "none.jff"))
    with pytest.raises(InputError, match="no program"):
        find(f"rnn:{automaton}")


def test_damage_to_a_file_of_ours_is_noticed(tmp_path):
    file = NFA.load(_written(tmp_path, ODD)).save(tmp_path / "ours.jff")
    file.write_text(file.read_text().replace("<to>1</to>", "<to>0</to>", 1))
    with pytest.raises(ModelFileError, match=r"damaged or cut short.*remove its checksum"):
        find(str(file))


def _written(folder, text):
    file = folder / "drawn.jff"
    file.write_text(text)
    return file


def test_states_without_a_position_are_placed_apart_from_each_other():
    ends = [(n, n + 1) for n in range(99)] + [(0, n) for n in range(50, 90)]
    for known in ([None] * 30, [None] * 100, [(5.0, 5.0), *[None] * 29]):
        found = placed(known, [(a, b) for a, b in ends if b < len(known)], 0)
        assert len(set(found)) == len(known)
        assert found[0] == known[0] or known[0] is None
