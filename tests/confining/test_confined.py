"""Processes for code of strangers: what the system holds them to, with each of the means that it may not have."""

import itertools
import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from kleene.confining.process import HOLDS, Confined
from kleene.errors import InputError
from kleene.exercises import find
from tests.exercises.here import IN_PROC, is_left, is_there

HEAD, RIGHT = "# exercise: even_a\n", "even_a = '(b|ab*a)*'\n"


@cache
def can(hold: str) -> bool:
    """Whether the system has it, and lets us ask for it."""
    asked = {"numbers": "kernel.number_anew()", "writes": "kernel.give_up_writing('/')"}[hold]
    code = f"from kleene.confining import kernel\nraise SystemExit(not {asked})"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


EACH_WAY = [held for size in range(3) for held in itertools.combinations(HOLDS, size)]


def run_held(folder: Path, text: str, holds: tuple[str, ...]) -> str:
    """What the file prints, in a process of which the system holds no more than this."""
    for hold in holds:
        if not can(hold):
            pytest.skip(f"this system does not have {hold}")
    file = folder / "eve.py"
    file.write_text(text)
    given = {"file": str(file), "required": find("even_a").required}
    with Confined("kleene.exercises.solving:Solver.of", given, str(file), seconds=20, holds=holds) as process:
        try:
            process.ask("read", doing="it was read")
        except InputError as error:
            return str(error)
    return process.printed


LEAVING = """
import os, subprocess
sleep = ["sleep", "{marker}"]
subprocess.Popen(sleep)
for _ in range(9):
    subprocess.Popen(sleep, start_new_session=True)
if os.fork() == 0:
    os.setsid()
    subprocess.Popen(sleep)
    os._exit(0)
os.wait()
print("started")
"""


@IN_PROC
@pytest.mark.parametrize("holds", EACH_WAY, ids="+".join)
def test_all_that_a_file_has_started_ends_with_it(holds, tmp_path):
    marker = f"600.{time.time_ns()}"
    assert run_held(tmp_path, LEAVING.format(marker=marker) + RIGHT, holds) == "started\n"
    assert not is_left(marker)


@IN_PROC
def test_processes_that_start_others_again_and_again_end_with_the_file(tmp_path):
    marker = f"kleene-{time.time_ns()}"
    chain = f"import os\n{marker!r}\nwhile True:\n    if os.fork(): os._exit(0)\n"
    text = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-S', '-c', {chain!r}])\n{RIGHT}"
    assert run_held(tmp_path, text, ("numbers",)) == ""
    assert not is_left(marker)


SIGNALS = """
import os
try:
    os.kill({other}, 0)
except OSError as error:
    print(type(error).__name__)
else:
    print("reached")
"""


@pytest.mark.parametrize(("holds", "told"), [(("numbers",), "ProcessLookupError"), (("writes",), "PermissionError")])
def test_a_file_cannot_signal_the_grader_where_the_system_allows_it(holds, told, tmp_path):
    printed = run_held(tmp_path, SIGNALS.format(other=os.getpid()) + RIGHT, holds)
    if holds == ("writes",) and printed == "reached\n":
        pytest.skip("this system's Landlock does not hold back signals")
    assert printed == f"{told}\n"


@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])
@pytest.mark.parametrize("holds", [(), HOLDS], ids="+".join)
def test_the_grader_outlives_a_file_that_signals_its_parent(number, holds, tmp_path):
    text = f"import os, signal, time\nos.kill(os.getppid(), signal.{number})\ntime.sleep(0.2)\n{RIGHT}"
    told = run_held(tmp_path, text, holds)
    assert told == "" or f"was ended by {number}" in told or "PermissionError" in told


@pytest.mark.parametrize("holds", [("writes",), HOLDS], ids="+".join)
def test_a_file_writes_in_its_own_folder_alone(holds, tmp_path):
    (tmp_path / "theirs").write_text("as it was")
    attempts = {
        "own": "open('own.txt', 'w').write('x') and os.mkdir('folder')",
        "null": "open(os.devnull, 'w').write('x')",
        "new": f"open({str(tmp_path / 'new')!r}, 'w')",
        "over": f"open({str(tmp_path / 'theirs')!r}, 'w')",
        "gone": f"os.remove({str(tmp_path / 'theirs')!r})",
        "cut": f"os.truncate({str(tmp_path / 'theirs')!r}, 0)",
        "moved": f"os.rename({str(tmp_path / 'theirs')!r}, 'mine')",
    }
    lines = [f"try: {how}; print('{what}')\nexcept OSError: pass" for what, how in attempts.items()]
    printed = run_held(tmp_path, "import os\n" + "\n".join(lines) + f"\n{RIGHT}", holds)
    assert printed.split() == ["own", "null"]
    assert (tmp_path / "theirs").read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["eve.py", "theirs"]


def test_the_folder_in_which_a_file_works_is_removed(tmp_path):
    nested = "for _ in range(1_100): os.mkdir('a'); os.chdir('a')"
    folder = run_held(tmp_path, f"import os\nprint(os.getcwd())\n{nested}\n{RIGHT}", ()).strip()
    assert Path(folder).name.startswith("kleene-confined-")
    assert not Path(folder).exists()


GRADING = "import sys\nfrom kleene.exercises import grade\ngrade(sys.argv[1])\n"


@IN_PROC
def test_all_ends_with_a_grader_that_is_killed(tmp_path):
    marker = f"600.{time.time_ns()}"
    text = LEAVING.format(marker=marker) + "import time\ntime.sleep(600)\n"
    (tmp_path / "eve.py").write_text(HEAD + text)
    with subprocess.Popen([sys.executable, "-c", GRADING, str(tmp_path / "eve.py")]) as grader:
        deadline = time.monotonic() + 60
        while not is_there(marker) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert is_there(marker)
        grader.kill()
    assert not is_left(marker)


def test_a_bound_on_answers_holds_for_all_of_them_together(tmp_path):
    file = tmp_path / "eve.py"
    file.write_text(HEAD + RIGHT)
    given = {"file": str(file), "required": find("even_a").required}
    with Confined("kleene.exercises.solving:Solver.of", given, "eve.py", seconds=20, most=1_000) as process:
        words = ["a", "b"] * 10
        assert process.ask("run", words, doing="it ran")[0] == {"answer": False}
        with pytest.raises(InputError, match=r"'eve.py' cannot be graded: it answers with more than is read of it"):
            process.ask("run", words * 2, doing="it ran")
