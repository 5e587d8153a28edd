"""Find and run the benchmarks in `benchmarks/`, and measure their time and memory."""

import gc
import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kleene.errors import InputError

Row = dict[str, Any]  # name, value, unit, and remarks


def run_benchmark(name: str, *, quick: bool = False, progress: bool = False) -> list[Row]:
    """The measurements of a benchmark by name. Only the benchmarks in Kleene's own checkout are run."""
    files = benchmarks(Path(__file__))
    if not files:
        raise InputError(
            f"no benchmark {name!r}: this Kleene was installed without its benchmarks, which lie in benchmarks/ of its "
            f"checkout; install it from there with `pip install -e .`"
        )
    if name not in files:
        raise InputError(f"no benchmark {name!r}; there are {', '.join(files)}")
    file = files[name]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    rows: list[Row] = []
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not progress) as bar:
        task = bar.add_task(name, total=None)
        for row in module.measure(quick=quick):
            bar.update(task, description=f"{row['name']}: {row['value']:.4g} {row['unit']}")
            rows.append(row)
    return rows


def benchmarks(module: Path) -> dict[str, Path]:
    """The benchmarks, by name, of the checkout that holds this module; none if the package is installed."""
    package = module.resolve().parent
    root = package.parents[1]
    if package.parent.name != "src" or not (root / "pyproject.toml").is_file():
        return {}
    return {file.stem.removeprefix("bench_"): file for file in sorted((root / "benchmarks").glob("bench_*.py"))}


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
