from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.programs.turing import TuringMachine
from kleene.programs.turing.library import busy_beaver_4, get, walk_right
from kleene.programs.turing.universal import decoded, encoded, universal
from tests.programs.turing.random_machines import random_input, random_machine

UNIVERSAL = universal()


@given(st.randoms(use_true_random=False))
def test_it_does_what_every_machine_of_two_symbols_does(rng):
    machine = random_machine(rng, states=4, symbols=2)
    word = random_input(rng, machine)
    done = machine.run(word, max_steps=25)
    simulated = UNIVERSAL.run(encoded(machine, word), max_steps=100_000 if done.verdict != "running" else 5_000)
    assert simulated.verdict == done.verdict
    if done.verdict != "running":
        assert decoded(machine, simulated.tape) == done.tape


def test_the_tape_between_steps_is_the_tape_of_the_machine():
    machine = get("bump").build()
    simulated = UNIVERSAL.run(encoded(machine, "11"), max_steps=10_000)
    steps = pairwise(simulated.configurations)
    looking = [after for before, after in steps if before.state == "restore" and after.state == "look"]
    tapes = ["11", *(decoded(machine, c.tape) for c in looking)]
    assert tapes == [c.tape for c in machine.run("11").configurations][:-1]


@pytest.mark.parametrize("length", range(6))
def test_it_runs_machines_of_the_shelf(length):
    for machine in (get("bump").build(), walk_right(3)):
        word = "1" * length
        assert UNIVERSAL.run(encoded(machine, word), max_steps=100_000).verdict == machine.run(word).verdict


def test_it_runs_the_busy_beaver():
    done = UNIVERSAL.run(encoded(busy_beaver_4(), ""), max_steps=1_000_000, record=False)
    assert done.verdict == "accept"
    assert decoded(busy_beaver_4(), done.tape) == "1_111111111111"


def test_the_code_is_the_one_that_is_described():
    table = {("s", "_"): ("s", "_", "R"), ("s", "1"): ("yes", "1", "R")}
    machine = TuringMachine(transitions=table, start="s", accept="yes", reject="no")  # type: ignore[arg-type]
    assert encoded(machine, "1") == "#*0R;1RA;=l"
    assert encoded(get("bump").build(), "") == "#*0Li;1R;:0RA;0Lii;:0RX;0Li;=o"


def test_machines_that_it_cannot_simulate_are_refused():
    with pytest.raises(InputError, match="sipser has the tape symbols 1 x _; the universal machine simulates"):
        encoded(get("sipser").build(), "11")
    table = {("s", "_"): ("s", "_", "R"), ("s", "1"): ("yes", "1", "R")}
    idle = TuringMachine(transitions=table, start="yes", accept="yes", reject="no")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="halts at once"):
        encoded(idle, "1")


def test_codes_that_break_off_are_rejected():
    assert UNIVERSAL.run("").verdict == "reject"
    assert UNIVERSAL.run("#*=").verdict == "reject"
    assert UNIVERSAL.run("#*=o").verdict == "reject"
