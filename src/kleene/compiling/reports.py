"""What a check comes to."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Report:
    """How many inputs were tried, on how many everything agreed, and the first disagreement in words."""

    program: str
    agree: int
    of: int
    first_disagreement: str | None
    seconds: float

    def __bool__(self) -> bool:
        return self.agree == self.of

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
