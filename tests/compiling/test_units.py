"""Units are counted without being made: the counts are those of the units that would be made."""

from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.alta import units
from kleene.programs import alta
from kleene.programs.alta.library import get
from kleene.programs.alta.random_programs import generate


def counted_and_made(program: alta.Program) -> list[tuple[int, int]]:
    """For every variable and case, what naming and clearing were counted to cost, and how many units they take."""
    context, pairs = units.Context.of(program), []
    for target, cases in program.updates.items():
        plain = [p for c in cases for p in units.plain_cases(c, context)]
        for c in plain:
            written = units.written_family(target, c, context)
            made = [u for family in units.named_families(target, c, context) for u in family.units]
            pairs.append((units.named_cost(target, c, written, context), len(made)))
        cleared = [u for family in units.cleared_families(target, plain, context) for u in family.units]
        pairs.append((units.cleared_cost(target, plain, context), len(cleared)))
    return pairs


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_units_of_random_programs_are_as_many_as_were_counted(seed):
    assert all(counted == made for counted, made in counted_and_made(generate(seed).program))


def test_the_units_of_large_programs_are_as_many_as_were_counted():
    for name in ("addition", "subleq", "sort", "most_frequent_sort"):
        assert all(counted == made for counted, made in counted_and_made(get(name).build())), name


def test_a_table_written_to_a_large_range_takes_a_unit_for_each_entry_and_one_for_each_old_value():
    def multiply(z):
        z["out"] = (z["a"] * z["b"]) % 97

    variables = {"a": alta.input_var(10), "b": alta.position_var(10), "out": alta.var(97)}
    network = kleene.compile(alta.program_spec(variables, {}, multiply, "out", 10, 10))
    assert network.size.hidden_units <= 10 * 10 + 97
    assert network.run([3, 4, 5]).output == [0, 4, 10]
