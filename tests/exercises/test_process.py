"""Grading in a process with limits: files that never end, that take all memory, that leave, that start others."""

import os
import signal
import time

import pytest

from kleene.errors import InputError
from kleene.exercises import grade

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


def test_a_file_that_ignores_the_alarm_is_killed_with_all_that_it_started(tmp_path):
    file = tmp_path / "even.py"
    file.write_text(
        f"{HEAD}import signal, subprocess, time\n"
        f"signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        f"child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))\n"
        f"while True: time.sleep(1)\n"
    )
    with pytest.raises(InputError, match=r"did not end within 2 seconds; look for a loop"):
        grade(file, seconds=2, grace=0.5)
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and _is_running(child):
        time.sleep(0.05)
    assert not _is_running(child)


def test_nobody_waits_for_a_process_that_the_file_has_sent_away(tmp_path):
    file = tmp_path / "even.py"
    file.write_text(
        f"{HEAD}import subprocess\n"
        f"child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))\n"
        f"print('hello')\n"
        f"even_a = 'b*'\n"
    )
    assert grade(file).printed == "hello\n"
    child = int((tmp_path / "child").read_text())
    assert _is_running(child)
    os.kill(child, signal.SIGKILL)


def _is_running(number: int) -> bool:
    """Whether the process is there, and not only waiting to be collected."""
    try:
        os.kill(number, 0)
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_file_named_like_a_module_of_python_does_not_stand_in_for_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "random.py").write_text(f"{HEAD}even_a = '(b|ab*a)*'\n")
    assert grade("random.py")
