"""Grading in a process with limits: files that never end, that take all memory, that leave, that start others."""

import sys
import time

import pytest

from kleene.errors import InputError
from kleene.exercises import grade, shelf
from tests.exercises.here import IN_PROC, is_left

HEAD = "# exercise: even_a\n"


def test_a_grade_comes_back_whole_and_with_what_the_file_printed(tmp_path):
    file = tmp_path / "even.py"
    file.write_text(f"{HEAD}print('hello')\neven_a = 'b*'\n")
    found = grade(file)
    assert not found
    assert found.printed == "hello\n"
    assert found.counterexample is not None
    assert found.counterexample.input == "aa"
    assert found.counterexample.again == ""  # the word has a letter that the expression has not
    assert "step" in found.counterexample.steps[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 0\nwhile True:\n    print('x' * 1000)", ": time was up while your file was read, at line "),
        ("while True:\n    try:\n        x = 1\n    except BaseException:\n        pass", "at line "),
        ("import os\nos._exit(0)", "cannot be graded: the process that ran it left with status 0"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "was ended by SIGSEGV"),
        ("x = 1\ny = bytearray(2 * 10**9)", "needs more memory than grading allows (line 3 of"),
    ],
)
def test_a_file_that_does_not_come_to_an_end_is_stopped(text, told, tmp_path):
    file = tmp_path / "even.py"
    file.write_text(HEAD + text)
    with pytest.raises(InputError) as refused:
        grade(file, seconds=2, memory_gib=1)
    assert told in str(refused.value)


@IN_PROC
def test_a_file_that_ignores_the_alarm_is_killed_with_all_that_it_started(tmp_path):
    marker = f"600.{time.time_ns()}"
    file = tmp_path / "even.py"
    file.write_text(
        f"{HEAD}import signal, subprocess, time\n"
        f"signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        f"child = subprocess.Popen(['sleep', '{marker}'])\n"
        f"while True: time.sleep(1)\n"
    )
    with pytest.raises(InputError, match=r"did not end within 2 seconds; look for a loop"):
        grade(file, seconds=2, grace=0.5)
    assert not is_left(marker)


def test_a_file_named_like_a_module_of_python_does_not_stand_in_for_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "random.py").write_text(f"{HEAD}even_a = '(b|ab*a)*'\n")
    assert grade("random.py")


def test_a_folder_that_the_file_names_is_no_way_into_the_graders_process(tmp_path):
    """The reference file of a folder beside the student's may be the student's own."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "exercise.md").write_text((shelf()["even_a"].folder / "exercise.md").read_text())
    (folder / "reference.py").write_text("import sys\nsys.modules['owned'] = sys\ndef reference(word): return True\n")
    (tmp_path / "even.py").write_text("# exercise: own\neven_a = '(a|b)*'\n")
    assert grade(tmp_path / "even.py")
    assert "owned" not in sys.modules


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("while True: pass", "reference.py' did not end within 2 seconds: time was up while the right answers were"),
        ("import os\nos._exit(3)", "reference.py' cannot be graded: the process that ran it left with status 3"),
        (
            "from kleene.exercises import cases\ncases.Reference.answers = lambda *_: [1]",
            "own' is wrong, not your solution: what its reference file gives are no answers",
        ),
    ],
)
def test_a_reference_file_is_held_to_the_same_limits(reference, told, tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "exercise.md").write_text((shelf()["even_a"].folder / "exercise.md").read_text())
    (folder / "reference.py").write_text(f"{reference}\ndef reference(word): return True\n")
    (tmp_path / "even.py").write_text("# exercise: own\neven_a = '(a|b)*'\n")
    with pytest.raises(InputError) as refused:
        grade(tmp_path / "even.py", seconds=2)
    assert told in str(refused.value)
