"""Trying a case: the command line in this process, with an alarm and a look at the memory."""

import contextlib
import io
import os
import resource
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from kleene.cli import main
from kleene.errors import KleeneError
from tests.fuzzing.cases import Case
from tests.fuzzing.samples import learning

SECONDS = 10.0  # of the processor; waiting may take longer, where others work as well
MEBIBYTES = 1024  # more than before the case
FORBIDDEN = ("Traceback (most recent call last)", "an error of Kleene's own", "there is not enough memory for this")


class TimedOut(BaseException):
    """Not an Exception, so that nobody takes it for one of a file."""


def fault_of(case: Case, folder: Path, seconds: float = SECONDS) -> str | None:
    """What was wrong in how a case ended, None where it is in order."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    before, began = _memory("VmRSS"), time.process_time()
    with _peak_reset(), contextlib.chdir(folder), _limited(seconds):
        fault = _fault(case.words, seconds)
    grown, took = _memory("VmHWM") - before, time.process_time() - began
    if fault is None and took > seconds:
        fault = f"it took {took:.0f} s"
    if fault is None and grown > MEBIBYTES:
        fault = f"it took {grown:,.0f} MiB"
    return None if fault is None else f"{case}\n{fault}\nTry it again with: python -m tests.fuzzing {case.number}"


def _fault(words: tuple[str, ...], seconds: float) -> str | None:
    try:
        if words[0] == "load":
            return _load(Path(words[1]))
        status, told = _call(words)
    except TimedOut:
        return f"it was still running after {seconds:.0f} s"
    forbidden = [text for text in FORBIDDEN if text in told]
    if forbidden:
        return f"it said: {told[-2000:]}"
    if status not in (0, 1, 2) or (status == 2 and not told):
        return f"it ended with status {status} and said {told[-500:]!r}"
    return None


def _call(words: tuple[str, ...]) -> tuple[object, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    typed, sys.argv = sys.argv, ["kleene", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            main()
        return "none", ""
    except SystemExit as left:
        return left.code or 0, _text(err)
    except Exception as error:
        return f"{type(error).__name__}: {error}", _text(err)
    finally:
        sys.argv = typed


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]


def _load(path: Path) -> str | None:
    """What the library does with a file that no command reads: it may refuse it with an error of its own alone."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _reader(path)(path)
    except KleeneError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _reader(path: Path):
    from kleene.machines.protocol import load
    from kleene.programs.alta.rules import RuleSet
    from kleene.tasks.text import Corpus
    from kleene.tasks.treebanks import read_conllu
    from kleene.teaching.plan import restored
    from kleene.traces import Trace

    if path.suffix == ".safetensors":
        content = path.read_bytes()
        kinds = {b"rule set": RuleSet.load, b"teaching": lambda file: restored(file, *learning())}
        return next((read for kind, read in kinds.items() if kind in content), load)
    return {".conllu": read_conllu, ".txt": Corpus.from_file}.get(path.suffix, Trace.load)


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """An alarm on the processor's time and a longer one on the clock's, and a wall before the memory of others."""

    def alarm(*_: object) -> None:
        raise TimedOut

    before = {number: signal.signal(number, alarm) for number in (signal.SIGPROF, signal.SIGALRM)}
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (int(_memory("VmSize") + 16 * MEBIBYTES) << 20, hard))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 6 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _peak_reset() -> Iterator[None]:
    """The peak of the memory counted anew, where Linux lets a process do so."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    yield


def _memory(name: str) -> float:
    """What Linux says of this process, in MiB; 0 elsewhere."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if os.path.exists(status) else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)
