"""The judge: every method is tried on every network whose truth is known, and compared with the truth.

What goes wrong in a method is a line for each problem, so that the others can go on.
"""

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from kleene.errors import InputError
from kleene.explaining.interactions.measures import NotDefinedError
from kleene.groundtruth.judging.circuits import JudgedCircuit
from kleene.groundtruth.judging.interactions import JudgedNetwork
from kleene.groundtruth.judging.judged import Judged
from kleene.groundtruth.judging.verdicts import Compared
from kleene.teaching.loop import usable_cores

FAILURES = (Exception, SystemExit)  # what a method may raise; Ctrl-C is not its own, and stops the judge
Subject = JudgedNetwork | JudgedCircuit
Method = Callable[..., Any]


class Tried(NamedTuple):
    """What came of all methods on one network: numbers, or what was raised; `left_out` says why none was tried."""

    left_out: str | None = None
    about: Mapping[str, Any] = {}
    outcomes: Mapping[str, Compared | BaseException] = {}


def judge_networks(
    networks: Iterable[Subject],
    methods: Mapping[str, Method],
    *,
    resamples: int = 1_000,
    on_network: Callable[[str], None] | None = None,
    threads: int | None = None,
) -> Judged:
    """The verdicts on methods, family by family; the networks are all `JudgedNetwork`, or all `JudgedCircuit`.

    A network of which the truth does not hold is left out, and the result says so. A method that fails, or returns
    another shape, NaN or complex numbers, is named with the network; the others go on. One that is not defined for a
    kind of network has no verdict there. On the first network of each family a method is called once more at the end,
    and that call is timed.

    Networks are judged on side by side in as many `threads` as there are cores, because nearly all of the time is for
    compiling, and while the next ones are made. A method is called in one thread at a time.
    """
    every = [*_tried_on_all(networks, methods, on_network, threads or usable_cores())]
    if len(kinds := {one.kind.name for one, _ in every}) != 1:
        raise InputError(f"one kind of networks is judged at a time, and these are {sorted(kinds) or 'none'}")
    families = dict.fromkeys(one.family for one, _ in every)
    found: dict[tuple[str, str], list[Compared]] = {(name, family): [] for name in methods for family in families}
    about: dict[str, dict[str, Any]] = {family: {} for family in families}
    failures, left_out, undefined = MethodFailures(), [], {}
    known = {(one.family, one.name): one for one, _ in every}
    for one, tried in every:
        if tried.left_out is not None:
            left_out.append(f"{one.name} ({one.family}) {tried.left_out}")
            continue
        about[one.family][one.name] = tried.about
        for name, outcome in tried.outcomes.items():
            if isinstance(outcome, Compared):
                found[name, one.family].append(outcome)
            elif isinstance(outcome, NotDefinedError):
                undefined.setdefault(name, str(outcome))
            else:
                failures.add(name, one.name, one.family, outcome)
    for (name, family), some in found.items():
        while some and some[0].seconds is None:
            one = known[family, some[0].network]
            try:
                some[0] = some[0]._replace(seconds=_seconds(methods[name], one))
            except FAILURES as error:
                failures.add(name, one.name, family, error)
                some.pop(0)
    nowhere = (name for name in undefined if not any(found[name, family] for family in families))
    problems = (*failures.lines(), *(f"{name} on all networks: {undefined[name]}" for name in nowhere))
    return Judged.found(every[0][0].kind, found, about, problems, tuple(left_out), resamples=resamples)


def _tried_on_all(
    networks: Iterable[Subject], methods: Mapping[str, Method], tell: Callable[[str], None] | None, threads: int
) -> Iterator[tuple[Subject, Tried]]:
    """What came of each network, in their order."""
    locks: dict[str, Any] = {name: threading.Lock() for name in methods}
    groups, stopped = [], threading.Event()

    def tried(one: Subject, group: int) -> Tried:
        if (reason := one.why_not()) is not None:
            return Tried(reason)
        truth, outcomes = one.truth(), {}
        for name, method in methods.items():
            with locks[name]:
                if stopped.is_set():
                    break
                outcomes[name] = _outcome(method, one, truth, group)
        return Tried(None, truth.about(), outcomes)

    pool = ThreadPoolExecutor(threads)
    try:
        running = []
        for one in networks:
            groups += [] if one.group in groups else [one.group]
            running.append((one, pool.submit(tried, one, groups.index(one.group))))
        for number, (one, future) in enumerate(running, start=1):
            if tell is not None:
                tell(f"{one.family}: {one.name} ({number} of {len(running)} networks)")
            yield one, future.result()
    finally:
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _outcome(method: Method, one: Subject, truth: Any, group: int) -> Compared | BaseException:
    try:
        scores = one.checked(method(one.network, *one.given()))
    except FAILURES as error:
        return error
    return Compared(one.name, group, *truth.compared(scores))


def _seconds(method: Method, one: Subject) -> float:
    """The time of a further call, in which nothing is compiled."""
    started = time.perf_counter()
    method(one.network, *one.given())
    return time.perf_counter() - started


class MethodFailures:
    """The failures of methods on networks, as they come.

    Those of one method that differ only in numbers and in what is quoted, such as the shape or the word of a network,
    are one line, which counts the networks.

    >>> failures = MethodFailures()
    >>> for name in ("shift", "hist"):
    ...     failures.add("mine", name, "compiled", KeyError("x"))
    >>> failures.lines()
    ("mine on 2 networks, first: shift (compiled): KeyError: 'x'",)
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[str]] = {}

    def add(self, method: str, network: str, family: str, error: BaseException) -> None:
        kind = "" if isinstance(error, InputError) else type(error).__name__
        told = ": ".join(filter(None, (kind, str(error))))
        alike = re.sub(r"'[^']*'|\d+", "", told)
        self._found.setdefault((method, alike), []).append(f"{network} ({family}): {told}")

    def lines(self) -> tuple[str, ...]:
        return tuple(
            f"{method} on {some[0]}" if len(some) == 1 else f"{method} on {len(some)} networks, first: {some[0]}"
            for (method, _), some in self._found.items()
        )
