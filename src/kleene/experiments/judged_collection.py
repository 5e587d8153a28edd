"""Networks of the collection, to judge on: Transformers for circuits, recurrent networks for interactions."""

from collections.abc import Callable, Iterable
from typing import Any

from kleene.errors import InputError
from kleene.experiments.judged_circuits import CircuitSize, judged_program, known_circuit
from kleene.experiments.judged_networks import JudgeSize, drawn_words
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.explaining.circuits.judging import JudgedCircuit
from kleene.explaining.interactions.judging import JudgedNetwork
from kleene.groundtruth.catalog import get
from kleene.groundtruth.collection import CollectionEntry, build


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
    longest = layout.positions - layout.prefix
    if card["form"] == "taught":
        program = judged_program(card["program"], card["teaching"].get("vocab"), card["teaching"]["longest"])
        longest = min(longest, card["teaching"]["longest"])
    else:
        program = get(entry.name)[0].find()[0].subject
    known = known_circuit(program, entry.network, circuit, longest, size.words, seed)
    return known.judged(entry.name, card["form"], card["program"])


def _acceptor(entry: CollectionEntry, size: JudgeSize, seed: int) -> JudgedNetwork:
    language = get(entry.name)[0].find()[0].subject
    family = f"{entry.card['form']} {entry.card['machine'].upper()}"
    return JudgedNetwork(entry.name, family, entry.network, language, drawn_words(language, size, seed))
