import pickle
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError, ProgramError, RunError
from kleene.notation.computations import Computation
from kleene.pictures.diagrams import diagram
from kleene.programs.turing import TuringMachine
from kleene.programs.turing.library import get, ping_pong_word
from tests.programs.turing.naive import naive_run
from tests.programs.turing.random_machines import random_input, random_machine
from tests.work import calls

seeds = st.randoms(use_true_random=False)
ODD = dict(
    transitions={
        ("even", "1"): ("odd", "1", "R"),
        ("even", "_"): ("no", "_", "R"),
        ("odd", "1"): ("even", "1", "R"),
        ("odd", "_"): ("yes", "_", "R"),
    },
    start="even",
    accept="yes",
    reject="no",
    blank="_",
)


@given(seeds)
def test_random_machines_run_as_the_definition_says_configuration_by_configuration(rng):
    machine = random_machine(rng)
    word = random_input(rng, machine)
    verdict, expected = naive_run(machine, word, 60)
    done = machine.run(word, max_steps=60)
    assert (done.verdict, done.steps) == (verdict, len(expected) - 1)
    assert list(done.configurations) == expected
    assert (done.state, done.head, done.tape) == (expected[-1].state, expected[-1].head, expected[-1].tape)


@given(seeds)
def test_without_recording_the_end_is_the_same(rng):
    machine = random_machine(rng)
    word = random_input(rng, machine)
    full, short = machine.run(word, max_steps=60), machine.run(word, max_steps=60, record=False)
    assert (short.verdict, short.steps, short.last) == (full.verdict, full.steps, full.last)
    assert len(short.configurations) == 1


@given(seeds, st.integers(0, 30), st.integers(0, 30), st.booleans())
def test_a_run_taken_up_again_is_the_run_that_was_not_interrupted(rng, before, after, record):
    machine = random_machine(rng)
    word = random_input(rng, machine)
    whole = machine.run(word, max_steps=before + after, record=record)
    resumed = machine.resume(machine.run(word, max_steps=before, record=record), max_steps=after)
    assert (resumed.verdict, resumed.steps, resumed.last) == (whole.verdict, whole.steps, whole.last)
    if record:
        assert resumed == whole


def test_a_run_given_as_plain_configurations_can_be_resumed():
    machine = get("ping_pong").build()
    half = machine.run("x1x", max_steps=5)
    given = Computation("running", 5, tuple(half.configurations), half.states, half.symbols, half.blank)
    assert machine.resume(given, max_steps=5) == machine.run("x1x", max_steps=10)


def test_a_run_that_has_not_halted_is_running_and_one_that_has_stays_as_it_is():
    machine = get("ping_pong").build()
    running = machine.run("x11x", max_steps=10)
    assert (running.verdict, running.steps) == ("running", 10)
    halted = TuringMachine(**ODD).run("1")
    assert TuringMachine(**ODD).resume(halted) is halted
    with pytest.raises(InputError, match="one of another machine: its states are even odd yes no"):
        machine.resume(halted)


def test_the_attributes_are_in_a_fixed_order():
    machine = TuringMachine(**ODD, input_alphabet="1")
    assert machine.states == ("even", "odd", "yes", "no")
    assert machine.tape_alphabet == ("1", "_")
    assert machine.input_alphabet == ("1",)
    assert (machine.start, machine.accept, machine.reject, machine.blank) == ("even", "yes", "no", "_")
    assert machine == TuringMachine(**ODD)
    assert hash(machine) == hash(TuringMachine(**ODD))
    assert pickle.loads(pickle.dumps(machine)).run("111") == machine.run("111")
    sipser = get("sipser").build()
    assert sipser.tape_alphabet == ("1", "x", "_")
    assert sipser.states == tuple(f"q{n}" for n in range(7))


def test_the_empty_word_and_a_budget_of_no_steps():
    machine = TuringMachine(**ODD)
    assert machine.run("").verdict == "reject"
    assert machine.run("11", max_steps=0).configurations[0].tape == "11"
    assert machine.run("11", max_steps=0).verdict == "running"
    assert machine.run("1", max_steps=2).verdict == "accept"


def test_a_machine_may_start_in_a_halting_state_and_then_does_nothing():
    machine = TuringMachine(**ODD | {"start": "yes"})
    assert (machine.run("1").verdict, machine.run("1").steps) == ("accept", 0)


def test_accepts_refuses_to_guess_about_a_run_that_has_not_halted():
    assert TuringMachine(**ODD).accepts("111")
    assert not TuringMachine(**ODD).accepts("11")
    with pytest.raises(RunError, match="ping_pong has not halted on 'xx' after 50 steps; give a larger max_steps"):
        get("ping_pong").build().accepts("xx", max_steps=50)


def test_symbols_of_several_characters_make_words_and_tapes_of_sequences():
    machine = TuringMachine(
        transitions={("q", "one"): ("q", "two", "R"), ("q", "two"): ("q", "one", "R"), ("q", " "): ("yes", " ", "R")},
        start="q",
        accept="yes",
        reject="no",
        blank=" ",
    )
    done = machine.run(["one", "two"])
    assert done.tape == ("two", "one")
    assert done.configurations[1].tape == ("two", "two")


def test_a_batch_is_a_run_for_each_word():
    machine = TuringMachine(**ODD)
    assert [done.verdict for done in machine.run_batch(["", "1", "11"])] == ["reject", "accept", "reject"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"accept": None}, "the machine has no accept state; name one with accept="),
        ({"reject": None}, "the machine has no reject state"),
        ({"start": ""}, "start is ''"),
        ({"blank": 0}, "blank is 0; states and symbols are strings"),
        ({"reject": "yes"}, "accept and reject are both 'yes'"),
        ({"transitions": {}}, "transitions is {}; give a dict"),
        ({"transitions": [("even", "1")]}, "give a dict that maps"),
        ({"transitions": {"even": ("odd", "1", "R")}}, "the key 'even' of transitions is not a pair"),
        ({"transitions": {("even", 1): ("odd", "1", "R")}}, r"the symbol of \('even', 1\) is 1"),
        ({"transitions": {("", "1"): ("odd", "1", "R")}}, r"the state of \('', '1'\) is ''"),
        ({"transitions": {("even", "1"): ("odd", "1")}}, r"leads to \('odd', '1'\); write \(next state"),
        ({"transitions": {("even", "1"): ("odd", 1, "R")}}, "states and symbols are strings"),
        ({"transitions": {("even", "1"): ("odd", "1", "S")}}, r"\('even', '1'\) moves 'S'; a machine moves 'L' or 'R'"),
        (
            {"transitions": {("even", "1"): ("odd", "1", "R")}},
            r"no transition for \(even, _\), \(odd, 1\), \(odd, _\)\.",
        ),
        ({"input_alphabet": "12"}, r"no transition for \(even, 2\), \(odd, 2\)"),
        ({"input_alphabet": "1_"}, "the input alphabet has the blank '_'"),
        ({"input_alphabet": "11"}, "the input alphabet has '1' twice"),
        ({"input_alphabet": (1,)}, "the input alphabet has 1; symbols are strings"),
        ({"accept": "odd"}, r"a transition from \('odd', '1'\), but 'odd' is the accept state"),
        ({"reject": "even"}, r"from \('even', '1'\), but 'even' is the reject state"),
    ],
)
def test_a_bad_table_is_refused_with_the_entry_named(change, message):
    with pytest.raises(ProgramError, match=message):
        TuringMachine(**ODD | change)


def test_a_symbol_outside_the_input_alphabet_is_named_with_its_position():
    with pytest.raises(InputError, match=r"symbol 1 of the word is 'x', .* the input alphabet of sipser: 1"):
        get("sipser").build().run("1x1")
    for steps in (-1, 2.5, None):
        with pytest.raises(InputError, match="it is a number of steps, 0 or more"):
            TuringMachine(**ODD).run("1", max_steps=steps)


def test_a_table_of_two_thousand_states_is_no_trouble():
    machine = get("walk_right").build()
    assert machine.run("").steps == 3
    from kleene.programs.turing.library import walk_right

    far = walk_right(2000).run("1" * 5)
    assert (far.verdict, far.steps, far.head, far.tape) == ("accept", 2000, 2000, "11111")
    assert far.configurations[1234].state == "w1234"


def test_a_step_of_the_simulator_is_a_few_lines_without_calls():
    machine, word = get("ping_pong").build(), ping_pong_word(100)
    machine.run(word)
    taken = calls(lambda: machine.run(word, max_steps=20_000, record=False))
    assert taken < 1.5 * 20_000  # one for each step: five million steps a second


def test_random_machines_are_the_same_for_the_same_seed_and_bump_and_walk_far():
    made = [random_machine(random.Random(seed)) for seed in range(300)]
    assert made == [random_machine(random.Random(seed)) for seed in range(300)]
    bumps = far = halts = 0
    for seed, machine in enumerate(made):
        word = random_input(random.Random(seed), machine)
        done = machine.run(word, max_steps=60)
        heads = [c.head for c in done.configurations]
        bumps += any(a == b == 0 for a, b in pairwise(heads))
        far += max(heads) > len(word) + 5
        halts += done.verdict != "running"
    assert min(bumps, far, halts) > 40


def test_a_machine_cannot_be_changed_and_can_be_copied():
    machine = get("palindrome").build()
    with pytest.raises(TypeError):
        machine.transitions["q", "a"] = ("q", "a", "R")
    again = pickle.loads(pickle.dumps(machine))
    assert (again, hash(again), again.name) == (machine, hash(machine), machine.name)


def test_a_budget_is_a_whole_number_of_any_kind_but_no_truth():
    machine = get("palindrome").build()
    assert machine.run("abba", max_steps=np.int64(3)).steps == 3
    for budget in (True, 2.0, "2", None):
        with pytest.raises(InputError, match="it is a number of steps, 0 or more"):
            machine.run("abba", max_steps=budget)


def test_a_machine_prints_as_a_table_of_what_it_does():
    machine = get("increment").build()
    assert str(machine) == "          0         1          _\n→  carry  done 1 R  carry 0 R  done 1 R"
    assert repr(machine) == "<TuringMachine increment: 3 states, tape symbols 0 1 _>"
    assert machine._repr_html_() == diagram(machine.graph()).image
    assert get("universal").build()._repr_html_().startswith("<table><tr><th></th><th></th><th>#</th>")


def test_the_graph_of_a_machine_says_what_is_written_and_where_the_head_goes():
    graph = get("increment").build().graph("1", dead=False)
    assert [node.name for node in graph.nodes] == ["carry", "done"]
    assert [arrow.lines for arrow in graph.arrows] == [("1 → 0, R",), ("0, _ → 1, R",)]
    assert graph.walk.caption == "'1' is accepted: carry → carry → done"
