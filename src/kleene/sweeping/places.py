"""Where packs run: in this process, or in processes of this machine (`cluster` has Ray).

Every place does the same: it lets workers run packs until all cells are finished. What is finished, and who works on
what, is in the store alone. So places can be mixed, and a second driver joins the first.
"""

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene import stopping
from kleene.errors import KleeneError
from kleene.sweeping.packs import Pack
from kleene.sweeping.store import CellStore
from kleene.sweeping.worker import Worker, set_aside
from kleene.teaching.loop import use_all_cores

POLL = 0.25  # seconds between two looks at workers
HOPELESS = 5  # workers that die one after the other without a word, for each that runs at a time

Watch = Callable[[], None]


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
def stop_file_of(store: CellStore) -> Iterator[Path]:
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
    with stop_file_of(job.store) as stop:

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
                    touch(stop)
                for number, process in [*running.items()]:
                    if process.exitcode is None:
                        continue
                    del running[number]
                    if process.exitcode and not job.is_over and errors.empty():
                        deaths.count(f"end with status {process.exitcode}")
                        running[number] = start(number)
        finally:  # Ctrl-C in a program of the user's own, or an error
            touch(stop)
            for process in running.values():
                process.join()
    if not errors.empty():
        raise KleeneError(errors.get())


def touch(stop: Path) -> None:
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
