import json
import subprocess
import sys
from pathlib import Path

import pytest

import kleene
from kleene.cli import app, main
from kleene.errors import InputError
from kleene.programs.alta.library import entries, parity
from kleene.programs.circuits.library import entries as circuits
from kleene.traces import Trace
from kleene.traces.storage import from_json
from tests.command_line import assert_refused

COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands]

PROGRAM_FILE = """
from kleene.programs import alta

def _carry_along(z):
    if not z["done"] and z["done_left"]:
        z["parity"] = z["parity"] ^ z["parity_left"]
        z["done"] = 1

def make():
    variables = {
        "parity": alta.input_var(2),
        "done": alta.var(2, position_init_fn=lambda i: i == 0),
    }
    heads = {"parity_left": alta.v_relative("parity", -1), "done_left": alta.v_relative("done", -1)}
    halt = alta.halt_spec("done")
    return alta.program_spec(variables, heads, _carry_along, "parity", 2, position_range=6, halt=halt, name="mine")

program = make()
number = 7

def broken():
    raise RuntimeError("nothing works")

def leaving():
    raise SystemExit(0)

def looks_off_the_edge():
    def mlp(z):
        z["bit"] = z["left"]
    heads = {"left": alta.v_relative("bit", -1)}
    return alta.program_spec({"bit": alta.input_var(2)}, heads, mlp, "bit", 2, name="edge")
"""

FICKLE_FILE = """
import itertools
from kleene.programs import alta

calls = itertools.count()

def flip(z):
    z["bit"] = 1 - z["bit"]

variables = {"bit": alta.input_var(2, lambda token: next(calls) % 3 == 0)}
program = alta.program_spec(variables, {}, flip, "bit", 2, name="fickle")
"""


@pytest.fixture
def mine(tmp_path, monkeypatch) -> str:
    """A file with programs, in the folder where one stands."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(PROGRAM_FILE)
    return "mine.py"


def kleene_command(*words: str) -> subprocess.CompletedProcess:
    """Calls the command line as a person does."""
    command = Path(sys.executable).with_name("kleene")
    return subprocess.run([command, *words], capture_output=True, text=True, timeout=120)


# --- looking around -------------------------------------------------------------------------------------------------


def test_without_a_command_the_help_is_shown(run):
    result = run()
    assert "Usage: kleene" in result.out + result.err
    assert all(command in result.out + result.err for command in COMMANDS)


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"kleene {kleene.__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run, command):
    status, out, _ = run(command, "--help")
    assert status == 0
    assert out.strip().startswith(f"Usage: kleene {command}")


def test_an_unknown_command_and_an_unknown_option_are_refused(run):
    for words, told in (
        (("dance",), "dance"),
        (("list", "--colour"), "--colour"),
        (("run", "parity_relative", "1", "--compild"), "--compild"),
        (("run", "parity_relative"), "there is no input"),
        (("check",), "give a PROGRAM to check, or --all"),
        (("check", "sort", "--all"), "give a PROGRAM to check, or --all"),
    ):
        result = run(*words)
        assert (result.status, result.out) == (2, ""), words
        assert told in result.err
        assert "Traceback" not in result.err


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['kleene', '--help']\n"
        "from kleene.cli import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    loaded = set(done.stderr.split())
    assert "Usage: kleene" in done.stdout
    assert "kleene.cli" in loaded
    heavy = {"jax", "jaxlib", "equinox", "scipy", "ml_dtypes", "safetensors", "jaxtyping", "matplotlib", "IPython"}
    assert not heavy & loaded
    assert not [name for name in loaded if name.startswith(("kleene.programs", "kleene.machines", "kleene.compiling"))]


def test_list_names_every_program_with_an_input_to_try(run):
    status, out, err = run("list")
    assert (status, err) == (0, "")
    for name in entries():
        assert f"kleene run {name}" in out


def test_list_in_json_has_name_summary_and_example(run):
    rows = run("list", "--json").json
    assert [row["name"] for row in rows if ":" not in row["name"]] == [*entries(), *circuits()]
    assert rows[4] == {"name": "addition", "summary": entries()["addition"].summary, "example": ["789", "456"]}


def test_what_list_says_to_try_can_be_run(run):
    for row in run("list", "--json").json:
        assert run("run", row["name"], *row["example"]).status == 0, row["name"]


# --- running --------------------------------------------------------------------------------------------------------


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
    assert from_json(program) == from_json(network) == expected


def test_the_trace_is_shown_as_a_table(run):
    status, out, _ = run("run", "parity_relative", "1", "0", "1", "--trace")
    rows = [line.split() for line in out.splitlines()]
    assert status == 0
    assert ["3", "parity", "0", "1", "1", "0"] in rows
    assert ["done_left", "·", "1", "1", "1"] in rows
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
    (tmp_path / "other" / "beside_kleene_test.py").write_text(PROGRAM_FILE)
    (tmp_path / "other" / "importing.py").write_text("from beside_kleene_test import make")
    before = list(sys.path)
    assert run("run", "other/importing.py:make", "1", "1", "--json").json["output"] == [1, 0]
    assert sys.path == before


def test_max_layers_bounds_a_run_that_halts_in_time(run):
    assert run("run", "parity_relative", "1", "0", "1", "--max-layers", "3", "--json").json["steps"] == 3


# --- compiling ------------------------------------------------------------------------------------------------------


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


# --- checking and measuring -----------------------------------------------------------------------------------------


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


def test_runs_that_end_with_the_same_error_agree(run, mine):
    found = run("check", f"{mine}:looks_off_the_edge", "--samples", "3", "--json").json
    assert found["agree"] == found["of"] == 6


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

    from kleene.programs.alta.library import catalog

    wrong = [replace(e, reference=lambda tokens: [0] * len(tokens)) for e in catalog._ENTRIES if e.name == "sort"]
    monkeypatch.setattr(catalog, "_ENTRIES", tuple(wrong))
    result = run("check", "sort", "--samples", "5", "--json")
    assert result.status == 1
    assert "but the plain reference says [0" in result.json["first_disagreement"]


BENCHMARK = """
def measure(quick):
    yield {"name": "counting", "value": 12.5 if quick else 25.0, "unit": "s", "remark": "slow"}
"""


def test_a_benchmark_in_the_folder_where_one_stands_is_run(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("benchmarks").mkdir()
    Path("benchmarks/bench_tiny.py").write_text(BENCHMARK)
    assert run("bench", "tiny", "--quick", "--json").json == [
        {"name": "counting", "value": 12.5, "unit": "s", "remark": "slow"}
    ]
    assert ["counting", "25", "s", "slow"] in [line.split() for line in run("bench", "tiny").out.splitlines()]


# --- bad input ------------------------------------------------------------------------------------------------------


def test_a_token_out_of_range_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:make", "1", "2"), "mine: token 1 is 2, and tokens are in 0..1")


def test_a_negative_token_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:make", "1", "-1"), "mine: token 1 is -1, and tokens are in 0..1")


def test_an_empty_sequence_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:make", ""), "mine: the input is empty")
    assert_refused(run("run", "parity_relative", ""), "there is no input")


def test_what_is_not_a_number_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:make", "1", "one"), "the input 'one' is not a token")
    assert_refused(run("run", f"{mine}:make", "0.5"), "the input '0.5' is not a token")
    assert_refused(run("run", "addition", "seven", "8"), "give two whole numbers")


def test_what_the_library_program_does_not_take_is_refused_with_an_example(run):
    assert_refused(run("run", "parity_relative", "1", "3"), "'3' is none of the bits 0 and 1", "for example: 1 0 1 1")
    assert_refused(run("run", "subleq", "9", "99", "-1"), "99 is out of range")


@pytest.mark.parametrize("options", [(), ("--compiled",)])
def test_a_sequence_too_long_for_the_position_range_is_refused(run, mine, options):
    result = run("run", f"{mine}:make", *"1010101", *options)
    assert_refused(result, "mine: the input has 7 tokens, but the program was built for at most 6 positions")


def test_an_unknown_program_is_refused_and_a_close_one_suggested(run):
    assert_refused(run("run", "adition", "1", "2"), "no program 'adition' in the library; did you mean addition?")
    assert_refused(run("compile", "xyzzy"), "no program 'xyzzy' in the library; there are parity_absolute")
    assert_refused(run("check", "parity_relativ"), "did you mean parity_relative")


@pytest.mark.parametrize("options", [(), ("--compiled",)])
def test_an_undefined_head_that_is_used_is_named(run, mine, options):
    result = run("run", f"{mine}:looks_off_the_edge", "1", "0", *options)
    assert_refused(result, "edge: in layer 1, at position 0", "head 'left'", "off the edge of the sequence")


@pytest.mark.parametrize("options", [(), ("--compiled",)])
def test_a_run_that_does_not_halt_within_max_layers_is_refused(run, options):
    result = run("run", "parity_relative", "1", "0", "1", "--max-layers", "2", *options)
    assert_refused(result, "has not halted after 2 layers; give a larger max_layers")


def test_a_negative_number_of_layers_is_refused(run):
    assert_refused(run("run", "parity_relative", "1", "--max-layers", "-1"), "max_layers is -1")


def test_a_program_file_that_does_not_exist_is_refused(run):
    assert_refused(run("run", "nowhere.py:make", "1"), "there is no file 'nowhere.py'", "FILE.py:NAME")


def test_a_name_that_the_file_does_not_define_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:nothing", "1"), "'mine.py' defines no 'nothing'")
    Path("empty.py").write_text("")
    assert_refused(run("compile", "empty.py"), "'empty.py' defines no 'program'")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def (", "SyntaxError"),
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("\0", "could not be run"),
    ],
)
def test_a_program_file_that_cannot_be_run_is_refused(run, mine, content, told):
    Path("bad.py").write_text(content)
    assert_refused(run("run", "bad.py:make", "1"), "'bad.py' could not be run", told)


def test_a_function_in_the_file_that_raises_is_refused(run, mine):
    assert_refused(
        run("run", f"{mine}:broken", "1"), "calling broken() in 'mine.py' raised RuntimeError: nothing works"
    )
    assert_refused(run("run", f"{mine}:leaving", "1"), "calling leaving() in 'mine.py' raised SystemExit")


def test_a_program_in_a_file_that_kleene_refuses_is_told_in_its_own_words(run, mine):
    Path("bad.py").write_text("from kleene.programs import alta\nalta.var(0)")
    assert_refused(run("run", "bad.py", "1"), "a categorical variable needs a range of at least 1, and got 0")


def test_what_is_not_a_program_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:number", "1"), "'mine.py:number' gave int, and a program was expected")
    assert_refused(run("run", f"{mine}:alta", "1"), "gave module")


def test_a_file_that_is_not_python_is_not_run(run, mine):
    Path("notes.py.txt").write_text("hello")
    assert_refused(run("run", "notes.py.txt:make", "1"), "no program 'notes.py.txt:make'")


@pytest.mark.parametrize("length", [0, 5, 100, 2000])
def test_a_truncated_model_file_is_refused(run, tmp_path, length):
    file = tmp_path / "parity.safetensors"
    kleene.compile(parity.relative()).save(file)
    file.write_bytes(file.read_bytes()[:length])
    assert_refused(run("run", str(file), "2", "1"), "parity.safetensors", "make it again")


def test_a_corrupt_a_foreign_and_a_missing_model_file_are_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("noise.safetensors").write_bytes(bytes(range(256)) * 8)
    assert_refused(run("run", "noise.safetensors", "1"), "is not a file that Kleene wrote, or it is damaged")
    parity.relative().rules().save("rules.safetensors")
    assert_refused(run("run", "rules.safetensors", "1"), "holds a rule set, and not a network")
    assert_refused(run("run", "nowhere.safetensors", "1"), "there is no file 'nowhere.safetensors'")
    Path("folder.safetensors").mkdir()
    assert_refused(run("run", "folder.safetensors", "1"), "cannot be read: Is a directory")


def test_a_token_out_of_the_range_of_a_network_in_a_file_is_refused(run, tmp_path):
    file = tmp_path / "parity.safetensors"
    kleene.compile(parity.relative()).save(file)
    assert_refused(run("run", str(file), "2", "7"), "parity_relative: token 1 is 7, and tokens are in 0..2")


def test_an_output_that_cannot_be_written_is_refused(run, tmp_path):
    assert_refused(run("compile", "parity_relative", "-o", str(tmp_path)), "cannot be written: Is a directory")


@pytest.mark.parametrize(
    "words", [("compile", "sort"), ("run", "sort", "1", "2", "--compiled"), ("check", "sort", "--samples", "1")]
)
def test_an_unknown_number_type_is_refused(run, words):
    assert_refused(run(*words, "--dtype", "float16"), "there is no number type 'float16' here; choose one of float32")


@pytest.mark.parametrize("option", ["--rules", "--activation"])
def test_an_unknown_way_to_compile_is_refused(run, option):
    assert_refused(run("compile", "sort", option, "best"), "rules is 'compact' or 'paper'", "'best'")


def test_a_benchmark_that_does_not_exist_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(run("bench", "nothing"), "no benchmark 'nothing'; there are alta")


def test_debug_lets_the_error_through(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["kleene", "--debug", "run", "adition", "1"])
    with pytest.raises(InputError, match="did you mean addition"):
        main()


# --- as a process ---------------------------------------------------------------------------------------------------


def test_the_installed_command_runs_a_program():
    done = kleene_command("run", "addition", "789", "456", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["output"] == 1245


def test_the_installed_command_compiles_saves_loads_and_runs(tmp_path):
    file = str(tmp_path / "addition.safetensors")
    assert kleene_command("compile", "addition", "-o", file).returncode == 0
    done = kleene_command("run", file, "10,3,4,11,5,6,12", "--json")
    assert json.loads(done.stdout)["output"] == [0, 0, 0, 0, 9, 0, 0]


def test_the_installed_command_refuses_bad_input_with_one_line_and_status_two():
    done = kleene_command("run", "adition", "1", "2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == ["kleene: no program 'adition' in the library; did you mean addition?"]


def test_debug_shows_the_traceback():
    done = kleene_command("--debug", "run", "adition", "1", "2")
    assert done.returncode != 0
    assert "Traceback (most recent call last)" in done.stderr
    assert "InputError: no program 'adition'" in done.stderr


def test_a_saved_trace_of_the_command_line_is_the_trace_of_the_library(tmp_path):
    done = kleene_command("run", "sort", "3", "1", "2", "--trace", "--json")
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(json.loads(done.stdout)["trace"]))
    assert Trace.load(file) == entries()["sort"].build().run([3, 1, 2])
