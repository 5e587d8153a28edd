"""The numbers in sentences on rules, of both papers on interdependence; see sentences.py."""

from collections.abc import Iterable

import numpy as np
from rule_tables import PLACES, Curves, conditions, last, later_than_mastery, mastered_in_each
from sentences import Sentence  # these three lie beside this file
from tables import stored

SIDES = ("familiar", "unfamiliar")
BY_ALPHA = ("omega_by_prefix_out", 0)  # a measure and a token: P(ω) by α alone, random scaffolds


def curves_of(name: str, condition: str) -> Curves:
    """The curves of one condition."""
    return dict(conditions(stored(name)))[condition]


def in_corpora(name: str, condition: str, measure: str, token: int | None = None) -> np.ndarray:
    """A measure at the last test, in each corpus."""
    return last(stored(name), curves_of(name, condition), measure, token)


def means(name: str, found: Iterable[str], measure: str, token: int | None = None, digits: int = 2) -> list[str]:
    """The mean of a measure over corpora at the last test, in each of these conditions."""
    return [f"{in_corpora(name, condition, measure, token).mean():.{digits}f}" for condition in found]


def ends(name: str, condition: str, measure: str, token: int | None = None) -> list[str]:
    """A measure at the last test in its lowest and its highest corpus."""
    values = in_corpora(name, condition, measure, token)
    return [f"{values.min():.2f}", f"{values.max():.2f}"]


def both_sides(length: int) -> list[Curves]:
    """The curves of `rules` at full size with familiar and with unfamiliar scaffolds of this length."""
    return [curves_of("rules", f"k={length} {side}") for side in SIDES]


def first_stretch(true_at: np.ndarray) -> list[str]:
    """The first and the last epoch of the first unbroken stretch of tests of `rules` at which something is true."""
    epochs = stored("rules")["curves"]["epochs"]
    start = int(np.flatnonzero(true_at)[0])
    length = int(np.cumprod(true_at[start:]).sum())
    return [f"{epochs[start]:.0f}", f"{epochs[start + length - 1]:.0f}"]


def epochs_earlier() -> list[str]:
    """By how many epochs the rule is mastered earlier with familiar scaffolds, the fewest and the most of a corpus."""
    content = stored("rules")
    epochs, found = content["curves"]["epochs"], []
    for length in (2, 4, 8):
        tests = (mastered_in_each(content, side) for side in both_sides(length))
        found += [epochs[unfamiliar] - epochs[familiar] for familiar, unfamiliar in zip(*tests)]
    return [f"{min(found):.0f}", f"{max(found):.0f}"]


def epochs_of_alpha() -> list[str]:
    """The epoch at which P(ω) by α alone passes one half for k = 8 with known scaffolds, on both sides."""
    return [first_stretch(side["omega_by_prefix_in"][..., 0].mean(axis=1) > 0.5)[0] for side in both_sides(8)]


def climb_with_random_scaffolds() -> list[str]:
    """P(ω) by α alone and by α and the whole scaffold as the rule is mastered, k = 8 familiar, random scaffolds."""
    found = later_than_mastery(stored("rules"), curves_of("rules", "k=8 familiar"), "omega_by_prefix_out")
    return [] if found is None else [f"{found[:, token].mean():.2f}" for token in (0, -1)]


def higher_until(place: str) -> list[str]:
    """The epoch until which DI for k = 8 is higher with familiar scaffolds in every corpus."""
    familiar, unfamiliar = (side[PLACES[place]] for side in both_sides(8))
    return first_stretch((familiar > unfamiliar).all(axis=1))[1:]


def ten_after_mastery() -> list[str]:
    """DI at the hidden state for k = 8 ten epochs after mastery: one number if both sides have the same, else two."""
    content, measure = stored("rules"), PLACES["hidden state"]
    found = (later_than_mastery(content, side, measure, 10) for side in both_sides(8))
    return list(dict.fromkeys(f"{values.mean():.2f}" for values in found if values is not None))


def scaffold_gradients(length: int) -> list[np.ndarray]:
    """The gradients at the tokens of the scaffold on both sides, each [test, run, token]; α is before them."""
    return [side["gradient_in"][..., 1 : length + 1] for side in both_sides(length)]


def gradients_at_epoch_6() -> list[str]:
    """The gradients at both tokens of the scaffold for k = 2, familiar and then unfamiliar."""
    test = stored("rules")["curves"]["epochs"].index(6)
    return [f"{value:.2f}" for side in scaffold_gradients(2) for value in side[test].mean(axis=0)]


def epochs_of_smaller_gradients() -> list[str]:
    """The epochs at which familiar gradients for k = 4 are smaller at every token: in the mean, in every corpus."""
    familiar, unfamiliar = scaffold_gradients(4)
    in_mean = (familiar.mean(axis=1) < unfamiliar.mean(axis=1)).all(axis=1)
    in_every_corpus = (familiar < unfamiliar).all(axis=(1, 2))
    return [*first_stretch(in_mean), *first_stretch(in_every_corpus)]


def losses() -> list[str]:
    """The mean of the training loss over corpora for k = 8, on both sides."""
    rows = stored("rules")["settings"]
    found = ([row["loss"] for row in rows if row["hints"].startswith(f"k=8 {side},")] for side in SIDES)
    return [f"{np.mean(side):.1f}" for side in found]


def tokens(name: str) -> int:
    """How many tokens the networks of an experiment know."""
    (plan,) = stored(name)["plans"]
    return plan["lesson"]["vocabulary"][0]


def updates(*names: str) -> list[str]:
    """How long each experiment trains."""
    return [f"{plan['iterations']:,}" for name in names for plan in stored(name)["plans"]]


PAGE = [
    Sentence("beside two grids of the partial-traces paper, {} s of that for training",
             lambda: [f"{stored('english')['seconds']:.0f}"]),
    Sentence("confirmed for every k in every corpus, {} to {} epochs earlier", epochs_earlier),
    Sentence("confirmed for k = 8: {} against {}.",
             lambda: means("rules", ("k=8 familiar", "k=8 unfamiliar"), "omega_out")),
    Sentence("With k = 4 half of it is left, {} ({} to {} in the corpora) against {}.",
             lambda: [*means("rules", ["k=4 familiar"], "omega_out"), *ends("rules", "k=4 familiar", "omega_out"),
                      *means("rules", ["k=4 unfamiliar"], "omega_out")]),
    Sentence("familiar is earlier for every k (k = 8: epoch {} against {})", epochs_of_alpha),
    Sentence("this holds for k = 2 and 4; k = 8 familiar stays at {} |",
             lambda: means("rules", ["k=8 familiar"], *BY_ALPHA)),
    Sentence("With random scaffolds familiar hardly climbs, from {} to {}.", climb_with_random_scaffolds),
    Sentence("until epoch {} at the hidden state and until epoch {} at the logits",
             lambda: [*higher_until("hidden state"), *higher_until("logits")]),
    Sentence("At the hidden state both have {} ten epochs after the rule is mastered", ten_after_mastery),
    Sentence("(k = 2, epoch 6: {} and {} against {} and {};", gradients_at_epoch_6),
    Sentence("k = 4, epochs {} to {} in the mean, {} to {} in every corpus)", epochs_of_smaller_gradients),
    Sentence("(training loss {}, against {} with unfamiliar scaffolds)", losses),
    Sentence("there are {} updates instead of {}.", lambda: updates("rules-quick", "rules")),
    Sentence("For k = 4 they lose it here ({} to {})", lambda: ends("rules-quick", "k=4 familiar", "omega_out")),
    Sentence("A network that has not noticed the rule gives {}, one of {} tokens.",
             lambda: [f"{1 / tokens('rule-frequency'):.3f}", f"{tokens('rule-frequency'):,}"]),
    Sentence("for k = 4 by {} to {}, and for k = 8 not at all.",
             lambda: ends("rule-frequency", "k=4 n=100", *BY_ALPHA)),
    Sentence("(P(ω) by all words is lower: {} for k = 2 with 100 rules, and {}, {} and {} with 300.)",
             lambda: means("rule-frequency", ("k=2 n=100", "k=2 n=300", "k=4 n=300", "k=8 n=300"), "omega_out")),
    Sentence("five corpora with one network each, {} tokens; lowest and highest corpus",
             lambda: [f"{tokens('rule-frequency-quick')}"]),
    Sentence("With 150 rules α's part is low and nearly the same for every k ({}, {} and {})",
             lambda: means("rule-frequency-quick", [f"k={k} n=150" for k in (2, 4, 8)], *BY_ALPHA, digits=3)),
    Sentence("corpora differ much, from {} to {} for k = 8.",
             lambda: ends("rule-frequency-quick", "k=8 n=250", *BY_ALPHA)),
]  # fmt: skip
CLAIMS = [
    Sentence("{} to {} epochs earlier for every length, in each of five corpora.", epochs_earlier),
    Sentence("with k = 4 half of it is left ({} to {})", lambda: ends("rules", "k=4 familiar", "omega_out")),
    Sentence("k = 8 familiar stays at {}.", lambda: means("rules", ["k=8 familiar"], *BY_ALPHA)),
    Sentence("for k = 8 until epoch {}; after 40 epochs it is lower", lambda: higher_until("hidden state")),
    Sentence("for k = 8 until epoch {}; after 40 epochs the two are not told apart", lambda: higher_until("logits")),
]  # fmt: skip
