"""What all tests share: arrays are checked as the code runs, hypothesis is repeatable, jax keeps to the CPU."""

import contextlib
import ctypes
import gc
import importlib
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# One worker a core: more threads for numpy's products would wait for each other, and wait by spinning.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tests compile much and run little. Without optimisation and with XLA's older code for fused loops, the tests of
# machines and of lessons take little more than half of the time. XLA ends the process at a flag that it does not know,
# so the later flags are only for the releases they were tried with. Splitting a program into parts that threads
# compile takes longer in sum. One device: tests run on all cores as it is.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_force_host_platform_device_count=1 --xla_backend_optimization_level=0"
    + (
        " --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
        if version("jaxlib").startswith("0.10.")
        else ""
    ),
)

import pytest
from hypothesis import settings

from tests.command_line import Result
from tests.typechecking import begin_test, install

install()

# What one test compiles, another loads: also in the other workers, and in the commands that tests start. The process
# that starts the workers makes the folder, and removes it.
_MADE = None if "PYTEST_XDIST_WORKER" in os.environ else tempfile.mkdtemp(prefix="kleene-tests-")
if _MADE is not None:
    os.environ["KLEENE_CACHE"] = _MADE
# Tests start Kleene in a hundred processes. Each would compile its source anew if none may leave a `__pycache__`.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
importlib.import_module("kleene")  # before any test imports jax, so that Kleene's cache is used

ATTACKS = f"{'kind':16} {'cases':>7} {'failures':>9} {'time':>10}"  # above the rows of tests.fuzzing.attacks.table

HELD = 1 << 30  # bytes of a worker's memory beyond which its compiled programs are let go
_held = HELD

settings.register_profile("kleene", deadline=None, derandomize=True)
settings.load_profile("kleene")


def pytest_collection_finish():
    """Modules, tests and jax are there to stay: the garbage collector need not look at them again and again.

    Tracing makes many objects and little garbage, so it need not look often either.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_runtest_setup():
    begin_test()


def pytest_runtest_logfinish():
    """Let compiled programs go once a worker has grown: jax keeps thousands of them, which the cache has anyway."""
    global _held
    if _memory() > _held:
        importlib.import_module("jax").clear_caches()
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):  # glibc keeps what is freed until it is asked
            ctypes.CDLL(None).malloc_trim(0)
        _held = max(HELD, _memory() + HELD // 2)


def _memory() -> int:
    """The bytes that this process holds, or 0 where the system does not say."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def pytest_terminal_summary(terminalreporter):
    """The table of all attacks that were tried."""
    reports = [one for found in terminalreporter.stats.values() for one in found if getattr(one, "when", "") == "call"]
    rows = [row for one in reports for name, row in one.user_properties if name == "attacks"]
    for line in [ATTACKS, *rows] if rows else ():
        terminalreporter.write_line(line)


def pytest_unconfigure():
    if _MADE is not None:
        shutil.rmtree(_MADE, ignore_errors=True)


@pytest.fixture
def run(monkeypatch, capsys):
    """Calls the command line in this process."""
    from kleene.cli import main

    def call(*words: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["kleene", *words])
        with pytest.raises(SystemExit) as left:
            main()
        return Result(left.value.code or 0, *capsys.readouterr())

    return call
