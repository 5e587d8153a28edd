"""Data sets by condition: all inputs where there are few, otherwise a seeded sample of each length."""

import pytest

from kleene.errors import InputError
from kleene.explaining.programs.data_sets import InputSource, affordable, inputs_of, read_condition
from kleene.programs import alta
from kleene.programs.alta.library import entries, get


def source(name: str) -> InputSource:
    entry = get(name)
    return InputSource(entry.build(), entry)


def test_all_inputs_are_taken_where_they_are_few():
    found = inputs_of(source("parity_relative"), "length<=3", samples=1, seed=0)
    assert len(found) == len({tuple(t) for t in found}) == 2 + 4 + 8
    assert all(t[0] == 2 and set(t[1:]) <= {0, 1} for t in found)
    sums = inputs_of(source("addition"), "length<2", samples=1, seed=0)
    assert len(sums) == 100


def test_longer_inputs_are_drawn_with_every_number_of_ones():
    found = inputs_of(source("parity_sum_modulo"), "length>18, length<=20", samples=50, seed=0)
    assert {len(t) - 1 for t in found} == {19, 20}
    assert {t.count(1) for t in found if len(t) == 21} == set(range(21))
    assert found == inputs_of(source("parity_sum_modulo"), "length>18, length<=20", samples=50, seed=0)
    assert found != inputs_of(source("parity_sum_modulo"), "length>18, length<=20", samples=50, seed=1)


@pytest.mark.parametrize("condition", ["ones<=3", "count(1) <= 3"])
def test_the_number_of_ones_is_bounded(condition):
    found = inputs_of(source("parity_absolute"), f"length=40,{condition}", samples=50, seed=0)
    assert {t.count(1) for t in found} == {0, 1, 2, 3}
    assert {len(t) for t in found} == {40}


@pytest.mark.parametrize("name", [n for n in entries() if n != "scan_shift_reduce"])
def test_every_program_of_the_library_has_inputs_by_length(name):
    found, inputs = source(name), inputs_of(source(name), "length<=5", samples=10, seed=0)
    length = found.length()
    assert {length(found.program.check_input(t)) for t in inputs} <= set(range(1, 6))
    assert max(map(length, inputs)) == 5


def test_a_program_without_an_entry_has_all_its_tokens():
    program = alta.program_spec({"x": alta.input_var(4)}, {}, lambda z: None, "x", 4)
    assert len(inputs_of(InputSource(program), "length<=2", samples=1, seed=0)) == 4 + 16
    assert len(inputs_of(InputSource(program), "length=9", samples=30, seed=0)) == 30


def test_inputs_are_read_from_a_file(tmp_path):
    (tmp_path / "sums").write_text("12 34\n\n7 8\n")
    found = source("addition")
    assert inputs_of(found, str(tmp_path / "sums"), samples=1, seed=0) == [
        found.read("12 34"),
        found.read("7 8"),
    ]
    (tmp_path / "sums").write_text("12 34\ntwelve\n")
    with pytest.raises(InputError, match="line 2"):
        inputs_of(found, str(tmp_path / "sums"), samples=1, seed=0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("size<3", "no condition on inputs"),
        ("length<=", "no condition on inputs"),
        ("ones<3", "does not bound the length"),
        ("length<1", "no length meets"),
        ("length<=200000", "longer than 10,000"),
        ("length<=101", "up to length 100"),
        ("length<=3,ones>7", "no input of parity_sum_modulo was found"),
        ("missing", "neither a condition nor a file"),
    ],
)
def test_bad_conditions_are_refused(text, told):
    with pytest.raises(InputError, match=told):
        inputs_of(source("parity_sum_modulo"), text, samples=3, seed=0)


def test_comparisons_are_joined_by_commas():
    assert read_condition("length>=2, length<5").lengths == [2, 3, 4]


def test_inputs_are_fewer_where_their_runs_are_long_and_stay_where_all_are_taken():
    long = source("parity_absolute")
    assert affordable(long, "length<=20", 1_000) == 1_000
    few = affordable(long, "length<=30", 1_000, work=100_000)
    assert 1 < few < 30
    found = inputs_of(long, "length<=30", samples=few, seed=0, fewer=True)
    at_most = [[word for word in found if len(word) == n] for n in range(1, 31)]
    assert all(len(words) == few for words in at_most[few:])
    assert all({sum(word) for word in words} >= {0, n} for n, words in enumerate(at_most, start=1))
    assert affordable(long, "length<=5", 1_000, work=1) == 1_000
    assert affordable(source("parity_sum_modulo"), "length<=40", 1_000) == 1_000


def test_where_inputs_are_few_there_are_words_with_ones_and_without():
    found = inputs_of(source("parity_absolute"), "length=30", samples=1, seed=0, fewer=True)
    assert {sum(word) for word in found} == {0, 30}
