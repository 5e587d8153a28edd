"""What the pages of a Neural Turing Machine and of a Neural GPU show, all of which is in their traces."""

from collections.abc import Sequence
from typing import Any

from kleene.errors import InputError
from kleene.running import Outcome
from kleene.watching.cutting import Cut
from kleene.watching.document import ViewParts


def parts(outcomes: Sequence[Outcome], cut: Cut, program: Any | None) -> ViewParts:
    """The view of a memory with heads."""
    if cut.positions is not None or cut.channels is not None:
        raise InputError("a page of a Neural Turing Machine shows its whole tape; cut it by --steps alone")
    return ViewParts(view="memory")


def image_parts(outcomes: Sequence[Outcome], cut: Cut, program: Any | None) -> ViewParts:
    """The view of positions, each with its answer so far and its vector."""
    return ViewParts(view="layers", positions=tuple(map(str, outcomes[0].input)))
