"""Trying a case: the command line in this process, with an alarm, and a look at memory, output, files and state."""

import contextlib
import io
import itertools
import json
import os
import re
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from kleene.caching import cache_folder
from kleene.cli import main
from kleene.errors import KleeneError
from tests.fuzzing.cases import Case
from tests.fuzzing.parameters import commands
from tests.fuzzing.samples import learning

SECONDS = 10.0  # of the processor; waiting may take longer, where others work as well
LONGER = {"teach": 60.0, "judge": 60.0, "groundtruth": 30.0, "sweep": 30.0}  # what teaches, or compiles for long
TELLS_FIRST = ("teach",)  # what was learned is told before it is stored, so that it is not lost
MEBIBYTES = 1024  # more than before the case
FORBIDDEN = ("Traceback (most recent call last)", "an error of Kleene's own", "there is not enough memory for this")
CACHE = cache_folder()  # which is the same for all cases, so that nothing is compiled twice
LINKS = {"link to nothing": "nothing", "device": "/dev/zero", "full device": "/dev/full"}
OPTION = re.compile(r"(?<![\w'-])--[a-z][a-z_-]+")
STATUSES = (0, 1, 2, 3)  # done; the answer is no; bad input; stopped before the end


class TimedOut(BaseException):
    """Not an Exception, so that nobody takes it for one of a file."""


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    status: object
    out: str
    err: str

    @property
    def was_parsed(self) -> bool:
        """Whether the command itself began: its words are those of a command, and its options are known."""
        return not self.err.startswith("Usage: ") and not self.out.lstrip().startswith("Usage: ")


def fault_of(case: Case, place: Path, seconds: float | None = None) -> str | None:
    """What was wrong in how a case ended, None where it is in order."""
    return tried(case, place, seconds)[0]


def tried(case: Case, place: Path, seconds: float | None = None) -> tuple[str | None, Ended | None]:
    """What was wrong in how a case ended, and how it ended if it was a call that did."""
    allowed = seconds or LONGER.get((*case.words, "")[0], SECONDS)
    before, began = _memory("VmRSS"), time.process_time()
    with _made(case, place), _peak_reset(), _alone(place) as written, _limited(allowed, case.room):
        fault, ended = _fault(case, allowed)
    grown, took = _memory("VmHWM") - before, time.process_time() - began
    if fault is None and took > allowed:
        fault = f"it took {took:.0f} s"
    if fault is None and grown > MEBIBYTES:
        fault = f"it took {grown:,.0f} MiB"
    left = _left(place, written)
    if fault is None and left:
        fault = f"it wrote {', '.join(left)}"
    again = f"Try it again with: python -m tests.fuzzing {case.kind} {case.number}"
    return (None if fault is None else f"{case}\n{fault}\n{again}"), ended


def _fault(case: Case, seconds: float) -> tuple[str | None, Ended | None]:
    words, ended = case.words, None
    try:
        if words[0] == "load":
            return _load(Path(words[1])), None
        ended = _call(words)
    except TimedOut:
        return f"it was still running after {seconds:.0f} s", None
    return _unfit(words, ended), ended


def _unfit(words: tuple[str, ...], ended: Ended) -> str | None:
    """What does not fit together in how a call ended."""
    status, out, err = ended.status, ended.out, ended.err
    if any(text in err + out for text in FORBIDDEN):
        return f"it said: {(err + out)[-2000:]}"
    if status not in STATUSES or (status == 2 and not err):
        return f"it ended with status {status} and said {err[-500:]!r}"
    errors = [line for line in err.splitlines() if line.startswith("kleene: ") and ": warning: " not in line]
    if status == 0 and any(_is_refusal(line) for line in errors):
        return f"it ended with status 0 and said {err[-500:]!r}"
    if unknown := _options_that_are_none(words, errors):
        return f"it advises {', '.join(unknown)}, which the command does not have: {err[-500:]!r}"
    if status == 2 and out and ended.was_parsed and words[0] not in TELLS_FIRST:
        return f"it ended with status 2 after it had printed {out[-300:]!r}"
    if status == 0 and ended.was_parsed and _asks_for_json(words):
        return _not_json(out)
    return None


def _options_that_are_none(words: tuple[str, ...], errors: list[str]) -> list[str]:
    """The options that an error names, and the command lacks: neither typed, nor in a command line of the advice."""
    own = {word for one in commands().get(_command(words) or "", ()) for word in one.spellings}
    told = " ".join(errors)
    of_others = {*OPTION.findall(" ".join(re.findall(r"`[^`]*`", told)))}
    return sorted({*OPTION.findall(told)} - own - of_others - {*words}) if own else []


def _is_refusal(line: str) -> bool:
    """Whether a line on stderr is an error, rather than a word about how far a command is."""
    return not any(text in line for text in ("stopped", "done", "passed over", "page"))


def _asks_for_json(words: tuple[str, ...]) -> bool:
    """Whether --json is among the options, rather than the value of one or behind the end of all."""
    name = _command(words)
    taking = {word for one in commands().get(name or "", ()) if one.takes is not bool for word in one.spellings}
    for before, word in itertools.pairwise(words):
        if word == "--" and before not in taking:
            return False
        if word == "--json" and before not in taking:
            return name is not None
    return False


def _command(words: tuple[str, ...]) -> str | None:
    return next((name for name in commands() if " ".join(words[: len(name.split())]) == name), None)


def _not_json(out: str) -> str | None:
    def refused(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON")

    try:
        json.loads(out, parse_constant=refused)
    except ValueError as error:
        return f"with --json it printed {out[:300]!r}: {error}"
    return None


def _call(words: tuple[str, ...]) -> Ended:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    before, status = _state(), None
    try:
        with (
            mock.patch.object(sys, "argv", ["kleene", *words]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            try:
                main()
                status = "none"
            except SystemExit as left:
                status = left.code or 0
            except Exception as error:
                status = f"{type(error).__name__}: {error}"
            status = status if (sys.stdout, sys.stderr) == (out, err) else f"{status}, and the streams are others"
    finally:
        after = _state()
    changed = [name for name in before if before[name] != after[name]]
    return Ended(f"{status}, and {changed} changed" if changed else status, _text(out), _text(err))


def _state() -> dict[str, Any]:
    """What a command must leave as it was."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return {"folder": os.getcwd(), "path": list(sys.path), "handlers": handlers}


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
        content = path.read_bytes() if path.is_file() else b""
        kinds = {b"rule set": RuleSet.load, b"teaching": lambda file: restored(file, *learning())}
        return next((read for kind, read in kinds.items() if kind in content), load)
    return {".conllu": read_conllu, ".txt": Corpus.from_file}.get(path.suffix, Trace.load)


@contextlib.contextmanager
def _made(case: Case, place: Path) -> Iterator[None]:
    """The case's files in a fresh folder, with a writer for a pipe."""
    shutil.rmtree(place, ignore_errors=True)
    (place / "tmp").mkdir(parents=True)
    for name, content in case.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    with _odd(place, *case.odd, case.files[case.odd[0]]) if case.odd else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def _odd(place: Path, name: str, what: str, content: bytes) -> Iterator[None]:
    """Something else in a file's place. Who opens the pipe reads the file's content from it, and its end."""
    file, over = place / name, threading.Event()
    file.unlink()
    if what == "pipe":
        os.mkfifo(file)
        writer = threading.Thread(target=_write, args=(file, content, over), daemon=True)
        writer.start()
    elif what == "folder":
        file.mkdir()
    else:
        file.symlink_to(LINKS.get(what, file.name))
    try:
        yield
    finally:
        over.set()


def _write(pipe: Path, content: bytes, over: threading.Event) -> None:
    """Write the content for whoever reads the pipe, again and again."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGPROF, signal.SIGALRM))
    while not over.wait(0.01):
        with contextlib.suppress(OSError):  # nobody reads, or no longer; the pipe is gone
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.set_blocking(descriptor, True)
                os.write(descriptor, content[:60_000])
            finally:
                os.close(descriptor)


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[set[str]]:
    """The process in that folder, which is its home too, and without a network; yields the paths that it writes."""
    own = {"HOME": str(place), "KLEENE_DATA": str(place / "data"), "TMPDIR": str(place / "tmp")}
    connect = socket.create_connection

    def connect_here(address: tuple[str, int], *args: Any, **options: Any) -> socket.socket:
        if address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"a case asked for {address[0]}")
        return connect(address, *args, **options)

    with (
        contextlib.chdir(place),
        mock.patch.dict(os.environ, own),
        mock.patch.object(tempfile, "tempdir", str(place / "tmp")),
        mock.patch.object(socket, "create_connection", connect_here),
        _watched() as written,
    ):
        yield written


_written: set[str] | None = None  # where a case writes; a hook cannot be taken back, so there is one for all


def _hook(event: str, arguments: tuple) -> None:
    if _written is None:
        return
    if event == "open" and isinstance(arguments[0], (str, bytes)) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
        _written.add(os.fsdecode(os.path.abspath(arguments[0])))
    elif event in ("os.mkdir", "os.remove", "os.symlink", "os.rename") and isinstance(arguments[-1], int):
        _written.update(os.path.abspath(path) for path in arguments[:2] if isinstance(path, str))


sys.addaudithook(_hook)


@contextlib.contextmanager
def _watched() -> Iterator[set[str]]:
    global _written
    _written = set()
    try:
        yield _written
    finally:
        _written = None


def _left(place: Path, written: set[str]) -> list[str]:
    """What a case wrote outside its folder, or left in the folder for temporary files."""
    allowed = (str(place), str(CACHE), "/dev/", "/proc/")
    outside = {path for path in written if not path.startswith(allowed) and "__pycache__" not in path}
    inside = {str(path) for path in (place / "tmp").iterdir()} if (place / "tmp").is_dir() else set()
    return sorted(outside | inside)


@contextlib.contextmanager
def _limited(seconds: float, room: int | None) -> Iterator[None]:
    """Alarms on the processor's time and, later, on the clock's; bounds on the memory and on the size of a file."""

    def alarm(*_: object) -> None:
        raise TimedOut

    before = {number: signal.signal(number, alarm) for number in (signal.SIGPROF, signal.SIGALRM)}
    most = {resource.RLIMIT_AS: int(_memory("VmSize") + 16 * MEBIBYTES) << 20}
    most |= {} if room is None else {resource.RLIMIT_FSIZE: room}
    limits = {number: resource.getrlimit(number) for number in most}
    for number, soft in most.items():
        resource.setrlimit(number, (soft, limits[number][1]))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 6 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, limit in limits.items():
            resource.setrlimit(number, limit)
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
