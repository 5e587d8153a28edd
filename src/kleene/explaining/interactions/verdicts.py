"""What the judge found of each measure: numbers for each family of networks, as tables, text and plain data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kleene.errors import InputError
from kleene.explaining.interactions.ranking import Interval
from kleene.notation.graphs import aligned
from kleene.traces.markup import html_notes, html_table

# What a network's function is taken to be: membership in the language, or the output itself.
TRUTHS = ("language", "output")
BY_TRUTH = ("spearman", "partial", "lead")  # numbers that there are for each truth
BY_NETWORK = ("spearman", "partial")  # those that are kept for each network, for each truth


@dataclass(frozen=True)
class MeasureVerdict:
    """How well one measure does on one family of networks.

    `spearman`, `partial`, which is given the distance of the symbols, and `lead`, by how much the rank correlation is
    above that of nearness on the same words, are by truth. `structure` is the area under ROC for pairs that the
    automaton's state depends on. `seconds` are those of one network's words, once compiled. `by_network` has four means
    over words for each network, None where no word has an order of pairs: the rank correlations with the interactions
    of the language and of the output, and the same given the distance.
    """

    measure: str
    family: str
    spearman: Mapping[str, Interval]
    partial: Mapping[str, Interval]
    lead: Mapping[str, Interval]
    structure: Interval
    seconds: float
    networks: int
    words: int
    by_network: Mapping[str, Sequence[float | None]]

    def as_json(self) -> dict[str, Any]:
        about = {"measure": self.measure, "family": self.family, "networks": self.networks, "words": self.words}
        for name in BY_TRUTH:
            about |= {f"{name}_{truth}": found.as_json() for truth, found in getattr(self, name).items()}
        about |= {"structure": self.structure.as_json(), "seconds": round(self.seconds, 4)}
        return about | {"by_network": {name: list(numbers) for name, numbers in self.by_network.items()}}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "MeasureVerdict":
        """The verdict that `as_json` made plain data of."""
        by_truth = {
            name: {truth: Interval.from_json(stored[f"{name}_{truth}"]) for truth in TRUTHS} for name in BY_TRUTH
        }
        kept = {name: stored[name] for name in ("measure", "family", "seconds", "networks", "words", "by_network")}
        return cls(**by_truth, structure=Interval.from_json(stored["structure"]), **kept)


@dataclass(frozen=True)
class InteractionVerdicts:
    """The verdicts on all measures, a line on each measure that failed, and one on each network that was left out.

    `size` says how much was judged, if the networks were made for it. `unsure` is, for families whose own interactions
    were estimated because words are long, the share of pairs whose estimate is at most two standard errors.
    """

    verdicts: tuple[MeasureVerdict, ...]
    problems: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    size: Mapping[str, Any] = field(default_factory=dict)
    unsure: Mapping[str, float] = field(default_factory=dict)

    def of(self, measure: str, family: str) -> MeasureVerdict:
        found = [one for one in self.verdicts if (one.measure, one.family) == (measure, family)]
        if not found:
            raise InputError(f"there is no verdict on {measure!r} for {family!r}")
        return found[0]

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.measure for one in self.verdicts))

    @property
    def families(self) -> tuple[str, ...]:
        """In the order of the measure that was judged on most, because some are not defined for all families."""
        by_measure = [[one.family for one in self.verdicts if one.measure == name] for name in self.measures]
        longest_first = sorted(by_measure, key=len, reverse=True)
        return tuple(dict.fromkeys(family for families in longest_first for family in families))

    def table(self, cell: Callable[[MeasureVerdict], object]) -> list[list[str]]:
        """A table of measures × families, headings first; `cell` says what is shown of a verdict."""
        known = {(one.measure, one.family): str(cell(one)) for one in self.verdicts}
        rows = [
            [measure, *(known.get((measure, family), "–") for family in self.families)] for measure in self.measures
        ]
        return [["measure", *self.families], *rows]

    def tables(self) -> dict[str, list[list[str]]]:
        """All tables by their titles: rank correlations for each truth, the automaton's states, and seconds."""
        found = {}
        for truth, what in zip(TRUTHS, ("the language", "the network's own output")):
            titles = (
                f"rank correlation with the true interactions of {what}",
                f"the same, given the distance of the two symbols ({what})",
                f"the rank correlation less that of nearness ({what})",
            )
            for title, name in zip(titles, BY_TRUTH):
                found[title] = self.table(lambda verdict, name=name, truth=truth: getattr(verdict, name)[truth])
        found["area under ROC, pairs on which the automaton's state depends"] = self.table(lambda v: v.structure)
        found["seconds for the words of one network, once compiled"] = self.table(lambda v: f"{v.seconds:.3f}")
        return found

    def notes(self) -> list[str]:
        """What the tables do not say: how much was judged, what was estimated or left out, and what failed."""
        counts = {
            family: max(one.networks for one in self.verdicts if one.family == family) for family in self.families
        }
        networks = ", ".join(f"{count} {family} networks" for family, count in counts.items())
        words = max((one.words for one in self.verdicts), default=0)
        found = [f"{networks}, {words} words each; 95% intervals over languages, networks, words"]
        for family, share in self.unsure.items():
            told = f"{share:.0%} of the pairs have an estimate of at most two standard errors"
            found.append(f"estimated: the interactions of the output of {family} networks; {told}")
        found += [f"left out: {line}" for line in self.left_out] + [f"failed: {line}" for line in self.problems]
        return found if self.verdicts else ["no measure could be judged", *found[1:]]

    def __str__(self) -> str:
        tables = self.tables() if self.verdicts else {}
        return "\n\n".join([*(f"{title}\n{aligned(rows)}" for title, rows in tables.items()), *self.notes()])

    def __repr__(self) -> str:
        return f"<InteractionVerdicts on {len(self.measures)} measures, {len(self.families)} families of networks>"

    def _repr_html_(self) -> str:
        tables = self.tables() if self.verdicts else {}
        shown = (html_table(rows, most=None, caption=title) for title, rows in tables.items())
        return "".join(shown) + html_notes(self.notes())

    def as_json(self) -> dict[str, Any]:
        verdicts = [one.as_json() for one in self.verdicts]
        lines = {"problems": list(self.problems), "left_out": list(self.left_out), "unsure": dict(self.unsure)}
        return {"size": dict(self.size), "verdicts": verdicts} | lines

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "InteractionVerdicts":
        """The verdicts that `as_json` made plain data of."""
        verdicts = tuple(MeasureVerdict.from_json(one) for one in stored["verdicts"])
        return cls(
            verdicts, tuple(stored["problems"]), tuple(stored["left_out"]), stored["size"], stored.get("unsure", {})
        )

    def markdown(self) -> dict[str, str]:
        """The printed tables in Markdown, by their titles."""
        return {title: markdown_table(rows) for title, rows in self.tables().items()}

    def only(self, families: Sequence[str]) -> "InteractionVerdicts":
        """The verdicts on these families, in this order."""
        known = {(one.measure, one.family): one for one in self.verdicts}
        if missing := [family for family in families if family not in self.families]:
            raise InputError(f"there are no verdicts for {missing[0]!r}; there are {', '.join(self.families)}")
        kept = (known[name, family] for name in self.measures for family in families if (name, family) in known)
        return replace(self, verdicts=tuple(kept))


def joined(parts: Sequence[InteractionVerdicts]) -> InteractionVerdicts:
    """The verdicts of several runs as those of one; each family is in one of them.

    `size` keeps what all runs have in common. What differs is in `by_family`, for each family.
    """
    verdicts = tuple(one for part in parts for one in part.verdicts)
    if len({(one.measure, one.family) for one in verdicts}) < len(verdicts):
        raise InputError("a family was judged in two of these runs; give each family once")
    sizes = [part.size for part in parts]
    common = (
        {key: value for key, value in sizes[0].items() if all(size.get(key) == value for size in sizes)}
        if sizes
        else {}
    )
    own = {
        family: {key: value for key, value in part.size.items() if key not in common}
        for part in parts
        for family in part.families
    }
    measures = list(dict.fromkeys(one.measure for one in verdicts))
    return InteractionVerdicts(
        tuple(sorted(verdicts, key=lambda one: measures.index(one.measure))),
        tuple(
            line for part in parts for line in part.problems if line.partition(" on all networks: ")[0] not in measures
        ),
        tuple(line for part in parts for line in part.left_out),
        common | ({"by_family": own} if any(own.values()) else {}),
        {family: share for part in parts for family, share in part.unsure.items()},
    )


def markdown_table(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])
