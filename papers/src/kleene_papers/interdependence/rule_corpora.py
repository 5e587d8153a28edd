"""The synthetic experiments of Saphra & Lopez 2020: how a familiar scaffold changes what is learned of a rule α Q ω.

They are figures 7–12 of "LSTMs Compose (and Learn) Bottom-Up", and figures 3–6, 10 and 11 of "Word Interdependence
Exposes How LSTMs Compose Representations".
"""

from typing import Any

from kleene.errors import InputError
from kleene.tasks.rules import RuleSettings, rule_corpus
from kleene.teaching.language import language_lesson
from kleene.teaching.plan import Plan
from kleene_papers.interdependence.rule_curves import CORPUS, LENGTHS, curves, draw_familiarity, draw_frequency
from kleene_papers.interdependence.rule_probes import RuleProbes
from kleene_papers.interdependence.rule_tables import familiarity_tables, frequency_tables
from kleene_papers.study import Size, Study, Trial

COUNTS: dict[Size, tuple[int, ...]] = {"quick": (150, 250, 500), "full": (100, 300, 1_000, 3_000)}
# The papers' training, and ours for a small corpus: a higher rate, because there are few updates.
TRAINING: dict[Size, dict[str, Any]] = {
    "full": {"hidden": 200, "batch": 20, "rate": 1.0, "clip": 0.25, "epochs": 40},
    "quick": {"hidden": 64, "batch": 10, "rate": 5.0, "clip": 1.0, "epochs": 6},
}
MEASURED = {"quick": 50, "full": 200}  # rules of each test
CORPORA: dict[Size, int] = {"quick": 3, "full": 5}  # of each condition
NETWORKS = 1  # of each corpus
PAPER = {
    "omega_in": "familiar scaffolds: the rule is learned earlier",
    "omega_out": "familiar scaffolds: the rule never generalises; unfamiliar: it does",
    "omega_by_prefix_out, i = 0": "α alone predicts ω in both, and earlier with familiar scaffolds",
    "omega_by_prefix, k = 8": "unfamiliar: high from α alone; familiar: climbs with every scaffold token",
    "interdependence_in": "familiar scaffolds: much higher, and rising",
    "gradient_in": "familiar scaffolds: smaller",
}
PAPER_OF_FREQUENCY = {
    "omega_by_prefix_out, i = 0": "a longer scaffold needs more rules; steady in k where rules are rare",
    "omega_by_scaffold_out": "tiny, and falling with k",
}


def familiarity(
    size: Size = "quick", iterations: int | None = None, corpora: int | None = None, networks: int | None = None
) -> Trial:
    """Figures 7–10 and 12 of "LSTMs Compose": k = 2, 4, 8, each with familiar and with unfamiliar scaffolds.

    Each condition has several `corpora`, and each corpus as many `networks`, whose seeds are the same for all corpora.
    """
    settings = {
        f"k={length} {'familiar' if familiar else 'unfamiliar'}": _settings(size, length, familiar)
        for length in LENGTHS
        for familiar in (False, True)
    }
    return Trial((_plan("rules", settings, size, iterations, corpora, networks),), PAPER, curves)


def frequency(
    size: Size = "quick", iterations: int | None = None, corpora: int | None = None, networks: int | None = None
) -> Trial:
    """Figure 11 of "LSTMs Compose": P(ω) by α and by the scaffold against k, for several numbers n of rules.

    Training scaffolds are unfamiliar, and tests have random ones; the papers give neither the scaffolds of this test
    nor their n.
    """
    settings = {
        f"k={length} n={count}": _settings(size, length, rules=count) for length in LENGTHS for count in COUNTS[size]
    }
    plan = _plan("rule frequency", settings, size, iterations, corpora, networks)
    return Trial((plan,), PAPER_OF_FREQUENCY, curves)


def _settings(size: Size, length: int, familiar: bool = False, rules: int | None = None) -> RuleSettings:
    settings = RuleSettings(length, familiar) if size == "full" else RuleSettings.quick(length, familiar)
    if rules is None:
        return settings
    sizes = {name: getattr(settings, name) for name in ("tokens", "types", "scaffolds", "test_tokens", "test_rules")}
    return RuleSettings(length, familiar, rules=rules, **sizes)


def _plan(
    name: str,
    settings: dict[str, RuleSettings],
    size: Size,
    iterations: int | None,
    corpora: int | None,
    networks: int | None,
) -> Plan:
    counts = {
        "corpora": CORPORA[size] if corpora is None else corpora,
        "seeds": NETWORKS if networks is None else networks,
    }
    return rule_plan(name, settings, **counts, measured=MEASURED[size], iterations=iterations, **TRAINING[size])


def rule_plan(
    name: str,
    settings: dict[str, RuleSettings],
    *,
    seeds: int,
    measured: int,
    corpora: int = 1,
    iterations: int | None = None,
    **training: Any,
) -> Plan:
    """All corpora of all conditions with all seeds in one plan.

    They are measured after every epoch, or sixteen times where epochs are few.
    """
    if corpora < 1:
        raise InputError(f"corpora is {corpora}; give 1 or more")
    drawn = {
        f"{kind}{CORPUS}{seed}": rule_corpus(wanted, seed=seed)
        for kind, wanted in settings.items()
        for seed in range(corpora)
    }
    lesson = language_lesson(
        next(iter(drawn.values())).vocabulary,
        {kind: corpus.train.tokens for kind, corpus in drawn.items()},
        {kind: corpus.in_domain.tokens for kind, corpus in drawn.items()},
        name=name,
        probes={"rule": RuleProbes.of(list(drawn.values()), measured)},
        settling=None,
        **training,
    )
    total = iterations or lesson.iterations
    every = min(lesson.task.epoch, max(1, total // 16))
    total -= 0 if iterations else total % every  # all stretches between tests are equally long
    return Plan.grid(lesson, kinds=lesson.kinds, seeds=seeds, iterations=total, test_every=every)


STUDIES = (
    Study(
        "compose-figure-7a",
        "a rule α Q ω learned with familiar (dashed) and unfamiliar scaffolds Q",
        familiarity_tables,
        draw_familiarity,
        familiarity,
        takes=("iterations", "networks", "corpora"),
        quick="34 s",
        full="473 s beside compose-figure-11 and compose-figure-3",
        formerly="rules",
    ),
    Study(
        "compose-figure-11",
        "P(ω) by what α and by what the scaffold contributes",
        frequency_tables,
        draw_frequency,
        frequency,
        takes=("iterations", "networks", "corpora"),
        quick="59 s",
        full="525 s beside compose-figure-7a and compose-figure-3",
        formerly="rule-frequency",
    ),
)
