"""What a run on the command line comes to, for people and for programs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """A run: facts for JSON, what a person reads, a closing line, and the trace where it is asked for."""

    facts: dict[str, Any]
    shown: str
    closing: str
    table: Callable[[], Any]  # the trace for the terminal
    trace_facts: Callable[[], dict[str, Any]]  # the trace for JSON

    def as_json(self, *, with_trace: bool = False) -> dict[str, Any]:
        return self.facts | (self.trace_facts() if with_trace else {})
