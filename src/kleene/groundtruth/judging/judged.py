"""What the judge found of all methods and families of networks, as rows, tables, a page and plain data."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.groundtruth.judging.ranking import Interval, interval, spearman
from kleene.groundtruth.judging.verdicts import (
    CIRCUITS,
    INTERACTIONS,
    Compared,
    JudgedKind,
    JudgedRow,
    MethodVerdict,
    numbers_of,
)
from kleene.notation.graphs import aligned
from kleene.pictures.pages import is_page, page
from kleene.traces.markup import html_notes, html_table


@dataclass(frozen=True)
class Judged:
    """The verdicts on all methods, a line on each method that failed, and one on each network that was left out.

    `size` says how much was judged, if the networks were made for it. Of interactions, `unsure` is, for families whose
    own interactions were estimated because words are long, the share of pairs whose estimate is at most two standard
    errors. Of circuits, `kept` has, for each family, the share of answers that stay right with the true circuit alone,
    and `kept_by_network` that of each network.
    """

    kind: JudgedKind
    verdicts: tuple[MethodVerdict, ...]
    problems: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    size: Mapping[str, Any] = field(default_factory=dict)
    unsure: Mapping[str, float] = field(default_factory=dict)
    kept: Mapping[str, Interval] = field(default_factory=dict)
    kept_by_network: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def found(
        cls,
        kind: JudgedKind,
        by_method: Mapping[tuple[str, str], Sequence[Compared]],
        about: Mapping[str, Mapping[str, Any]],
        problems: Sequence[str] = (),
        left_out: Sequence[str] = (),
        *,
        resamples: int,
    ) -> "Judged":
        """The verdicts from what each method scored on the networks of each family, and what is stored of the truth."""
        verdicts = (
            MethodVerdict.of(kind, *named, some, resamples=resamples) for named, some in by_method.items() if some
        )
        found = cls(kind, tuple(verdicts), tuple(problems), tuple(left_out))
        if kind is CIRCUITS:
            return replace(found, kept=_kept(about, resamples), kept_by_network=about)
        shares = {f: [row["unsure"] for row in some.values() if "unsure" in row] for f, some in about.items()}
        return replace(found, unsure={f: round(float(np.mean(some)), 4) for f, some in shares.items() if some})

    def of(self, method: str, family: str) -> MethodVerdict:
        found = [one for one in self.verdicts if (one.method, one.family) == (method, family)]
        if not found:
            raise InputError(f"there is no verdict on {method!r} for {family!r}")
        return found[0]

    @property
    def rows(self) -> list[JudgedRow]:
        """The numbers of each network, one a row."""
        return [
            JudgedRow(one.method, one.family, score, network, value)
            for one in self.verdicts
            for score in self.kind.by_network
            for network, value in one.values(score).items()
        ]

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.method for one in self.verdicts))

    @property
    def families(self) -> tuple[str, ...]:
        """In the order of the method that was judged on most, because some are not defined for all families."""
        by_method = [[one.family for one in self.verdicts if one.method == name] for name in self.methods]
        longest_first = [list(self.kept), *sorted(by_method, key=len, reverse=True)]
        return tuple(dict.fromkeys(family for families in longest_first for family in families))

    def only(self, families: Sequence[str]) -> "Judged":
        """The verdicts on these families, in this order."""
        if missing := [family for family in families if family not in self.families]:
            raise InputError(f"there are no verdicts for {missing[0]!r}; there are {', '.join(self.families)}")
        known = {(one.method, one.family): one for one in self.verdicts}
        chosen = (known.get((method, family)) for method in self.methods for family in families)
        kept = {family: self.kept[family] for family in families if family in self.kept}
        by_network = {family: self.kept_by_network[family] for family in kept}
        return replace(self, verdicts=tuple(filter(None, chosen)), kept=kept, kept_by_network=by_network)

    def agreement(self, one: str, other: str, score: str = "nodes_roc") -> float:
        """The rank correlation of the methods' scores on two families: 1 if the families rank them alike."""
        found = [[self.of(method, family)[score].mean for family in (one, other)] for method in self.methods]
        known = np.array([pair for pair in found if not np.isnan(pair).any()]).reshape(-1, 2)
        return float(spearman(known.T[:1], known.T[1:])[0])

    def change(self, method: str, family: str, of: str, score: str) -> Interval:
        """By how much a method does better on a family than on another, and its 95% bootstrap interval.

        Networks of the two go together if they have the same name: the same language and the same seed. What differs
        between languages then cancels. Where the other family has one network for a language, such as the compiled one,
        all are compared with that.
        """
        ours, theirs = (self.of(method, one).values(score) for one in (family, of))
        pairs = {}
        for name, value in ours.items():
            other = theirs.get(name, theirs.get(language_of(name)))
            if value is not None and other is not None:
                pairs[name] = np.array([value - other])
        return interval(list(pairs.values()), [language_of(name) for name in pairs])

    def table(self, score: str) -> list[list[str]]:
        """A table of methods × families, headings first."""
        known = {(one.method, one.family): _cell(one, score) for one in self.verdicts}
        rows = [[method, *(known.get((method, family), "–") for family in self.families)] for method in self.methods]
        if self.kept and score == "faithfulness":
            rows.append(["the true circuit", *(str(self.kept[family]) for family in self.families)])
        return [[self.kind.method, *self.families], *rows]

    def tables(self) -> dict[str, list[list[str]]]:
        """All tables by their titles."""
        titles = {**self.kind.titles, "seconds": self.kind.seconds}
        return {title: self.table(score) for score, title in titles.items()} if self.verdicts else {}

    def notes(self) -> list[str]:
        """What the tables do not say: how much was judged, what was estimated or left out, and what failed."""
        found = [self._judged_on() if self.verdicts else f"no {self.kind.method} could be judged"]
        for family, share in self.unsure.items():
            told = f"{share:.0%} of the pairs have an estimate of at most two standard errors"
            found.append(f"estimated: the interactions of the output of {family} networks; {told}")
        return found + [f"left out: {line}" for line in self.left_out] + [f"failed: {line}" for line in self.problems]

    def _judged_on(self) -> str:
        if self.kind is CIRCUITS:
            counts = ", ".join(f"{len(some)} {family}" for family, some in self.kept_by_network.items())
            return f"networks: {counts}; 95% intervals over programs and networks"
        most = {f: max(one.networks for one in self.verdicts if one.family == f) for f in self.families}
        networks = ", ".join(f"{count} {family} networks" for family, count in most.items())
        words = max(one.words or 0 for one in self.verdicts)
        return f"{networks}, {words} words each; 95% intervals over languages, networks, words"

    def __str__(self) -> str:
        return "\n\n".join([*(f"{title}\n{aligned(rows)}" for title, rows in self.tables().items()), *self.notes()])

    def __repr__(self) -> str:
        return f"<Judged on {len(self.methods)} {self.kind.method}s, {len(self.families)} families of networks>"

    def _repr_html_(self) -> str:
        shown = (html_table(rows, most=None, caption=title) for title, rows in self.tables().items())
        return "".join(shown) + html_notes(self.notes())

    def markdown(self) -> dict[str, str]:
        """The printed tables in Markdown, by their titles."""
        return {title: _markdown(rows) for title, rows in self.tables().items()}

    def as_json(self) -> dict[str, Any]:
        about = {"size": dict(self.size), "verdicts": [one.as_json() for one in self.verdicts]}
        problems = {"problems": list(self.problems)}
        if self.kind is INTERACTIONS:
            return about | problems | {"left_out": list(self.left_out), "unsure": dict(self.unsure)}
        kept = {family: found.as_json() for family, found in self.kept.items()}
        by_network = {
            family: {name: dict(row) for name, row in some.items()} for family, some in self.kept_by_network.items()
        }
        return about | {"kept": kept, "kept_by_network": by_network} | problems

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Judged":
        """What `as_json` made plain data of; that on circuits says what true circuits keep right."""
        kind = CIRCUITS if "kept" in stored else INTERACTIONS
        verdicts = tuple(MethodVerdict.from_json(kind, one) for one in stored["verdicts"])
        problems, left_out = (tuple(stored.get(name, ())) for name in ("problems", "left_out"))
        kept = {family: Interval.from_json(one) for family, one in stored.get("kept", {}).items()}
        by_network = stored.get("kept_by_network", {})
        return cls(kind, verdicts, problems, left_out, stored["size"], stored.get("unsure", {}), kept, by_network)


@dataclass(frozen=True)
class AllJudged:
    """What was found of measures of interaction and of methods for circuits."""

    interactions: Judged
    circuits: Judged

    def __str__(self) -> str:
        return f"INTERACTIONS OF INPUTS\n\n{self.interactions}\n\n\nCIRCUITS\n\n{self.circuits}"

    def __repr__(self) -> str:
        return f"<AllJudged: {self.interactions!r}, {self.circuits!r}>"

    def _repr_html_(self) -> str:
        parts = {"Interactions of inputs": self.interactions, "Circuits": self.circuits}
        return "".join(f"<h2>{title}</h2>{found._repr_html_()}" for title, found in parts.items())

    def as_json(self) -> dict[str, Any]:
        return {"interactions": self.interactions.as_json(), "circuits": self.circuits.as_json()}


def joined(parts: Sequence[Judged], *, resamples: int = 1_000) -> Judged:
    """What several runs of one kind found as that of one run.

    Of interactions each family is in one of them, because the numbers of words are not kept; `size` keeps what all runs
    have in common, and what differs is in `by_family`. Of circuits, intervals are made anew over the networks of all.
    """
    methods = list(dict.fromkeys(one.method for part in parts for one in part.verdicts))
    verdicts = sorted((one for part in parts for one in part.verdicts), key=lambda one: methods.index(one.method))
    problems = [line for part in parts for line in part.problems]
    if parts[0].kind is CIRCUITS:
        found: dict[tuple[str, str], dict[str, Compared]] = {}
        for one in verdicts:
            for name, row in one.by_network.items():
                compared = Compared(name, row["program"], numbers_of(row), row, one.seconds)
                found.setdefault((one.method, one.family), {})[name] = compared
        kept: dict[str, dict[str, Any]] = {}
        for part in parts:
            for family, some in part.kept_by_network.items():
                kept.setdefault(family, {}).update(some)
        every = {named: [*rows.values()] for named, rows in found.items()}
        made = Judged.found(CIRCUITS, every, kept, problems, resamples=resamples)
        return replace(made, size={"parts": [dict(part.size) for part in parts]})
    if len({(one.method, one.family) for one in verdicts}) < len(verdicts):
        raise InputError("a family was judged in two of these runs; give each family once")
    return Judged(
        INTERACTIONS,
        tuple(verdicts),
        tuple(line for line in problems if line.partition(" on all networks: ")[0] not in methods),
        tuple(line for part in parts for line in part.left_out),
        _common_size(parts),
        {family: share for part in parts for family, share in part.unsure.items()},
    )


def language_of(network: str) -> str:
    """The language of a network by the name that the judge gives it.

    >>> language_of("tomita_4 seed 3"), language_of("(0|1)*011")
    ('tomita_4', '(0|1)*011')
    """
    return network.partition(" seed ")[0]


def saved_page(found: Judged | AllJudged) -> str:
    """The text of a page of the tables."""
    return page("Explanations judged", f"<section>{found._repr_html_()}</section>")


def check_page(path: Any) -> None:
    """Refuse a file that cannot become a page, before anything is judged."""
    if not is_page(path):
        raise InputError(f"the tables are written as a page, and not as {str(path)!r}; give a name that ends in .html")
    if not os.path.isdir(Path(path).resolve().parent):
        raise InputError(f"there is no folder for {str(path)!r}; make it first")


def _common_size(parts: Sequence[Judged]) -> dict[str, Any]:
    sizes = [part.size for part in parts]
    common = {key: value for key, value in sizes[0].items() if all(size.get(key) == value for size in sizes)}
    own = {
        family: {key: value for key, value in part.size.items() if key not in common}
        for part in parts
        for family in part.families
    }
    return common | ({"by_family": own} if any(own.values()) else {})


def _kept(about: Mapping[str, Mapping[str, Any]], resamples: int) -> dict[str, Interval]:
    """The share of answers that stay right with the true circuit alone, of each family."""
    found = {}
    for family, some in about.items():
        shares = [np.array([row["right"]]) for row in some.values()]
        found[family] = interval(shares, [row["program"] for row in some.values()], resamples=resamples)
    return found


def _cell(verdict: MethodVerdict, score: str) -> str:
    return f"{verdict.seconds:.3f}" if score == "seconds" else str(verdict[score])


def _markdown(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])
