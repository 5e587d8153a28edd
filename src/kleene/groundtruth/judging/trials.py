"""The judge: every method is tried on every network whose truth is known, and compared with the truth.

What goes wrong in a method is a line for each problem, so that the others can go on.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kleene.errors import InputError
from kleene.explaining.interactions.measures import NotDefinedError
from kleene.groundtruth.judging.circuits import JudgedCircuit
from kleene.groundtruth.judging.interactions import JudgedNetwork
from kleene.groundtruth.judging.judged import Judged
from kleene.groundtruth.judging.verdicts import Compared

FAILURES = (Exception, SystemExit)  # what a method may raise; Ctrl-C is not its own, and stops the judge


Subject = JudgedNetwork | JudgedCircuit


def judge_networks(
    networks: Sequence[Subject],
    methods: Mapping[str, Callable[..., Any]],
    *,
    resamples: int = 1_000,
    on_network: Callable[[str], None] | None = None,
) -> Judged:
    """The verdicts on methods, family by family; the networks are all `JudgedNetwork`, or all `JudgedCircuit`.

    A network of which the truth does not hold is left out, and the result says so. A method that fails, or returns
    another shape, NaN or complex numbers, is named with the network; the others go on. One that is not defined for a
    kind of network has no verdict there. On the first network of each family a method is called twice, and the second
    call is timed.
    """
    if len(kinds := {one.kind.name for one in networks}) != 1:
        raise InputError(f"one kind of networks is judged at a time, and these are {sorted(kinds) or 'none'}")
    families = dict.fromkeys(one.family for one in networks)
    found: dict[tuple[str, str], list[Compared]] = {(name, family): [] for name in methods for family in families}
    about: dict[str, dict[str, Any]] = {family: {} for family in families}
    failures, left_out, undefined, groups = MethodFailures(), [], {}, [one.group for one in networks]
    for one in networks:
        if on_network is not None:
            on_network(f"{one.family}: {one.name}")
        if (reason := one.why_not()) is not None:
            left_out.append(f"{one.name} ({one.family}) {reason}")
            continue
        truth = one.truth()
        about[one.family][one.name] = truth.about()
        for name, method in methods.items():
            before = found[name, one.family]
            try:
                scores = one.checked(method(one.network, *one.given()))
                seconds = before[0].seconds if before else _seconds(method, one)
            except NotDefinedError as error:
                undefined.setdefault(name, str(error))
                continue
            except FAILURES as error:
                failures.add(name, one.name, one.family, error)
                continue
            before.append(Compared(one.name, groups.index(one.group), *truth.compared(scores), seconds))
    nowhere = (name for name in undefined if not any(found[name, family] for family in families))
    problems = (*failures.lines(), *(f"{name} on all networks: {undefined[name]}" for name in nowhere))
    kind = networks[0].kind
    return Judged.found(kind, found, about, problems, tuple(left_out), resamples=resamples)


def _seconds(method: Callable[..., Any], one: Subject) -> float:
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
