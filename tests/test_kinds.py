"""Every kind answers what the verbs ask of it, and a kind of one's own needs one record and no change elsewhere."""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene import kinds, naming
from kleene.kinds import Kind, late, resolved
from kleene.notation.console import Entry, Telling
from kleene.pictures.figures import Picture
from kleene.traces import Channel, Trace

WITH_PROGRAMS = [kind for kind in kinds.known() if kind.program is not None]


def references(kind: Kind) -> list[str]:
    values = [getattr(kind, field.name) for field in fields(kind)]
    return [*kind.classes, *(value.reference for value in values if isinstance(value, late))]


@pytest.mark.parametrize("kind", kinds.known(), ids=lambda kind: kind.name)
def test_everything_that_a_record_refers_to_is_there(kind):
    assert references(kind)
    for reference in references(kind):
        assert callable(resolved(reference)), reference


@pytest.mark.parametrize("kind", WITH_PROGRAMS, ids=lambda kind: kind.name)
def test_a_kind_with_programs_can_be_found_compiled_run_and_checked(kind):
    name, entry = next((name, entry) for name, entry, other in naming.shelves() if other is kind)
    program = entry.build()
    network = kleene.compile(program)
    assert kinds.of(program) is kind
    assert kinds.of(network).machine == kind.machine  # two kinds may have machines of one class
    assert kind.is_program(program)
    assert not kind.is_program(network)
    first, second = (kleene.run(name, entry.example, compiled=compiled) for compiled in (False, True))
    assert isinstance(first.trace, Trace)
    assert first.trace == second.trace
    assert first.answer == second.answer
    assert kleene.check(entry, samples=2, max_length=3)


@pytest.mark.parametrize("kind", WITH_PROGRAMS, ids=lambda kind: kind.name)
def test_the_first_value_of_an_option_is_the_default(kind):
    program = next(entry.build() for _, entry, other in naming.shelves() if other is kind)
    plain = kleene.compile(program)
    assert type(plain) is resolved(str(kind.machine))
    for option, values in kind.options.items():
        named = kleene.compile(program, **{option: values[0]})
        assert kind.sizes(named) == kind.sizes(plain)


# A kind of one's own: sums of numbers, and a machine that has the numbers as weights.


@dataclass(frozen=True)
class Sum:
    """A program: adds a constant to each number of its input."""

    constant: int

    def run(self, numbers: list[int]) -> Trace:
        return self.run_batch([numbers])[0]

    def run_batch(self, inputs: list[list[int]]) -> list[Trace]:
        return [_trace(np.array([numbers, [n + self.constant for n in numbers]])) for numbers in inputs]


@dataclass(frozen=True)
class Adder:
    """A machine: the same with a weight and a bias."""

    weight: float
    bias: float

    def run(self, numbers: list[int]) -> Trace:
        return self.run_batch([numbers])[0]

    def run_batch(self, inputs: list[list[int]]) -> list[Trace]:
        found = [np.stack([np.array(n, float), self.weight * np.array(n) + self.bias]) for n in inputs]
        return [_trace(rows.astype(int)) for rows in found]

    @property
    def size(self) -> "AdderSize":
        return AdderSize(parameters=2)


@dataclass(frozen=True)
class AdderSize:
    parameters: int


def _trace(rows: np.ndarray) -> Trace:
    return Trace((Channel("number", "category", 1_000),), {"number": rows}, "number")


def _sizes_of_inputs(program, entry, samples, max_length, seed):
    return [[number] * length for number in range(samples) for length in range(1, max_length + 1)]


def _shelf():
    return {"plus_two": Entry("plus_two", "adds two", lambda: Sum(2), ("1", "4"))}


def _telling(outcome):
    answer = " ".join(map(str, outcome.trace.output))
    return Telling({"output": outcome.trace.output}, answer, f"added to {len(outcome.input)} numbers")


@pytest.fixture
def sums():
    kind = Kind(
        "sum",
        program=Sum,
        machine=Adder,
        prefixes=("sum:",),
        shelf=_shelf,
        spelled=lambda text: Sum(int(text)) if text.lstrip("-").isdigit() else None,
        noun="sum",
        read=lambda words, subject: [int(word) for word in words],
        telling=_telling,
        compiler=lambda program, doubled="no": Adder(1.0, program.constant * (2 if doubled == "yes" else 1)),
        options={"doubled": ("no", "yes")},
        inputs=_sizes_of_inputs,
        judges=lambda program, entry, reference: {},
        picture=lambda subject, word=None, **options: Picture("a sum", f"<svg>{subject.constant}</svg>", figure=list),
    )
    kinds.register(kind)
    yield kind
    kinds.forget(kind)


def test_a_kind_of_ones_own_is_run_on_the_command_line(sums, run):
    assert run("run", "sum:plus_two", "1", "4").out.startswith("3 6\nsum added to 2 numbers in ")
    assert run("run", "sum:40", "2", "--compiled", "--json").json["output"] == [42]
    assert "did you mean sum:plus_two" in run("run", "sum:plus_tow", "1").err


def test_a_kind_of_ones_own_is_compiled_and_checked_on_the_command_line(sums, run):
    assert run("compile", "sum:40", "--json").json["parameters"] == 2
    report = run("check", "sum:plus_two", "--samples", "3", "--max-length", "2", "--json").json
    assert (report["agree"], report["of"]) == (6, 6)


def test_a_kind_of_ones_own_whose_compiler_is_wrong_is_found_out(sums):
    assert not kleene.check(Sum(1), samples=2, max_length=2, doubled="yes")


def test_a_kind_of_ones_own_is_viewed_on_the_command_line(sums, run):
    assert run("view", "sum:40").out == "<svg>40</svg>\n"


def test_a_kind_of_ones_own_is_listed(sums, run):
    assert {"name": "sum:plus_two", "summary": "adds two", "example": ["1", "4"]} in run("list", "--json").json


def test_a_kind_of_ones_own_comes_from_a_file(sums, run, tmp_path):
    Path(tmp_path / "mine.py").write_text("from tests.test_kinds import Sum\n\nprogram = Sum(7)\n")
    assert run("run", f"{tmp_path}/mine.py", "1", "--json").json["output"] == [8]


def test_what_is_of_no_kind_is_refused_with_the_kinds_that_there_are():
    with pytest.raises(TypeError, match="a float is of no kind that Kleene knows; its kinds are transformer program, "):
        kinds.of(1.5)
