"""Numbers that sentences about rules α Q ω need, from the stored result of figures 7 to 10 and 12."""

from typing import Any

import numpy as np

from kleene_papers.interdependence.rule_curves import CORPUS
from kleene_papers.interdependence.rule_tables import PLACES, SIDES, conditions, lengths, mastered, since_mastery
from kleene_papers.stored import Result, stored

FAMILIARITY = "compose-figure-7a"


def rule_losses(kind: str) -> list[float]:
    """The training loss at the last test in each corpus of a condition."""
    return [row["loss"] for row in stored(FAMILIARITY).rows if row["hints"].startswith(f"{kind}{CORPUS}")]


def rule_epochs_earlier() -> list[float]:
    """By how many epochs the rule is mastered earlier with familiar scaffolds, in each corpus of each length."""
    result = stored(FAMILIARITY)
    found, epochs = conditions(result), result["curves"]["epochs"]
    pairs = [zip(*(mastered(found[f"{length} {side}"]) for side in SIDES)) for length in lengths(found)]
    return [epochs[unfamiliar] - epochs[familiar] for pair in pairs for familiar, unfamiliar in pair]


def rule_epoch_by_alpha(kind: str) -> float:
    """The epoch at which the mean of P(ω) by α alone passes one half with known scaffolds."""
    result = stored(FAMILIARITY)
    return _stretch(result, conditions(result)[kind]["omega_by_prefix_in"][..., 0].mean(axis=1) > 0.5)[0]


def rule_since_mastery(kind: str, measure: str, epochs: float = 0) -> Any:
    """The mean over corpora of a measure so many epochs after the rule is mastered."""
    result = stored(FAMILIARITY)
    found = since_mastery(result, conditions(result)[kind], measure, epochs)
    assert found is not None, f"{kind} is not measured {epochs} epochs after mastery in every corpus"
    return found.mean(axis=0)


def rule_higher_until(length: int, place: str) -> float:
    """The epoch until which DI is higher with familiar scaffolds in every corpus."""
    result = stored(FAMILIARITY)
    familiar, unfamiliar = (conditions(result)[f"k={length} {side}"][PLACES[place]] for side in SIDES)
    return _stretch(result, (familiar > unfamiliar).all(axis=1))[1]


def rule_gradients(kind: str, epoch: float) -> np.ndarray:
    """The mean gradients at the tokens of the scaffold after an epoch."""
    result = stored(FAMILIARITY)
    return _at_scaffold(result, kind)[result["curves"]["epochs"].index(epoch)].mean(axis=0)


def rule_smaller_gradients(length: int) -> tuple[float, ...]:
    """The epochs at which familiar gradients are smaller at every token: in the mean, and in every corpus."""
    result = stored(FAMILIARITY)
    familiar, unfamiliar = (_at_scaffold(result, f"k={length} {side}") for side in SIDES)
    in_mean = (familiar.mean(axis=1) < unfamiliar.mean(axis=1)).all(axis=1)
    return *_stretch(result, in_mean), *_stretch(result, (familiar < unfamiliar).all(axis=(1, 2)))


def _at_scaffold(result: Result, kind: str) -> np.ndarray:
    """The gradients at the tokens of the scaffold, which follow that of α: [test, corpus, token]."""
    return conditions(result)[kind]["gradient_in"][..., 1 : int(kind.split()[0].removeprefix("k=")) + 1]


def _stretch(result: Result, true_at: Any) -> tuple[float, float]:
    """The first and the last epoch of the first unbroken stretch of tests at which something is true."""
    epochs, start = result["curves"]["epochs"], int(np.flatnonzero(true_at)[0])
    return epochs[start], epochs[start + int(np.cumprod(true_at[start:]).sum()) - 1]


WORDS = (
    rule_losses,
    rule_epochs_earlier,
    rule_epoch_by_alpha,
    rule_since_mastery,
    rule_higher_until,
    rule_gradients,
    rule_smaller_gradients,
)
