"""Programs run, compiled and kept from the command line."""

import sys
from pathlib import Path

import pytest

import kleene
from kleene.programs.alta.library import parity
from kleene.traces import Trace


def test_a_program_is_run_and_its_output_printed(run):
    status, out, err = run("run", "addition", "789", "456")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "1245"
    assert out.splitlines()[1].startswith("program halted after 6 layers")


def test_a_compiled_network_gives_the_same_output(run):
    status, out, _ = run("run", "addition", "789", "456", "--compiled")
    assert status == 0
    assert out.splitlines()[0] == "1245"
    assert out.splitlines()[1].startswith("network halted after 6 layers")


def test_json_has_output_steps_and_halted(run):
    found = run("run", "parity_relative", "1", "0", "1", "1", "--json").json
    assert found.pop("seconds") >= 0
    assert found == {
        "program": "parity_relative",
        "input": [2, 1, 0, 1, 1],
        "output": [1, 1, 0, 1],
        "output_tokens": [0, 1, 1, 0, 1],
        "steps": 4,
        "halted": True,
        "compiled": False,
    }


def test_json_with_the_trace_holds_the_whole_trace(run):
    program = run("run", "parity_relative", "1", "0", "--json", "--trace").json["trace"]
    network = run("run", "parity_relative", "1", "0", "--json", "--trace", "--compiled").json["trace"]
    expected = parity.relative().run([2, 1, 0])
    assert Trace.from_json(program) == Trace.from_json(network) == expected


def test_the_trace_is_shown_as_a_table(run):
    status, out, _ = run("run", "parity_relative", "1", "0", "1", "--trace")
    rows = [line.split() for line in out.splitlines()]
    assert status == 0
    assert ["3", "parity", "0", "1", "1", "*0"] in rows
    assert ["done_left", "·", "1", "1", "*1"] in rows
    assert rows[-2] == ["1", "1", "0"]


def test_negative_numbers_are_numbers_and_not_options(run):
    result = run("run", "subleq", "9", "11", "-1", *"000000", "7", "0", "0", "--json", "--compiled")
    assert result.json["output"] == [9, 11, -1, 0, 0, 0, 0, 0, 0, 7, 0, -7]
    assert run("run", "subleq", "0", "0", "-1", "--json").json["output"] == [0, 0, -1]


@pytest.mark.parametrize("options", [(), ("--compiled",), ("--compiled", "--dtype", "float64", "--rules", "paper")])
@pytest.mark.parametrize("words", [("1", "0", "1"), ("1,0,1",), ("1 0 1",)])
def test_a_program_in_a_file_is_run_on_tokens(run, mine, words, options):
    assert run("run", f"{mine}:make", *words, *options, "--json").json["output"] == [1, 1, 0]


def test_a_program_in_a_file_may_be_a_value_and_is_called_program_by_default(run, mine):
    assert run("run", f"{mine}:program", "1", "1", "--json").json["output"] == [1, 0]
    assert run("run", mine, "1", "1", "--json").json["output"] == [1, 0]


def test_a_program_in_a_file_may_import_what_lies_beside_it(run, mine, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "beside_kleene_test.py").write_text(Path(mine).read_text())
    (tmp_path / "other" / "importing.py").write_text("from beside_kleene_test import make")
    before = list(sys.path)
    assert run("run", "other/importing.py:make", "1", "1", "--json").json["output"] == [1, 0]
    assert sys.path == before


def test_max_layers_bounds_a_run_that_halts_in_time(run):
    assert run("run", "parity_relative", "1", "0", "1", "--max-layers", "3", "--json").json["steps"] == 3


def test_compile_in_json_has_sizes_seconds_and_memory(run):
    found = run("compile", "parity_relative", "--json").json
    size = kleene.compile(parity.relative()).size
    assert found["hidden_units"] == size.hidden_units
    assert found["residual_dims"] == 8
    assert found["heads"] == 2
    assert found["parameters"] == size.parameters >= found["nonzero"] == size.nonzero > 0
    assert found["seconds"] > 0
    assert found["peak_memory_mb"] > 10


def test_compile_prints_its_facts_for_people(run):
    status, out, _ = run("compile", "parity_relative", "--rules", "paper", "--activation", "relu")
    facts = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert status == 0
    assert (facts["program"], facts["rules"], facts["heads"]) == ("parity_relative", "paper", "2")


def test_a_network_written_to_a_file_runs_from_it(run, tmp_path):
    file = str(tmp_path / "new folder" / "parity.safetensors")
    assert run("compile", "parity_relative", "-o", file, "--json").json["file"] == file
    found = run("run", file, "2", "1", "0", "1", "--json").json
    assert (found["output"], found["compiled"], found["halted"]) == ([0, 1, 1, 0], True, True)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_a_network_keeps_its_number_type_in_its_file(run, tmp_path, dtype):
    file = str(tmp_path / "parity.safetensors")
    assert run("compile", "parity_relative", "-o", file, "--dtype", dtype).status == 0
    assert kleene.UniversalTransformer.load(file).dtype == dtype
