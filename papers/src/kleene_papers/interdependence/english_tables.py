"""The tables of interdependence in English and in the built-in grammar.

A stratum is one distance in the sentence and one class of pairs; measures have a rank correlation in each.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kleene_papers.interdependence.english_report import GROUPS, TITLES, signed, strata_means, told
from kleene_papers.interdependence.word_pairs import CLASSES
from kleene_papers.stored import Result
from kleene_papers.tables import Table

NAMES = TITLES | {"erasure": "erasure", "gradient": "gradient × input", "information": "mutual information"}
DISTANCES = (1, 2, 4, 8)
TRENDS = {"edges": "syntax_trends", "frequency": "frequency_trends", "given place": "syntax_trends_given_place"}
FEW = 2  # networks: an interval over these says nothing
Row = dict[str, Any]


def tables(result: Result) -> list[Table]:
    """The papers' claims beside ours, means and correlations with the tree of every measure, and the run."""
    measures = result["measures"]
    ours = [(f"{NAMES['hidden']}, {group}", measures["hidden"][group]) for group in GROUPS]
    others = [(f"{NAMES[one]}, trained", measures[one]["trained"]) for one in ("logits", "erasure", "gradient")]
    others.append((NAMES["information"], measures["information"]["text"]))
    found = [
        beside_the_papers(result),
        *(overview(measures, (place,), title) for place, title in TITLES.items()),
        overview(measures, ("erasure", "gradient", "information"), "other measures"),
        by_distance(ours, "tree, interdependence"),
        by_distance(others, "tree, other measures"),
        runs(result),
    ]
    trends = {title: TRENDS[kind] for title, kind in (("", "edges"), (", given the place", "given place"))}
    if TRENDS["given place"] not in measures["hidden"]["trained"]:
        return found
    placed = [
        (f"{group}{title}", {TRENDS["edges"]: measures["hidden"][group][trend]})
        for group in ("trained", "permuted", "shuffled")
        for title, trend in trends.items()
    ]
    return [*found, by_distance(placed, "tree, given the place")]


def runs(*results: Result) -> Table:
    """Each run: its networks, how well they predict, and what they read."""
    head = ["", "networks of each kind", "units", "updates", "perplexity", "of word frequencies alone"]
    return Table(
        [*head, "unknown words", "sentences", "pairs", "training"], [_run(one) for one in results], "run", marked=True
    )


def _run(result: Result) -> list[str]:
    command = result.provenance.command
    ends = sorted({f"{end:.1f}" for end in (min(result["perplexities"]), max(result["perplexities"]))})
    return [
        result.name if command is None else f"`{command.removeprefix('kleene reproduce ')}`",
        str(result["networks"]),
        str(result["hidden"]),
        f"{result.plans[0]['iterations']:,}" if result.plans else "",
        "–".join(ends),
        f"{result.rows[0]['unigram_perplexity']:.1f}" if result.rows else "",
        f"{result['unknown_words']:.1%}",
        f"{result['sentences']:,}",
        f"{result['pairs']:,}",
        f"{result.seconds:.0f} s, {result.provenance.machine}" if result.plans else "",
    ]


def beside_the_papers(result: Result) -> Table:
    """What the papers say, and our numbers in both places in which the measure is taken."""
    measures = [result["measures"][place] for place in TITLES]
    rows = [
        ["distance", result.paper["distance"], *map(_means, measures)],
        ["tree, trained", result.paper["syntax"], *(_by_classes(one["trained"]) for one in measures)],
        ["tree, untrained", "", *(_by_classes(one["untrained"]) for one in measures)],
        ["frequency", result.paper["frequency"], *map(_frequency, measures)],
    ]
    return Table(["", "the papers", *(f"ours, {title}" for title in TITLES.values())], rows, "the papers and ours")


def _means(groups: Row) -> str:
    rows = [row for row in groups["trained"]["distance"] if row["distance"] in DISTANCES]
    return "; ".join(f"{row['distance']} apart {_with_ends(row)}" for row in rows)


def _with_ends(row: Row) -> str:
    """A mean with its interval over networks in brackets, or with the values of two."""
    networks = row.get("networks", [])
    ends, between = (networks, " and ") if len(networks) == FEW else (row.get("over_networks", []), "–")
    return f"{row['mean']:.3f}" + (f" ({between.join(f'{end:.3f}' for end in ends)})" if ends else "")


def _by_classes(group: Row) -> str:
    """The rank correlation with edges in each class of pairs, the mean over distances."""
    found = ((one, strata_means(chosen(group["syntax_trends"], classes=(one,)))) for one in CLASSES)
    return "; ".join(f"{classes} {told(networks, 2)}" for classes, networks in found)


def _frequency(groups: Row) -> str:
    trends = groups["trained"]["frequency_trends"]
    below = sum(row["correlation"] < 0 for row in trends if row["correlation"] is not None)
    return f"{told(strata_means(trends))} in the mean over strata; below 0 in {below} of {len(trends)}"


def overview(measures: Row, chosen: Sequence[str], title: str) -> Table:
    """These measures in every kind of network: means by distance, and mean rank correlations over strata."""
    head = ["", *(f"{distance} apart" for distance in DISTANCES)]
    rows = []
    for measure in chosen:
        for group, found in measures[measure].items():
            means = {row["distance"]: row for row in found["distance"]}
            edges, frequency = (told(strata_means(found[f"{column}_trends"])) for column in ("syntax", "frequency"))
            cells = [_mean(means[distance]) if distance in means else "" for distance in DISTANCES]
            rows.append([f"{NAMES[measure]}, {group}", *cells, edges, _signs(found["syntax_trends"]), frequency])
    return Table([*head, "with edges", "strata below 0, above", "with frequency"], rows, title)


def _mean(row: Row) -> str:
    digits = 3 if row["mean"] >= 0.01 else 5
    return _with_half(row, "mean", lambda value: f"{value:.{digits}f}", digits)


def _correlation(row: Row) -> str:
    return "" if row["correlation"] is None else _with_half(row, "correlation", lambda value: signed(value, 2), 2)


def _with_half(row: Row, name: str, shown: Callable[[float], str], digits: int) -> str:
    """A value with half the width of its interval; of two networks both values."""
    networks = row.get("networks", [])
    if len(networks) == FEW:
        return " / ".join(shown(value) for value in networks)
    return f"{shown(row[name])} ±{half_width(row):.{digits}f}"


def half_width(row: Row) -> float:
    """Half of the width of the interval over networks; of one network that over sentences."""
    low, high = _ends(row)
    return (high - low) / 2


def _ends(row: Row) -> Sequence[float]:
    return row.get("over_networks") or (row["low"], row["high"])


def _signs(trends: Sequence[Row]) -> str:
    """How many strata are below 0, and how many above: with their interval, or with both of two networks."""
    ends = []
    for row in (row for row in trends if row["correlation"] is not None):
        networks = row.get("networks", [])
        ends.append((min(networks), max(networks)) if len(networks) == FEW else _ends(row))
    return f"{sum(high < 0 for _, high in ends)}, {sum(low > 0 for low, _ in ends)} of {len(ends)}"


def by_distance(groups: Sequence[tuple[str, Row]], title: str) -> Table:
    """The rank correlation with edges in each stratum: a row for each class of each group, a column a distance."""
    distances = sorted({row["distance"] for _, found in groups for row in found["syntax_trends"]})
    rows = []
    for classes in CLASSES:
        for name, found in groups:
            cells = {row["distance"]: _correlation(row) for row in chosen(found["syntax_trends"], classes=(classes,))}
            rows.append([f"{classes}: {name}", *(cells.get(distance, "") for distance in distances)])
    return Table(["words apart", *map(str, distances)], rows, title)


def chosen(
    rows: Sequence[Row], distances: Iterable[int] | None = None, classes: Sequence[str] | None = None
) -> list[Row]:
    """The rows at these distances and in these classes, or at all."""
    wanted = None if distances is None else {*distances}
    return [
        row
        for row in rows
        if (wanted is None or row["distance"] in wanted) and (classes is None or row["classes"] in classes)
    ]


def models(candidates: Result, full: Result) -> list[Table]:
    """The English model that ships, the other candidates, and the model of full size."""
    rows = []
    for row in candidates["candidates"]:
        mark = ", ships" if row["file"] == candidates["ships"] else ""
        named = [f"{row['words']:,} words, {row['hidden']} units{mark}", f"{row['bytes'] / 1e6:.1f} MB"]
        perplexities = [f"{row[part]['in_all_words']:.1f}" for part in ("valid", "test")]
        rows.append([*named, *perplexities, f"{row['valid']['unknown']:.1%}"])
    known = full.plans[0]["lesson"]["vocabulary"][0]
    rows.append([f"full size: {known:,} words, {full['hidden']} units", "", f"{full['perplexity']:.1f}", "", "0.0%"])
    head = ["", "file", "perplexity, validation part", "perplexity, test part", "unknown words of the validation part"]
    return [Table(head, rows, "models")]
