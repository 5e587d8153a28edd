"""`kleene.judge`: which measures find the true interactions of inputs, on compiled, hidden and taught networks.

The truth is known because the networks compute regular languages. Some are compiled from automata, others are taught
and then checked on every word of the length that is judged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from kleene import naming
from kleene.errors import InputError, did_you_mean
from kleene.experiments.judged_networks import FULL as FULL
from kleene.experiments.judged_networks import QUICK as QUICK
from kleene.experiments.judged_networks import TRANSFORMER, checked_families, networks
from kleene.experiments.judged_networks import JudgeSize as JudgeSize
from kleene.explaining.interactions.judging import judge_interactions
from kleene.explaining.interactions.measures import Measure
from kleene.explaining.interactions.transformers import EVERY_MEASURE, RECURRENT_ONLY, TRANSFORMER_ONLY
from kleene.explaining.interactions.verdicts import InteractionVerdicts


def judge(
    methods: Sequence[str | Measure] | Mapping[str, Measure] | str | Measure = (),
    *,
    size: JudgeSize = QUICK,
    seed: int = 0,
    families: Iterable[str] = (),
    on_network: Callable[[str], None] | None = None,
) -> InteractionVerdicts:
    """The verdicts on measures of interaction, by default on all: rank correlations with the truth, and seconds.

    A method is the name of a measure, "FILE.py:NAME", or a function from a network and a list of words to scores
    [word, i, j]; several are given in a list, or in a dict by name. `families` are those of `size.families` to judge
    on, such as "taught LSTM"; by default all.

    >>> small = JudgeSize(languages=("tomita_4",), length=5, words=3, seeds=0)
    >>> found = judge(["nearness", "shapley"], size=small)
    >>> found.of("shapley", "compiled LSTM").spearman["language"].mean.__round__(6)
    1.0
    """
    chosen = chosen_measures(methods) if methods else default_measures(checked_families(size, families))
    found = judge_interactions(list(networks(size, seed, families, on_network)), chosen, on_network=on_network)
    return replace(found, size=asdict(size) | {"seed": seed})


def default_measures(families: Iterable[str]) -> dict[str, Measure]:
    """All measures that are defined for some of these families."""
    kinds = {TRANSFORMER in family for family in families}
    unknown = {*(() if True in kinds else TRANSFORMER_ONLY), *(() if False in kinds else RECURRENT_ONLY)}
    return {name: measure for name, measure in EVERY_MEASURE.items() if name not in unknown}


def chosen_measures(methods: Any) -> dict[str, Measure]:
    """The measures that are meant, by name; all of Kleene's own if none is."""
    if isinstance(methods, Mapping):
        return dict(methods)
    given = [methods] if isinstance(methods, str) or callable(methods) else list(methods)
    found: dict[str, Measure] = {}
    for method in given:
        if callable(method):
            found[getattr(method, "__name__", repr(method))] = method
        elif method.partition(":")[0].endswith(".py"):
            found[method] = naming.function_in_file(method, "the method")
        elif method in EVERY_MEASURE:
            found[method] = EVERY_MEASURE[method]
        else:
            like = did_you_mean(method, EVERY_MEASURE)
            raise InputError(f"no measure {method!r}, and FILE.py:NAME is one of your own; {like}")
    return found or dict(EVERY_MEASURE)
