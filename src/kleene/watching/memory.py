"""What the page of a Neural Turing Machine shows: its symbols, its tape and its heads, which are all in the trace."""

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
