"""Circuits and NRAMs on the command line."""

import re
from pathlib import Path

import pytest

import kleene
from kleene.programs.circuits.library import entries, get, read
from kleene.traces import Trace
from tests.command_line import assert_refused

STEPLESS = """registers 1
modules READ+INC+WRITE
when 0: READ(r0) INC(READ) WRITE(r0, INC)  r0 = r0
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_every_circuit_is_listed_with_a_memory_to_try_it_on(run):
    listed = {row["name"]: row["example"] for row in run("list", "--json").json}
    for name, entry in entries().items():
        assert run("run", name, *listed[name], "--json").json["output"] == entry.reference(read(entry.example))


def test_a_circuit_is_run_on_a_memory(run):
    first, closing = run("run", "increment", "3", "1", "2", "0").out.splitlines()
    assert first == "0 2 3 0"
    assert closing.startswith("circuit took 6 steps")
    assert run("run", "circuit:increment", "3,1,2,0", "--steps", "1").out.splitlines()[0] == "0 1 2 0"


def test_the_trace_shows_memory_and_registers_and_json_the_wires_too(run):
    shown = run("run", "increment", "3", "1", "2", "0", "--trace").out
    assert all(f" {name} " in shown for name in ("memory", "r0", "r1"))
    assert "READ" not in shown
    plain, compiled = (
        run("run", "swap", "0", "1", "2", "3", "0", "--trace", "--json", *m).json for m in ((), ("--compiled",))
    )
    assert (plain["output"], plain["registers"]) == ([0, 1, 3, 2, 0], compiled["registers"])
    assert (
        Trace.from_json(plain["trace"])
        == Trace.from_json(compiled["trace"])
        == get("swap").build().run([0, 1, 2, 3, 0])
    )
    assert (plain["compiled"], compiled["compiled"]) == (False, True)


def test_a_circuit_is_compiled_stored_and_run_again(run):
    facts = run("compile", "increment", "-o", "increment.safetensors", "--json").json
    assert (facts["hidden_units"], facts["registers"], facts["modules"]) == (4, 2, 15)
    assert kleene.load("increment.safetensors").steps == get("increment").build().steps
    found = run("run", "increment.safetensors", "3", "1", "2", "0", "--json").json
    assert (found["output"], found["compiled"]) == ([0, 2, 3, 0], True)


def test_a_circuit_in_a_text_file_or_a_python_file_is_found(run):
    Path("mine.nram").write_text(STEPLESS)
    Path("mine.py").write_text("from kleene.programs.circuits import Circuit\nbump = Circuit.load('mine.nram')\n")
    for name in ("circuit:mine.nram", "mine.py:bump"):
        assert run("run", name, "1", "2", "0", "--steps", "2", "--json").json["output"] == [0, 2, 0]


def test_a_circuit_is_checked_on_instances_of_its_task(run):
    found = run("check", "increment", "--samples", "6", "--max-length", "5", "--json").json
    assert (found["agree"], found["of"], found["first_disagreement"]) == (12, 12, None)


def test_memories_that_a_circuit_has_no_block_for_are_counted_as_refused(run):
    Path("mine.nram").write_text(STEPLESS.replace("modules", "steps 2\nmodules").replace("r0 = r0", "r0 = READ"))
    shown = run("check", "circuit:mine.nram", "--samples", "20", "--max-length", "4").out
    agree, of, refused = map(int, re.findall(r"(\d+) of +(\d+) agree, (\d+) refused by network or program", shown)[0])
    assert agree == of == 40 - refused
    assert 0 < refused < 40


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "increment", "5", "3", "2", "0"), "cell 0 of the memory is 5, and a memory of 4 cells"),
        (("run", "increment", "1"), "a memory is a list of two or more"),
        (("run", "increment"), "there is no input; give a memory"),
        (("run", "increment", "1", "x"), "'x' is not a whole number"),
        (("run", "increment", "1", "0", "--steps", "-1"), "steps is -1"),
        (("run", "increment", "1", "0", "--compiled", "--steps", "-1"), "steps is -1"),
        (("run", "increment", "1", "0", "--max-steps", "3"), "--max-steps has no meaning"),
        (("run", "parity_relative", "1", "0", "--steps", "3"), "--steps has no meaning"),
        (("run", "circuit:increnemt", "1", "0"), "did you mean increment"),
        (("run", "circuit:missing.nram", "1", "0"), "missing.nram"),
        (("run", "circuit:mine.nram", "1", "0"), "give --steps"),
        (("run", "circuit:mine.nram", "1", "0", "--compiled"), "give --steps"),
        (("check", "circuit:mine.nram"), "does not say how many steps"),
        (("compile", "increment", "--dtype", "float64"), "--dtype has no meaning"),
        (("certify", "increment"), "takes a transformer program"),
        (("extract", "increment"), "this is a NRAM"),
    ],
)
def test_bad_input_is_refused_in_words(run, words, message):
    Path("mine.nram").write_text(STEPLESS)
    assert_refused(run(*words), message)


def test_a_circuit_is_viewed_as_a_page_with_its_text(run):
    assert run("view", "increment", "-o", "circuit.html").status == 0
    page = Path("circuit.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "WRITE(r0, READ1)" in page
