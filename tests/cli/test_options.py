"""What a shell completes."""

import os
import subprocess
import sys

import pytest

from kleene.cli.options import complete_program, complete_transformer
from kleene.programs.alta.library import entries
from kleene.programs.rasp.library import entries as rasp_entries


def test_names_of_every_shelf_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert complete_program("tm:si") == ["tm:sipser"]
    assert complete_program("dfa:tomita_") == [f"dfa:tomita_{n}" for n in range(1, 8)]
    assert complete_program("rnn:dy") == ["rnn:dyck1"]
    assert complete_transformer("") == [*entries(), *(f"rasp:{name}" for name in rasp_entries())]


def test_files_of_programs_and_folders_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    for name in ("mine.py", "mine.safetensors", "mine.txt", "mine/deep.py"):
        (tmp_path / name).touch()
    assert complete_program("min") == ["mine/", "mine.py", "mine.safetensors"]
    assert complete_program("mine/") == ["mine/deep.py"]
    assert complete_program("nowhere/") == []
    assert complete_program(f"{tmp_path}/mine.p") == [f"{tmp_path}/mine.py"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("kleene run par", "parity_relative"), ("kleene cer", "certify"), ("kleene teach repeat_c", "repeat_copy_twice")],
)
def test_the_shell_is_answered_without_jax(typed, offered):
    asked = {"_KLEENE_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    code = (
        "import sys; sys.argv = ['kleene']\n"
        "from kleene.cli import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=os.environ | asked
    )
    assert offered in done.stdout.split()
    assert not {"jax", "equinox", "matplotlib"} & set(done.stderr.split())


def test_completion_can_be_installed(run):
    assert "--install-completion" in run("--help").out
