"""The tables of words in interdependence.md, from english.json, english-grammar.json and their other sizes."""

from collections.abc import Callable, Iterator
from typing import Any

from tables import markdown, stored  # beside this file

from kleene_papers.interdependence.english import NETWORKS
from kleene_papers.interdependence.english_report import signed, strata_means, told
from kleene_papers.interdependence.word_pairs import CLASSES

NAMES = {
    "hidden": "DI at the hidden state",
    "logits": "DI at the logits",
    "erasure": "erasure",
    "gradient": "gradient × input",
    "information": "mutual information",
}
DISTANCES = (1, 2, 4, 8)
PLACES = {"": "syntax_trends", ", given the place": "syntax_trends_given_place"}
FEW = 2  # networks: an interval over these says nothing
RUNS = {
    "english": "`english --full`",
    "english-quick": "`english`",
    "english-grammar": "`english-grammar`",
    "english-grammar-two": "`english-grammar`",
}


def runs() -> str:
    """Every run: its networks, how well they predict, and what they read."""

    def line(name: str, title: str) -> Iterator[str]:
        content = stored(name)
        plan, taught = content["plans"][0], content["settings"][0]
        perplexities = content["perplexities"]
        asked = name != "english" and content["networks"] != NETWORKS["quick"]
        yield f"{title[:-1]} --networks {content['networks']}`" if asked else title
        yield from (str(content["networks"]), str(content["hidden"]), f"{plan['iterations']:,}")
        low, high = min(perplexities), max(perplexities)
        yield f"{low:.1f}" if low == high else f"{low:.1f}–{high:.1f}"
        yield f"{taught['unigram_perplexity']:.1f}"
        yield f"{content['unknown_words']:.1%}"
        yield from (f"{content[key]:,}" for key in ("sentences", "pairs"))
        yield f"{content['seconds']:.0f} s, {content['versions']['device']}"

    head = ["", "networks of each kind", "units", "updates", "perplexity", "of word frequencies alone"]
    head += ["unknown words", "sentences", "pairs", "time of training"]
    return markdown(head, [[*line(*item)] for item in RUNS.items()])


def overview(content: Any, *chosen: str) -> str:
    """These measures, or all, in every kind of network: means by distance, and mean rank correlations over strata."""
    head = [
        "",
        *(f"{distance} apart" for distance in DISTANCES),
        "with edges",
        "strata below 0, above",
        "with frequency",
    ]
    rows = []
    for measure in chosen or content["measures"]:
        for group, found in content["measures"][measure].items():
            means = {row["distance"]: row for row in found["distance"]}
            edges, frequency = (told(strata_means(found[f"{column}_trends"])) for column in ("syntax", "frequency"))
            cells = [amount(means[distance]) for distance in DISTANCES]
            rows.append([f"{NAMES[measure]}, {group}", *cells, edges, signs(found["syntax_trends"]), frequency])
    return markdown(head, rows)


def amount(row: dict[str, Any]) -> str:
    """A mean with half the width of its interval over networks; of two networks both values, of one the value."""
    digits = 3 if row["mean"] >= 0.01 else 5
    return _with_interval(row, "mean", lambda value: f"{value:.{digits}f}", digits)


def correlation(row: dict[str, Any]) -> str:
    """A correlation with half the width of its interval; nothing where nothing varies."""
    return "" if row["correlation"] is None else _with_interval(row, "correlation", lambda value: signed(value, 2), 2)


def _with_interval(row: dict[str, Any], name: str, shown: Callable[[float], str], digits: int) -> str:
    networks = row.get("networks", [])
    if len(networks) == FEW:
        return " / ".join(shown(value) for value in networks)
    low, high = _ends(row)
    return f"{shown(row[name])} ±{(high - low) / 2:.{digits}f}"


def _ends(row: dict[str, Any]) -> tuple[float, float]:
    """The interval over networks; of one network that over sentences."""
    return row.get("over_networks") or (row["low"], row["high"])


def signs(trends: list[dict[str, Any]]) -> str:
    """How many strata are below 0, and how many above: with their interval, or with both of two networks."""
    ends = []
    for row in (row for row in trends if row["correlation"] is not None):
        networks = row.get("networks", [])
        ends.append((min(networks), max(networks)) if len(networks) == FEW else _ends(row))
    return f"{sum(high < 0 for _, high in ends)}, {sum(low > 0 for low, _ in ends)} of {len(ends)}"


def by_network(content: Any, more: Any) -> str:
    """The mean correlation with edges over the strata in each trained network of two runs."""

    def cell(found: Any) -> str:
        return ", ".join(signed(value) for value in strata_means(found["trained"]["syntax_trends"]))

    measures = [name for name in NAMES if "trained" in content["measures"][name]]
    rows = [[NAMES[name], *(cell(one["measures"][name]) for one in (content, more))] for name in measures]
    return markdown(["correlation with edges, mean over strata", "five networks", "two more"], rows)


def by_edges(content: Any) -> str:
    """The rank correlation with edges in the tree at each distance, with half the width of its interval."""
    distances = sorted({row["distance"] for row in content["measures"]["hidden"]["trained"]["syntax_trends"]})
    rows = []
    for classes in CLASSES:
        for title, found in _sources(content["measures"]):
            cells = {row["distance"]: correlation(row) for row in found["syntax_trends"] if row["classes"] == classes}
            rows.append([f"{classes}: {title}", *(cells.get(distance, "") for distance in distances)])
    return markdown(["words apart", *map(str, distances)], rows)


def given_the_place(content: Any) -> str:
    """The rank correlation with edges at each distance, and the partial one given the place in the sentence."""
    distances = sorted({row["distance"] for row in content["measures"]["hidden"]["trained"]["syntax_trends"]})
    rows = []
    for classes in CLASSES:
        for group in ("trained", "permuted", "shuffled"):
            found = content["measures"]["hidden"][group]
            for title, trends in PLACES.items():
                cells = {row["distance"]: correlation(row) for row in found[trends] if row["classes"] == classes}
                rows.append([f"{classes}, {group}{title}", *(cells.get(distance, "") for distance in distances)])
    return markdown(["words apart", *map(str, distances)], rows)


def _sources(measures: Any) -> Iterator[tuple[str, Any]]:
    """Interdependence in every kind of network, and the other measures in trained ones, as far as there are any."""
    for group, found in measures["hidden"].items():
        yield f"{NAMES['hidden']}, {group}", found
    for measure in ("logits", "erasure", "gradient"):
        if measure in measures:
            yield f"{NAMES[measure]}, trained", measures[measure]["trained"]
    if "information" in measures:
        yield NAMES["information"], measures["information"]["text"]


def shipped() -> str:
    """The English model that ships, the other candidates, and the model of full size."""
    content = stored("english-model")
    lines = []
    for row in content["candidates"]:
        mark = ", ships" if row["file"] == content["ships"] else ""
        named = [f"{row['words']:,} words, {row['hidden']} units{mark}", f"{row['bytes'] / 1e6:.1f} MB"]
        perplexities = [f"{row[part]['in_all_words']:.1f}" for part in ("valid", "test")]
        lines.append([*named, *perplexities, f"{row['valid']['unknown']:.1%}"])
    full = stored("english")
    known = full["plans"][0]["lesson"]["vocabulary"][0]
    lines.append([f"full size: {known:,} words, {full['hidden']} units", "", f"{full['perplexity']:.1f}", "", "0.0%"])
    head = ["", "file", "perplexity, validation part", "perplexity, test part", "unknown words of the validation part"]
    return markdown(head, lines)


TABLES: dict[str, Callable[[], str]] = {
    "English model": shipped,
    "words, runs": runs,
    "English, full": lambda: overview(stored("english")),
    "English, in short": lambda: overview(stored("english"), "hidden", "logits"),
    "English, full, by distance": lambda: by_edges(stored("english")),
    "English, the model that ships": lambda: given_the_place(stored("english-shipped")),
    "English, quick": lambda: overview(stored("english-quick")),
    "English, quick, by distance": lambda: by_edges(stored("english-quick")),
    "grammar": lambda: overview(stored("english-grammar")),
    "grammar, by network": lambda: by_network(stored("english-grammar"), stored("english-grammar-two")),
    "grammar, by distance": lambda: by_edges(stored("english-grammar")),
}
