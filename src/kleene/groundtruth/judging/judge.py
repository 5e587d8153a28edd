"""`kleene.judge`: which measures find the true interactions of inputs, and which methods the true circuits.

The true interactions are known because the networks compute regular languages. Some are compiled from automata, others
are taught and then checked on every word of the length that is judged. The true circuits are those of compiled
Transformers, and of the same ones in another basis.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

from kleene import naming
from kleene.errors import InputError, did_you_mean
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.explaining.circuits.methods import METHODS
from kleene.explaining.interactions.measures import Measure
from kleene.explaining.interactions.transformers import EVERY_MEASURE, RECURRENT_ONLY, TRANSFORMER_ONLY
from kleene.groundtruth.catalog import get
from kleene.groundtruth.collection import CollectionEntry, build
from kleene.groundtruth.judging.circuit_networks import FULL_CIRCUITS as FULL_CIRCUITS
from kleene.groundtruth.judging.circuit_networks import QUICK_CIRCUITS as QUICK_CIRCUITS
from kleene.groundtruth.judging.circuit_networks import SHOWN, circuit_networks, drawn_inputs, known_circuit
from kleene.groundtruth.judging.circuit_networks import CircuitSize as CircuitSize
from kleene.groundtruth.judging.circuits import JudgedCircuit
from kleene.groundtruth.judging.interactions import JudgedNetwork
from kleene.groundtruth.judging.judged import AllJudged, Judged
from kleene.groundtruth.judging.networks import FULL as FULL
from kleene.groundtruth.judging.networks import QUICK as QUICK
from kleene.groundtruth.judging.networks import TRANSFORMER, drawn_words
from kleene.groundtruth.judging.networks import JudgeSize as JudgeSize
from kleene.groundtruth.judging.networks import networks as recurrent_networks
from kleene.groundtruth.judging.trials import judge_networks
from kleene.groundtruth.taught import taught_words

KINDS = {"interactions": "a measure of interactions", "circuits": "a method for circuits"}
TAKES = {2: "interactions", 3: "circuits"}  # arguments: (network, words), (network, inputs, others)
Methods = dict[str, Callable[..., Any]]
TABLES: dict[str, Methods] = {"interactions": EVERY_MEASURE, "circuits": METHODS}  # Kleene's own


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
) -> Judged | AllJudged:
    """The verdicts on measures of interaction and on methods for circuits, by default on all of both.

    A method is the name of one of Kleene's, "FILE.py:NAME", or a function; several are given in a list, or in a dict by
    name. A function of a network and a list of words is a measure of interaction and returns scores [word, i, j]; one
    of a network, inputs and other inputs is a method for circuits and returns scores [destinations, sources] or
    [sources]. `of` is "interactions" or "circuits" if all methods of one are meant. `size` and `circuits` say how much
    is judged. `families` are those to judge on, such as "taught LSTM"; by default all. `networks` are names of the
    collection, such as "rasp.hist.hidden", which are then judged on in place of the families.

    >>> small = JudgeSize(languages=("tomita_4",), length=5, words=3, seeds=0)
    >>> found = judge(["nearness", "shapley"], size=small)
    >>> found.of("shapley", "compiled LSTM")["spearman_language"].mean.__round__(6)
    1.0
    """
    chosen, families, networks = meant_methods(methods, of), tuple(families), tuple(networks)
    if networks:
        if families:
            raise InputError("networks of the collection are judged as they are; leave out families")
        given: dict[str, Iterable[Any]] = {**collected_networks(networks, size, circuits, seed, on_network=on_network)}
        kinds = {one.family for one in given["interactions"]}
    else:
        wanted = wanted_families(families, {"interactions": size, "circuits": circuits}, chosen)
        given = _made_networks(wanted, size, circuits, seed, on_network)
        kinds = {*wanted.get("interactions", ())}
    chosen["interactions"] = defined_measures(chosen["interactions"], kinds)
    sizes, found = {"interactions": size, "circuits": circuits}, []
    for kind, some in given.items():
        if chosen[kind] and (first := next(rest := iter(some), None)):
            known = judge_networks(chain([first], rest), chosen[kind], on_network=on_network)
            found.append(replace(known, size=asdict(sizes[kind]) | {"seed": seed}))
    if not found:
        raise InputError(
            f"there is no network to judge {_listed([m for some in chosen.values() for m in some])} on"
            f"{' among ' + _listed(networks or families) if networks or families else ''}; Transformers are for "
            f"methods for circuits, and recurrent networks of the collection for measures of interaction"
        )
    return found[0] if len(found) == 1 else AllJudged(*found)


def _made_networks(
    wanted: Mapping[str, tuple[str, ...]],
    size: JudgeSize,
    circuits: CircuitSize,
    seed: int,
    on_network: Callable[[str], None] | None,
) -> dict[str, Iterable[Any]]:
    """The networks of the families that are wanted, each made when it is asked for."""
    given: dict[str, Iterable[Any]] = {}
    if "interactions" in wanted:
        given["interactions"] = recurrent_networks(size, seed, wanted["interactions"], on_network)
    if "circuits" in wanted:
        given["circuits"] = circuit_networks(circuits, seed, wanted["circuits"], on_network)
    return given


def _listed(names: Iterable[str]) -> str:
    """The first few of some names."""
    every = list(names)
    return ", ".join(every[:4]) + (f" and {len(every) - 4} others" if len(every) > 4 else "")


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


def meant_methods(methods: Any, of: str | None = None) -> dict[str, Methods]:
    """The methods for interactions and for circuits that are meant; all of Kleene's own if none is named.

    A function of one's own is judged by how many arguments it takes.
    """
    if of is not None and of not in KINDS:
        raise InputError(f"judged are interactions or circuits, and not {of!r}")
    given = methods if isinstance(methods, Mapping) else _named(methods)
    found: dict[str, Methods] = {kind: {} for kind in KINDS}
    for name, method in given.items():
        kind, function = _found(name, method)
        if of not in (None, kind):
            raise InputError(f"{name} is {KINDS[kind]}, and it was asked for {of} only")
        found[kind][name] = function
    if not given:
        found = {kind: dict(TABLES[kind]) if of in (None, kind) else {} for kind in KINDS}
    return found


def _named(methods: Any) -> dict[str, Any]:
    given = [methods] if isinstance(methods, str) or callable(methods) else list(methods)
    return {one if isinstance(one, str) else getattr(one, "__name__", repr(one)): one for one in given}


def _found(name: str, method: Any) -> tuple[str, Callable[..., Any]]:
    if callable(method):
        return _kind_of(name, method), method
    if method.partition(":")[0].endswith(".py"):
        function = naming.function_in_file(method, "the method")
        return _kind_of(name, function), function
    for kind, table in TABLES.items():
        if method in table:
            return kind, table[method]
    like = did_you_mean(method, [name for table in TABLES.values() for name in table])
    raise InputError(f"no measure {method!r} and no such method for circuits; FILE.py:NAME is one of your own; {like}")


def _kind_of(name: str, function: Callable[..., Any]) -> str:
    """Of what a function is a method, by the number of its arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return "interactions"
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters) and len(needed) < 2:
        return "interactions"
    if len(needed) not in TAKES:
        raise InputError(
            f"{name} takes {len(needed)} arguments; a measure of interactions takes two, (network, words), and a "
            f"method for circuits three, (network, inputs, others)"
        )
    return TAKES[len(needed)]


def collected_networks(
    names: Iterable[str],
    size: JudgeSize,
    circuits: CircuitSize,
    seed: int = 0,
    *,
    folder: Any = None,
    on_network: Callable[[str], None] | None = None,
) -> dict[str, list[Any]]:
    """The entries with these names, built if they are not there: recurrent ones by `interactions`, others `circuits`.

    The name of a program means its compiled and its hidden form. A taught network that did not come out as its program
    is refused, because nobody knows its truth.
    """
    found: dict[str, list[Any]] = {"interactions": [], "circuits": []}
    for name in dict.fromkeys(names):
        if on_network is not None:
            on_network(f"building: {name}")
        for entry in build(name, folder=folder):
            if not entry.card.get("verified", True):
                raise InputError(
                    f"{entry.name!r} does not do all that its program does, so its truth is not known, and no method "
                    f"can be judged on it; teach another with `kleene groundtruth build {entry.name} --again --seed 1`"
                )
            if isinstance(entry.circuit, TrueCircuit):
                found["circuits"].append(_circuit(entry, entry.circuit, circuits, seed))
            else:
                found["interactions"].append(_acceptor(entry, size, seed))
    return found


def _circuit(entry: CollectionEntry, circuit: TrueCircuit, size: CircuitSize, seed: int) -> JudgedCircuit:
    card, layout = entry.card, entry.network.layout
    if card["form"] == "taught":
        words = taught_words(entry.network, card["program"], card["method"], card["teaching"])
    else:
        program, longest = get(entry.name)[0].find()[0].subject, layout.positions - layout.prefix
        words = drawn_inputs(program, entry.network, SHOWN, longest, seed)
    known = known_circuit(entry.network, circuit, words, size.words, seed)
    return known.judged(entry.name, card["form"], card["program"])


def _acceptor(entry: CollectionEntry, size: JudgeSize, seed: int) -> JudgedNetwork:
    language = get(entry.name)[0].find()[0].subject
    family = f"{entry.card['form']} {entry.card['machine'].upper()}"
    return JudgedNetwork(entry.name, family, entry.network, language, drawn_words(language, size, seed))
