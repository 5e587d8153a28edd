"""What a program costs and which of its cases fire adds up to what the compiler and the trace say."""

import pytest

import kleene
from kleene.explaining import anatomy
from kleene.programs.alta.library import entries, get


@pytest.mark.parametrize("name", ["parity_relative", "addition", "subleq", "sort", "most_frequent_sort"])
def test_the_costs_add_up_to_the_network(name):
    program = get(name).build()
    size, found = kleene.compile(program).size, anatomy(program)
    expansion = kleene.compile(program).expansion
    steps = 0 if expansion is None else expansion.bias.size
    assert sum(c.residual_dims for c in found.costs) == size.residual_dims
    assert sum(c.hidden_units for c in found.costs) + steps == size.hidden_units
    assert sum(c.rules for c in found.costs) == len(program.rules())


def test_every_case_names_a_line_of_the_source():
    for case in anatomy(get("addition").build()).cases:
        assert case.line > 0
        assert "z[" in case.source or "def" in case.source or "if" in case.source, case


def test_the_cases_that_changed_something_are_counted():
    found = anatomy(get("parity_relative").build(), [[2, 1, 0, 1]])
    assert {c.variable: c.fired for c in found.cases} == {"parity": 2, "done": 3}
    assert found.inputs == 1
    none = anatomy(get("parity_relative").build(), [[2]])
    assert {c.fired for c in none.cases} == {0}


@pytest.mark.parametrize("name", [n for n in entries() if n != "scan_shift_reduce"])
def test_every_program_can_be_taken_apart(name):
    entry = get(name)
    found = anatomy(entry.build(), [entry.read(list(entry.example))])
    assert any(c.fired for c in found.cases)
    assert all(c.where and c.writes for c in found.cases)
