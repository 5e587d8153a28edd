"""From a plain Python function to a tree of its decisions: the function is run again for every path.

Where the paths are many, branches that meet again are joined: at a junction of the function (see `joining`) the
local variables in which they differ become tables, and what follows is explored once, not once for each branch.
"""

import contextlib
import io
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import numpy as np

from kleene.errors import TracingError
from kleene.programs.alta.joining import Branch, Junctions, merged_locals, outside
from kleene.programs.alta.source import identity_test, place
from kleene.programs.alta.symbols import Symbol
from kleene.programs.alta.tracing import Refusal, Tracer
from kleene.programs.alta.trees import Decision, Join, Joined, Tree
from kleene.programs.alta.variables import Variable

PATHS_BEFORE_JOINING = 1_000
MOST_PATHS = 5_000


@dataclass(frozen=True)
class Exploration:
    """The tree of a function's decisions, and every symbol that was computed on the way."""

    tree: Tree
    symbols: tuple[Symbol, ...]


def explore(
    function: Callable[[Any], Any],
    variables: Mapping[str, Variable],
    heads: Mapping[str, Variable],
    *,
    strict: bool = True,
    joined: int = PATHS_BEFORE_JOINING,
    most: int = MOST_PATHS,
) -> Exploration:
    """The tree of the function's decisions. After `joined` paths it starts again and joins branches; after `most` it
    gives up."""
    line = identity_test(function)
    if line is not None:
        where = place(getattr(function, "__code__", None), line)
        raise TracingError(f"{where}: the function compares a value with `is`, which tracing does not see; use `==`.")
    with quiet():
        try:
            explorer = _Explorer(function, Tracer(variables, heads, strict=strict), None, joined)
            found = explorer.explored() or _joined(function, variables, heads, strict, most)
        except Refusal as refusal:
            raise refusal.error from refusal.error.__cause__
    return found


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide what a function prints while it is traced."""
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        yield


def _joined(function: Callable, variables: Mapping, heads: Mapping, strict: bool, most: int) -> Exploration:
    code = getattr(function, "__code__", None)
    apart: set[int] = set()  # instructions whose branches turned out not to meet
    while True:
        explorer = _Explorer(function, Tracer(variables, heads, strict=strict), _junctions(code), most, apart)
        try:
            explored = explorer.explored()
        except _Apart as found:
            apart.add(found.offset)
            continue
        if explored is not None:
            return explored
        busiest = ", ".join(f"{place} ({count:,} times)" for place, count in explorer.forks_at.most_common(3))
        raise TracingError(
            f"the function branches into more than {most:,} paths, most often at {busiest}. Compute with the values "
            f"instead of branching on them (`x + y`, `x ^ y`), look a table up with alta.apply(f, x, y), or give the "
            f"rules with MLPBuilder."
        )


def _junctions(code: CodeType | None) -> Junctions | None:
    try:
        junctions = Junctions(code) if code is not None else None
        if junctions is not None:
            junctions.after(0)
    except (ValueError, KeyError):  # bytecode of a newer Python
        return None
    return junctions


class _Apart(BaseException):
    """The branches of a fork do not meet where they were expected to, or not with locals that can be merged."""

    def __init__(self, offset: int):
        self.offset = offset


class _Met(BaseException):
    """A branch has reached the point where it meets the others, which are still to be run."""


class _Explorer:
    """Runs a function along all its paths."""

    def __init__(
        self,
        function: Callable,
        tracer: Tracer,
        junctions: Junctions | None,
        most: int,
        apart: Collection[int] = (),
    ):
        self.function, self.tracer, self.junctions, self.most, self.apart = function, tracer, junctions, most, apart
        self.forks_at: Counter[str] = Counter()
        self.arrivals: dict[Decision, list[Branch]] = {}
        self.forked_at: dict[Decision, int] = {}
        self._frame: FrameType | None = None
        tracer.on_fork = self._forked

    def explored(self) -> Exploration | None:
        """The whole tree; None where there are too many paths."""
        script: list[Decision | Join] = []
        try:
            for _ in range(self.most):
                self._run(script)
                script = _next(self.tracer.log)
                if not script:
                    return Exploration(self.tracer.root[0], tuple(self.tracer.computed.values()))
        finally:
            self.tracer.closed = True
        return None

    def _run(self, script: list[Decision | Join]) -> None:
        if self.junctions is None:
            self.tracer.run(self.function, script)
            return
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            leaf = self.tracer.run(self.function, script)
            for index, decision in enumerate(self.tracer.open):
                # A path that no assignment takes need not arrive, unless it is the last.
                if decision.join is not None and not (leaf.dead and _more(self.tracer.open[index:])):
                    raise _Apart(self.forked_at[decision])
        except _Met:
            pass
        finally:
            sys.settrace(before)
            self._frame = None

    def _forked(self, decision: Decision) -> None:
        assert decision.fork is not None
        self.forks_at[decision.fork.place] += 1
        if self.junctions is not None and self._frame is not None:
            offset = self._frame.f_lasti
            self.forked_at[decision] = offset
            if offset not in self.apart:
                decision.join = self.junctions.after(offset)

    # --- what Python reports of the function's own frame ---------------------------------------------------------

    def _entered(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self._frame is not None or self.junctions is None or frame.f_code is not self.junctions.code:
            return None
        self._frame = frame
        return self._at_line

    def _at_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        scripted, offset = self.tracer.scripted, frame.f_lasti
        again = isinstance(scripted, Join) and scripted.offset == offset
        if event == "line" and (again or (scripted is None and self._meeting(offset) is not None)):
            local = frame.f_locals  # read once, because reading it again would undo what is written here
            while isinstance(scripted, Join) and scripted.offset == offset:
                self.tracer.join(scripted)
                local.update(scripted.local)
                scripted = self.tracer.scripted
            while self.tracer.scripted is None and (decision := self._meeting(offset)) is not None:
                self._meet(decision, local)
        return self._at_line

    def _meeting(self, offset: int) -> Decision | None:
        """The innermost fork whose branches meet here."""
        return next((d for d in reversed(self.tracer.open) if d.join == offset), None)

    def _meet(self, decision: Decision, local: Any) -> None:
        """Record that a branch has arrived; continue if it was the last."""
        assert self.junctions is not None
        assert decision.join is not None
        assert decision.fork is not None
        tracer = self.tracer
        leaf = tracer.leaf()
        tracer.hang(leaf)
        inner = tracer.open[tracer.open.index(decision) :]
        for bypassed in inner[1:]:
            if bypassed.join is not None:  # an error led this branch past where it should have met others
                raise _Apart(self.forked_at[bypassed])
        live = self.junctions.live(decision.join)
        state = {n: local[n] for n in local if n in live} | outside(self.function)
        conditions = [Decision(d.symbol, d.outcome, d.allowed, d.slot) for d in inner]
        self.arrivals.setdefault(decision, []).append((conditions, leaf.looked_at, state))
        if _more(inner):
            raise _Met
        merged = merged_locals(tracer, self.arrivals.pop(decision))
        if merged is None:
            raise _Apart(self.forked_at[decision])
        node = Joined(decision.fork)
        children, index = decision.slot
        children[index] = node
        tracer.join(Join(tracer.log.index(decision), decision.join, merged, node))
        local.update(merged)


def _more(decisions: list[Decision]) -> bool:
    """Whether one of the forks has an outcome that was not followed yet."""
    return any(d.fork is not None and d.choice + 1 < len(d.fork.outcomes) for d in decisions)


def _next(log: list[Decision | Join]) -> list[Decision | Join]:
    """The script of the path after this one, which takes the next outcome of the last fork that has one left."""
    script = list(log)
    while script:
        last = script[-1]
        if isinstance(last, Join):
            del script[last.start :]
        elif last.fork is not None and last.choice + 1 < len(last.fork.outcomes):
            last.choice += 1
            return script
        else:
            script.pop()
    return []
