"""`kleene.judge`: which measures find the true interactions of inputs, and which methods the true circuits.

The true interactions are known because the networks compute regular languages. Some are compiled from automata, others
are taught and then checked on every word of the length that is judged. The true circuits are those of compiled
Transformers, and of the same ones in another basis.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from kleene.errors import InputError, did_you_mean
from kleene.explaining.circuits.judging import judge_circuits
from kleene.explaining.circuits.methods import METHODS
from kleene.explaining.circuits.verdicts import CircuitVerdicts
from kleene.explaining.interactions.judging import judge_interactions
from kleene.explaining.interactions.measures import Measure
from kleene.explaining.interactions.transformers import EVERY_MEASURE, RECURRENT_ONLY, TRANSFORMER_ONLY
from kleene.explaining.interactions.verdicts import InteractionVerdicts
from kleene.groundtruth.judging.all_verdicts import AllVerdicts
from kleene.groundtruth.judging.circuits import FULL_CIRCUITS as FULL_CIRCUITS
from kleene.groundtruth.judging.circuits import QUICK_CIRCUITS as QUICK_CIRCUITS
from kleene.groundtruth.judging.circuits import CircuitSize as CircuitSize
from kleene.groundtruth.judging.circuits import circuit_networks
from kleene.groundtruth.judging.collected import collected_networks
from kleene.groundtruth.judging.methods import chosen_methods
from kleene.groundtruth.judging.networks import FULL as FULL
from kleene.groundtruth.judging.networks import QUICK as QUICK
from kleene.groundtruth.judging.networks import TRANSFORMER
from kleene.groundtruth.judging.networks import JudgeSize as JudgeSize
from kleene.groundtruth.judging.networks import networks as recurrent_networks


def judge(
    methods: Any = (),
    *,
    of: str | None = None,
    size: JudgeSize = QUICK,
    circuits: CircuitSize = QUICK_CIRCUITS,
    seed: int = 0,
    families: Iterable[str] = (),
    networks: Iterable[str] = (),
    on_network: Callable[[str], None] | None = None,
) -> InteractionVerdicts | CircuitVerdicts | AllVerdicts:
    """The verdicts on measures of interaction and on methods for circuits, by default on all of both.

    A method is the name of one of Kleene's, "FILE.py:NAME", or a function; several are given in a list, or in a dict by
    name. A function of a network and a list of words is a measure of interaction and returns scores [word, i, j]; one
    of a network, inputs and other inputs is a method for circuits and returns scores [destinations, sources] or
    [sources]. `of` is "interactions" or "circuits" if all methods of one are meant. `size` and `circuits` say how much
    is judged. `families` are those to judge on, such as "taught LSTM"; by default all. `networks` are names of the
    collection, such as "rasp.hist.hidden", which are then judged on in place of the families.

    >>> small = JudgeSize(languages=("tomita_4",), length=5, words=3, seeds=0)
    >>> found = judge(["nearness", "shapley"], size=small)
    >>> found.of("shapley", "compiled LSTM").spearman["language"].mean.__round__(6)
    1.0
    """
    chosen, families, networks = meant_methods(methods, of), tuple(families), tuple(networks)
    if networks:
        if families:
            raise InputError("networks of the collection are judged as they are; leave out families")
        given = collected_networks(networks, size, circuits, seed, on_network=on_network)
    else:
        wanted = wanted_families(families, {"interactions": size, "circuits": circuits}, chosen)
        given = _made_networks(wanted, size, circuits, seed, on_network)
    given = {kind: some for kind, some in given.items() if some and chosen[kind]}
    if not given:
        raise InputError(
            f"there is no network to judge {_listed([m for some in chosen.values() for m in some])} on"
            f"{' among ' + _listed(networks or families) if networks or families else ''}; Transformers are for "
            f"methods for circuits, and recurrent networks of the collection for measures of interaction"
        )
    found: list[Any] = []
    if "interactions" in given:
        measures = defined_measures(chosen["interactions"], {one.family for one in given["interactions"]})
        known = judge_interactions(given["interactions"], measures, on_network=on_network)
        found.append(replace(known, size=asdict(size) | {"seed": seed}))
    if "circuits" in given:
        known = judge_circuits(given["circuits"], chosen["circuits"], on_network=on_network)
        found.append(replace(known, size=asdict(circuits) | {"seed": seed}))
    return found[0] if len(found) == 1 else AllVerdicts(*found)


def _made_networks(
    wanted: Mapping[str, tuple[str, ...]],
    size: JudgeSize,
    circuits: CircuitSize,
    seed: int,
    on_network: Callable[[str], None] | None,
) -> dict[str, list[Any]]:
    """The networks of the families that are wanted, made for it."""
    given: dict[str, list[Any]] = {}
    if "interactions" in wanted:
        given["interactions"] = list(recurrent_networks(size, seed, wanted["interactions"], on_network))
    if "circuits" in wanted:
        given["circuits"] = list(circuit_networks(circuits, seed, wanted["circuits"], on_network))
    return given


def _listed(names: Iterable[str]) -> str:
    """The first few of some names."""
    every = list(names)
    return ", ".join(every[:4]) + (f" and {len(every) - 4} others" if len(every) > 4 else "")


def meant_methods(methods: Any, of: str | None = None) -> dict[str, dict[str, Any]]:
    """The methods for interactions and for circuits that are meant; all of Kleene's own if none is named."""
    return chosen_methods(methods, {"interactions": EVERY_MEASURE, "circuits": METHODS}, of)


def wanted_families(
    families: Iterable[str], sizes: Mapping[str, JudgeSize | CircuitSize], chosen: Mapping[str, Mapping[str, Any]]
) -> dict[str, tuple[str, ...]]:
    """The families that are judged on for interactions and for circuits, without what is not judged at all."""
    known = {kind: size.families for kind, size in sizes.items() if chosen[kind]}
    given, every = tuple(families), [family for some in known.values() for family in some]
    for family in given:
        if family not in every:
            raise InputError(f"no family of networks {family!r}; {did_you_mean(family, every)}")
    found = {kind: tuple(family for family in some if family in given or not given) for kind, some in known.items()}
    return {kind: some for kind, some in found.items() if some}


def defined_measures(measures: Mapping[str, Measure], families: Iterable[str]) -> dict[str, Measure]:
    """The measures; if they are all of Kleene's own, those that are defined for some of these families."""
    if not set(EVERY_MEASURE) <= set(measures):
        return dict(measures)
    kinds = {TRANSFORMER in family for family in families}
    unknown = {*(() if True in kinds else TRANSFORMER_ONLY), *(() if False in kinds else RECURRENT_ONLY)}
    return {name: measure for name, measure in measures.items() if name not in unknown}
