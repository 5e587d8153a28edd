"""What was found in English and in the built-in grammar, in a few lines and as a picture."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kleene.pictures.plots import Line, Panel, line_panels
from kleene_papers.interdependence.resampling import interval_over
from kleene_papers.interdependence.word_pairs import CLASSES
from kleene_papers.stored import Result

TITLES = {"hidden": "DI at the hidden state", "logits": "DI at the logits"}
GROUPS = ("trained", "untrained", "permuted", "shuffled")
SHOWN = (1, 2, 4, 8)  # distances in the summary


def summary(found: dict[str, Any]) -> list[str]:
    """The result in a few lines."""
    lines = [
        f"perplexity {found['perplexity']:,} on {found['held_out_words']:,} held-out words; {found['pairs']:,} "
        f"pairs of {found['sentences']:,} sentences, {found['unknown_words']:.1%} unknown; {_counted(found)}"
    ]
    for measure, groups in found["measures"].items():
        for name, group in groups.items():
            means = [f"{r['mean']:.3g} at {r['distance']}" for r in group["distance"] if r["distance"] in SHOWN]
            edges, frequency = (told(strata_means(group[f"{column}_trends"])) for column in ("syntax", "frequency"))
            trends = f"rank correlation with edges {edges}, with frequency {frequency}"
            lines.append(f"{measure}, {name}: {', '.join(means)}; {trends}")
    return lines


def _counted(found: dict[str, Any]) -> str:
    """How many networks there are. One model from a file has several controls."""
    trained, controls = found["networks"], found["control_networks"]
    if trained == controls:
        return f"{trained} network{'' if trained == 1 else 's'} of each kind"
    return f"{trained} trained network{'' if trained == 1 else 's'}, {controls} of each other kind"


def strata_means(rows: Sequence[dict[str, Any]]) -> np.ndarray:
    """The mean correlation over the strata in each network, without strata in which nothing varies."""
    found = [row.get("networks", [row["correlation"]]) for row in rows if row["correlation"] is not None]
    return np.array(found, float).mean(axis=0) if found else np.array([])


def told(networks: np.ndarray, digits: int = 3) -> str:
    """The mean over networks and its 95% interval; of two networks, whose interval would say nothing, both values.

    >>> told(np.array([0.1, 0.2, 0.3])), told(np.array([0.1, 0.2])), told(np.array([]))
    ('+0.200 (−0.048 to +0.448)', '+0.100 / +0.200', '–')
    """
    if len(networks) < 3:
        return " / ".join(signed(value, digits) for value in networks) or "–"
    ends = " to ".join(signed(end, digits) for end in interval_over(networks))
    return f"{signed(networks.mean(), digits)} ({ends})"


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign, and a true minus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def draw(result: Result, path: Path) -> Path:
    """Draw means against distance, correlations with edges, and means against edges with a panel for each distance.

    Bands reach from the lowest to the highest network; where there is one network, they are over sentences.
    """
    measures, panels = result["measures"], {}
    for measure, title in TITLES.items():
        lines = {
            name: _line(found["distance"], "distance", colour, dashed=name != "trained")
            for colour, (name, found) in enumerate(_groups(measures, measure))
        }
        if lines:
            panels[title] = Panel(lines, "words apart", "mean DI", marks="o")
    for classes in CLASSES:
        lines = {}
        for colour, (name, found) in enumerate(_groups(measures, "hidden")):
            rows = [r for r in found["syntax_trends"] if r["classes"] == classes and r["correlation"] is not None]
            if rows:
                lines[name] = _line(rows, "distance", colour, dashed=name != "trained", up="correlation")
        if lines:
            panels[f"DI and edges, {classes} pairs"] = Panel(lines, "words apart", "rank correlation", marks="o")
    for distance in sorted({row["distance"] for row in measures["hidden"]["trained"]["syntax"]}):
        lines = dict(_syntax_lines(measures["hidden"], distance))
        if lines:
            panels[f"{distance} apart"] = Panel(lines, "edges in the tree", "mean DI", marks="o")
    return line_panels(panels, path, title=result.shows)


def _groups(measures: dict[str, Any], measure: str) -> Iterable[tuple[str, Any]]:
    return ((name, measures[measure][name]) for name in GROUPS if name in measures.get(measure, {}))


def _syntax_lines(groups: dict[str, Any], distance: int) -> Iterable[tuple[str, Line]]:
    for name in ("trained", "untrained"):
        for colour, classes in enumerate(CLASSES[:2], start=len(GROUPS)):
            rows = [r for r in groups[name]["syntax"] if (r["distance"], r["classes"]) == (distance, classes)]
            if rows:
                yield f"{classes}, {name}", _line(rows, "edges", colour, dashed=name == "untrained")


def _line(rows: list[dict[str, Any]], across: str, colour: int, dashed: bool, up: str = "mean") -> Line:
    lows, highs = ([end(_each(row, key)) for row in rows] for key, end in (("low", min), ("high", max)))
    return Line([row[across] for row in rows], [row[up] for row in rows], lows, highs, colour=colour, dashed=dashed)


def _each(row: dict[str, Any], end: str) -> Sequence[Any]:
    """The values of all networks; of a single one, the end of its interval."""
    return row.get("networks") or [row.get(end, row.get("correlation"))]
