"""The tree of a function's decisions: forks, leaves, and where branches have met again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kleene.programs.alta.possibilities import Allowed
from kleene.programs.alta.symbols import Symbol


@dataclass(frozen=True)
class Leaf:
    """Where a path ends: what it wrote (constants or symbols, with the source line), which heads it looked at.

    A path that no assignment takes (its decisions contradict each other) is `dead`.
    """

    writes: Mapping[str, tuple[Any, int]]
    looked_at: frozenset[str]
    dead: bool = False


@dataclass(eq=False)
class Fork:
    """A decision: the symbol it looked at, its possible outcomes, and what follows each."""

    symbol: Symbol
    outcomes: list[Any]
    place: str
    children: list[Any] = field(default_factory=list)


@dataclass(eq=False)
class Joined:
    """Branches that met again: the tree up to that point, and the one that follows whichever branch was taken."""

    first: Fork
    then: list[Any] = field(default_factory=lambda: [None])


Tree = Fork | Joined | Leaf


@dataclass(eq=False)
class Decision:
    """What a symbol was taken to be on a path; `fork` is None where the path so far left only one outcome."""

    symbol: Symbol
    outcome: Any
    allowed: Allowed  # before it
    slot: tuple[list[Any], int]  # where it hangs in the tree
    fork: Fork | None = None
    choice: int = 0
    join: int | None = None  # where in the function its branches meet again


@dataclass(eq=False)
class Join:
    """Branches that have met: the decision that parted them is entry `start` of the path."""

    start: int
    offset: int
    local: Mapping[str, Any]  # the function's own variables after it
    node: Joined
