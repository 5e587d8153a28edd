"""Where packs run: in this process, in processes of this machine, or on a Ray cluster.

Every place does the same: it lets workers run packs until all cells are finished. What is finished, and who works on
what, is in the store alone. So places can be mixed, and a second driver joins the first.
"""

import functools
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene import stopping
from kleene.errors import InputError, KleeneError
from kleene.sweeping.packs import Pack
from kleene.sweeping.store import CellStore
from kleene.sweeping.worker import WAIT, Worker, set_aside
from kleene.teaching.loop import use_all_cores

POLL = 0.25  # seconds between two looks at workers
HOPELESS = 5  # workers that die one after the other without a word, for each that runs at a time
HOPELESS_ON_RAY = 100
ANSWER = 20.0  # seconds within which a Ray cluster must answer
PASSED_ON = ("JAX_", "XLA_", "KLEENE_")  # beginnings of the variables that workers on a cluster get from the driver

Watch = Callable[[], None]
_begun_here: list[str] = []  # the Ray session that `connected` began, until it is shut down


@dataclass(frozen=True)
class Job:
    """What to run: packs of a store, until a deadline (of `time.time`)."""

    store: CellStore
    packs: Sequence[Pack]
    deadline: float | None = None

    def is_finished(self, packs: Sequence[Pack] | None = None) -> bool:
        """Whether all cells, or those of `packs`, are finished or set aside."""
        done, aside = self.store.rows(), set_aside(self.store.failures())
        return all(name in done or name in aside for pack in packs or self.packs for name in pack.names)

    @property
    def is_over(self) -> bool:
        return stopping.is_asked() or (self.deadline is not None and time.time() >= self.deadline)


def run_here(job: Job, watch: Watch) -> None:
    """Run the packs one after another in this process."""
    use_all_cores()
    with Worker(job.store, job.deadline, on_progress=watch) as worker:
        worker.run_all(job.packs)


@contextmanager
def _stop_file(store: CellStore) -> Iterator[Path]:
    """A file that asks workers to stop once it exists; it exists when the block is left, until they have seen it."""
    path = store.path / "workers" / f"{socket.gethostname()}-{os.getpid()}.stop"
    path.unlink(missing_ok=True)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def run_in_processes(job: Job, watch: Watch, *, workers: int) -> None:
    """Run the packs in that many processes; one that dies is replaced."""
    context = multiprocessing.get_context("spawn")  # a fork after jax has started its threads may hang
    errors = context.SimpleQueue()
    with _stop_file(job.store) as stop:

        def start(number: int) -> Any:
            given = (job, number, workers, os.getpid(), stop, errors)
            process = context.Process(target=_process, args=given, daemon=True)
            process.start()
            return process

        running, deaths = {n: start(n) for n in range(workers)}, Deaths(job.store, HOPELESS * workers)
        try:
            while running:
                time.sleep(POLL)
                watch()
                if job.is_over or not errors.empty():
                    _touch(stop)
                for number, process in [*running.items()]:
                    if process.exitcode is None:
                        continue
                    del running[number]
                    if process.exitcode and not job.is_over and errors.empty():
                        deaths.count(f"end with status {process.exitcode}")
                        running[number] = start(number)
        finally:  # Ctrl-C in a program of the user's own, or an error
            _touch(stop)
            for process in running.values():
                process.join()
    if not errors.empty():
        raise KleeneError(errors.get())


def _touch(stop: Path) -> None:
    with suppress(OSError):  # a full disk: workers find that out for themselves
        stop.touch()


class Deaths:
    """Counts workers that die one after the other while nothing changes in the store; too many are an error."""

    def __init__(self, store: CellStore, most: int) -> None:
        self.store, self.most = store, most
        self.number, self.before = 0, self._state()

    def count(self, how: str) -> None:
        now = self._state()
        self.number, self.before = (self.number + 1 if now == self.before else 1), now
        if self.number >= self.most:
            raise KleeneError(f"workers {how} before they finish anything: {self.number} of them, one after the other")

    def _state(self) -> tuple[int, int]:
        return len(self.store.rows()), sum(map(len, self.store.failures().values()))


def _process(job: Job, number: int, workers: int, parent: int, stop: Path, errors: Any) -> None:
    """The life of one worker process. The packs are begun at different places, so that workers seldom meet."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the driver answers, with the file
    _share_the_machine(number, workers)
    begin = len(job.packs) * number // workers
    with Worker(job.store, job.deadline, parent, stop) as worker:
        try:
            worker.run_all([*job.packs[begin:], *job.packs[:begin]])
        except KleeneError as error:
            errors.put(str(error))


def _share_the_machine(number: int, workers: int) -> None:
    """Give this worker its share of the cores, and of a GPU's memory."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", f"{0.75 / workers:.3f}")
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        with suppress(OSError):
            os.sched_setaffinity(0, cores[number % len(cores) :: workers] or {cores[number % len(cores)]})
    use_all_cores()


def run_on_ray(job: Job, watch: Watch, *, address: str | None, cpus: float, gpus: float) -> None:
    """Run one Ray task a pack, each with these resources; a pack whose worker or node dies is given out again."""
    ray = connected(address)
    try:
        with _stop_file(job.store) as stop:
            _give_out(ray, job, watch, stop, cpus, gpus)
    finally:
        if _begun_here:  # not one that the user's own program began
            _begun_here.clear()
            ray.shutdown()


def _give_out(ray: Any, job: Job, watch: Watch, stop: Path, cpus: float, gpus: float) -> None:
    task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=0)(_ray_pack)
    given = (str(job.store.path), job.deadline, stop, max(1, int(cpus)))
    running, deaths = {task.remote(pack, *given): pack for pack in job.packs}, Deaths(job.store, HOPELESS_ON_RAY)
    while running:
        ready, _ = ray.wait([*running], num_returns=1, timeout=POLL)
        watch()
        if job.is_over:
            _touch(stop)
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
        _begun_here.append("local")
        return ray
    variables = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    found = _within(ANSWER, lambda: begin(address=address, runtime_env={"env_vars": variables}))
    if not found:
        raise InputError(f"the Ray cluster at {address!r} did not answer within {ANSWER:.0f} s; is it running?")
    if found[0] is not None:
        raise _refusal(address, found[0])
    _begun_here.append(address)
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
    if not host or not port.isdigit():
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
