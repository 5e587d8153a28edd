"""The tables of the studies of rules α Q ω, from their results.

Every condition has several corpora. A value of a corpus is the mean over its networks, and intervals are over corpora.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kleene_papers.interdependence.english_report import signed
from kleene_papers.interdependence.resampling import interval_over
from kleene_papers.stored import Result
from kleene_papers.tables import Table

Curves = Mapping[str, np.ndarray]  # of one condition: [test, corpus], or [test, corpus, token of the rule]
SIDES = ("familiar", "unfamiliar")
PLACES = {"hidden state": "interdependence_in", "logits": "interdependence_logits_in"}
EARLY = 6  # the epoch at which gradients are compared for the first time
AFTER = (0, 5, 10, 15, 20)  # epochs


def conditions(result: Result) -> dict[str, Curves]:
    """The curves of each condition."""

    def of_corpora(values: list[Any]) -> np.ndarray:
        runs = np.array(values, float)
        return runs.reshape(len(runs), result["corpora"], -1, *runs.shape[2:]).mean(axis=2)

    found = {kind: curves for kind, curves in result["curves"].items() if kind != "epochs"}
    return {kind: {name: of_corpora(values) for name, values in curves.items()} for kind, curves in found.items()}


def estimate(values: np.ndarray) -> str:
    """The mean over corpora with half of its 95% interval; the mean alone where there is one corpus.

    >>> estimate(np.array([0.98, 0.99, 1.0])), estimate(np.array([0.5]))
    ('0.99 ±0.02', '0.50')
    """
    low, high = interval_over(values)
    return f"{values.mean():.2f}" + ("" if len(values) < 2 else f" ±{(high - low) / 2:.2f}")


def first_above_half(values: np.ndarray) -> int | None:
    """The first test at which a value is above one half, None if there is none."""
    above = np.flatnonzero(values > 0.5)
    return int(above[0]) if len(above) else None


def mastered(curves: Curves) -> list[int | None]:
    """The first test at which P(ω) with known scaffolds is above one half, in each corpus."""
    return [first_above_half(values) for values in curves["omega_in"].T]


def since_mastery(result: Result, curves: Curves, measure: str, epochs: float = 0) -> np.ndarray | None:
    """A measure so many epochs after the rule is mastered, in each corpus by its own mastery.

    None where one of them does not master it, or training ends before.
    """
    at, found = np.array(result["curves"]["epochs"]), []
    for corpus, test in enumerate(mastered(curves)):
        reached = [] if test is None else np.flatnonzero(at >= at[test] + epochs)
        if not len(reached):
            return None
        found.append(curves[measure][reached[0], corpus])
    return np.stack(found)


def epoch_of(result: Result, test: int | None) -> str:
    if test is None:
        return "never"
    epoch = result["curves"]["epochs"][test]
    return f"{epoch:.0f}" if epoch == round(epoch) else f"{epoch:.1f}"


def epochs_of_mastery(result: Result, curves: Curves) -> str:
    """The epoch at which the mean of P(ω) passes one half, and the first and the last corpus to do so."""
    each = sorted(mastered(curves), key=lambda test: np.inf if test is None else test)
    if each[0] is None:
        return "never"
    of_mean = first_above_half(curves["omega_in"].mean(axis=1))
    return f"{epoch_of(result, of_mean)} ({epoch_of(result, each[0])}–{epoch_of(result, each[-1])})"


def familiarity_tables(result: Result) -> list[Table]:
    """Figures 7–10 and 12: all of them beside the papers, then figures 9 and 10 in more detail."""
    found = conditions(result)
    return [_beside(result, found), _apart(found), _prefixes(result, found), _aligned(result, found)]


def _beside(result: Result, found: Mapping[str, Curves]) -> Table:
    """What is learned of a rule, beside what the papers say of each figure."""
    epochs = np.array(result["curves"]["epochs"])
    compared = sorted({int(np.abs(epochs - EARLY).argmin()), len(epochs) - 1})

    def last(measure: str, *token: int) -> Callable[[Curves], str]:
        return lambda curves: estimate(curves[measure][(-1, slice(None), *token)])

    def as_mastered(token: int) -> Callable[[Curves], str]:
        def cell(curves: Curves) -> str:
            values = since_mastery(result, curves, "omega_by_prefix_in")
            return "–" if values is None else estimate(values[:, token])

        return cell

    def gradient(test: int) -> Callable[[Curves], str]:
        return lambda curves: estimate(np.nanmean(curves["gradient_in"][test], axis=1))

    rows = [
        ("7a", "omega_in", "epoch of P(ω) = ½ (first–last corpus)", lambda curves: epochs_of_mastery(result, curves)),
        ("7a", "", "P(ω), known scaffolds", last("omega_in")),
        ("7b", "omega_out", "P(ω), random scaffolds", last("omega_out")),
        ("8", "omega_by_prefix_out, i = 0", "P(ω) by α, random scaffolds", last("omega_by_prefix_out", 0)),
        ("9", "omega_by_prefix, k = 8", "P(ω) by α as P(ω) = ½, known scaffolds", as_mastered(0)),
        ("9", "", "the same by α and scaffold", as_mastered(-1)),
        ("10", "interdependence_in", "DI(α, scaffold), hidden state", last(PLACES["hidden state"])),
        ("10", "", "DI(α, scaffold), logits", last(PLACES["logits"])),
        *(
            ("12", "" if number else "gradient_in", f"‖∂E/∂h‖, epoch {epoch_of(result, test)}", gradient(test))
            for number, test in enumerate(compared)
        ),
    ]
    ks = ", ".join(length.removeprefix("k=") for length in lengths(found))
    cells = [
        [figure, result.paper.get(paper, ""), what]
        + [", ".join(cell(found[f"{length} {side}"]) for length in lengths(found)) for side in SIDES]
        for figure, paper, what, cell in rows
    ]
    head = ["figure", "the papers", "here", *(f"{side}, k = {ks}" for side in SIDES)]
    return Table(head, cells, "beside the papers")


def lengths(found: Mapping[str, Curves]) -> list[str]:
    """The lengths of scaffolds, as `k=8`."""
    return [*dict.fromkeys(kind.split()[0] for kind in found)]


def _apart(found: Mapping[str, Curves]) -> Table:
    """How much higher interdependence is with familiar scaffolds, corpus by corpus; a corpus has the same tests."""
    rows = []
    for length in lengths(found):
        for place, measure in PLACES.items():
            familiar, unfamiliar = (found[f"{length} {side}"][measure][-1] for side in SIDES)
            apart = familiar - unfamiliar
            ends = "" if len(apart) < 2 else f" ({' to '.join(signed(end, 2) for end in interval_over(apart))})"
            each = ", ".join(signed(value, 2) for value in apart)
            rows.append([f"{length}, {place}", each, f"{signed(apart.mean(), 2)}{ends}"])
    return Table(["DI, familiar minus unfamiliar", "in each corpus", "mean (95% interval)"], rows, "DI by familiarity")


def _prefixes(result: Result, found: Mapping[str, Curves]) -> Table:
    """Figure 9: P(ω) by α and the first tokens of the longest scaffold, known and random ones."""
    longest = lengths(found)[-1]
    steps = int(longest.removeprefix("k="))
    tokens, rows = [*(step for step in (0, 1, 2, 4) if step < steps), -1], []
    for side in reversed(SIDES):
        curves = found[f"{longest} {side}"]
        for domain, title in (("in", "known"), ("out", "random")):
            measure = f"omega_by_prefix_{domain}"
            new = since_mastery(result, curves, measure)
            for epoch, each in (
                (epochs_of_mastery(result, curves), new),
                (epoch_of(result, -1), curves[measure][-1]),
            ):
                means = ["–"] * len(tokens) if each is None else [f"{one:.2f}" for one in each.mean(axis=0)[tokens]]
                rows.append([side, title, epoch, *means])
    named = [{0: "α alone", 1: "1 token", -1: "all"}.get(token, f"{token}") for token in tokens]
    return Table([longest, "scaffolds", "epoch", *named], rows, "P(ω) by α and the first tokens")


def _aligned(result: Result, found: Mapping[str, Curves]) -> Table:
    """Figure 10 by mastery: interdependence so many epochs after the rule is mastered."""

    def cell(curves: Curves, epochs: int) -> str:
        each = since_mastery(result, curves, PLACES["hidden state"], epochs)
        return "" if each is None else f"{each.mean():.2f}"

    rows = [
        [kind, epochs_of_mastery(result, curves), *(cell(curves, epochs) for epochs in AFTER)]
        for kind, curves in found.items()
    ]
    return Table(["", "epoch of P(ω) = ½", *(f"{epochs} later" for epochs in AFTER)], rows, "DI since mastery")


def frequency_tables(result: Result) -> list[Table]:
    """Figure 11: P(ω) with random scaffolds by α, with the lowest and the highest corpus, and by the scaffold."""
    found = conditions(result)
    counts = [*dict.fromkeys(kind.split()[1] for kind in found)]

    def by_alpha(curves: Curves) -> str:
        values = curves["omega_by_prefix_out"][-1, :, 0]
        digits = 2 if values.mean() >= 0.01 else 3
        return f"{values.mean():.{digits}f} ({values.min():.{digits}f}–{values.max():.{digits}f})"

    def by_scaffold(curves: Curves) -> str:
        return f"{curves['omega_by_scaffold_out'][-1].mean():.4f}"

    rows = [
        [f"{title}, {length}", "" if number else result.paper.get(paper, "")]
        + [cell(found[f"{length} {count}"]) for count in counts]
        for title, paper, cell in (
            ("by α", "omega_by_prefix_out, i = 0", by_alpha),
            ("by the scaffold", "omega_by_scaffold_out", by_scaffold),
        )
        for number, length in enumerate(lengths(found))
    ]
    head = ["P(ω)", "the papers", *(f"{int(count.removeprefix('n=')):,} rules" for count in counts)]
    return [Table(head, rows, "by α and scaffold")]
