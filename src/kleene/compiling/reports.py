"""What a check comes to."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Report:
    """How many inputs were compared, on how many everything agreed, and the first disagreement in words.

    `refused` are further inputs, on which nothing was compared: the network said that it cannot be exact, or the
    program itself that it cannot run.
    """

    program: str
    agree: int
    of: int
    first_disagreement: str | None
    seconds: float
    refused: int = 0

    def __bool__(self) -> bool:
        return self.agree == self.of

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
