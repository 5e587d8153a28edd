"""What the judge found of each circuit method: numbers for each family of networks, as tables, text and plain data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.explaining.interactions.ranking import Interval, interval, spearman
from kleene.explaining.interactions.verdicts import markdown_table
from kleene.notation.graphs import aligned
from kleene.traces.markup import html_notes, html_table

SCORES = {
    "edges_roc": "area under ROC, edges of the true circuit",
    "edges_precision": "average precision, edges of the true circuit",
    "nodes_roc": "area under ROC, nodes of the true circuit",
    "nodes_precision": "average precision, nodes of the true circuit",
    "faithfulness": "share of answers that stay right with the best edges (or nodes) alone, as many as are true",
}


Rows = Mapping[str, Mapping[str, Any]]  # by network: its program, and numbers


@dataclass(frozen=True)
class CircuitVerdict:
    """How well one method does on one family of networks.

    The first five are means over networks: see `SCORES`. `curve` has the share of answers that stay right for each of
    `kleene.explaining.circuits.scoring.SIZES`. `seconds` are those of the first network, once compiled. `by_network`
    has the same for each network, and its program; None where there is no number.
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
    by_network: Rows

    @classmethod
    def of(cls, method: str, family: str, by_network: Rows, seconds: float, *, resamples: int) -> "CircuitVerdict":
        """The verdict on networks with these numbers."""
        found = {name: interval_over(by_network, lambda row, name=name: row[name], resamples) for name in SCORES}
        sizes = range(len(next(iter(by_network.values()))["curve"]))
        curve = tuple(interval_over(by_network, lambda row, at=at: row["curve"][at], resamples) for at in sizes)
        return cls(method, family, **found, curve=curve, seconds=seconds, by_network=by_network)

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


def interval_over(by_network: Rows, number: Callable[[Mapping[str, Any]], float | None], resamples: int) -> Interval:
    """The mean of a number over networks, then programs, and its 95% interval."""
    values = [number(row) for row in by_network.values()]
    groups = [row["program"] for row in by_network.values()]
    return interval([np.array([np.nan if v is None else v]) for v in values], groups, resamples=resamples)


@dataclass(frozen=True)
class CircuitVerdicts:
    """The verdicts on all methods, and a line on each method that failed.

    `kept` has, for each family, the share of answers that stay right with the true circuit alone, and
    `kept_by_network` that of each network. `size` says how much was judged, if the networks were made for it.
    """

    verdicts: tuple[CircuitVerdict, ...]
    kept: Mapping[str, Interval]
    kept_by_network: Mapping[str, Rows]
    problems: tuple[str, ...] = ()
    size: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def found(
        cls,
        rows: Mapping[tuple[str, str], Rows],
        seconds: Mapping[tuple[str, str], float],
        kept: Mapping[str, Rows],
        problems: Sequence[str] = (),
        *,
        resamples: int = 1_000,
    ) -> "CircuitVerdicts":
        """The verdicts from the numbers of each method and family, by network."""
        verdicts = [
            CircuitVerdict.of(*named, some, seconds[named], resamples=resamples) for named, some in rows.items() if some
        ]
        shares = {family: interval_over(some, lambda row: row["right"], resamples) for family, some in kept.items()}
        return cls(tuple(verdicts), shares, kept, tuple(problems))

    @classmethod
    def joined(cls, parts: Sequence["CircuitVerdicts"], *, resamples: int = 1_000) -> "CircuitVerdicts":
        """The verdicts of several runs of the same methods on different networks as those of one run."""
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        seconds: dict[tuple[str, str], float] = {}
        kept: dict[str, dict[str, Any]] = {}
        methods = list(dict.fromkeys(one.method for part in parts for one in part.verdicts))
        for method in methods:
            for one in (one for part in parts for one in part.verdicts if one.method == method):
                rows.setdefault((method, one.family), {}).update(one.by_network)
                seconds.setdefault((method, one.family), one.seconds)
        for part in parts:
            for family, some in part.kept_by_network.items():
                kept.setdefault(family, {}).update(some)
        problems = [line for part in parts for line in part.problems]
        made = cls.found(rows, seconds, kept, problems, resamples=resamples)
        return replace(made, size={"parts": [dict(part.size) for part in parts]})

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

    def only(self, families: Sequence[str]) -> "CircuitVerdicts":
        """The verdicts on these families, in this order."""
        if missing := [family for family in families if family not in self.families]:
            raise InputError(f"there are no verdicts for {missing[0]!r}; there are {', '.join(self.families)}")
        known = {(one.method, one.family): one for one in self.verdicts}
        chosen = (known.get((method, family)) for method in self.methods for family in families)
        kept = {family: self.kept[family] for family in families}
        by_network = {family: self.kept_by_network[family] for family in families}
        return replace(self, verdicts=tuple(filter(None, chosen)), kept=kept, kept_by_network=by_network)

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

    def notes(self) -> list[str]:
        """What the tables do not say: how many networks were judged on, and what failed."""
        counts = ", ".join(f"{len(some)} {family}" for family, some in self.kept_by_network.items())
        about = f"networks: {counts}; 95% intervals over programs and networks"
        return [about if self.verdicts else "no method could be judged", *(f"failed: {line}" for line in self.problems)]

    def __str__(self) -> str:
        tables = self.tables() if self.verdicts else {}
        return "\n\n".join([*(f"{title}\n{aligned(rows)}" for title, rows in tables.items()), *self.notes()])

    def __repr__(self) -> str:
        return f"<CircuitVerdicts on {len(self.methods)} methods, {len(self.families)} families of networks>"

    def _repr_html_(self) -> str:
        tables = self.tables() if self.verdicts else {}
        shown = (html_table(rows, most=None, caption=title) for title, rows in tables.items())
        return "".join(shown) + html_notes(self.notes())

    def as_json(self) -> dict[str, Any]:
        kept = {family: found.as_json() for family, found in self.kept.items()}
        about = {"size": dict(self.size), "verdicts": [one.as_json() for one in self.verdicts]}
        by_network = {
            family: {name: dict(row) for name, row in some.items()} for family, some in self.kept_by_network.items()
        }
        return about | {"kept": kept, "kept_by_network": by_network, "problems": list(self.problems)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "CircuitVerdicts":
        """The verdicts that `as_json` made plain data of."""
        verdicts = tuple(CircuitVerdict.from_json(one) for one in stored["verdicts"])
        kept = {family: Interval.from_json(one) for family, one in stored["kept"].items()}
        return cls(verdicts, kept, stored["kept_by_network"], tuple(stored["problems"]), stored["size"])

    def markdown(self) -> dict[str, str]:
        """The printed tables in Markdown, by their titles."""
        return {title: markdown_table(rows) for title, rows in self.tables().items()}
