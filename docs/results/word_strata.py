"""Numbers on pairs of words from english.json, english-grammar.json and their other sizes, as sentences have them.

A stratum is one distance in the sentence and one class of pairs; it has a rank correlation.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sentences import signed  # these two lie beside this file
from tables import stored

from kleene_papers.interdependence.english_report import strata_means
from kleene_papers.interdependence.word_pairs import CLASSES

FULL, QUICK, GRAMMAR, SHIPPED = "english", "english-quick", "english-grammar", "english-shipped"
NEIGHBOURS, EVERY = (1,), range(1, 9)  # words apart
Row = dict[str, Any]


def strata(
    name: str,
    measure: str,
    group: str,
    distances: Iterable[int] = EVERY,
    classes: Sequence[str] = CLASSES,
    trends: str = "syntax_trends",
) -> list[Row]:
    """The rank correlations of a measure with edges, or of other trends, at these distances in these classes."""
    found = stored(name)["measures"][measure][group][trends]
    rows = {(row["distance"], row["classes"]): row for row in found}
    return [rows[distance, one] for distance in distances for one in classes]


def frequency(name: str, measure: str, group: str, classes: str, *distances: int) -> list[Row]:
    """The rank correlations of a measure with frequency in a class of pairs."""
    return strata(name, measure, group, distances, (classes,), "frequency_trends")


def correlations(rows: Iterable[Row]) -> list[str]:
    """The rank correlation in each stratum."""
    return [signed(row["correlation"]) for row in rows]


def with_ends(rows: Iterable[Row]) -> list[str]:
    """The rank correlation in each stratum, and both ends of its interval over networks."""
    return [signed(value) for row in rows for value in (row["correlation"], *row["over_networks"])]


def extremes(*groups: list[Row]) -> list[str]:
    """The lowest and the highest rank correlation in each group of strata, the one nearer to 0 first."""
    found = [[row["correlation"] for row in rows] for rows in groups]
    return [signed(end) for values in found for end in sorted((min(values), max(values)), key=abs)]


def below_zero(rows: Sequence[Row]) -> list[str]:
    """How many of these strata have their whole interval below 0, and how many there are."""
    return [str(sum(row["over_networks"][1] < 0 for row in rows)), str(len(rows))]


def half_width(ends: Sequence[float]) -> float:
    """Half of the width of an interval."""
    return (ends[1] - ends[0]) / 2


def over_strata(name: str, group: str, *measures: str, trends: str = "syntax_trends") -> list[str]:
    """The mean rank correlation over all strata by each measure."""
    return [signed(strata_means(strata(name, measure, group, trends=trends)).mean()) for measure in measures]


def apart(name: str, measure: str, group: str, distance: int) -> Row:
    """The row with the mean of a measure for words so many apart."""
    return next(row for row in stored(name)["measures"][measure][group]["distance"] if row["distance"] == distance)


def means(name: str, measure: str, group: str, *distances: int) -> list[str]:
    """The mean of a measure for words so many apart."""
    return [f"{apart(name, measure, group, distance)['mean']:.2f}" for distance in distances]


def times_untrained(name: str, *measures: str) -> list[str]:
    """How many times as much of each measure neighbours have in trained networks as in untrained ones."""
    pairs = ([apart(name, one, group, 1)["mean"] for group in ("trained", "untrained")] for one in measures)
    return [f"{trained / untrained:.0f}" for trained, untrained in pairs]
