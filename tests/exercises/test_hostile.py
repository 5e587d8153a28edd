"""Hostile files: what each of them gets for a grade, and that the grader outlives them."""

import itertools
import os
import subprocess
import sys
import time
import tracemalloc
from functools import cache
from pathlib import Path

import pytest

from kleene.confining.process import HOLDS, MOST, Confined
from kleene.errors import InputError
from kleene.exercises import find, grade_each
from kleene.exercises.grade import Grade
from tests.exercises.here import IN_PROC, is_left, is_there

HEAD = "# exercise: even_a\n"
RIGHT, WRONG = "even_a = '(b|ab*a)*'\n", "even_a = 'b*'\n"
# Writes where Kleene's own answers go.
SEND = "import json, os, signal, sys, time\nanswers = json.loads(sys.argv[-1])['socket']\n"
NO_ANSWER = "what it answers is no answer"
PATCH = "import builtins, json, math, sys\nfrom kleene.exercises import deciding, marking, solving\n"

HANDED_OVER = {
    "a list": ("os.write(answers, b'[1,2]\\n')", NO_ANSWER),
    "null": ("os.write(answers, b'null\\n')", NO_ANSWER),
    "a text": ("os.write(answers, b'\"found\"\\n')", NO_ANSWER),
    "a grade": ("os.write(answers, b'{\"passed\": true}\\n')", NO_ANSWER),
    "a grade as an answer": ('os.write(answers, b\'{"found": {"passed": true}}\\n\')\n' + RIGHT, NO_ANSWER),
    "many grades": ('os.write(answers, b\'{"found": {"passed": true}}\\n\' * 9)', NO_ANSWER),
    "right answers out of turn": (
        "for _ in range(3): os.write(answers, json.dumps({'found': [{'answer': True}] * 610}).encode() + b'\\n')",
        NO_ANSWER,
    ),
    "an answer with an answer": ('os.write(answers, b\'{"found": 1, "error": 2}\\n\')\n' + RIGHT, NO_ANSWER),
    "brackets": ("os.write(answers, b'[' * 200_000 + b'\\n')", NO_ANSWER),
    "no text": ("os.write(answers, b'\\xff\\xfe\\x00\\n')", NO_ANSWER),
    "a long number": ("os.write(answers, b'{\"found\": ' + b'9' * 5_000 + b'}\\n')", NO_ANSWER),
    "an error that is none": ("os.write(answers, b'{\"error\": [[], {}]}\\n')", "[[], {}]"),
    "more than is read": ("while True: os.write(answers, b'x' * 65_536)", "answers with more than is read of it"),
    "a long error": ("raise ValueError('x' * 9_000_000)", "answers with more than is read of it"),
    "bytes without end": (
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: os.write(answers, b'x'); time.sleep(0.01)",
        "did not end within 2 seconds; look for a loop",
    ),
    "nothing": ("os.close(answers)\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\ntime.sleep(99)", "cannot be graded"),
    "its end": ("os._exit(0)", "the process that ran it left with status 0"),
    "a strange status": ("os._exit(255)", "the process that ran it left with status 255"),
    "a fault": ("os.kill(os.getpid(), signal.SIGSEGV)", "the process that ran it was ended by SIGSEGV"),
    "pipes in its folder": ("[os.mkfifo(name) for name in ('grade.json', 'result')]\n" + RIGHT, "passed"),
    "a large file": ("open('large', 'wb').truncate(1 << 30)", "File too large"),
    "its own limits": (
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))",
        "limit",
    ),
    "a program that is none": ("class Odd(str): __eq__ = lambda *_: True\neven_a = Odd('b*')", "not yet"),
}
PATCHED = {
    "what compares": "marking.MARKINGS.clear()\ndeciding.is_answer = solving.difference = lambda *_: True\n" + WRONG,
    "what is built in": "builtins.all = builtins.isinstance = builtins.len = lambda *_: True\n" + WRONG,
    "what writes": "json.dumps = lambda *_, **__: '{\"found\": null}'\n" + WRONG,
    "what passes": "deciding.Decision.grade = lambda self: True\n" + WRONG,
    "what runs": f"solving.Solver.run = lambda self, inputs: [{{'answer': True}}] * len(inputs)\n{RIGHT}",
    "some runs": f"solving.Solver.run = lambda self, inputs: []\n{RIGHT}",
    "what is shown": f"solving.Solver.steps = lambda *_: [1, '\\x1b[2J' * 9]\n{WRONG}",
    "its figures": (
        "solving.Solver.run_network = lambda self: {'problem': None, 'figures': {'\\x1b[2J': -1},\n"
        f"    'answers': [{{'answer': True}} for word in self._inputs]}}\n{RIGHT}"
    ),
}
RASP = "# exercise: first_letter\nfrom kleene.programs import rasp\n"
CLASSES = {
    "a number": "class N(int):\n    __eq__ = lambda *_: True\n    __hash__ = int.__hash__\n",
    "a text": "class N(str):\n    __eq__ = lambda *_: True\n    __hash__ = str.__hash__\n",
    "a pair": "class N(tuple):\n    __eq__ = lambda *_: True\n    __hash__ = tuple.__hash__\n"
    "    __new__ = lambda kind, *_: tuple.__new__(kind, (1,))\n",
    "an object": "class N:\n    __init__ = lambda *_: None\n    __eq__, __hash__ = lambda *_: True, object.__hash__\n",
}


def row(folder: Path, text: str, seconds: float = 20) -> str:
    """What a batch says of the file: passed, not yet, or why it could not be graded."""
    (folder / "eve.py").write_text(text)
    found = next(grade_each([folder / "eve.py"], seconds=seconds))
    if isinstance(found, Grade):
        return "passed" if found else "not yet"
    assert type(found) is InputError, found
    return str(found)


@pytest.mark.parametrize("what", HANDED_OVER)
def test_a_file_that_answers_in_kleenes_place_is_not_graded(what, tmp_path):
    text, told = HANDED_OVER[what]
    started = time.monotonic()
    assert told in row(tmp_path, HEAD + SEND + text + "\n", seconds=2 if "without end" in what else 20)
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("what", PATCHED)
def test_a_file_that_changes_kleene_in_its_own_process_does_not_pass(what, tmp_path):
    assert row(tmp_path, HEAD + PATCH + PATCHED[what]) != "passed"


@pytest.mark.parametrize("what", CLASSES)
def test_an_answer_that_says_that_it_equals_anything_does_not_pass(what, tmp_path):
    text = RASP + CLASSES[what] + "first_letter = rasp.Map(lambda t: N(1), rasp.tokens)\n"
    assert row(tmp_path, text) == "not yet"


def test_what_a_file_floods_the_grader_with_takes_little_of_its_memory(tmp_path):
    tracemalloc.start()
    row(tmp_path, HEAD + SEND + "while True: os.write(answers, b'[],' * 20_000)\n")
    assert tracemalloc.get_traced_memory()[1] < 4 * MOST
    tracemalloc.stop()


def test_a_bound_on_answers_holds_for_all_of_them_together(tmp_path):
    file = tmp_path / "eve.py"
    file.write_text(HEAD + RIGHT)
    given = {"file": str(file), "required": find("even_a").required}
    with Confined("kleene.exercises.solving:Solver.of", given, "eve.py", seconds=20, most=1_000) as process:
        words = ["a", "b"] * 10
        assert process.ask("run", words, doing="it ran")[0] == {"answer": False}
        with pytest.raises(InputError, match=r"'eve.py' cannot be graded: it answers with more than is read of it"):
            process.ask("run", words * 2, doing="it ran")


def test_one_hostile_file_does_not_cost_the_others_their_grades(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hostile = {"eve": "null", "mallory": "brackets", "trudy": "more than is read", "oscar": "its end"}
    for name, what in hostile.items():
        Path(f"{name}.py").write_text(HEAD + SEND + HANDED_OVER[what][0] + "\n")
    Path("ada.py").write_text(HEAD + RIGHT)
    os.mkfifo("pipe.py")
    Path("long.py").write_bytes(b"#" * (70 << 20))
    result = run("exercise", "grade", "eve.py", "pipe.py", "mallory.py", "long.py", "trudy.py", "oscar.py", "ada.py")
    assert (result.status, result.err) == (1, "")
    rows = {line.split()[0]: line for line in result.out.splitlines() if ".py" in line.split()[0]}
    assert "passed" in rows.pop("ada.py")
    assert len(rows) == 6
    assert all("not graded" in line for line in rows.values())


# What the system can hold a process to.


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


# What is printed.

ESCAPES = "\\x1b]0;owned\\x07\\x1b[2J\\x9b2J\\u202e\\ud800\\r"


def shows_nothing_hidden(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}import sys\nsys.stdout.reconfigure(errors='surrogatepass')\nprint('{ESCAPES}')\n{WRONG}",
        f"{HEAD}raise ValueError('{ESCAPES}')\n",
        f"{RASP}first_letter = rasp.Map(lambda t: '{ESCAPES}', rasp.tokens).named('{ESCAPES}')\n",
        f"{HEAD}{PATCH}solving.Solver.steps = lambda *_: ['{ESCAPES}']\n{WRONG}",
        f"{HEAD}{PATCH}solving.Solver.run = lambda self, words: [{{'error': '{ESCAPES}'}}] * len(words)\n{RIGHT}",
        f"{HEAD}{PATCH}solving.Solver.run_network = lambda self: {{'problem': '<b>{ESCAPES}'}}\n{RIGHT}",
    ],
)
def test_nothing_that_a_terminal_obeys_is_printed(text, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("eve\x1b[2J.py").write_text(text)
    Path("ada.py").write_text(HEAD + RIGHT)
    for words in (("eve\x1b[2J.py",), ("eve\x1b[2J.py", "ada.py", "--json"), ("eve\x1b[2J.py", "ada.py")):
        result = run("exercise", "grade", *words)
        assert shows_nothing_hidden(result.out + result.err)
        assert "\\x1b" in result.out + result.err or "\\u001b" in result.out
    shown = next(grade_each(["eve\x1b[2J.py"]))
    html = shown._repr_html_() if isinstance(shown, Grade) else ""
    assert shows_nothing_hidden(str(shown) + html)
    assert "<b>" not in html
