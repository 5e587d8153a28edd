"""The tables of the page on interdependence: a head and rows from the content of a JSON file.

`tables.py` writes them into the page.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kleene.experiments.english_report import signed, strata_means, told
from kleene.experiments.resampling import interval_over
from kleene.experiments.word_pairs import CLASSES

Table = tuple[list[str], list[list[str]]]
NAMES = {
    "hidden": "DI at the hidden state",
    "logits": "DI at the logits",
    "erasure": "erasure",
    "gradient": "gradient × input",
    "information": "mutual information",
}
DISTANCES = (1, 2, 4, 8)
FEW = 2  # networks: an interval over these says nothing


def overview(content: Any) -> Table:
    """Every measure in every kind of network: means by distance, and mean rank correlations over the strata."""
    head = [
        "",
        *(f"{distance} apart" for distance in DISTANCES),
        "with edges",
        "strata below 0, above",
        "with frequency",
    ]
    rows = []
    for measure, groups in content["measures"].items():
        for group, found in groups.items():
            means = {row["distance"]: row for row in found["distance"]}
            edges, frequency = (told(strata_means(found[f"{column}_trends"])) for column in ("syntax", "frequency"))
            cells = [amount(means[distance]) for distance in DISTANCES]
            rows.append([f"{NAMES[measure]}, {group}", *cells, edges, signs(found["syntax_trends"]), frequency])
    return head, rows


def amount(row: dict[str, Any]) -> str:
    """A mean with half the width of its interval over networks; of two networks both values."""
    digits = 3 if row["mean"] >= 0.01 else 5
    return _with_interval(row, "mean", lambda value: f"{value:.{digits}f}", digits)


def correlation(row: dict[str, Any]) -> str:
    """A correlation with half the width of its interval; nothing where nothing varies."""
    return "" if row["correlation"] is None else _with_interval(row, "correlation", lambda value: signed(value, 2), 2)


def _with_interval(row: dict[str, Any], name: str, shown: Callable[[float], str], digits: int) -> str:
    networks = row.get("networks", [])
    if len(networks) == FEW:
        return " / ".join(shown(value) for value in networks)
    low, high = row.get("over_networks", (row["low"], row["high"]))
    return f"{shown(row[name])} ±{(high - low) / 2:.{digits}f}"


def signs(trends: list[dict[str, Any]]) -> str:
    """How many strata have an interval below 0, or both of two networks, and how many one above."""
    known = [row for row in trends if row["correlation"] is not None]
    ends = [row.get("over_networks", (row["low"], row["high"])) for row in known]
    ends = [(min(n), max(n)) if len(n := row.get("networks", [])) == FEW else end for row, end in zip(known, ends)]
    return f"{sum(high < 0 for _, high in ends)}, {sum(low > 0 for low, _ in ends)} of {len(ends)}"


def by_network(content: Any, more: Any) -> Table:
    """The mean correlation with edges over the strata in each trained network of two runs."""

    def cell(found: Any) -> str:
        return ", ".join(signed(value) for value in strata_means(found["trained"]["syntax_trends"]))

    measures = [name for name in NAMES if "trained" in content["measures"][name]]
    rows = [[NAMES[name], *(cell(one["measures"][name]) for one in (content, more))] for name in measures]
    return ["correlation with edges, mean over strata", "five networks", "two more"], rows


def by_edges(content: Any) -> Table:
    """The rank correlation with edges in the tree at each distance, with half the width of its interval."""
    distances = sorted({row["distance"] for row in content["measures"]["hidden"]["trained"]["syntax_trends"]})
    rows = []
    for classes in CLASSES:
        for title, found in _sources(content["measures"]):
            cells = {row["distance"]: correlation(row) for row in found["syntax_trends"] if row["classes"] == classes}
            rows.append([f"{classes}: {title}", *(cells.get(distance, "") for distance in distances)])
    return ["words apart", *map(str, distances)], rows


def _sources(measures: Any) -> Iterator[tuple[str, Any]]:
    """Interdependence in every kind of network, and the other measures in trained ones."""
    for group, found in measures["hidden"].items():
        yield f"{NAMES['hidden']}, {group}", found
    yield f"{NAMES['logits']}, trained", measures["logits"]["trained"]
    for measure in ("erasure", "gradient"):
        yield f"{NAMES[measure]}, trained", measures[measure]["trained"]
    yield NAMES["information"], measures["information"]["text"]


def one_network(content: Any) -> Table:
    """The older run with one trained and one untrained network."""
    head = ["", *(f"{distance} apart" for distance in DISTANCES), "with edges", "strata below 0", "with frequency"]
    rows = []
    for name in ("trained", "untrained"):
        means = {row["distance"]: row["mean"] for row in content[name]["distance"]}
        edges = [row["correlation"] for row in content[name]["syntax_trends"]]
        frequency = [row["correlation"] for row in content[name]["frequency_trends"]]
        below = f"{sum(rho < 0 for rho in edges)} of {len(edges)}"
        cells = [f"{means[distance]:.3f}" for distance in DISTANCES]
        rows.append([name, *cells, signed(float(np.mean(edges))), below, signed(float(np.mean(frequency)))])
    return head, rows


def one_network_edges(content: Any) -> Table:
    """The rank correlation with edges at each distance, in the older run."""
    rows = []
    for name in ("trained", "untrained"):
        for classes in CLASSES:
            found = [row for row in content[name]["syntax_trends"] if row["classes"] == classes]
            rows.append([f"{classes}, {name}", *(signed(row["correlation"], 2) for row in found)])
    return ["words apart", *(str(row["distance"]) for row in found)], rows


def rules_by_corpus(content: Any) -> Table:
    """The last test of the rules: the mean over corpora, with half the width of its 95% interval."""
    measures = {
        "omega_in": "P(ω), known scaffolds",
        "omega_out": "P(ω), random scaffolds",
        "omega_by_alpha_out": "by α alone, random scaffolds",
        "interdependence_in": "DI(α, scaffold), hidden state",
        "interdependence_logits_in": "DI(α, scaffold), logits",
    }
    head = [f"mean ± half of the 95% interval over {content['corpora']} corpora", *measures.values()]
    return head, [[kind, *(over_corpora(last[name]) for name in measures)] for kind, last in content["last"].items()]


def over_corpora(estimate: dict[str, Any]) -> str:
    low, high = estimate["over_corpora"]
    return f"{estimate['mean']:.2f} ±{(high - low) / 2:.2f}"


def familiarity_effect(content: Any) -> Table:
    """How much higher interdependence is with familiar scaffolds, corpus by corpus; a corpus has the same tests."""
    last, rows = content["last"], []
    for length in dict.fromkeys(kind.split()[0] for kind in last):
        for measure, title in (("interdependence_in", "hidden state"), ("interdependence_logits_in", "logits")):
            sides = [np.array(last[f"{length} {side}"][measure]["corpora"]) for side in ("familiar", "unfamiliar")]
            apart = sides[0] - sides[1]
            low, high = interval_over(apart)
            each = ", ".join(signed(value, 2) for value in apart)
            rows.append(
                [f"{length}, {title}", each, f"{signed(apart.mean(), 2)} ({signed(low, 2)} to {signed(high, 2)})"]
            )
    return ["familiar minus unfamiliar", "in each corpus", "mean (95% interval)"], rows


def rule_counts(content: Any) -> Table:
    """P(ω) with random scaffolds by α, lowest and highest seed, and by the scaffold, at the last test."""
    curves = {tuple(name.split()): found for name, found in content["curves"].items() if name != "epochs"}
    counts = list(dict.fromkeys(count for _, count in curves))

    def cell(found: Any) -> str:
        alpha = np.array(found["omega_by_prefix_out"][-1])[:, 0]
        return f"{spread(alpha)}, {np.mean(found['omega_by_scaffold_out'][-1]):.4f}"

    lengths = dict.fromkeys(length for length, _ in curves)
    rows = [[length, *(cell(curves[length, count]) for count in counts)] for length in lengths]
    return ["by α, by the scaffold", *(f"{int(count.removeprefix('n=')):,} rules" for count in counts)], rows


def spread(values: Sequence[float] | np.ndarray) -> str:
    """The mean with the lowest and the highest, in more digits where it is small."""
    digits = 2 if np.mean(values) >= 0.01 else 3
    return f"{np.mean(values):.{digits}f} ({np.min(values):.{digits}f}–{np.max(values):.{digits}f})"
