"""One check for all kinds: it finds what is wrong in a program, a network, an interpreter or a reference."""

from random import Random

import pytest

import kleene
from kleene import naming
from kleene.compiling import automata, checking, circuits
from kleene.compiling.alta import checking as transformers
from kleene.compiling.alta.attacks import attack
from kleene.compiling.checking import check, check_all, check_named
from kleene.compiling.circuits import compile_circuit
from kleene.errors import InputError
from kleene.programs import alta, rasp
from kleene.programs.automata import DFA
from kleene.programs.circuits import Block, Circuit
from kleene.programs.circuits.library import get
from kleene.programs.rasp.program import RaspProgram
from kleene.tasks.memory import memory_task

ONE_OF_EACH = ("parity_relative", "dfa:tomita_3", "tm:sipser", "increment")


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_program_its_network_and_a_reference_agree(name):
    report = check(name, samples=3, max_length=4)
    assert report
    assert report.has_reference
    assert report.program == name
    assert report.agree == report.of > 3


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_reference_that_says_otherwise_is_reported_with_the_input(name):
    expected = {"parity_relative": lambda tokens: [7] * len(tokens), "increment": list}
    right = naming.find(name).entry.reference
    report = check(name, samples=3, max_length=4, reference=expected.get(name, lambda word: not right(word)))
    assert not report
    assert report.first_disagreement.startswith(f"{name} on ")
    assert "the plain reference" in report.first_disagreement


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("parity_relative", lambda: kleene.compile(naming.find("parity_sum_modulo").subject)),
        ("dfa:parity", lambda: kleene.compile(DFA.from_regex("0*(10*10*)*"))),
        ("tm:palindrome", lambda: kleene.compile(naming.find("tm:copy").subject)),
    ],
)
def test_the_network_of_another_program_is_reported(name, other):
    report = check(name, network=other(), samples=4, max_length=3)
    assert not report
    assert "network" in report.first_disagreement


def test_a_network_of_a_wrong_circuit_is_reported():
    circuit = get("increment").build()
    first, second = circuit.blocks
    wrong = Circuit(circuit.wiring, (first, Block(second.pattern, first.choices)), circuit.steps)
    report = check(get("increment"), network=compile_circuit(wrong), samples=3)
    assert not report
    assert "in network" in report.first_disagreement


@pytest.mark.parametrize(
    ("name", "place", "wrong", "says"),
    [
        ("increment", circuits, lambda circuit, memory, steps: (memory, [0, 0]), "the plain interpreter's are"),
        ("sort", transformers, lambda program, tokens: naming.find("reverse").subject.run([0]), "the output is"),
    ],
)
def test_a_wrong_interpreter_is_reported(monkeypatch, name, place, wrong, says):
    monkeypatch.setattr(place, "reference_run", wrong)
    assert says in check(name, samples=2).first_disagreement


def test_an_automaton_that_accepts_other_words_than_automata_lib_is_reported():
    judge = automata.judges(DFA.from_regex("0*"), None, None)["automata-lib"]
    assert judge(("0",), DFA.from_regex("0*").run("0")) is None
    assert judge(("0",), DFA.from_regex("00").run("0")) == "the automaton says False, automata-lib True"


def test_an_extracted_automaton_that_differs_is_reported():
    network = kleene.compile(DFA.from_regex("0*1"))
    assert automata.extracted_difference(DFA.from_regex("0*1"), network) is None
    assert "the automaton extracted differs on" in str(automata.extracted_difference(DFA.from_regex("1*0"), network))


def test_a_memory_to_which_a_circuit_has_no_answer_is_counted_as_refused():
    circuit = get("increment").build()
    partial = Circuit(circuit.wiring, circuit.blocks[1:], circuit.steps)
    report = check(partial, samples=4)
    assert report.refused > 0
    assert report.of + report.refused == 8


def test_inputs_on_which_all_runs_end_with_the_same_error_are_counted_apart():
    program = alta.program_spec(
        {"bit": alta.input_var(2), "seen": alta.var(2)},
        {"left": alta.v_relative("bit", -1)},
        lambda z: z.update(seen=z["left"] if z["bit"] else 0),
        "seen",
        2,
        name="after_zero",
    )
    report = check(program, inputs=[[0, 1], [1], [0, 0], [1, 0]])
    assert (report.agree, report.of, report.errors, report.tried) == (2, 2, 2, 4)
    assert report.first_error.startswith("on [1], after_zero: in layer 1, at position 0")
    assert report
    assert "2 of 4 ran; 2 ended with the same error: on [1]" in str(report)
    assert report.warning.startswith("after_zero: 2 of 4 inputs did not run")
    assert not check(program, inputs=[[1]])
    assert check(program, inputs=[[0]] * 9 + [[1]]).warning is None


def test_a_function_that_raises_after_it_was_asked_is_a_disagreement():
    steps = {"by": 1}

    def add(z):
        z["digit"] = (z["digit"] + steps["by"]) % 3

    program = alta.program_spec({"digit": alta.input_var(3)}, {}, add, "digit", 3)
    del steps["by"]
    report = check(program, samples=2)
    assert not report
    assert "the program's function raised KeyError: 'by'" in report.first_disagreement


def test_the_whole_shelf_is_checked_with_the_options_that_each_kind_has(monkeypatch):
    seen = []
    report = check(DFA.from_regex("0*"), samples=1)
    monkeypatch.setattr(
        checking, "check", lambda entry, **asked: seen.append((asked["name"], asked.get("dtype"))) or report
    )
    check_all(options={"dtype": "float64"}, samples=1)
    shelved = [name for name in naming.listed_names() if not name.startswith("rnn:")]
    assert [name for name, _ in seen] == shelved
    assert {dtype for name, dtype in seen if name not in naming.kinds.CIRCUITS.shelf()} == {"float64"}
    with pytest.raises(InputError, match="--form has no meaning for some kinds of programs"):
        check_all(options={"form": "live"})


def test_a_network_is_not_checked_against_a_program_that_nobody_named():
    with pytest.raises(InputError, match="there is no program to check it against"):
        check_named("rnn:dyck1")
    with pytest.raises(TypeError, match="takes a program that can be compiled, and got SimpleRNN"):
        check(kleene.compile(DFA.from_regex("0*")))


@pytest.mark.parametrize("name", ["swap", "increment", "permute", "list_k", "merge"])
def test_memories_of_a_circuit_are_of_all_sizes_that_its_task_has(name):
    entry, random = get(name), Random(0)
    smallest = memory_task(name).smallest
    drawn = [entry.sample(random, size) for size in range(2, 20) for _ in range(5)]
    assert {len(memory) for memory in drawn} == set(range(smallest, 20))
    assert all(0 <= cell < len(memory) for memory in drawn for cell in memory)
    assert [entry.build().run(memory).output for memory in drawn] == [entry.reference(memory) for memory in drawn]


class Anything(int):
    """A number that is equal to whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Thing:
    __eq__ = Anything.__eq__
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple:
        return Thing, ()


@pytest.mark.parametrize("own", [Anything, lambda x: (Anything(x), "a")])
def test_an_output_that_says_that_it_equals_anything_is_compared_by_what_it_is(own):
    program = RaspProgram(rasp.Map(lambda token: own(1), rasp.tokens), "ab", 3)
    assert all(type(value) in (int, tuple) for value in program.evaluate("ab"))
    report = check(program, reference=lambda tokens: ["x"] * len(tokens), samples=3)
    assert report.agree == 0 < report.of
    right = check(program, reference=lambda tokens: [own(1)] * len(tokens), samples=3)
    assert right.agree == right.of > 0


@pytest.mark.parametrize("name", ["parity_relative", "increment"])
def test_a_reference_that_says_that_it_equals_anything_agrees_with_nothing_else(name):
    assert not check(name, reference=lambda tokens: [Anything(7)] * len(tokens), samples=3, max_length=4)


def test_an_output_of_a_class_of_ones_own_is_refused_where_it_would_be_compared():
    program = RaspProgram(rasp.Map(lambda token: (Thing(),), rasp.tokens), "ab", 3)
    with pytest.raises(InputError, match="an answer has a part of type Thing, which cannot be compared"):
        check(program, samples=3)
    with pytest.raises(InputError, match="of type Thing"):
        attack(kleene.compile(program), program=program.lowered, inputs=3)
