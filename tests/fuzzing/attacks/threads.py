"""Eight threads that use the library at once: each gets what one alone gets, and the process stays as it was."""

import io
import json
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import kleene
from kleene.naming import find
from tests.fuzzing.attacks import Attack
from tests.fuzzing.samples import OWN, PROGRAM, sample

THREADS, TIMES = 8, 3
PRINTING = PROGRAM.replace("    z[", "    print('asked')\n    z[")
Verb = Callable[[Path], Any]  # of a folder that the thread has for itself


def _run(subject: str, word: str, **options: Any) -> Verb:
    return lambda folder: kleene.run(subject, word, **options).as_json(with_trace=True)


def _own(text: str, name: str, word: str, **options: Any) -> Verb:
    def verb(folder: Path) -> Any:
        (folder / "own.py").write_text(text)
        return kleene.run(f"{folder / 'own.py'}:{name}", word, **options).output

    return verb


def _compiled(subject: str, **options: Any) -> Verb:
    def verb(folder: Path) -> Any:
        path = folder / "network.safetensors"
        kleene.compile(find(subject).subject, **options).save(path)
        kleene.load(path)
        return path.read_bytes()

    return verb


def _loaded(name: str) -> Verb:
    def verb(folder: Path) -> Any:
        (folder / name).write_bytes(sample(name))
        kleene.load(folder / name).save(folder / f"again-{name}")
        return (folder / f"again-{name}").read_bytes()

    return verb


def _results(folder: Path) -> Any:
    (folder / "results.json").write_bytes(sample("results.json"))
    return len(kleene.results(folder))


VERBS: dict[str, Verb] = {
    "run a transformer program": _run("addition", "78 45"),
    "run its network": _run("addition", "78 45", compiled=True),
    "run an automaton's network": _run("dfa:(a|b)*abb", "aabb", compiled=True),
    "run a Turing machine's network": _run("tm:bump", "11", compiled=True),
    "run a circuit's network": _run("swap", "1 0 2 3", compiled=True),
    "run a RASP program's network": _run("rasp:hist", "abac", compiled=True),
    "run a file": _own(PROGRAM, "program", "1 0 1"),
    "run a file that prints": _own(PRINTING, "program", "1 0 1"),
    "run the network of a file that prints": _own(PRINTING, "program", "1 0 1", compiled=True),
    "run a file of RASP": _own(OWN, "backwards", "abc", vocab=list("abc"), max_length=4, compiled=True),
    "compile a transformer program": _compiled("parity_relative"),
    "compile RASP": _compiled("rasp:sort"),
    "compile an automaton": _compiled("dfa:tomita_4", machine="lstm"),
    "compile a Turing machine": _compiled("tm:palindrome"),
    "load an LSTM": _loaded("lstm.safetensors"),
    "load a simple RNN": _loaded("float.safetensors"),
    "check a transformer program": lambda folder: str(kleene.check("sort", samples=3, max_length=3)),
    "check an automaton": lambda folder: str(kleene.check("dfa:ab*", samples=3, max_length=3)),
    "certify": lambda folder: str(kleene.certify(kleene.compile(find("parity_relative").subject), length=6)),
    "extract": lambda folder: kleene.extract(kleene.compile(find("dfa:tomita_4").subject)).to_json(),
    "view a state diagram": lambda folder: str(kleene.view("dfa:tomita_3", path=folder / "out.svg")),
    "view a picture": lambda folder: str(kleene.view("dfa:tomita_3", path=folder / "out.png")),
    "watch": lambda folder: kleene.watch("parity_relative", "101").html,
    "explain a sentence": lambda folder: str(kleene.explain("grammar", "the man laughs")),
    "read results": _results,
}


def attacks() -> Iterator[Attack]:
    for name, verb in VERBS.items():
        yield name, lambda folder, verb=verb: _fault(folder, {"": verb})
    yield "all of them together", lambda folder: _fault(folder, VERBS)


def _fault(folder: Path, verbs: dict[str, Verb]) -> str | None:
    with redirect_stdout(io.StringIO()):
        alone = {name: _alone(verb, _made(folder / f"alone {n}")) for n, (name, verb) in enumerate(verbs.items())}
    names = [*verbs] * (TIMES * THREADS if len(verbs) == 1 else 2)
    places = [_made(folder / str(number)) for number in range(len(names))]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):  # verbs print what a user's function prints
        before = _state()
        with ThreadPoolExecutor(THREADS) as pool:
            told = [*pool.map(lambda name, place: _told(verbs[name], place), names, places)]
        after = _state()
    for name, found in zip(names, told):
        if found != alone[name]:
            return f"{name} gave {found[:300]} in a thread, and {alone[name][:300]} alone"
    changed = [name for name in before if before[name] != after[name]]
    return f"{', '.join(changed)} changed" if changed else None


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _alone(verb: Verb, folder: Path) -> str:
    """The answer as a text without times and folders."""
    answer = verb(folder)
    text = answer if isinstance(answer, str) else json.dumps(answer, default=repr)
    return re.sub(r'"seconds": [0-9.e-]+|[0-9.,]+ m?s\b', "", text.replace(str(folder), ""))


def _told(verb: Verb, folder: Path) -> str:
    """The answer or the error of a thread."""
    try:
        return _alone(verb, folder)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _state() -> dict[str, Any]:
    return {
        "stdout": sys.stdout,
        "stderr": sys.stderr,
        "the profile": sys.getprofile(),
        "the trace function": sys.gettrace(),
        "sys.path": list(sys.path),
        "the filters of warnings": list(warnings.filters),
        "the handler of SIGINT": signal.getsignal(signal.SIGINT),
        "the recursion limit": sys.getrecursionlimit(),
    }
