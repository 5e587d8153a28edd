"""What a check comes to."""

from dataclasses import asdict, dataclass
from typing import Any

REFERENCE = "reference"


@dataclass(frozen=True)
class Report:
    """How many inputs were compared, on how many everything agreed, and the first disagreement in words.

    `compared` are the parts that were held against each other, among them a reference if there was one. `refused` are
    further inputs, on which nothing was compared: the network said that it cannot be exact, or the program itself that
    it cannot run.
    """

    program: str
    agree: int
    of: int
    first_disagreement: str | None
    seconds: float
    refused: int = 0
    compared: tuple[str, ...] = ()

    @property
    def has_reference(self) -> bool:
        """Whether something was compared that knows nothing of the program but what it should do."""
        return REFERENCE in self.compared

    def __bool__(self) -> bool:
        return self.agree == self.of

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
