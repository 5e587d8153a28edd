"""Find and run the benchmarks in `benchmarks/`, and measure their time and memory.

A benchmark is a file with a function `measure(quick)` that yields rows, made by `measured`. A file may name its device
(`DEVICE`), where that is not jax's, and why its rows have no peer (`NO_PEER`).
"""

import contextlib
import gc
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kleene.errors import InputError, KleeneError

Row = dict[str, Any]  # name, value and unit; where they are known peer, peer_name, ratio, no_peer, device and remark
CHILD = "import sys; from kleene.benchmarking import tell_rows; tell_rows(sys.argv[1], quick=sys.argv[2] == 'quick')"
NO_PEER = "nothing else was measured in this run"


class BenchmarkError(KleeneError):
    """A benchmark ended before it had measured everything."""


def measured(
    name: str,
    value: float,
    unit: str,
    *,
    peer: float | None = None,
    peer_name: str = "",
    no_peer: str = "",
    remark: str = "",
    **more: Any,
) -> Row:
    """A row: what was measured, and what a peer reached in the same run, in the same unit.

    `ratio` is how many times better ours is. More is better where the unit is a rate (`words/s`), less in all others.

    >>> measured("parse", 2.0, "s", peer=6.0, peer_name="plain Python")["ratio"]
    3.0
    """
    row: Row = {"name": name, "value": value, "unit": unit}
    if peer is not None:
        better = value / peer if unit.endswith("/s") else peer / value
        row |= {"peer": peer, "peer_name": peer_name, "ratio": better}
    told = {"no_peer": no_peer, "remark": remark}
    return row | {key: text for key, text in told.items() if text} | more


def chosen(names: list[str]) -> dict[str, Path]:
    """The files of the benchmarks with these names, or of all where none is named; only those of Kleene's checkout."""
    files = benchmarks(Path(__file__))
    if not files:
        asked = f"no benchmark {names[0]!r}" if names else "no benchmarks"
        raise InputError(
            f"{asked}: this Kleene was installed without its benchmarks, which lie in benchmarks/ of its "
            f"checkout; install it from there with `pip install -e .`"
        )
    for name in names:
        if name not in files:
            raise InputError(f"no benchmark {name!r}; there are {', '.join(files)}")
    return {name: files[name] for name in names or files}


def rows_of(file: Path, *, quick: bool = False) -> Iterator[Row]:
    """The rows of a benchmark as they come, from a process of its own: its memory and its threads are its own."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as problems:
        command = [sys.executable, "-c", CHILD, str(file), "quick" if quick else "full"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=problems, text=True, encoding="utf-8", errors="replace"
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                yield _row(line)
        except BaseException:  # the reader left, or Ctrl-C
            process.terminate()
            raise
        finally:
            process.stdout.close()
            status = process.wait()
        if status:
            problems.seek(0)
            lines = [line.strip() for line in problems if line.strip()]
            raise BenchmarkError(lines[-1] if lines else f"it ended with exit status {status}")


def _row(line: str) -> Row:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):  # what a process that the benchmark started has printed
        raise BenchmarkError(f"it printed {line.strip()[:80]!r}, and a row is a line of JSON, made by `measured`")
    return row


def tell_rows(file: str, *, quick: bool = False) -> None:
    """Print each row of a benchmark as a line of JSON; whatever else the benchmark prints goes to stderr."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        module = _module(Path(file))
        for row in module.measure(quick=quick):
            told = {"device": getattr(module, "DEVICE", None) or _device()} | row
            if "peer" not in row:
                told = {"no_peer": getattr(module, "NO_PEER", NO_PEER)} | told
            print(json.dumps(told, ensure_ascii=True), file=out, flush=True)


def _module(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _device() -> str:
    """`CPU`, or the name of the accelerator that jax computes on."""
    import jax

    return "CPU" if jax.default_backend() == "cpu" else jax.devices()[0].device_kind


def benchmarks(module: Path) -> dict[str, Path]:
    """The benchmarks, by name, of the checkout that holds this module; none if the package is installed."""
    package = module.resolve().parent
    root = package.parents[1]
    if package.parent.name != "src" or not (root / "pyproject.toml").is_file():
        return {}
    return {file.stem.removeprefix("bench_"): file for file in sorted((root / "benchmarks").glob("bench_*.py"))}


def missing(package: str, extra: str = "") -> str:
    """Why a peer was not measured: its package is not installed. Empty where it is."""
    if importlib.util.find_spec(package) is not None:
        return ""
    return f"{package} is not installed; pip install {f'kleene[{extra}]' if extra else package}"


def seconds(function: Callable[[], Any], *, repeats: int = 3, warm_up: bool = True) -> float:
    """The time of the shortest of several runs; the first, which compiles, is not counted."""
    if warm_up:
        function()
    gc.collect()
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        taken.append(time.perf_counter() - started)
    return min(taken)


def fresh_peak_memory_mb(name: str) -> float:
    """The most memory, in MB, of a fresh process that builds and compiles a program of the library, jax included."""
    code = (
        "import kleene, kleene.limits; from kleene.programs.alta.library import get;"
        f"kleene.compile(get({name!r}).build()); print(kleene.limits.peak_memory_mb())"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
