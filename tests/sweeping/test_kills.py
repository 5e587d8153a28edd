"""Sweeps whose workers and drivers are killed, stopped, starved or doubled: every cell once, to the very same bits."""

import json
import os
import random
import shutil
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest

from kleene.errors import InputError
from kleene.sweeping import sweep as sweep_module
from kleene.sweeping.cells import Cell
from kleene.sweeping.cluster import connected
from kleene.sweeping.definition.reading import read_sweep
from kleene.sweeping.store import CellStore
from kleene.sweeping.sweep import sweep
from kleene.sweeping.worker import FAILURES, Worker
from tests.command_line import assert_refused
from tests.sweeping.disturbed import (
    assert_tidy,
    begun,
    ended,
    in_flight,
    kill_a_worker,
    kill_the_driver,
    measured,
    pid_of,
    put_to_sleep,
    raw_rows,
    wait_for_work,
)

pytestmark = pytest.mark.cluster

OWN = """
def none_of_it(trace):
    raise ValueError("this policy never works")
"""


def packs_of(file: Path, store: Path) -> list:
    """The packs of a sweep, as its driver makes and records them."""
    plan, kept, _ = sweep_module._planned(read_sweep(file), store, 1, False, None, probing=False)
    sweep_module.packing.record(kept, plan.packs)
    return list(plan.packs)


def test_workers_and_the_driver_are_killed_and_every_cell_is_there_once(file, undisturbed, tmp_path):
    chance, store = random.Random(0), tmp_path / "s"
    driver = begun(file, store, "--workers", "2")
    assert kill_a_worker(store, driver, chance, 0.5)
    assert wait_for_work(store, driver)
    kill_the_driver(driver)
    driver = begun(file, store, "--workers", "2")
    assert kill_a_worker(store, driver, chance, 0.5)
    status, out, err = ended(driver)
    assert (status, "12 of 12 cells are done" in out) == (0, True), err
    assert measured(store) == undisturbed
    assert_tidy(store)
    deaths = [row for tries in CellStore(store).failures().values() for row in tries]
    assert deaths
    assert all(row["death"] for row in deaths)
    assert max(row["attempt"] for row in raw_rows(store)) > 1


def test_a_worker_of_a_ray_cluster_is_killed_and_every_cell_is_there_once(file, undisturbed, tmp_path):
    chance, store = random.Random(1), tmp_path / "s"
    driver = begun(_with_cpus(file, tmp_path, (os.cpu_count() or 1) / 2), store, "--ray")
    assert kill_a_worker(store, driver, chance, 0.5)
    status, out, err = ended(driver)
    assert (status, "12 of 12 cells are done" in out) == (0, True), err
    assert measured(store) == undisturbed
    assert_tidy(store)


def test_sigterm_ends_a_sweep_on_ray_with_its_cluster_and_the_same_command_goes_on(file, undisturbed, tmp_path):
    store, mark = tmp_path / "s", f"KLEENE_MARK={tmp_path}"
    driver = begun(file, store, "--ray", env=os.environ | {"KLEENE_MARK": str(tmp_path)})
    assert wait_for_work(store, driver)
    assert len(processes_with(mark)) > 1
    driver.terminate()
    status, out, err = ended(driver)
    assert (status, out) == (143, ""), err
    assert "the same command goes on" in err.splitlines()[-1]
    assert "SIGTERM" not in err
    assert processes_with(mark) == []
    assert sweep(file, store=store).finished
    assert measured(store) == undisturbed
    assert_tidy(store)


def processes_with(variable: str) -> list[int]:
    """The processes that have a variable of the environment with that value."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def _with_cpus(file: Path, folder: Path, cpus: float) -> Path:
    changed = folder / file.name
    changed.write_text(file.read_text().replace("cpus = 0.5", f"cpus = {cpus}"))
    return changed


def test_ctrl_c_stops_workers_cleanly_and_the_same_command_goes_on(file, undisturbed, tmp_path):
    store = tmp_path / "s"
    driver = begun(file, store, "--workers", "2")
    assert wait_for_work(store, driver)
    os.killpg(driver.pid, signal.SIGINT)  # as a terminal does: to all of them
    status, out, err = ended(driver)
    assert status == 130
    assert "the same command goes on" in err.splitlines()[-1]
    assert out == ""
    assert len(raw_rows(store)) < 12
    assert in_flight(store) == {}
    assert CellStore(store).failures() == {}  # nobody died, and nothing failed
    assert sweep(file, store=store).finished
    assert measured(store) == undisturbed
    assert_tidy(store)


class Impatient(Worker):
    """A worker that is asked to stop at its ninth look, after 255 iterations at the most."""

    looks = 0

    def is_over(self) -> bool:
        self.looks += 1
        return self.looks >= 9


def test_a_sweep_that_is_stopped_again_and_again_goes_on_from_its_checkpoints(file, undisturbed, tmp_path):
    packs, stops = packs_of(file, tmp_path), 0
    while True:
        with Impatient(CellStore(tmp_path)) as worker:
            if worker.run_all(packs):
                break
        stops += 1
    assert stops > 3
    assert CellStore(tmp_path).failures() == {}
    assert sweep(file, store=tmp_path).finished
    assert measured(tmp_path) == undisturbed
    assert_tidy(tmp_path)


def test_after_its_minutes_a_sweep_says_that_it_goes_on(file, tmp_path, run):
    result = run("sweep", str(file), "--store", str(tmp_path), "--minutes", "0.0001")
    assert result.status == 3
    assert result.out.splitlines()[:2] == [
        f"0 of 12 cells are done, in 0 s; kept in {tmp_path}",
        "stopped before the end; the same command goes on from there",
    ]


def test_two_drivers_on_one_store_share_the_work(file, undisturbed, tmp_path):
    store = tmp_path / "s"
    drivers = [begun(file, store), begun(file, store)]
    for driver in drivers:
        status, out, err = ended(driver)
        assert (status, "12 of 12 cells are done" in out) == (0, True), err
    assert measured(store) == undisturbed
    assert_tidy(store)


def test_the_shards_of_a_sweep_together_make_the_whole(file, undisturbed, tmp_path):
    first = sweep(file, store=tmp_path, shard="1/2")
    assert first.finished
    assert 0 < len(raw_rows(tmp_path)) < 12
    assert sweep(file, store=tmp_path, shard="2/2").finished
    assert measured(tmp_path) == undisturbed
    assert_tidy(tmp_path)


@pytest.mark.parametrize("count", [1, 5, 40])
@pytest.mark.parametrize("of", [1, 2, 7])
def test_every_cell_is_in_one_shard_and_the_work_is_shared(count, of):
    chance = random.Random(count)
    cells = [Cell(f"{n:x}", {"iterations": chance.choice((10, 20, 90))}, chance.choice("abcd")) for n in range(count)]
    shards = [sweep_module._part(cells, part, of) for part in range(1, of + 1)]
    assert sorted(cell.name for shard in shards for cell in shard) == sorted(cell.name for cell in cells)
    work = [sum(cell.settings["iterations"] for cell in shard) for shard in shards]
    assert max(work) - min(work) <= 2 * 90
    together = [shard for shard in shards if len({cell.program for cell in shard}) > 1]
    assert all([*dict.fromkeys(c.program for c in shard)] == _runs(c.program for c in shard) for shard in together)


def _runs(values) -> list:
    found: list = []
    for value in values:
        if not found or found[-1] != value:
            found.append(value)
    return found


def test_claims_that_are_deleted_while_a_pack_runs_double_nothing(file, undisturbed, tmp_path):
    packs, kept = packs_of(file, tmp_path), CellStore(tmp_path)
    outcomes = []

    def interfere() -> None:
        if not outcomes:
            shutil.rmtree(tmp_path / "claims")
            outcomes.append("begun")
            with Worker(CellStore(tmp_path)) as other:
                outcomes[:] = [other.run(packs[0])]

    with Worker(kept, on_progress=interfere) as worker:
        assert worker.run_all(packs)
    assert outcomes == ["done"]
    assert measured(tmp_path) == undisturbed


def test_cells_that_another_finishes_just_before_they_are_claimed_are_not_run_again(file, undisturbed, tmp_path):
    packs = packs_of(file, tmp_path)
    with Worker(CellStore(tmp_path)) as late:
        claim = late.heart.claim

        def claim_late(cell: str) -> str | None:
            with Worker(CellStore(tmp_path)) as other:
                other.run(packs[0])
            return claim(cell)

        late.heart.claim = claim_late
        assert late.run(packs[0]) == "held"
    assert {row["cell"] for row in raw_rows(tmp_path)} == {*packs[0].names}
    assert sweep(file, store=tmp_path).finished
    assert measured(tmp_path) == undisturbed


def test_a_checkpoint_that_a_worker_left_as_it_was_killed_is_removed_in_the_end(file, undisturbed, tmp_path):
    packs = packs_of(file, tmp_path)
    with Worker(CellStore(tmp_path)) as worker:
        worker.run(packs[0])
    left = tmp_path / "checkpoints" / f"{packs[0].name}.safetensors"
    left.write_bytes(b"whatever")
    assert sweep(file, store=tmp_path).finished
    assert measured(tmp_path) == undisturbed
    assert_tidy(tmp_path)


def test_a_worker_that_slept_past_its_expiry_writes_nothing_when_it_wakes(file, undisturbed, tmp_path):
    store = tmp_path / "s"
    sleeper = begun(file, store)
    held = wait_for_work(store, sleeper)
    assert held is not None
    (name,) = held
    put_to_sleep(name)
    cells = in_flight(store)[name]  # looked up again: it claims its cells one by one
    with Worker(CellStore(store), expires=0.5) as worker:
        time.sleep(1)
        worker.heart.renew()
        assert worker.run_all(packs_of(file, store))
    assert {row["cell"] for row in raw_rows(store)} == {*undisturbed}
    os.kill(pid_of(name), signal.SIGCONT)
    status, _, err = ended(sleeper)
    assert status == 0, err
    assert measured(store) == undisturbed
    assert {*CellStore(store).failures()} == {*cells}
    assert_tidy(store)


def test_a_cell_that_raises_is_tried_three_times_and_set_aside_and_the_others_finish(tmp_path, run):
    (tmp_path / "own.py").write_text(OWN)
    file, store = tmp_path / "own.toml", tmp_path / "s"
    file.write_text(
        '[settings]\ntask = "dfa:tomita_1"\niterations = 20\nbatch = 4\nhidden = 3\nseeds = 3\n'
        '[grid]\nhints = ["none", "own.py:none_of_it"]\n'
    )
    result = run("sweep", str(file), "--store", str(store), "--json")
    assert result.status == 1
    assert result.json["done"] == 3
    assert result.json["finished"]
    aside = result.json["set_aside"]
    assert len(aside) == 3
    assert all("this policy never works" in reason for reason in aside.values())
    assert {row["settings"]["hints"] for row in raw_rows(store)} == {"none"}
    failures = CellStore(store).failures()
    assert [len(failures[cell]) for cell in aside] == [FAILURES] * 3
    again = run("sweep", str(file), "--store", str(store))  # it says so again, and tries nothing
    assert again.status == 1
    assert sum("was set aside" in line and "never works" in line for line in again.out.splitlines()) == 3
    assert CellStore(store).failures() == failures


def test_packs_that_ask_for_nothing_of_a_ray_cluster_are_refused(file, tmp_path, run):
    (tmp_path / "a.toml").write_text(file.read_text().replace("cpus = 0.5", "cpus = 0"))
    result = run("sweep", str(tmp_path / "a.toml"), "--store", str(tmp_path / "s"), "--ray")
    assert_refused(result, "0 CPUs and 0 GPUs", "[resources]")


def test_a_ray_address_where_nothing_listens_is_refused_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(InputError, match=f"nothing answers at '{address}'"):
            connected(address)


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["", "ray://"])
def test_a_ray_address_where_something_else_listens_is_refused(file, tmp_path, prefix):
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"{prefix}127.0.0.1:{other.getsockname()[1]}"
        status, out, err = ended(begun(file, tmp_path / "s", "--ray", address), 60)
    assert (status, out) == (2, "")
    (told,) = [line for line in err.splitlines() if line.startswith("kleene: ")]
    assert address in told
    assert "Traceback" not in err


LARGE = """
[settings]
task = "dfa:tomita_1"
iterations = 3000
test_every = 500

[grid]
hidden = [3, 4, 5, 6, 7]
batch = [2, 3, 4, 5, 6]
seeds = 8

[resources]
cpus = 0.5
"""
FIGURES = os.environ.get("KLEENE_KILLS_JSON")  # where to keep the figures of the test below


@pytest.mark.slow
def test_twenty_workers_and_two_drivers_of_a_ray_cluster_are_killed_and_every_one_of_200_cells_is_there_once(tmp_path):
    chance, file, store = random.Random(20), tmp_path / "large.toml", tmp_path / "s"
    file.write_text(LARGE)
    words = ("--ray",)
    started, kills, drivers = time.monotonic(), [], 1
    driver = begun(file, store, *words)
    for number in range(20):
        if number in (7, 14):
            in_hand = wait_for_work(store, driver)
            assert in_hand is not None
            kills.append({"killed": "driver", "cells": sum(map(len, in_hand.values()))})
            kill_the_driver(driver)
            driver, drivers = begun(file, store, *words), drivers + 1
        cells = kill_a_worker(store, driver, chance, 4.0)
        assert cells is not None, "the sweep ended before its kills"
        kills.append({"killed": "worker", "cells": cells})
    status, out, err = ended(driver, 1800)
    disturbed_seconds = time.monotonic() - started
    assert (status, "200 of 200 cells are done" in out) == (0, True), err
    assert_tidy(store)
    found = measured(store)
    started = time.monotonic()
    status, out, err = ended(begun(file, tmp_path / "undisturbed", *words), 1800)
    undisturbed_seconds = time.monotonic() - started
    assert (status, "200 of 200 cells are done" in out) == (0, True), err
    assert len(found) == 200
    assert found == measured(tmp_path / "undisturbed")
    if FIGURES:
        rows, failures = raw_rows(store), CellStore(store).failures()
        attempts = [row["attempt"] for row in rows]
        content = {
            "cells": 200,
            "packs": len({row["pack"] for row in rows}),
            "rows": len(rows),
            "workers_killed": sum(kill["killed"] == "worker" for kill in kills),
            "drivers_killed": sum(kill["killed"] == "driver" for kill in kills),
            "cells_in_flight_at_each_kill": [kill["cells"] for kill in kills],
            "attempts": {str(n): attempts.count(n) for n in sorted({*attempts})},
            "deaths_kept": sum(map(len, failures.values())),
            "set_aside": 0,
            "equal_to_undisturbed": True,
            "seconds_disturbed": round(disturbed_seconds, 1),
            "seconds_undisturbed": round(undisturbed_seconds, 1),
            "load_average": os.getloadavg()[0],
        }
        Path(FIGURES).write_text(json.dumps(content, indent=1) + "\n")
