"""A Turing machine as a transformer program: the same tape, head and state after every step, compiled too."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.errors import InputError
from kleene.programs.turing.library import stored
from kleene.programs.turing.transformers import END, tape_tokens, transformer_program, written_tape
from tests.programs.turing.random_machines import random_input, random_machine

STEPS = 30


def halting_run(rng):
    """A random machine and word, and the run, which halts."""
    while True:
        machine = random_machine(rng)
        word = random_input(rng, machine)
        done = machine.run(word, max_steps=STEPS)
        if done.verdict != "running":
            return machine, word, done


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_layer_is_a_step_of_the_machine(seed):
    rng = random.Random(seed)
    machine, word, done = halting_run(rng)
    cells = max(len(word), *(configuration.head for configuration in done.configurations)) + 1
    trace = transformer_program(machine).run(tape_tokens(machine, word, cells))
    assert trace.steps == done.steps + 2  # one puts the head on cell 0, one tells every position
    for number, configuration in enumerate(done.configurations):
        state, here = np.asarray(trace["state"][number + 1]), np.asarray(trace["here"][number + 1])
        assert here.nonzero()[0].tolist() == [configuration.head + 1]
        assert machine.states[state[configuration.head + 1] - 1] == configuration.state
        tape = written_tape(machine, np.asarray(trace["symbol"][number + 1]).tolist())
        assert tape == "".join(configuration.tape).rstrip(machine.blank)


@pytest.mark.parametrize(("name", "word"), [("increment", "1101"), ("palindrome", "abba"), ("copy", "ab")])
def test_a_machine_of_the_library_runs_as_a_network(name, word):
    machine = stored(name)
    program = transformer_program(machine)
    tokens = tape_tokens(machine, word)
    trace = kleene.compile(program).run(tokens)
    assert program.run(tokens).difference(trace) is None
    tape = "".join(machine.run(word).last.tape).rstrip(machine.blank)
    assert written_tape(machine, trace.output) == tape


def test_a_run_that_needs_more_cells_stops_with_the_head_on_the_end():
    machine = stored("increment")
    trace = transformer_program(machine).run(tape_tokens(machine, "11", cells=2))
    head = int(np.argmax(np.asarray(trace["here"][-1])))
    assert int(trace["place"][-1][head]) == END


def test_a_machine_that_does_not_halt_needs_a_number_of_cells():
    with pytest.raises(InputError, match="has not halted after 10,000 steps; give the number of `cells`"):
        tape_tokens(stored("ping_pong"), "x1x")
