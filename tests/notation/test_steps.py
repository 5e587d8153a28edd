"""How many steps a circuit runs, and how many it may."""

import pytest

import kleene
from kleene.errors import InputError, ProgramError
from kleene.notation.wiring import MOST_STEPS, Steps, check_run
from kleene.programs.circuits.library import get


def test_a_number_of_steps_that_is_no_number_any_more_is_refused():
    with pytest.raises(ProgramError, match="a term of 5000 characters; a run has at most 100,000 steps"):
        Steps.parse("9" * 5000)
    with pytest.raises(ProgramError, match="is not understood"):
        Steps.parse("٣")


@pytest.mark.parametrize("steps", [MOST_STEPS + 1, 10**20])
def test_a_run_of_too_many_steps_is_refused_before_it_begins(steps):
    circuit = get("increment").build()
    with pytest.raises(InputError, match=rf"the run takes {steps:,} steps, and 100,000 is the most"):
        circuit.run([1, 2, 0], steps=steps)
    with pytest.raises(InputError, match=rf"the run takes {steps:,} steps, and 100,000 is the most"):
        kleene.compile(circuit).run([1, 2, 0], steps=steps)


def test_a_record_that_does_not_fit_into_memory_is_refused():
    check_run([MOST_STEPS], 10)
    with pytest.raises(InputError, match="the record of 100,000 steps with 1,000,000,000 numbers each takes about"):
        check_run([MOST_STEPS], 10**9)
