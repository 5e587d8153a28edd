"""Claims: a cell has one holder, a dead one is replaced, and a living one never is."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from kleene.errors import ModelFileError
from kleene.sweeping.claims import Heart, _started, living, machine, remove_claims, remove_dead
from kleene.sweeping.store import CellStore


@pytest.fixture
def folder(tmp_path):
    return CellStore(tmp_path / "s").path


def test_a_cell_has_one_holder_until_it_is_released(folder):
    with Heart(folder) as one, Heart(folder) as other:
        assert one.claim("a") == ""
        assert other.claim("a") is None
        assert one.claim("a") is None  # nor twice by the same
        assert one.holds("a")
        one.release(["a"])
        assert not one.holds("a")
        assert other.claim("a") == ""
        assert other.holds("a")
        one.release(["a"])  # what it no longer holds
        assert other.holds("a")


def test_the_cells_of_a_worker_that_left_are_free(folder):
    with Heart(folder) as gone:
        gone.claim("a")
    with Heart(folder) as heart:
        assert heart.claim("a") == gone.name


def _claim_and_wait(folder, claimed):
    heart = Heart(folder)
    heart.claim("a")
    claimed.set()
    time.sleep(60)


def test_the_cells_of_a_killed_process_are_free_at_once(folder):
    context = multiprocessing.get_context("fork")
    claimed = context.Event()
    process = context.Process(target=_claim_and_wait, args=(folder, claimed))
    process.start()
    assert claimed.wait(30)
    with Heart(folder) as heart:
        assert heart.claim("a") is None
        assert len(living(folder)) == 2
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert len(living(folder)) == 1
        assert heart.claim("a").split("-")[-2] == str(process.pid)


def test_a_worker_of_another_machine_lives_as_long_as_its_file_is_renewed(folder):
    with Heart(folder, expires=60) as heart:
        stranger = folder / "workers" / "far-1-abc.json"
        stranger.write_text('{"machine": "another", "pid": 1, "started": "5", "facts": {}}')
        os.symlink("far-1-abc", folder / "claims" / "a.1")
        assert heart.claim("a") is None
        heart.renew()
        os.utime(stranger, (time.time() - 61, time.time() - 61))
        assert heart.claim("a") == "far-1-abc"


@pytest.mark.parametrize("text", ["[]", "null", "3", "{}", '{"facts": 3}', '{"facts": {"done": "all"}}', "[" * 100_000])
def test_a_file_that_is_no_workers_is_passed_over(folder, text):
    (folder / "workers" / "odd.json").write_text(text)
    os.mkfifo(folder / "workers" / "pipe.json")
    for name, cell in (("odd", "a"), ("pipe", "b")):
        os.symlink(name, folder / "claims" / f"{cell}.1")
    with Heart(folder) as heart:
        assert [*living(folder)] == [heart.name]
        assert (heart.claim("a"), heart.claim("b")) == ("odd", "pipe")
    remove_dead(folder)


def test_a_claim_that_a_copy_made_a_file_is_named(folder):
    (folder / "claims" / "a.1").write_text("")
    with Heart(folder) as heart, pytest.raises(ModelFileError, match=r"a\.1' is no claim .*remove it"):
        heart.claim("a")


def test_a_holder_notices_that_it_was_taken_for_dead(folder):
    with Heart(folder, beat=1000) as slow, Heart(folder, expires=1) as other:
        assert slow.claim("a") == ""
        os.utime(slow.file, (time.time() - 100, time.time() - 100))
        other.renew()
        assert other.claim("a") == slow.name
        assert not slow.holds("a")
        slow.release(["a"])
        assert other.holds("a")


def test_a_cell_whose_claims_were_deleted_is_the_first_ones_who_claims_it_again(folder):
    with Heart(folder) as one, Heart(folder) as other:
        for cell in "ab":
            one.claim(cell)
        shutil.rmtree(folder / "claims")
        assert one.holds("a")
        assert other.claim("a") is None
        assert other.claim("b") == ""
        assert not one.holds("b")


def test_a_process_that_nobody_has_buried_is_dead(folder):
    child = subprocess.Popen([sys.executable, "-c", ""])
    said = {"machine": machine(), "pid": child.pid, "started": _started(child.pid), "facts": {}}
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it ended, and is a zombie
    (folder / "workers" / "zombie.json").write_text(json.dumps(said))
    with Heart(folder) as heart:
        assert not heart.lives("zombie")
    child.wait()


def test_files_of_killed_workers_are_removed_and_those_of_others_are_not(folder):
    here = {"machine": machine(), "pid": 2**22 + 1, "started": "5", "facts": {}}
    for name, said in (("dead", here), ("far", here | {"machine": "another"})):
        (folder / "workers" / f"{name}.json").write_text(json.dumps(said))
    (folder / "workers" / "dead.part").write_text("{")
    with Heart(folder) as heart:
        remove_dead(folder)
        assert {file.name for file in (folder / "workers").iterdir()} == {"far.json", heart.file.name}


def _race(folder, cells, won, all_done):
    with Heart(folder) as heart:
        won.put([cell for cell in cells if heart.claim(cell) is not None])
        all_done.wait(60)  # the claims of one that has left are free


def test_of_many_that_claim_at_once_one_wins(folder):
    context = multiprocessing.get_context("fork")
    won, all_done, cells = context.Queue(), context.Barrier(4), [f"cell{n}" for n in range(200)]
    racers = [context.Process(target=_race, args=(folder, cells, won, all_done)) for _ in range(4)]
    for racer in racers:
        racer.start()
    found = [won.get(timeout=60) for _ in racers]
    for racer in racers:
        racer.join()
    assert sorted(cell for one in found for cell in one) == sorted(cells)


def test_claims_of_finished_cells_are_removed(folder):
    with Heart(folder) as heart:
        for _ in range(3):
            heart.claim("a")
            heart.release(["a"])
        heart.claim("b")
        remove_claims(folder, ["a"])
    assert [link.name for link in (folder / "claims").iterdir()] == ["b.1"]
