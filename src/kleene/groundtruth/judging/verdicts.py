"""What the judge found of one method on one family of networks, and which scores there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kleene.errors import InputError
from kleene.groundtruth.judging.ranking import Interval, interval


@dataclass(frozen=True)
class JudgedKind:
    """What is judged: what its methods are called, and its scores.

    `titles` are those of the tables, by score. `by_network` are the scores that are kept of each network.
    """

    name: str
    method: str
    titles: Mapping[str, str]
    by_network: tuple[str, ...]
    seconds: str


# What a network's function is taken to be: membership in the language, or the output itself.
TRUTHS = {"language": "the language", "output": "the network's own output"}
BY_TRUTH = {
    "spearman": "rank correlation with the true interactions of {}",
    "partial": "the same, given the distance of the two symbols ({})",
    "lead": "the rank correlation less that of nearness ({})",
}
INTERACTIONS = JudgedKind(
    "interactions",
    "measure",
    {f"{name}_{truth}": title.format(what) for truth, what in TRUTHS.items() for name, title in BY_TRUTH.items()}
    | {"structure": "area under ROC, pairs on which the automaton's state depends"},
    tuple(f"{name}_{truth}" for name in ("spearman", "partial") for truth in TRUTHS),
    "seconds for the words of one network, once compiled",
)
CIRCUIT_TITLES = {
    "edges_roc": "area under ROC, edges of the true circuit",
    "edges_precision": "average precision, edges of the true circuit",
    "nodes_roc": "area under ROC, nodes of the true circuit",
    "nodes_precision": "average precision, nodes of the true circuit",
    "faithfulness": "share of answers that stay right with the best edges (or nodes) alone, as many as are true",
}
CIRCUITS = JudgedKind(
    "circuits", "method", CIRCUIT_TITLES, tuple(CIRCUIT_TITLES), "seconds for one network, once compiled"
)


class JudgedRow(NamedTuple):
    """One number: what a method scored on one network; None where it says nothing there."""

    method: str
    family: str
    score: str
    network: str
    value: float | None


class Compared(NamedTuple):
    """What one method scored on one network.

    `numbers` are arrays by score, of which intervals are made: a number for each word, or one. `kept` is what is
    stored. Networks of one `group` are not independent. `seconds` are those of the first network, once compiled.
    """

    network: str
    group: int | str
    numbers: Mapping[str, np.ndarray]
    kept: Any
    seconds: float | None = None


@dataclass(frozen=True)
class MethodVerdict:
    """How well one method does on one family of networks; `verdict["nodes_roc"]` is one score, with its interval.

    `seconds` are those of the first network, once compiled. `by_network` has what is stored of each network. Methods
    for circuits have a `curve`, the share of answers that stay right for each of
    `kleene.groundtruth.judging.circuits.SIZES`, and measures of interaction the number of `words`.
    """

    kind: JudgedKind
    method: str
    family: str
    scores: Mapping[str, Interval]
    seconds: float
    by_network: Mapping[str, Any]
    curve: tuple[Interval, ...] = ()
    words: int | None = None

    @classmethod
    def of(
        cls, kind: JudgedKind, method: str, family: str, found: Sequence[Compared], *, resamples: int
    ) -> "MethodVerdict":
        """The verdict on networks, of which there is at least one."""
        groups, first = [one.group for one in found], found[0].numbers

        def over(score: str, part: Any = slice(None)) -> Interval:
            return interval([one.numbers[score][part] for one in found], groups, resamples=resamples)

        curve = tuple(over("curve", slice(at, at + 1)) for at in range(len(first.get("curve", ()))))
        scores = {score: over(score) for score in first if score != "curve"}
        words = len(first["structure"]) if "structure" in first else None
        kept = {one.network: one.kept for one in found}
        return cls(kind, method, family, scores, found[0].seconds or 0.0, kept, curve, words)

    def __getitem__(self, score: str) -> Interval:
        if score not in self.scores:
            raise InputError(f"no score {score!r} of {self.kind.name}; there are {', '.join(self.scores)}")
        return self.scores[score]

    @property
    def networks(self) -> int:
        return len(self.by_network)

    def values(self, score: str) -> dict[str, float | None]:
        """A score of each network."""
        if score not in self.kind.by_network:
            every = ", ".join(self.kind.by_network)
            raise InputError(f"{score!r} is not kept of each network; there are {every}")
        at = self.kind.by_network.index(score)
        return {name: row[score] if isinstance(row, Mapping) else row[at] for name, row in self.by_network.items()}

    def as_json(self) -> dict[str, Any]:
        about: dict[str, Any] = {self.kind.method: self.method, "family": self.family, "networks": self.networks}
        about |= {} if self.words is None else {"words": self.words}
        about |= {score: found.as_json() for score, found in self.scores.items()}
        about |= {"curve": [one.as_json() for one in self.curve]} if self.curve else {}
        kept = {name: dict(row) if isinstance(row, Mapping) else list(row) for name, row in self.by_network.items()}
        return about | {"seconds": round(self.seconds, 4), "by_network": kept}

    @classmethod
    def from_json(cls, kind: JudgedKind, stored: Mapping[str, Any]) -> "MethodVerdict":
        """The verdict that `as_json` made plain data of."""
        scores = {score: Interval.from_json(stored[score]) for score in stored if score in kind.titles}
        curve = tuple(Interval.from_json(one) for one in stored.get("curve", ()))
        about = kind, stored[kind.method], stored["family"], scores, stored["seconds"], stored["by_network"]
        return cls(*about, curve, stored.get("words"))


def numbers_of(row: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays by score of what is stored of a network whose circuit is known."""
    numbers = {score: np.array([np.nan if row[score] is None else row[score]]) for score in CIRCUITS.by_network}
    return numbers | {"curve": np.array(row["curve"])}
