"""The numbers of interdependence in English and in the built-in grammar that sentences of pages have."""

from collections.abc import Iterable, Sequence

from kleene_papers.interdependence.english_report import GROUPS, signed, strata_means, told
from kleene_papers.interdependence.english_tables import NAMES, TRENDS, Row, chosen, half_width, runs
from kleene_papers.stored import stored
from kleene_papers.tables import Table


def english_runs(*names: str) -> str:
    """A row for each of some stored runs."""
    return runs(*map(stored, names)).markdown()


def correlations_by_network(*names: str) -> str:
    """The mean correlation with edges over the strata in each trained network of some runs."""

    def cell(found: Row) -> str:
        return ", ".join(signed(value) for value in strata_means(found["trained"]["syntax_trends"]))

    results = [stored(name) for name in names]
    measures = [one for one in NAMES if "trained" in results[0]["measures"][one]]
    rows = [[NAMES[one], *(cell(result["measures"][one]) for result in results)] for one in measures]
    return Table(["", *(f"{result['networks']} networks" for result in results)], rows).markdown()


def words_apart(name: str, measure: str, group: str, distance: int) -> Row:
    """The row with the mean of a measure for words so many apart."""
    return next(row for row in stored(name)["measures"][measure][group]["distance"] if row["distance"] == distance)


def strata(
    name: str,
    measure: str,
    group: str,
    distances: Iterable[int] | None = None,
    classes: Sequence[str] | None = None,
    of: str = "edges",
) -> list[Row]:
    """The rank correlations of a measure with edges, or of another of `TRENDS`, at these distances in these classes."""
    return chosen(stored(name)["measures"][measure][group][TRENDS[of]], distances, classes)


def stratum(name: str, measure: str, group: str, distance: int, classes: str, of: str = "edges") -> Row:
    """The rank correlation of a measure in one stratum."""
    return strata(name, measure, group, (distance,), (classes,), of)[0]


def strata_ends(*groups: Iterable[Row]) -> str:
    """The lowest and the highest rank correlation in some strata, the one nearer to 0 first.

    >>> strata_ends([{"correlation": -0.08}, {"correlation": -0.03}])
    '−0.03 to −0.08'
    """
    found = [row["correlation"] for rows in groups for row in rows]
    return " to ".join(signed(end, 2) for end in sorted((min(found), max(found)), key=abs))


def strata_mean(rows: Sequence[Row]) -> float:
    """The mean rank correlation over strata."""
    return float(strata_means(rows).mean())


def most_of_controls(name: str) -> float:
    """The highest rank correlation of DI with edges among neighbouring open and mixed words in any control."""
    rows = (strata(name, "hidden", group, (1,), ("open", "mixed")) for group in GROUPS[1:])
    return max(row["correlation"] for found in rows for row in found)


def widths_of_strata(name: str) -> tuple[float, float]:
    """Half of the interval of a correlation of DI with edges, over networks and over sentences, the means."""
    rows = strata(name, "hidden", "trained")
    sentences = [(row["high"] - row["low"]) / 2 for row in rows]
    return sum(map(half_width, rows)) / len(rows), sum(sentences) / len(rows)


def beside_permuted(name: str, distances: Iterable[int]) -> str:
    """By how much trained networks differ from their permuted weights in the mean over strata, with the interval."""
    distances = [*distances]
    trained, permuted = (strata_means(strata(name, "hidden", one, distances)) for one in ("trained", "permuted"))
    return told(trained - permuted)


WORDS = (
    english_runs,
    correlations_by_network,
    words_apart,
    strata,
    stratum,
    strata_ends,
    strata_mean,
    half_width,
    most_of_controls,
    widths_of_strata,
    beside_permuted,
)
