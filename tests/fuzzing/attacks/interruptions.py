"""Processes that are killed at any moment: files are whole, the old or the new, and work goes on to the same end."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kleene
from kleene.errors import KleeneError
from kleene.sweeping.sweep import sweep
from kleene.teaching.results import load as load_results
from tests.fuzzing.attacks import Attack
from tests.fuzzing.samples import SWEEP
from tests.sweeping.disturbed import COMMAND, assert_tidy, begun, ended, kill_the_driver, measured, wait_for_work

SECONDS = 120  # until a process counts as hung
# Programs that write a file again and again, now one content and now another; `path` is where, and `say` tells that a
# file is there.
SAVING = {
    "an automaton": (".json", "kleene.DFA.from_regex(('a*', '(a|b)*abb')[n % 2]).save(path)"),
    "a picture of states": (".svg", "kleene.view(('dfa:a*', 'dfa:(a|b)*abb')[n % 2], path=path)"),
    "a network": (".safetensors", "networks[n % 2].save(path)"),
    "a trace": (".json", "kleene.DFA.from_regex('a*').run('a' * (1 + 500 * (n % 2))).save(path)"),
    "a packed trace": (".npz", "kleene.DFA.from_regex('a*').run('a' * (1 + 500 * (n % 2))).save(path)"),
}
LOOP = """
import itertools, sys, kleene
path = sys.argv[1]
if path.endswith('.safetensors'):
    networks = [kleene.compile(kleene.DFA.from_regex(text)) for text in ('a*', '(a|b)*abb')]
for n in itertools.count():
    {body}
    if n == 0:
        print('begun', flush=True)
"""
READ: dict[str, Callable[[Path], Any]] = {
    "an automaton": kleene.DFA.load,
    "a picture of states": lambda path: path.read_text().rindex("</svg>"),
    "a network": kleene.load,
    "a trace": kleene.Trace.load,
    "a packed trace": kleene.Trace.load,
}
TIMES = 8  # that a process that writes is killed, for each kind of file
TEACH = ("teach", "dfa:tomita_1", "--iterations", "300", "--test-every", "50", "--seeds", "2", "--hidden", "3")


def attacks() -> Iterator[Attack]:
    for name in SAVING:
        for number in range(TIMES):
            yield f"saving {name} ({number})", lambda folder, name=name, n=number: _saving(folder, name, n)
    for number in range(3):
        yield f"a sweep ({number})", lambda folder, n=number: _sweeping(folder, n)
    for number in range(3):
        yield f"a checkpoint ({number})", lambda folder, n=number: _teaching(folder, n)
    for number in range(4):
        yield f"a tally ({number})", lambda folder, n=number: _tallying(folder, n)


def _saving(folder: Path, name: str, number: int) -> str | None:
    """A process that writes is killed some moments after its first file: the file is whole, and nobody else's."""
    ending, body = SAVING[name]
    path = folder / f"file{ending}"
    command = [sys.executable, "-c", LOOP.format(body=body), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.Random(f"{name} {number}").uniform(0, 0.1))
        process.kill()
    READ[name](path)
    if name == "an automaton":  # who writes next sweeps away what was left
        READ[name](path).save(path)
        left = sorted(file.name for file in folder.iterdir())
        return None if left == [path.name] else f"{left} are left"
    return None


def _sweeping(folder: Path, number: int) -> str | None:
    """The driver is killed up to three times: no cell is lost or run twice, and the measurements are the same."""
    chance, file, store = random.Random(number), folder / "sweep.toml", folder / "s"
    file.write_text(SWEEP.replace("iterations = 2", "iterations = 400").replace("test_every = 1", "test_every = 100"))
    for _ in range(3):
        driver = begun(file, store)
        if wait_for_work(store, driver) is None:
            driver.communicate()
            break
        time.sleep(chance.uniform(0, 1.5))
        kill_the_driver(driver)
    status, out, err = ended(begun(file, store), SECONDS)
    if status != 0 or "4 of 4 cells are done" not in out:
        return f"it ended with status {status}: {out[-200:]} {err[-300:]}"
    assert_tidy(store)
    sweep(file, store=folder / "undisturbed")
    return None if measured(store) == measured(folder / "undisturbed") else "the measurements are others"


def _teaching(folder: Path, number: int) -> str | None:
    """Teaching that is killed goes on from its checkpoint, and ends as it would have."""
    kept = ("--checkpoint", str(folder / "kept.safetensors"), "--results", str(folder / "results"))
    _killed(folder / "kept.safetensors", random.Random(number), *TEACH, *kept)
    _run(*TEACH, *kept)
    _run(*TEACH, "--results", str(folder / "undisturbed"))
    found, wanted = (load_results(*(folder / name).glob("*.json"))["rows"] for name in ("results", "undisturbed"))
    return None if found == wanted else f"it ended in {found[-1]} and would have in {wanted[-1]}"


def _tallying(folder: Path, number: int) -> str | None:
    """A check of random programs that is killed goes on from its tally."""
    words = ("check", "--random", "60", "--workers", "1", "--resume", str(folder / "tally.json"), "--json")
    _killed(folder / "tally.json", random.Random(number), *words)
    told = json.loads(_run(*words))
    return None if told["done"] == 60 == told["agree"] else f"it counted {told}"


def _killed(file: Path, chance: random.Random, *words: str) -> None:
    """Start the command, and kill it some moments after the file is there."""
    command = [sys.executable, "-c", COMMAND, *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + SECONDS
        while process.poll() is None and not file.exists() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)


def _run(*words: str) -> str:
    done = subprocess.run([sys.executable, "-c", COMMAND, *words], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise KleeneError(f"`kleene {' '.join(words)}` ended with status {done.returncode}: {done.stderr[-500:]}")
    return done.stdout
