"""The tables of rules in interdependence.md, from rules.json, rule-frequency.json and their quick sizes.

Every condition has several corpora, and intervals are over them.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tables import markdown, stored  # beside this file

from kleene_papers.interdependence.english_report import signed
from kleene_papers.interdependence.resampling import interval_over
from kleene_papers.interdependence.rule_corpora import CORPORA

Curves = dict[str, np.ndarray]  # [test, run] or [test, run, token of the rule]
MEASURES: dict[str, tuple[str, int | None]] = {
    "P(ω), known scaffolds": ("omega_in", None),
    "P(ω), random scaffolds": ("omega_out", None),
    "by α alone, random scaffolds": ("omega_by_prefix_out", 0),
    "DI(α, scaffold), hidden state": ("interdependence_in", None),
    "DI(α, scaffold), logits": ("interdependence_logits_in", None),
}
PLACES = {"hidden state": "interdependence_in", "logits": "interdependence_logits_in"}
RUNS = {
    "rules": "`rules --full`",
    "rule-frequency": "`rule-frequency --full`",
    "rules-quick": "`rules`",
    "rule-frequency-quick": "`rule-frequency`",
}
AFTER = (0, 5, 10, 15, 20)  # epochs


def conditions(content: Any) -> Iterator[tuple[str, Curves]]:
    """The curves of each condition."""
    for name, curves in content["curves"].items():
        if name != "epochs":
            yield name, {measure: np.array(values, float) for measure, values in curves.items()}


def corpora(content: Any) -> int:
    return content["corpora"]


def at_test(content: Any, values: np.ndarray, test: int = -1) -> np.ndarray:
    """The value in each corpus, the mean over its seeds."""
    runs = values[test]
    return runs.reshape(corpora(content), -1, *runs.shape[1:]).mean(axis=1)


def last(content: Any, curves: Curves, measure: str, token: int | None = None) -> np.ndarray:
    """A measure at the last test, in each corpus."""
    return at_test(content, curves[measure] if token is None else curves[measure][..., token])


def over(content: Any) -> str:
    """What `estimate` tells."""
    return f"mean ± half of the 95% interval over {corpora(content)} corpora"


def estimate(values: np.ndarray) -> str:
    """The mean with its interval over corpora."""
    low, high = interval_over(values)
    return f"{values.mean():.2f} ±{(high - low) / 2:.2f}"


def bracketed(values: np.ndarray, most: float = np.inf) -> str:
    """The same with both ends in brackets, in more digits where it is small.

    No measure is below 0 or above `most`, so no interval reaches there.
    """
    return _in_brackets(values.mean(), *np.clip(interval_over(values), 0, most))


def _in_brackets(mean: float, low: float, high: float) -> str:
    digits = 2 if mean >= 0.01 else 3
    return f"{mean:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def mastered(curves: Curves) -> int | None:
    """The first test at which the mean of P(ω) with known scaffolds is above one half; None if there is none."""
    return _first_above_half(curves["omega_in"].mean(axis=1))


def mastered_in_each(content: Any, curves: Curves) -> list[int | None]:
    """The same in each corpus, by the mean over its seeds."""
    tests = range(len(curves["omega_in"]))
    each = np.stack([at_test(content, curves["omega_in"], test) for test in tests])
    return [_first_above_half(values) for values in each.T]


def later_than_mastery(content: Any, curves: Curves, measure: str, epochs: float = 0) -> np.ndarray | None:
    """A measure so many epochs after the rule is mastered, in each corpus by its own mastery.

    None where one of them does not master it, or training ends before.
    """
    at, found = np.array(content["curves"]["epochs"]), []
    for number, test in enumerate(mastered_in_each(content, curves)):
        reached = [] if test is None else np.flatnonzero(at >= at[test] + epochs)
        if not len(reached):
            return None
        found.append(at_test(content, curves[measure], reached[0])[number])
    return np.stack(found)


def epochs_of_mastery(content: Any, curves: Curves) -> str:
    """The epoch at which the mean of P(ω) passes one half, and the first and the last corpus to do so."""
    each = sorted(mastered_in_each(content, curves), key=lambda test: np.inf if test is None else test)
    first, latest = epoch_of(content, each[0]), epoch_of(content, each[-1])
    return f"{epoch_of(content, mastered(curves))} ({first}–{latest})"


def _first_above_half(values: np.ndarray) -> int | None:
    above = np.flatnonzero(values > 0.5)
    return int(above[0]) if len(above) else None


def epoch_of(content: Any, test: int | None) -> str:
    if test is None:
        return "never"
    epoch = content["curves"]["epochs"][test]
    return f"{epoch:.0f}" if epoch == round(epoch) else f"{epoch:.1f}"


def runs() -> str:
    """Every experiment: how many networks it taught, for how long."""

    def line(name: str, title: str) -> list[str]:
        content = stored(name)
        (plan,) = content["plans"]
        seeds, texts = len(plan["seeds"]), len(content["settings"])
        shared = [f"{texts // corpora(content)}", f"{corpora(content)}", f"{seeds}", f"{seeds * texts}"]
        epochs = epoch_of(content, -1)
        time = f"{content['seconds']:.0f} s, {content['versions']['device']}"
        asked = corpora(content) != CORPORA["quick" if name.endswith("-quick") else "full"]
        command = f"{title[:-1]} --corpora {corpora(content)}`" if asked else title
        return [command, *shared, f"{plan['lesson']['hidden']}", epochs, f"{plan['iterations']:,}", time]

    head = [
        "",
        "conditions",
        "corpora for each",
        "networks for each corpus",
        "runs",
        "units",
        "epochs",
        "updates",
        "time",
    ]
    return markdown(head, [line(*item) for item in RUNS.items()])


def rules(content: Any) -> str:
    """What is learned of a rule at the last test."""
    rows = [
        [
            kind,
            epoch_of(content, mastered(c)),
            *(estimate(last(content, c, *where)) for where in MEASURES.values()),
        ]
        for kind, c in conditions(content)
    ]
    return markdown([over(content), "P(ω) passes one half at epoch", *MEASURES], rows)


def familiarity(content: Any) -> str:
    """How much higher interdependence is with familiar scaffolds, corpus by corpus; a corpus has the same tests."""
    curves, rows = dict(conditions(content)), []
    for length in dict.fromkeys(kind.split()[0] for kind in curves):
        sides = [curves[f"{length} {side}"] for side in ("familiar", "unfamiliar")]
        for place, measure in PLACES.items():
            rows.append([f"{length}, {place}", *_apart(*(last(content, side, measure) for side in sides))])
    return markdown(["familiar minus unfamiliar", "in each corpus", "mean (95% interval)"], rows)


def _apart(familiar: np.ndarray, unfamiliar: np.ndarray) -> list[str]:
    apart = familiar - unfamiliar
    low, high = interval_over(apart)
    each = ", ".join(signed(value, 2) for value in apart)
    return [each, f"{signed(apart.mean(), 2)} ({signed(low, 2)} to {signed(high, 2)})"]


def aligned(content: Any) -> str:
    """Interdependence of α and scaffold so many epochs after the rule is mastered: figure 10 by mastery."""

    def cell(curves: Curves, later: int) -> str:
        found = later_than_mastery(content, curves, "interdependence_in", later)
        return "" if found is None else f"{found.mean():.2f}"

    rows = [
        [kind, epochs_of_mastery(content, curves), *(cell(curves, later) for later in AFTER)]
        for kind, curves in conditions(content)
    ]
    return markdown(["", "epoch of P(ω) = ½", *(f"{later} later" for later in AFTER)], rows)


def prefixes(content: Any) -> str:
    """Figure 9: P(ω) by α and the first tokens of the scaffold, k = 8, with known and with random scaffolds."""
    rows = []
    for kind, curves in conditions(content):
        for where, title in (("in", "known"), ("out", "random")) if kind.startswith("k=8") else ():
            measure = f"omega_by_prefix_{where}"
            mastery = later_than_mastery(content, curves, measure)
            for epoch, found in (
                (epochs_of_mastery(content, curves), mastery),
                (epoch_of(content, -1), curves[measure][-1]),
            ):
                means = [] if found is None else found.mean(axis=0)[[0, 1, 2, 4, -1]]
                rows.append([kind, title, epoch, *(f"{mean:.2f}" for mean in means)])
    return markdown(["", "scaffolds", "epoch", "α alone", "1 token", "2", "4", "all"], rows)


def counts(content: Any) -> str:
    """P(ω) with random scaffolds by α, lowest and highest corpus, and by the scaffold, at the last test."""
    curves = {tuple(name.split()): found for name, found in conditions(content)}
    numbers = list(dict.fromkeys(count for _, count in curves))

    def cell(found: Curves) -> str:
        alpha = last(content, found, "omega_by_prefix_out", 0)
        return f"{spread(alpha)}, {last(content, found, 'omega_by_scaffold_out').mean():.4f}"

    lengths = dict.fromkeys(length for length, _ in curves)
    rows = [[length, *(cell(curves[length, count]) for count in numbers)] for length in lengths]
    return markdown(["by α, by the scaffold", *(f"{int(count.removeprefix('n=')):,} rules" for count in numbers)], rows)


def spread(values: np.ndarray) -> str:
    """The mean with the lowest and the highest, in more digits where it is small."""
    return _in_brackets(values.mean(), values.min(), values.max())


TABLES: dict[str, Callable[[], str]] = {
    "rules, runs": runs,
    "rules": lambda: rules(stored("rules")),
    "rules, familiarity": lambda: familiarity(stored("rules")),
    "rules, figure 10 by mastery": lambda: aligned(stored("rules")),
    "rules, figure 9": lambda: prefixes(stored("rules")),
    "rules, quick": lambda: rules(stored("rules-quick")),
    "rules, quick, familiarity": lambda: familiarity(stored("rules-quick")),
    "rule frequency": lambda: counts(stored("rule-frequency")),
    "rule frequency, quick": lambda: counts(stored("rule-frequency-quick")),
}
