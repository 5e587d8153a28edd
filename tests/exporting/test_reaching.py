"""The text of a program has all that its functions reach in the user's files, and nothing of Kleene's own."""

import functools
from math import gcd
from typing import Any

import numpy as np

from kleene.exporting.reaching import Reached
from kleene.exporting.sources import program_source
from kleene.programs import alta, rasp
from kleene.programs.alta.library import addition, scan, subleq
from kleene.programs.rasp import lib
from kleene.programs.rasp.program import as_program

LIMIT = 3  # of everything
STEPS = {"up": LIMIT}
SQUARES = {}
for _number in range(LIMIT):
    SQUARES[_number] = _number**2
UNUSED = 99


def unused(x):
    return x + UNUSED


def doubled(x):
    return 2 * x + SQUARES.get(x, 0)


@functools.cache
def both(x, y):
    return doubled(x) + STEPS["up"] + gcd(y, 4) + int(np.sign(y))


def _source(expression, vocab=(1, 2), max_length=3):
    return program_source(as_program(expression, vocab, max_length))


def test_a_program_comes_with_the_functions_and_constants_that_it_reaches_in_the_order_of_their_file():
    text = program_source(addition.build())
    shown = ["START, ADD, END = 10, 11, 12", "INIT, ITERATE"]
    shown += ["def _next_step(z):", "def _move_pointers(z):", "def _add_digits(z):"]
    places = [text.index(one) for one in shown]
    assert places == sorted(places)
    assert "def tokens" not in text  # the MLP does not call it
    assert "from kleene" not in text


def test_functions_inside_functions_come_with_the_values_around_them():
    text = program_source(subleq.build())
    assert "# in move_pointer: name = 'position_b', nowhere = 16, offset = 1, smallest = -16" in text
    for shown in ("def move_pointer(z):", "def _clipped(value, low, high):", "FETCH, SUBTRACT, MOVE, DONE = range(4)"):
        assert text.count(shown) == 1


def test_functions_of_the_token_are_shown_where_a_variable_starts_by_one():
    text = program_source(scan.build())
    assert "variable mark: an integer in 0..1, starts by token: lambda token: token == EOS" in text
    assert "WORD_CELL, EOS_CELL, MEMORY_CELL = range(3)" in text
    assert "variable token: an integer in 0..12, starts as the token" in program_source(addition.build())


def test_named_functions_of_rasp_expressions_come_with_what_they_reach():
    text = _source(rasp.SequenceMap(both, rasp.indices, rasp.tokens))
    assert text.startswith("sequence_map = SequenceMap(both, indices, tokens)\n\n")
    pieces = ("from math import gcd", "import numpy as np", "LIMIT = 3  # of everything", 'STEPS = {"up": LIMIT}')
    pieces += ("import functools",)
    pieces += ("SQUARES = {}", "SQUARES[_number] = _number**2", "def doubled(x):", "@functools.cache\ndef both(x, y):")
    for shown in pieces:
        assert text.count(shown) == 1
    assert "UNUSED" not in text
    assert "def unused" not in text


def test_a_lambda_is_shown_once_with_the_values_around_it_and_is_whole_where_its_text_is_cut():
    assert _source(lib.make_count(rasp.tokens, 1)).splitlines() == [
        "count_1 = SelectorWidth(Select(tokens, tokens, lambda key, query: key == token))",
        "",
        "# in lambda key, query: key == token: token = 1",
    ]
    long = rasp.Map(lambda number: (number + 1000000 + 2000000 + 3000000 + 4000000) % 5000000, rasp.indices)
    assert "3000000 + 4000000) % 5000000" in _source(long)


def test_functions_that_selectors_and_maps_were_made_of_are_found_in_them():
    def near(key, query):
        return abs(key - query) < LIMIT

    text = _source(rasp.SelectorWidth(~rasp.Select(rasp.indices, rasp.indices, near)))
    assert "def near(key, query):\n    return abs(key - query) < LIMIT" in text
    assert "LIMIT = 3" in text
    assert "def doubled(x):" in _source(lib.make_nary_sequencemap(doubled, rasp.indices))


def test_rasp_expressions_without_functions_of_their_own_show_nothing_else():
    assert _source(lib.make_reverse(rasp.tokens)).splitlines()[-1].startswith("reverse = Aggregate(")
    assert _source(rasp.indices + 1) == "map = indices + 1"


def test_a_function_without_a_file_is_shown_by_its_rules():
    names: dict[str, Any] = {"TOP": 1}
    exec("def flip(z):\n    z['x'] = TOP - z['x']\n", names)
    program = alta.program_spec({"x": alta.input_var(2)}, {}, names["flip"], "x", 2, max_layers=1, name="flip")
    text = program_source(program)
    assert text.endswith("x := 1 - x   where always")


def test_a_variable_around_that_is_bound_later_is_left_out():
    def step(z):
        z["x"] = later + 1

    reached = Reached()
    reached.add(step)
    assert "later =" not in reached.text
    later = 3
    assert later
