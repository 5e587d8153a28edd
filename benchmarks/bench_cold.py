"""What a person waits for: commands from a fresh process. Run with `kleene bench cold` (`--quick`: once each).

Each command runs in a process of its own, first with an empty folder of compiled programs ("first run"), then with
what that run kept ("again"). `wall` is what the clock says, `CPU` what all its threads took, which load changes little.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

SENTENCE = "The man near the houses laughs"
COMMANDS: dict[str, tuple[list[str], float]] = {  # with the seconds that it should take on a quiet machine
    "kleene --help": (["--help"], 0.3),
    "kleene list": (["list"], 1.0),
    "kleene run addition 12 34": (["run", "addition", "12", "34"], 1.0),
    "kleene run addition 12 34 --compiled": (["run", "addition", "12", "34", "--compiled"], 1.5),
    "kleene run dfa:'(0|10*1)*' 110 --compiled": (["run", "dfa:(0|10*1)*", "110", "--compiled"], 1.5),
    f"kleene explain {SENTENCE!r}": (["explain", SENTENCE], 3.0),
}
DEVICE = "CPU"
NO_PEER = "Kleene's own commands"
IMPORTS = ("kleene", "kleene.traces", "kleene.programs.alta", "kleene.machines", "jax")


def measure(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every measurement as a row."""
    repeats = 1 if quick else 3
    for name in IMPORTS:
        yield from _rows(f"import {name}", [_started(["-c", f"import {name}"], {}) for _ in range(repeats)])
    for name, (words, aim) in COMMANDS.items():
        started = ["-c", "from kleene.cli import main; main()", *words]
        firsts, agains = [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                firsts.append(_started(started, {"KLEENE_CACHE": folder}))
                agains.append(_started(started, {"KLEENE_CACHE": folder}))
        yield from _rows(f"{name}, first run", firsts, aim)
        yield from _rows(f"{name}, again", agains, aim)


def _started(words: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds by the clock, and seconds of CPU, of Python with these arguments, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [sys.executable, *words], cwd=folder, env=os.environ | environment, check=True, capture_output=True
        )
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _rows(name: str, taken: list[tuple[float, float]], aim: float | None = None) -> Iterator[dict[str, Any]]:
    wall, cpu = (min(values) for values in zip(*taken))
    row: dict[str, Any] = {"name": f"{name}: wall", "value": wall, "unit": "s"}
    if aim is not None:
        row |= {"aim": aim, "reached": wall <= aim, "remark": f"aim {aim:g}: {'reached' if wall <= aim else 'MISSED'}"}
    yield row
    yield {"name": f"{name}: CPU", "value": cpu, "unit": "s"}
