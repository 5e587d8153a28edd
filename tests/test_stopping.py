"""Ctrl-C while networks are taught, in processes of their own: a clean end at any moment, and nothing is lost."""

import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from kleene import stopping

LONG = ("teach", "dfa:tomita_1", "--seeds", "2", "--batch", "4", "--hidden", "4", "--test-every", "1000")
COMMAND = "from kleene.cli import main; main()"
# The main thread is in code that receives no signal, as while XLA compiles.
BUSY = """
import hashlib, sys
from kleene.stopping import announce, is_asked, stoppable
with stoppable("stopped early"):
    announce("stopped on the way", at_stake=sys.argv[1] == "at stake")
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000_000)
"""


def begun(code: str, *words: str) -> subprocess.Popen:
    """Python, begun in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def interrupted(process: subprocess.Popen) -> tuple[int, str]:
    """The exit status, and what is said on stderr, after a Ctrl-C."""
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    return process.returncode, told


def test_a_checkpoint_is_kept_at_ctrl_c_and_the_same_command_goes_on_from_it(tmp_path, run):
    file = tmp_path / "c.safetensors"
    process = begun(COMMAND, *LONG, "--iterations", "1000000", "--checkpoint", str(file))
    while not file.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    time.sleep(0.2)
    status, told = interrupted(process)
    assert status == 130
    (line,) = told.splitlines()
    kept = line.split("after ")[1].split()[0]
    assert line == (
        f"kleene: stopped after {kept} of 1,000,000 iterations: {str(file)!r} has {kept}, and the same command goes on "
        f"from there"
    )
    further = str(int(kept.replace(",", "")) + 1)
    assert run(*LONG, "--iterations", further, "--checkpoint", str(file), "--json").json["iterations"] == int(further)


def test_where_nothing_is_at_stake_ctrl_c_ends_the_process_at_once_whatever_it_is_at():
    process = begun(BUSY, "nothing")
    assert process.stdout is not None
    process.stdout.readline()
    assert interrupted(process) == (130, "kleene: stopped on the way\n")


def test_where_something_is_at_stake_the_second_ctrl_c_leaves_at_once_and_the_user_is_told_so():
    process = begun(BUSY, "at stake")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert "press Ctrl-C again to leave at once" in process.stderr.readline()
    assert process.poll() is None
    assert interrupted(process) == (130, "kleene: stopped on the way\n")


def test_an_interrupted_loop_says_in_the_end_what_it_was_told_last(tmp_path):
    code = (
        "from kleene.stopping import *\nwith stoppable('early'):\n    announce('late', at_stake=True)\n"
        "    raise Stopped"
    )
    _, told = (process := begun(code)).communicate(timeout=60)
    assert (process.returncode, told) == (130, "kleene: late\n")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_ctrl_c_at_any_moment_ends_cleanly(tmp_path, seed):
    rng = random.Random(seed)
    task = rng.choice([LONG, ("teach", "copy", "--seeds", "2", "--hints", "none,address")])
    process = begun(COMMAND, *task, "--iterations", "100000", "--checkpoint", str(tmp_path / "c.safetensors"))
    time.sleep(rng.uniform(1.0, 15.0))
    status, told = interrupted(process)
    assert status == 130
    assert told.startswith("kleene: stop")
    assert "Traceback" not in told


def test_off_the_main_thread_signals_are_left_alone():
    found = []

    def try_it():
        with stopping.stoppable("stopped"):
            found.append((signal.getsignal(signal.SIGINT), stopping.is_asked()))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    assert found == [(before, False)]


def test_afterwards_signals_are_as_they_were():
    before = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    with stopping.stoppable("stopped"):
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert (signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)) == before
