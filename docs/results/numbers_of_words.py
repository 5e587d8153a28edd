"""The numbers of claims of both papers on interdependence; `numbers_of_claims.py` has all."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from number_words import Numbers, listed  # these four lie beside this file
from rule_tables import (
    at_test,
    bracketed,
    conditions,
    epoch_of,
    epochs_of_mastery,
    last,
    later_than_mastery,
)
from tables import stored
from word_tables import FEW

from kleene_papers.interdependence.english_report import signed, strata_means, told
from kleene_papers.interdependence.resampling import interval_over
from kleene_papers.interdependence.word_pairs import CLASSES

ENDS = {"omega_in": "P(ω), known scaffolds", "omega_out": "P(ω), random scaffolds"}


def curves(measure: str, *, title: str, place: int | None = None, paper: str | None = None) -> Numbers:
    """What a measure of the rules has come to at the last test, condition by condition.

    `paper` names the entry with the papers' claim, where it is not the measure's own.
    """
    content = stored("rules")
    key = paper or (f"{measure}, i = {place}" if place is not None else measure)
    most = 1 if measure.startswith("omega") else np.inf
    found = (f"{name} {bracketed(last(content, c, measure, place), most)}" for name, c in conditions(content))
    return {"paper": content["paper"][key], "ours": f"{title}: {listed(found)}"}


def earlier() -> Numbers:
    """When the rule is learned: by the mean, and by the first and the last corpus."""
    content = stored("rules")
    epochs = (f"{name} {epochs_of_mastery(content, c)}" for name, c in conditions(content))
    return {"paper": content["paper"]["omega_in"], "ours": f"epoch at which P(ω) passes one half: {listed(epochs)}"}


def both(*makers: Callable[[], Numbers]) -> Numbers:
    """The numbers of a figure that has several panels."""
    found = [maker() for maker in makers]
    return {key: listed(numbers[key] for numbers in found) for key in ("paper", "ours")}


def by_classes(measure: str) -> Numbers:
    """Rank correlations of interdependence in English with edges of the tree, by classes of the words."""
    content = stored("english")
    told = []
    for group in ("trained", "untrained"):
        trends = content["measures"][measure][group]["syntax_trends"]
        for classes in CLASSES:
            found = [row["networks"] for row in trends if row["classes"] == classes and row["correlation"] is not None]
            means = np.mean(found, axis=0)
            ends, between = (interval_over(means), " to ") if len(means) > FEW else (means, " and ")
            brackets = between.join(signed(end, 2) for end in ends)
            told.append(f"{group}, {classes} {signed(float(means.mean()), 2)} ({brackets})")
    ours = f"rank correlation with edges, mean over distances: {listed(told)}; {_networks(content)}"
    return {"paper": content["paper"]["syntax"], "ours": ours}


def climbing() -> Numbers:
    """P(ω) by α alone and by α and the whole scaffold of eight tokens, as the rule is mastered."""
    content, told = stored("rules"), []
    for name, c in conditions(content):
        found = later_than_mastery(content, c, "omega_by_prefix_in")
        if name.startswith("k=8") and found is not None:
            alone, every = (bracketed(found[:, token], 1) for token in (0, -1))
            told.append(f"{name} {alone} by α alone, {every} by all")
    return {"paper": content["paper"]["omega_by_prefix, k = 8"], "ours": listed(told)}


def gradients() -> Numbers:
    content, told = stored("rules"), []
    sixth = int(np.argmin(np.abs(np.array(content["curves"]["epochs"]) - 6)))
    for name, c in conditions(content):
        found = np.nanmean(c["gradient_in"], axis=2)  # NaN past the end of a short scaffold
        early, late = (bracketed(at_test(content, found, test)) for test in (sixth, -1))
        told.append(f"{name} {early} and {late}")
    after = f"after {epoch_of(content, sixth)} and {epoch_of(content, -1)} epochs"
    return {"paper": content["paper"]["gradient_in"], "ours": f"{after}: {listed(told)}"}


def frequency() -> Numbers:
    """What α and the scaffold contribute to P(ω), by length and number of rules."""
    content = stored("rule-frequency")
    told = []
    for name, c in conditions(content):
        alpha = bracketed(last(content, c, "omega_by_prefix_out", 0), 1)
        scaffold = last(content, c, "omega_by_scaffold_out").mean()
        told.append(f"{name} {alpha}, by the scaffold {scaffold:.4f}")
    paper = (
        f"by α: {content['paper']['omega_by_prefix_out, i = 0']}",
        f"by the scaffold: {content['paper']['omega_by_scaffold_out']}",
    )
    return {"paper": listed(paper), "ours": f"P(ω) by α alone: {listed(told)}"}


def distances(name: str, measure: str = "hidden") -> Numbers:
    """Interdependence by distance in the sentence."""
    content = stored(name)
    rows = [row for row in content["measures"][measure]["trained"]["distance"] if row["distance"] in (1, 2, 4, 8)]
    means = listed(f"{row['distance']} apart {row['mean']:.3f}{_ends(row)}" for row in rows)
    return {"paper": content["paper"]["distance"], "ours": f"{means}; {_networks(content)}"}


def _ends(row: dict[str, Any]) -> str:
    """The interval over networks in brackets, or the values of two, whose interval would say nothing."""
    networks = row.get("networks", [])
    if len(networks) <= FEW:
        return " ({:.3f} and {:.3f})".format(*networks) if networks else ""
    return " ({:.3f}–{:.3f})".format(*row["over_networks"])


def _networks(content: Any) -> str:
    known = {1: "one network", 2: "two networks"}
    return known.get(content["networks"], f"intervals over {content['networks']} networks")


def frequencies() -> Numbers:
    """Rank correlations of interdependence in English with the frequency of the words, the mean over strata."""
    content = stored("english")
    trends = content["measures"]["hidden"]["trained"]["frequency_trends"]
    below = sum(row["correlation"] < 0 for row in trends if row["correlation"] is not None)
    mean = f"{told(strata_means(trends))} in the mean over strata, below 0 in {below} of {len(trends)}"
    ours = f"rank correlation with frequency {mean}; {_networks(content)}"
    return {"paper": content["paper"]["frequency"], "ours": ours}


RULES: dict[str, Callable[[], Numbers]] = {
    "compose-figure-7a": earlier,
    "compose-figure-7b": partial(curves, "omega_out", title=ENDS["omega_out"]),
    "compose-figure-8": partial(curves, "omega_by_prefix_out", title="P(ω) by α alone, random scaffolds", place=0),
    "compose-figure-9": climbing,
    "compose-figure-10": partial(curves, "interdependence_in", title="DI(α, scaffold)"),
    "compose-figure-11": frequency,
    "compose-figure-12": gradients,
    "earlier-figure-11": gradients,
}
EARLIER: dict[str, Callable[[], Numbers]] = {
    "earlier-figure-3": partial(both, RULES["compose-figure-7a"], RULES["compose-figure-7b"]),
    "earlier-figure-4": RULES["compose-figure-8"],
    "earlier-figure-5": climbing,
    "earlier-figure-6": partial(
        curves, "interdependence_logits_in", title="DI(α, conduit) at the logits", paper="interdependence_in"
    ),
    "earlier-figure-8": partial(distances, "english", "logits"),
    "earlier-figure-9": partial(by_classes, "logits"),
    "earlier-figure-10": frequency,
}
NUMBERS: dict[str, Callable[[], Numbers]] = {
    "compose-figure-3": partial(distances, "english"),
    "compose-figure-4": partial(by_classes, "hidden"),
    "compose-frequency": frequencies,
    "ours-english-grammar": partial(distances, "english-grammar"),
    **RULES,
    **EARLIER,
}
