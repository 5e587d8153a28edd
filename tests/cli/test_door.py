"""The command line as a whole: help, version, lists, and as a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import kleene
from kleene.cli import app, main
from kleene.errors import InputError
from kleene.programs.alta.library import entries
from kleene.programs.circuits.library import entries as circuits
from kleene.traces import Trace

COMMANDS = list(typer.main.get_command(app).commands)


def kleene_command(*words: str) -> subprocess.CompletedProcess:
    """Calls the command line as a person does."""
    command = Path(sys.executable).with_name("kleene")
    return subprocess.run([command, *words], capture_output=True, text=True, timeout=120)


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


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_that_a_python_file_is_run(run, command):
    shown = " ".join(run(command, "--help").out.split())
    assert shown.count("FILE.py:NAME") == shown.count("FILE.py:NAME (which runs")
    assert "FILE.py:NAME runs FILE.py as Python" in " ".join(run("--help").out.split())


def test_an_unknown_command_and_an_unknown_option_are_refused(run):
    for words, message in (
        (("dance",), "dance"),
        (("list", "--colour"), "--colour"),
        (("run", "parity_relative", "1", "--compild"), "--compild"),
        (("run", "parity_relative"), "there is no input"),
        (("check",), "give a PROGRAM to check, or --all"),
        (("check", "sort", "--all"), "give a PROGRAM to check, or --all"),
    ):
        result = run(*words)
        assert (result.status, result.out) == (2, ""), words
        assert message in result.err
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
    assert "exchanges p[a] and p[b]" in out  # brackets are no markup


def test_list_in_json_has_name_summary_and_example(run):
    rows = run("list", "--json").json
    assert [row["name"] for row in rows if ":" not in row["name"]] == [*entries(), *circuits()]
    assert rows[4] == {"name": "addition", "summary": entries()["addition"].summary, "example": ["789", "456"]}


def test_what_list_says_to_try_can_be_run(run):
    for row in run("list", "--json").json:
        assert run("run", row["name"], *row["example"]).status == 0, row["name"]


def test_debug_lets_the_error_through(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["kleene", "--debug", "run", "adition", "1"])
    with pytest.raises(InputError, match="did you mean addition"):
        main()


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


@pytest.mark.filterwarnings("ignore:.* has no checksum")
def test_a_saved_trace_of_the_command_line_is_the_trace_of_the_library(tmp_path):
    done = kleene_command("run", "sort", "3", "1", "2", "--trace", "--json")
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(json.loads(done.stdout)["trace"]))
    assert Trace.load(file) == entries()["sort"].build().run([3, 1, 2])
