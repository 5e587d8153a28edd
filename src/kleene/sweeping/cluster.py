"""Where packs run: on a Ray cluster, one task a pack. Only the tasks are Ray's; what is finished is in the store."""

import functools
import logging
import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kleene import stopping
from kleene.errors import InputError, KleeneError
from kleene.limits import read_count
from kleene.sweeping.packs import Pack
from kleene.sweeping.places import POLL, Deaths, Job, Watch, stop_file_of, touch
from kleene.sweeping.store import CellStore
from kleene.sweeping.worker import WAIT, Worker
from kleene.teaching.loop import use_all_cores

HOPELESS = 100  # workers that die one after the other without a word
ANSWER = 20.0  # seconds within which a cluster must answer
PASSED_ON = ("JAX_", "XLA_", "KLEENE_")  # beginnings of the variables that workers on a cluster get from the driver

_begun_here: list[str] = []  # the session that `connected` began, until `ray_ended` ends it


def run_on_ray(job: Job, watch: Watch, *, address: str | None, cpus: float, gpus: float) -> None:
    """Run one Ray task a pack, each with these resources; a pack whose worker or node dies is given out again."""
    ray = connected(address)
    with stop_file_of(job.store) as stop:
        _give_out(ray, job, watch, stop, cpus, gpus)


@contextmanager
def ray_ended() -> Iterator[None]:
    """A context at whose end the Ray session ends that was begun in it, by SIGTERM too.

    One that the user's own program began goes on.
    """
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if _begun_here:
            _begun_here.clear()
            sys.modules["ray"].shutdown()
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, before)


def _give_out(ray: Any, job: Job, watch: Watch, stop: Path, cpus: float, gpus: float) -> None:
    task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=0)(_ray_pack)
    given = (str(job.store.path), job.deadline, stop, max(1, int(cpus)))
    running, deaths = {task.remote(pack, *given): pack for pack in job.packs}, Deaths(job.store, HOPELESS)
    while running:
        ready, _ = ray.wait([*running], num_returns=1, timeout=POLL)
        watch()
        if job.is_over:
            touch(stop)
        for reference in ready:
            pack = running.pop(reference)
            outcome = _outcome(ray, reference)
            if outcome == "stopped" or job.is_over or job.is_finished([pack]):
                continue
            if outcome == "died":
                deaths.count("on the Ray cluster die")
            if outcome == "held":  # by a worker of another driver, or by one that died a moment ago
                time.sleep(WAIT)
            running[task.remote(pack, *given)] = pack


def _outcome(ray: Any, reference: Any) -> str:
    """The outcome of a task; "died" where its worker or its node did. What it raised is raised here."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause  # not as Ray says it, with the worker's whole traceback
        raise cause if isinstance(cause, KleeneError) else KleeneError(f"a task of the sweep failed: {cause}") from None
    except ray.exceptions.RayError:
        return "died"


def _ray_pack(pack: Pack, store: str, deadline: float | None, stop: Path, cores: int) -> str:
    use_all_cores(cores)
    with Worker(CellStore(store), deadline, stop_file=stop) as worker:
        return "stopped" if worker.is_over() else worker.run(pack)


def ray_slots(address: str | None, cpus: float, gpus: float) -> int:
    """How many packs the cluster runs at a time with these resources each."""
    if not cpus and not gpus:
        raise InputError(
            "a pack asks for 0 CPUs and 0 GPUs, so that Ray would run all at once; ask for some in [resources]"
        )
    ray = connected(address)
    there = ray.cluster_resources()
    asked = [(cpus, there.get("CPU", 0)), (gpus, there.get("GPU", 0))]
    slots = min(int(total // each) for each, total in asked if each)
    if slots < 1:
        raise InputError(
            f"a pack asks for {cpus:g} CPUs and {gpus:g} GPUs, and the cluster has {there.get('CPU', 0):g} and "
            f"{there.get('GPU', 0):g}; ask for less in [resources]"
        )
    return slots


def connected(address: str | None) -> Any:
    """Ray, connected to the cluster at the address; without one, to a new cluster on this machine."""
    try:
        import ray
    except ImportError:
        raise InputError("--ray needs Ray; install it with pip install 'kleene[sweeps]'") from None
    if ray.is_initialized():
        return ray
    if address is not None and address != "auto":
        _check_answers(address)
    begin = functools.partial(ray.init, log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
    if address is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # jax warns of every fork; Ray's end in another program
            begin()
        return _begun("local", ray)
    variables = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    found = _within(ANSWER, lambda: begin(address=address, runtime_env={"env_vars": variables}))
    if not found:
        raise InputError(f"the Ray cluster at {address!r} did not answer within {ANSWER:.0f} s; is it running?")
    if found[0] is not None:
        raise _refusal(address, found[0])
    return _begun(address, ray)


def _begun(where: str, ray: Any) -> Any:
    """Ray, once a session was begun. Ray's own answer to SIGTERM is a crash with a stack of C++."""
    _begun_here.append(where)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stopping.exit_at_sigterm)
    return ray


def _within(seconds: float, call: Callable[[], Any]) -> list[BaseException | None]:
    """What the call raised, or None, in a list that is empty if it takes longer than that.

    The call is made in a thread. A cluster of one's own must not be started so: it ends with the thread that began it.
    """
    found: list[BaseException | None] = []

    def run() -> None:
        try:
            call()
            found.append(None)
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    return found


def _check_answers(address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or read_count(port) is None:
        raise InputError(f"--ray is {address!r}; give HOST:PORT, ray://HOST:PORT or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER / 2).close()
    except (OSError, OverflowError) as error:
        raise InputError(
            f"nothing answers at {address!r} ({error}); start a cluster with `ray start --head --port={port}`, or "
            f"leave the address out for one on this machine"
        ) from None


def _refusal(address: str, error: BaseException) -> KleeneError:
    text = " ".join(str(error).split())
    if "ersion mismatch" in text:
        return InputError(f"the cluster at {address!r} runs another version of Ray or Python: {text}")
    return InputError(f"the Ray cluster at {address!r} could not be reached: {text}")
