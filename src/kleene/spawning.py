"""Pools of new processes. They are spawned, because a fork after jax has started its threads may hang."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from kleene.errors import KleeneError


def on_one_thread() -> None:
    """What a process of a pool begins with where each is to use one thread, and the parent answers Ctrl-C alone.

    It is called before anything imports numpy, unless the user's script does.
    """
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def spawned_pool(workers: int, job: str, *, begin: Callable[[], Any] | None = None) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes, each of which calls `begin` first; what is left is cancelled when the block ends.

    A process that dies is an error that names the `job` and says what to do, where a plain pool would start it again
    for ever: most often it died because it imports a script that starts processes itself.
    """
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=begin)
    try:
        yield pool
    except BrokenProcessPool:
        raise KleeneError(
            f"a process that {job} died. A new process imports your script again: what the script runs must stand "
            "under `if __name__ == '__main__':`. If it does, there was too little memory"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)
