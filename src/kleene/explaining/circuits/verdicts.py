"""What the judge found of each circuit method: numbers for each family of networks, as tables, text and plain data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.explaining.interactions.ranking import Interval, spearman
from kleene.notation.graphs import aligned
from kleene.traces.markup import html_table

SCORES = {
    "edges_roc": "area under ROC, edges of the true circuit",
    "edges_precision": "average precision, edges of the true circuit",
    "nodes_roc": "area under ROC, nodes of the true circuit",
    "nodes_precision": "average precision, nodes of the true circuit",
    "faithfulness": "share of answers that stay right with the best edges (or nodes) alone, as many as are true",
}


@dataclass(frozen=True)
class CircuitVerdict:
    """How well one method does on one family of networks.

    The first five are means over networks: see `SCORES`. `curve` has the share of answers that stay right for each of
    `kleene.explaining.circuits.scoring.SIZES`. `seconds` are those of the first network, once compiled. `by_network`
    has the five for each network; None where there is none.
    """

    method: str
    family: str
    edges_roc: Interval
    edges_precision: Interval
    nodes_roc: Interval
    nodes_precision: Interval
    faithfulness: Interval
    curve: tuple[Interval, ...]
    seconds: float
    by_network: Mapping[str, Mapping[str, float | None]]

    @property
    def networks(self) -> int:
        return len(self.by_network)

    def as_json(self) -> dict[str, Any]:
        about: dict[str, Any] = {"method": self.method, "family": self.family, "networks": self.networks}
        about |= {name: getattr(self, name).as_json() for name in SCORES}
        about |= {"curve": [one.as_json() for one in self.curve], "seconds": round(self.seconds, 4)}
        return about | {"by_network": {name: dict(found) for name, found in self.by_network.items()}}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "CircuitVerdict":
        """The verdict that `as_json` made plain data of."""
        kept: dict[str, Any] = {name: stored[name] for name in ("method", "family", "seconds", "by_network")}
        kept |= {name: Interval.from_json(stored[name]) for name in SCORES}
        curve = tuple(Interval.from_json(one) for one in stored["curve"])
        return cls(**kept, curve=curve)


@dataclass(frozen=True)
class CircuitVerdicts:
    """The verdicts on all methods, and a line on each method that failed.

    `kept` has, for each family, the share of answers that stay right with the true circuit alone. `size` says how much
    was judged, if the networks were made for it.
    """

    verdicts: tuple[CircuitVerdict, ...]
    kept: Mapping[str, Interval]
    problems: tuple[str, ...] = ()
    size: Mapping[str, Any] = field(default_factory=dict)

    def of(self, method: str, family: str) -> CircuitVerdict:
        found = [one for one in self.verdicts if (one.method, one.family) == (method, family)]
        if not found:
            raise InputError(f"there is no verdict on {method!r} for {family!r}")
        return found[0]

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.method for one in self.verdicts))

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(self.kept)

    def agreement(self, one: str, other: str, score: str = "nodes_roc") -> float:
        """The rank correlation of the methods' scores on two families: 1 if the families rank them alike."""
        found = [[getattr(self.of(method, family), score).mean for family in (one, other)] for method in self.methods]
        known = np.array([pair for pair in found if not np.isnan(pair).any()]).reshape(-1, 2)
        return float(spearman(known.T[:1], known.T[1:])[0])

    def table(self, cell: Callable[[CircuitVerdict], object], *last: list[str]) -> list[list[str]]:
        """A table of methods × families, headings first; `cell` says what is shown of a verdict."""
        known = {(one.method, one.family): str(cell(one)) for one in self.verdicts}
        rows = [[method, *(known.get((method, family), "–") for family in self.families)] for method in self.methods]
        return [["method", *self.families], *rows, *last]

    def tables(self) -> dict[str, list[list[str]]]:
        """All tables by their titles: five scores and seconds. Methods for nodes say nothing of edges."""
        truth = ["the true circuit", *(str(self.kept[family]) for family in self.families)]
        found = {}
        for name, title in SCORES.items():
            last = [truth] if name == "faithfulness" else []
            found[title] = self.table(lambda verdict, name=name: getattr(verdict, name), *last)
        found["seconds for one network, once compiled"] = self.table(lambda v: f"{v.seconds:.3f}")
        return found

    def __str__(self) -> str:
        parts = [f"{title}\n{aligned(rows)}" for title, rows in self.tables().items()]
        counts = {one.family: f"{one.networks} {one.family}" for one in self.verdicts}
        parts.append(f"networks: {', '.join(counts.values())}; 95% intervals over programs and networks")
        return "\n\n".join(parts + [f"failed: {line}" for line in self.problems])

    def __repr__(self) -> str:
        return f"<CircuitVerdicts on {len(self.methods)} methods, {len(self.families)} families of networks>"

    def _repr_html_(self) -> str:
        return "".join(html_table(rows, most=None, caption=title) for title, rows in self.tables().items())

    def as_json(self) -> dict[str, Any]:
        kept = {family: found.as_json() for family, found in self.kept.items()}
        about = {"size": dict(self.size), "verdicts": [one.as_json() for one in self.verdicts]}
        return about | {"kept": kept, "problems": list(self.problems)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "CircuitVerdicts":
        """The verdicts that `as_json` made plain data of."""
        verdicts = tuple(CircuitVerdict.from_json(one) for one in stored["verdicts"])
        kept = {family: Interval.from_json(one) for family, one in stored["kept"].items()}
        return cls(verdicts, kept, tuple(stored["problems"]), stored["size"])

    def markdown(self) -> dict[str, str]:
        """The printed tables in Markdown, by their titles."""
        return {title: _markdown(rows) for title, rows in self.tables().items()}


def _markdown(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])
