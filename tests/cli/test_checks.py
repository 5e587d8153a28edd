"""Programs checked, and benchmarks run, from the command line."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kleene import benchmarking
from tests.command_line import assert_refused

FICKLE_FILE = """
import itertools
from kleene.programs import alta

calls = itertools.count()

def flip(z):
    z["bit"] = 1 - z["bit"]

variables = {"bit": alta.input_var(2, lambda token: next(calls) % 3 == 0)}
program = alta.program_spec(variables, {}, flip, "bit", 2, name="fickle")
"""

START_FILE = """
def begins_with_two():
    def mlp(z):
        if z["token"] == 2:
            z["seen"] = 1
        else:
            z["seen"] = z["left"]
    variables = {"token": alta.input_var(3), "seen": alta.var(2)}
    return alta.program_spec(variables, {"left": alta.v_relative("seen", -1)}, mlp, "seen", 3, name="begins")
"""


def test_check_says_that_program_network_and_reference_agree(run):
    status, out, err = run("check", "parity_relative", "--samples", "5", "--max-length", "4")
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == "10 of 10 inputs: program, network and reference have the same trace"


def test_check_in_json_counts_and_names_the_first_disagreement(run):
    found = run("check", "sort", "--samples", "4", "--max-length", "4", "--seed", "3", "--json").json
    assert (found["agree"], found["of"], found["first_disagreement"]) == (8, 8, None)
    assert found["programs"][0]["program"] == "sort"


def test_check_all_goes_through_the_whole_library(run):
    found = run("check", "--all", "--samples", "1", "--max-length", "2", "--json").json
    listed = [row["name"] for row in run("list", "--json").json if not row["name"].startswith("rnn:")]
    assert [p["program"] for p in found["programs"]] == listed
    assert found["agree"] == found["of"] >= 2 * len(listed)


def test_check_takes_a_program_in_a_file(run, mine):
    found = run("check", f"{mine}:make", "--samples", "6", "--activation", "relu", "--json").json
    assert found["agree"] == found["of"] == 12


def test_a_check_of_which_no_input_ran_fails(run, mine):
    result = run("check", f"{mine}:looks_off_the_edge", "--samples", "3")
    assert result.status == 1
    assert "\n0 of 6 ran; 6 ended with the same error: on [0], edge: in layer 1, at position 0" in result.out
    assert result.out.splitlines()[-1] == "no input ran, so nothing was compared"
    assert result.err.startswith("kleene: edge: 6 of 6 inputs did not run, so that little was compared;")
    found = run("check", f"{mine}:looks_off_the_edge", "--samples", "3", "--json")
    assert (found.status, found.json["agree"], found.json["of"], found.json["errors"]) == (1, 0, 0, 6)
    assert found.json["programs"][0]["first_error"].startswith("on [0], edge: in layer 1")
    assert "6 of 6 inputs did not run" in found.json["programs"][0]["warning"]


def test_inputs_that_end_with_an_error_are_counted_apart(run, mine):
    Path(mine).write_text(Path(mine).read_text() + START_FILE)
    result = run("check", f"{mine}:begins_with_two", "--samples", "20", "--max-length", "3")
    assert result.status == 0
    assert "12 of    12 agree" in result.out
    assert "\n12 of 40 ran; 28 ended with the same error: on [0], " in result.out
    assert "28 of 40 inputs did not run" in result.err


INPUTS_FILE = """
def words(rng, size):
    return [2, *(rng.randrange(3) for _ in range(size))]

ones = "21*"
"""


def test_inputs_in_a_file_are_drawn_instead_of_the_declared_ones(run, mine):
    Path(mine).write_text(Path(mine).read_text() + START_FILE + INPUTS_FILE)
    begins = (f"{mine}:begins_with_two", "--inputs")
    found = run("check", *begins, f"{mine}:words", "--samples", "20", "--max-length", "3", "--json")
    assert (found.status, found.json["of"], found.json["errors"]) == (0, 40, 0)
    assert run("check", *begins, f"{mine}:ones", "--samples", "5", "--max-length", "3", "--json").json["of"] == 3 + 5
    assert_refused(run("check", *begins, f"{mine}:none"), "defines no function or grammar 'none'")
    assert run("check", "--all", "--inputs", f"{mine}:words").status == 2


def test_an_attack_takes_inputs_in_a_file_and_runs_the_function_itself(run, mine):
    Path(mine).write_text(Path(mine).read_text() + START_FILE + INPUTS_FILE)
    words = ("certify", f"{mine}:begins_with_two", "--length", "6", "--inputs", f"{mine}:ones")
    found = run(*words, "--attack", "--seconds", "1", "--json").json["attack"]
    assert found["stood"] is True
    assert found["originals"] == sum(found["tried"].values()) > 0
    assert_refused(run(*words), "--inputs says on what to run an attack; add --attack")


def test_a_check_that_fails_has_exit_status_one_and_says_where(run, tmp_path):
    (tmp_path / "fickle.py").write_text(FICKLE_FILE)
    result = run("check", f"{tmp_path / 'fickle.py'}:program", "--samples", "10", "--max-length", "4")
    assert result.status == 1
    assert "DISAGREE" in result.out
    assert result.err.startswith("first disagreement: fickle on [")
    assert "'bit' is" in result.err


def test_a_check_that_fails_is_counted_in_json_too(run, tmp_path):
    (tmp_path / "fickle.py").write_text(FICKLE_FILE)
    result = run("check", f"{tmp_path / 'fickle.py'}:program", "--samples", "10", "--max-length", "4", "--json")
    assert result.status == 1
    assert result.json["agree"] < result.json["of"]
    assert result.json["first_disagreement"].startswith("fickle on [")


def test_a_reference_that_says_otherwise_is_a_disagreement(run, monkeypatch):
    from dataclasses import replace

    from kleene.programs.alta import library

    wrong = replace(library.get("sort"), reference=lambda tokens: [0] * len(tokens))
    monkeypatch.setattr(library, "entries", lambda: {"sort": wrong})
    result = run("check", "sort", "--samples", "5", "--json")
    assert result.status == 1
    assert "but the plain reference says [0" in result.json["first_disagreement"]


BENCHMARK = """
def measure(quick):
    yield {"name": "counting", "value": 12.5 if quick else 25.0, "unit": "s", "remark": "slow"}
"""


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder where one stands that looks like a checkout, with a benchmark."""
    monkeypatch.chdir(tmp_path)
    for folder in ("benchmarks", "src/kleene", "lib/site-packages/kleene", "lib/benchmarks"):
        Path(folder).mkdir(parents=True)
    for file in ("benchmarks/bench_tiny.py", "benchmarks/bench_alta.py", "lib/benchmarks/bench_tiny.py"):
        Path(file).write_text(BENCHMARK)
    Path("pyproject.toml").write_text("")
    return tmp_path


def test_a_benchmark_in_the_folder_where_one_stands_is_never_run(run, here):
    assert_refused(run("bench", "tiny"), "no benchmark 'tiny'; there are alta")
    files = benchmarking.benchmarks(Path(benchmarking.__file__))
    assert {"alta", "teach"} <= set(files)
    assert not any(file.is_relative_to(here) for file in files.values())


def test_benchmarks_are_those_of_the_checkout_and_an_installed_package_has_none(run, here, monkeypatch):
    assert set(benchmarking.benchmarks(here / "src/kleene/benchmarking.py")) == {"tiny", "alta"}
    installed = here / "lib/site-packages/kleene/benchmarking.py"
    assert benchmarking.benchmarks(installed) == {}
    monkeypatch.setattr(benchmarking, "__file__", str(installed))
    assert_refused(run("bench", "alta"), "this Kleene was installed without its benchmarks")


def test_a_benchmark_is_printed_as_a_table_or_as_json(run, here, monkeypatch):
    monkeypatch.setattr(benchmarking, "__file__", str(here / "src/kleene/benchmarking.py"))
    (record,) = run("bench", "tiny", "--quick", "--json").json
    assert {key: record[key] for key in ("benchmark", "what", "ours", "unit", "peer", "device", "remark")} == {
        "benchmark": "tiny", "what": "counting", "ours": 12.5, "unit": "s", "peer": None, "device": "CPU",
        "remark": "slow",
    }  # fmt: skip
    printed = run("bench", "tiny").out.splitlines()
    assert ["tiny", "counting", "25", "s", "–", "–", "CPU", "slow;"] in [line.split()[:8] for line in printed]


def test_a_table_is_printed_even_if_there_is_nothing_to_plot(run, here, monkeypatch):
    monkeypatch.setattr(benchmarking, "__file__", str(here / "src/kleene/benchmarking.py"))
    found = run("bench", "tiny", "--plot", "costs.svg")
    assert "counting" in found.out
    assert "there is nothing to plot" in found.err
    assert found.status == 2


def test_without_a_name_all_benchmarks_are_run_and_one_that_fails_is_named(run, here, monkeypatch):
    monkeypatch.setattr(benchmarking, "__file__", str(here / "src/kleene/benchmarking.py"))
    Path("benchmarks/bench_alta.py").write_text("def measure(quick):\n    raise RuntimeError('no weights')\n")
    found = run("bench", "--json", "-o", "all.json")
    assert found.status == 1
    assert [(record["benchmark"], record["ours"]) for record in found.json] == [("alta", None), ("tiny", 25.0)]
    assert "the benchmark alta failed: RuntimeError: no weights" in found.err
    assert json.loads(Path("all.json").read_text()) == found.json


WAITING = """
import time
from kleene.benchmarking import measured
DEVICE = "CPU"
def measure(quick):
    yield measured("before", 1.0, "s")
    open("waiting", "w").close()
    time.sleep(600)
"""


def test_ctrl_c_leaves_what_was_measured(here):
    Path("benchmarks/bench_tiny.py").write_text(WAITING)
    checkout = here / "src/kleene/benchmarking.py"
    code = f"from kleene import benchmarking as b, cli; b.__file__ = {str(checkout)!r}; cli.main()"
    # What a shell starts in the background ignores Ctrl-C, and so would a process that it starts.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = [sys.executable, "-c", heard + code, "bench", "tiny", "alta", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not Path("waiting").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert [record["what"] for record in json.loads(out)] == ["before"]
    assert "stopped" in err
    assert process.returncode == 130


@pytest.mark.parametrize("name", ["table.txt", "nowhere/table.html"])
def test_a_table_that_cannot_be_written_is_refused_before_anything_is_measured(run, here, name):
    assert_refused(run("bench", "-o", name), name)


MEAN_FILE = """
from kleene.programs import alta

def mlp(z):
    z["high"] = 1 if z["mean"] > 0 else 0

variables = {"x": alta.numeric_var([0, 0.1], input_init_fn=lambda t: t / 10), "same": alta.var(1), "high": alta.var(2)}
program = alta.program_spec(variables, {"mean": alta.qkv("same", "same", "x")}, mlp, "high", 2, name="mean")
"""


def test_certify_takes_the_longest_length_there_can_be_and_attacks_it(run):
    found = run("certify", "parity_absolute", "--attack", "--seconds", "1", "--json").json
    assert (found["valid"], found["length"], found["attack"]["stood"]) == (True, 400, True)
    assert found["attack"]["executions"] == ["program", "selecting network", "softmax network"]
    assert found["attack"]["inputs"] == sum(found["attack"]["tried"].values()) > 0


def test_an_attack_that_succeeds_has_exit_status_one_and_shows_the_input(run, tmp_path):
    (tmp_path / "mean.py").write_text(MEAN_FILE)
    name = f"{tmp_path / 'mean.py'}:program"
    assert run("certify", name).status == 0
    result = run("certify", name, "--length", "130", "--attack", "--seconds", "600", "--json")
    assert result.status == 1
    assert result.json["first_failure"] == "averages"
    assert len(result.json["attack"]["first_difference"]["input"]) >= 64
    result = run("certify", name, "--length", "130", "--attack", "--seconds", "600")
    assert "program and " in result.out
    assert "differ on [" in result.out


def test_random_certificates_are_attacked_and_one_program_is_not_this_way(run):
    result = run("check", "--random", "3", "--attack", "--seed", "2")
    assert (result.status, result.out.split(" on ")[0]) == (0, "3 of 3 certificates of random programs stood")
    assert "--attack goes with --random" in run("check", "sort", "--attack").err
