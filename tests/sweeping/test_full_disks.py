"""Sweeps on disks that are full: a clear error, a whole store, and the same command goes on."""

import os
import shlex
import subprocess
import sys

import pytest

from kleene.errors import ModelFileError
from kleene.sweeping import store as store_module
from kleene.sweeping.store import CellStore
from kleene.sweeping.sweep import sweep
from tests.sweeping.disturbed import (
    COMMAND,
    assert_tidy,
    begun,
    ended,
    in_flight,
    measured,
    raw_rows,
)

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("words", [(), ("--workers", "2")])
def test_a_file_system_that_takes_no_more_leaves_a_whole_store_and_a_clear_error(file, undisturbed, tmp_path, words):
    store = tmp_path / "s"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)); "  # a checkpoint has more bytes
    # Python would leave half of its own `.pyc` files, and take them for whole ones later.
    quiet = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    process = begun(file, store, *words, code=limit + COMMAND, env=quiet)
    status, out, err = ended(process)
    assert status == 2
    assert out == ""
    (told,) = [line for line in err.splitlines() if line.startswith("kleene: ")]
    assert "cannot be written: File too large" in told
    assert "Traceback" not in err
    assert raw_rows(store) == []
    assert CellStore(store).failures() == {}
    assert in_flight(store) == {}
    assert sweep(file, store=store).finished
    assert measured(store) == undisturbed
    assert_tidy(store)


@pytest.mark.slow
@pytest.mark.parametrize("room", ["size=12k", "size=24k", "size=32k", "nr_inodes=14", "nr_inodes=22"])
def test_a_disk_that_is_really_full_leaves_a_whole_store(file, undisturbed, tmp_path, room):
    """On a small file system in memory, which a process of its own may mount."""
    python = f"{shlex.quote(sys.executable)} -c {shlex.quote(COMMAND)} sweep {shlex.quote(str(file))} --store disk/s"
    mount = f"mkdir disk && mount -t tmpfs -o {room} tmpfs disk"
    script = (
        f"{mount} && {{ {python}; echo $?; mount -o remount,size=9m,nr_inodes=9999 disk; {python}; cp -a disk/s s; }}"
    )
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    if not (tmp_path / "s").exists():
        pytest.skip(f"no file system can be mounted here: {done.stderr}")
    assert done.stdout.splitlines()[0] == "2"
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert measured(tmp_path / "s") == undisturbed
    assert_tidy(tmp_path / "s")


@pytest.mark.parametrize("room", [0, 1, 3_000])
def test_a_disk_that_is_full_as_rows_are_written_takes_none_of_them(file, undisturbed, tmp_path, monkeypatch, room):
    write, left = os.write, room

    def full(descriptor, data):
        nonlocal left
        if left == 0:
            raise OSError(28, os.strerror(28))
        written = write(descriptor, data[:left])
        left -= written
        return written

    monkeypatch.setattr(store_module.os, "write", full)
    with pytest.raises(ModelFileError, match=r"No space left on device.*run the same command again"):
        sweep(file, store=tmp_path)
    monkeypatch.undo()
    assert raw_rows(tmp_path) == []
    assert sweep(file, store=tmp_path).finished
    assert measured(tmp_path) == undisturbed
    assert_tidy(tmp_path)


def test_a_disk_without_room_for_a_claim_is_a_clear_error(file, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "symlink", full)
    with pytest.raises(ModelFileError, match=r"No space left on device.*run the same command again"):
        sweep(file, store=tmp_path)
