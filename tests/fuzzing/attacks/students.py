"""Hostile solutions of exercises: each is graded or refused in time, none passes that is wrong, and none harms others.

They run as the user who tries this, so they change nothing but their own files and what they are handed.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.fuzzing.attacks import Attack
from tests.fuzzing.trial import FORBIDDEN

COMMAND = "from kleene.cli import main; main()"
SECONDS, PATIENCE, MEBIBYTES = 4, 40.0, 5000  # for grading; until it counts as hung; for any process of it
RIGHT = '# exercise: even_a\neven_a = "(b|ab*a)*"\n'
WRONG = "even_a = 'b*'"
# Files that must not pass: what they do, before a wrong solution.
HOSTILE = {
    "an endless loop": "while True: pass",
    "a loop that catches everything": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "a thread that never ends": "import threading, time\nthreading.Thread(target=lambda: time.sleep(1000)).start()",
    "a sleep": "import time; time.sleep(1000)",
    "signals that are ignored": "import signal, time\nfor n in (2, 14, 15): signal.signal(n, signal.SIG_IGN)\n"
    "time.sleep(1000)",
    "an end with status 0": "import os; os._exit(0)",
    "an end by SystemExit": "raise SystemExit(0)",
    "an end by a signal": "import os; os.kill(os.getpid(), 9)",
    "an abort": "import os; os.abort()",
    "a segmentation fault": "import ctypes; ctypes.string_at(0)",
    "a KeyboardInterrupt": "raise KeyboardInterrupt",
    "an exception of its own": "class Odd(BaseException):\n    def __str__(self): raise ValueError\nraise Odd",
    "an endless message": "raise ValueError('x' * 100_000_000)",
    "deep recursion": "def f(): f()\nf()",
    "a recursion limit of a million": "import sys; sys.setrecursionlimit(10**6)\ndef f(): f()\nf()",
    "memory without end": "held = []\nwhile True: held.append(bytearray(50_000_000))",
    "output without end": "while True: print('x' * 10_000)",
    "errors without end": "import sys\nwhile True: sys.stderr.write('x' * 10_000)",
    "signs of a terminal": r"print('\033[2J\033]0;title\007\rpassed')",
    "a surrogate": r"print('\ud800')",
    "bytes that are no UTF-8": r"import sys; sys.stdout.buffer.write(b'\xff\xfe' * 100)",
    "closed streams": "import os\nfor n in (0, 1, 2): os.close(n)",
    "all descriptors closed": "import os; os.closerange(0, 256)",
    "descriptors that are written to": "import os\nfor n in range(3, 64):\n"
    "    try: os.write(n, b'{\"passed\": true}')\n    except OSError: pass",
    "descriptors that are flooded": "import os\nfor n in range(1, 64):\n    try:\n        for _ in range(99): "
    "os.write(n, b'x' * 1_000_000)\n    except OSError: pass",
    "descriptors with brackets": "import os\nfor n in range(3, 64):\n    try: os.write(n, b'[' * 200_000)\n"
    "    except OSError: pass",
    "stdin that is read": "import sys; sys.stdin.read()",
    "a child that stays": "import subprocess; subprocess.Popen(['sleep', '30'])",
    "a child in a session of its own": "import subprocess\nsubprocess.Popen(['sleep', '30'], start_new_session=True)",
    "a grandchild that holds the output": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(30)",
    "the group killed": "import os; os.killpg(0, 9)",
    "files without end": "n = 0\nwhile n < 40:\n    open(f'big{n}', 'wb').write(b'x' * 10_000_000)\n    n += 1",
    "a patched comparison": "import kleene.exercises.marking as m\nfor name in dir(m):\n"
    "    if callable(getattr(m, name)):\n        setattr(m, name, lambda *a, **k: True)",
    "a patched json": "import json\njson.dumps = lambda *a, **k: '{\"passed\": true}'",
    "patched automata": "import kleene\nkleene.DFA.accepts = lambda *a: True\nkleene.DFA.run = lambda *a: None",
    "a patched print and exit": "import builtins, sys\nbuiltins.print = None\nsys.exit = None",
    "a module in another's place": "import sys; sys.modules['kleene.exercises.grading'] = sys",
    "an atexit": "import atexit, os; atexit.register(lambda: os._exit(0))",
    "tracing": "import sys; sys.settrace(lambda *a: None)",
    "a result of five brackets": "print('[[[[[')",
    "a result that it prints": 'print(\'{"passed": true, "grade": 1}\')',
    "a result in its arguments": "import json, pathlib, sys\ntry: words = json.loads(sys.argv[1]).values()\n"
    "except Exception: words = ()\nfor word in words:\n    if isinstance(word, str) and not word.endswith('.py'):\n"
    "        try: pathlib.Path(word).write_text('{\"passed\": true}')\n        except (OSError, ValueError): pass",
    "a pipe in its arguments": "import json, os, sys\ntry: words = json.loads(sys.argv[1]).values()\n"
    "except Exception: words = ()\nfor word in words:\n    if isinstance(word, str) and not word.endswith('.py'):\n"
    "        try: os.path.exists(word) and os.unlink(word); os.mkfifo(word)\n        except OSError: pass",
}
# Whole files in the place of a solution.
FILES = {
    "no solution": b"",
    "another name": b"odd = 1\n",
    "a number": b"even_a = 5\n",
    "a string that is always equal": b"class S(str):\n    def __eq__(self, other): return True\n"
    b"    __hash__ = str.__hash__\neven_a = S('b*')\n",
    "an automaton that accepts as it likes": b"import kleene\nclass D(kleene.DFA):\n"
    b"    def accepts(self, word): return word.count('a') % 2 == 0\neven_a = D.from_regex('b*')\n",
    "an expression without end": b"even_a = '(' * 100_000\n",
    "an expression that explodes": b"even_a = '(a|b)*a' + '(a|b)' * 60\n",
    "an expression of a million letters": b"even_a = 'a' * 1_000_000\n",
    "a null": b"even_a = 'b*'\0\n",
    "no UTF-8": b"even_a = '\xff'\n",
    "nested brackets": b"even_a = " + b"(" * 10_000 + b"'b*'" + b")" * 10_000 + b"\n",
    "a huge number": b"even_a = 10 ** (10 ** 8)\n",
    "an attribute that raises": b"class X:\n    def __getattribute__(self, name): raise SystemExit(0)\neven_a = X()\n",
    "a class that claims to be an automaton": b"import kleene\nclass X:\n    __class__ = kleene.DFA\neven_a = X()\n",
}


def attacks() -> Iterator[Attack]:
    for name, text in HOSTILE.items():
        content = f"# exercise: even_a\n{text}\n{WRONG}\n".encode()
        yield name, lambda folder, content=content: _fault(folder, content)
    for name, content in FILES.items():
        yield name, lambda folder, content=content: _fault(folder, b"# exercise: even_a\n" + content)
    for name in ("an end with status 0", "the group killed", "descriptors with brackets", "a segmentation fault"):
        content = f"# exercise: even_a\n{HOSTILE[name]}\n{WRONG}\n".encode()
        yield f"{name}, among others", lambda folder, content=content: _fault(folder, content, among=True)
    yield "a right solution", _passes


def _fault(folder: Path, content: bytes, among: bool = False) -> str | None:
    """What is wrong in how a file that is wrong is graded; others beside it are graded in any case."""
    (folder / "student.py").write_bytes(content)
    (folder / "right.py").write_text(RIGHT)
    others = ("right.py",) if among else ()
    status, told, took, peak = _graded(folder, (*others, "student.py", *others))
    if status not in (1, 2):
        return f"it ended with status {status}: {told[-300:]!r}"
    if any(text in told for text in FORBIDDEN):
        return f"it said {told[-300:]!r}"
    if took > PATIENCE:
        return f"it took {took:.0f} s"
    if peak > MEBIBYTES:
        return f"it took {peak:,.0f} MiB"
    if any(sign in told for sign in "\033\007\r"):
        return f"signs of the terminal were printed: {told[-300:]!r}"
    if among and '"passed": true' not in told:
        return f"the others have no grades: {told[-300:]!r}"
    return None


def _passes(folder: Path) -> str | None:
    (folder / "right.py").write_text(RIGHT)
    status, told, _, _ = _graded(folder, ("right.py",))
    return None if status == 0 else f"it ended with status {status}: {told[-300:]!r}"


def _graded(folder: Path, files: tuple[str, ...]) -> tuple[int | None, str, float, float]:
    """Exit status (None if it hung), what was said, seconds, and the most MiB of a process."""
    command = [sys.executable, "-c", COMMAND, "exercise", "grade", *files, "--seconds", str(SECONDS), "--json"]
    started = time.monotonic()
    with open(folder / "said", "wb") as said:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=folder, start_new_session=True
        )
    status, usage = _waited(process.pid, started + (1 + len(files)) * PATIENCE)
    process.returncode = status
    told = (folder / "said").read_bytes()[-100_000:].decode(errors="replace")
    return status, told, time.monotonic() - started, usage


def _waited(pid: int, until: float) -> tuple[int | None, float]:
    while time.monotonic() < until:
        found, status, usage = os.wait4(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024
        time.sleep(0.05)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None, 0.0
