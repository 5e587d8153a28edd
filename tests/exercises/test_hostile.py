"""Hostile files: what each of them gets for a grade, and that the grader outlives them."""

import os
import time
import tracemalloc
from pathlib import Path

import pytest

from kleene.confining.process import MOST
from kleene.errors import InputError
from kleene.exercises import grade, grade_each
from kleene.exercises.grade import Grade

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
        "did not end within 1 seconds; look for a loop",
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
    """What is said of the file: passed, not yet, or why it cannot be graded."""
    (folder / "eve.py").write_text(text)
    try:
        return "passed" if grade(folder / "eve.py", seconds=seconds, grace=0.5) else "not yet"
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("what", HANDED_OVER)
def test_a_file_that_answers_in_kleenes_place_is_not_graded(what, tmp_path):
    text, told = HANDED_OVER[what]
    started = time.monotonic()
    assert told in row(tmp_path, HEAD + SEND + text + "\n", seconds=1 if "without end" in what else 20)
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("what", PATCHED)
def test_a_file_that_changes_kleene_in_its_own_process_does_not_pass(what, tmp_path):
    assert row(tmp_path, HEAD + PATCH + PATCHED[what]) != "passed"


@pytest.mark.parametrize("answer", [3, [], ["accept"], [1, 2], ["accept", {}], ["accept", [[[]]]]])
def test_what_cannot_be_a_verdict_with_a_tape_is_no_answer(answer, tmp_path):
    table = "start q\\naccept y\\nreject n\\ninput 0 1\\nq _ -> y _ R\\notherwise reject\\n"
    machine = f"import kleene\nprogram = kleene.TuringMachine.from_text('{table}')\n"
    lie = f"solving.Solver.run = lambda self, inputs: [{{'answer': {answer!r}}}] * len(inputs)\n"
    told = row(tmp_path, "# exercise: flip\n" + PATCH + machine + lie)
    assert NO_ANSWER in told or told == "not yet"


@pytest.mark.parametrize("what", CLASSES)
def test_an_answer_that_says_that_it_equals_anything_does_not_pass(what, tmp_path):
    text = RASP + CLASSES[what] + "first_letter = rasp.Map(lambda t: N(1), rasp.tokens)\n"
    assert row(tmp_path, text) == "not yet"


def test_what_a_file_floods_the_grader_with_takes_little_of_its_memory(tmp_path):
    tracemalloc.start()
    row(tmp_path, HEAD + SEND + "while True: os.write(answers, b'[],' * 20_000)\n")
    assert tracemalloc.get_traced_memory()[1] < 4 * MOST
    tracemalloc.stop()


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
    for words in (("eve\x1b[2J.py",), ("eve\x1b[2J.py", "none.py", "--json"), ("eve\x1b[2J.py", "none.py")):
        result = run("exercise", "grade", *words)
        assert shows_nothing_hidden(result.out + result.err)
        assert "\\x1b" in result.out + result.err or "\\u001b" in result.out
    shown = next(grade_each(["eve\x1b[2J.py"]))
    html = shown._repr_html_() if isinstance(shown, Grade) else ""
    assert shows_nothing_hidden(str(shown) + html)
    assert "<b>" not in html
