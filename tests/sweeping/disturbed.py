"""Sweeps that are disturbed: started as commands, with workers and drivers that are killed at random moments."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from kleene.sweeping.claims import NOBODY, living
from kleene.sweeping.store import CellStore, row_of

COMMAND = "from kleene.cli import main; main()"
LOOK = 0.02  # seconds between two looks at a store


def begun(file: Path, store: Path, *words: str, code: str = COMMAND, **given: Any) -> subprocess.Popen:
    """`kleene sweep`, begun in a process of its own, and in a group of its own as a shell's."""
    command = [sys.executable, "-c", code, "sweep", str(file), "--store", str(store), *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **given
    )


def ended(process: subprocess.Popen, seconds: float = 300) -> tuple[int, str, str]:
    """The exit status, and what was said on stdout and stderr."""
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def raw_rows(store: Path) -> list[dict[str, Any]]:
    """Every line of every file of rows. A line is whole, or the torn end of its file."""
    found = []
    for file in sorted((store / "rows").glob("*.jsonl")):
        for line in file.read_bytes().split(b"\n")[:-1]:
            row = row_of(line)
            assert row is not None, f"a line of {file} is damaged"
            found.append(row)
    return found


def measured(store: Path) -> dict[str, Any]:
    """What was measured of each cell. No cell has two rows, and nothing of the work is left over."""
    rows = raw_rows(store)
    found = {row["cell"]: row["tests"] for row in rows}
    assert len(found) == len(rows), "a cell has two rows"
    return found


def assert_tidy(store: Path) -> None:
    """Nothing is left of the work itself."""
    for folder in ("claims", "checkpoints", "workers"):
        assert sorted(entry.name for entry in (store / folder).iterdir()) == [], folder
    assert CellStore(store).damaged == []


def in_flight(store: Path) -> dict[str, list[str]]:
    """The cells that each living worker holds, by the worker's name, as far as they are not finished."""
    holders: dict[str, tuple[int, str]] = {}
    for link in (store / "claims").iterdir() if (store / "claims").is_dir() else ():
        cell, _, number = link.name.partition(".")
        try:
            holders[cell] = max(holders.get(cell, (0, "")), (int(number), os.readlink(link)))
        except FileNotFoundError:  # removed as we look
            continue
    done = {row["cell"] for row in raw_rows(store)}
    alive, found = living(store), {}
    for cell, (_, holder) in holders.items():
        if holder != NOBODY and holder in alive and cell not in done:
            found.setdefault(holder, []).append(cell)
    return found


def pid_of(worker: str) -> int:
    return int(worker.split("-")[-2])


def put_to_sleep(worker: str) -> None:
    """Stop a worker, and return once it stands still: the signal alone leaves it a moment in which it goes on."""
    os.kill(pid_of(worker), signal.SIGSTOP)
    status = Path(f"/proc/{pid_of(worker)}/stat")
    while status.read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(LOOK)


def wait_for_work(store: Path, driver: subprocess.Popen) -> dict[str, list[str]] | None:
    """The cells in flight once there are some; None if the driver ends before."""
    while driver.poll() is None:
        if (store / "claims").is_dir() and (found := in_flight(store)):
            return found
        time.sleep(LOOK)
    return None


def kill_a_worker(store: Path, driver: subprocess.Popen, chance: random.Random, longest: float) -> int | None:
    """Kill a random worker, up to `longest` seconds after there is one that holds cells.

    Returns the number of cells that it held; None if the sweep ends before.
    """
    while wait_for_work(store, driver) is not None:
        time.sleep(chance.uniform(0, longest))
        held = in_flight(store)
        if held:
            worker = chance.choice(sorted(held))
            os.kill(pid_of(worker), signal.SIGKILL)
            return len(held[worker])
    return None


def kill_the_driver(driver: subprocess.Popen) -> None:
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
