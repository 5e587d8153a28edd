"""What comes back from grading."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from kleene.limits import printable
from kleene.traces.markup import html_text


@dataclass(frozen=True)
class WrongRun:
    """An input on which a solution is wrong: the right answer, the solution's, and its run step by step."""

    input: str
    expected: str
    got: str
    steps: tuple[str, ...]
    again: str = ""  # the command that shows the run as a page

    def __str__(self) -> str:
        told = [f"the smallest input found on which it is wrong: {self.input}"]
        told += [f"  expected  {self.expected}", f"  got       {self.got}"]
        told += ["", "your program on it, step by step:", *(f"  {line}".rstrip() for line in self.steps)]
        told += ["", f"as a page: {self.again}"] if self.again else []
        return "\n".join(told)


@dataclass(frozen=True)
class Grade:
    """Whether a solution passed, what it was tried on, and its figures, or why it did not pass."""

    exercise: str
    file: str
    passed: bool
    inputs: int
    tried: str
    wrong: int | None = 0  # on how many inputs; None if a run ended with an error, after which no other was tried
    counterexample: WrongRun | None = None
    problem: str | None = None
    figures: dict[str, int] = field(default_factory=dict)
    ours: dict[str, int] = field(default_factory=dict)  # figures of the exercise's own solution
    seconds: float = 0.0
    printed: str = ""  # what the student's file printed

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return printable(self._told())

    def _told(self) -> str:
        if self.passed:
            right = f"right on {self.tried}; the compiled network does the same, step by step"
            ours = f"\nours has {_figures(self.ours)}" if self.ours else ""
            return f"{self.exercise}: passed\n{right}\n{_figures(self.figures)}{ours}"
        if self.problem is not None:
            return f"{self.exercise}: not yet\n{self.problem}"
        counted = f"wrong on {self.wrong:,} of {self.inputs:,} inputs" if self.wrong else "its run ends with an error"
        return f"{self.exercise}: not yet, {counted}\n{self.counterexample}"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def as_json(self) -> dict[str, Any]:
        """The grade as plain data."""
        return asdict(self)


def _figures(figures: Mapping[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in figures.items())
