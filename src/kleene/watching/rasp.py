"""What the page of a RASP program shows beside its trace: that of the transformer program that it is lowered to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kleene import kinds
from kleene.running import Outcome
from kleene.watching import transformers
from kleene.watching.cutting import Cut
from kleene.watching.document import ViewParts


def parts(outcomes: Sequence[Outcome], cut: Cut, program: Any) -> ViewParts:
    """The view of layers."""
    below = [replace(outcome, subject=kinds.lowered(outcome.subject)) for outcome in outcomes]
    return transformers.parts(below, cut, kinds.lowered(program))
