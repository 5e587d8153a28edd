"""Networks of the collection, to judge on: Transformers for circuits, recurrent networks for interactions."""

from collections.abc import Callable, Iterable
from typing import Any

from kleene.errors import InputError
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.explaining.circuits.judging import JudgedCircuit
from kleene.explaining.interactions.judging import JudgedNetwork
from kleene.groundtruth.catalog import get
from kleene.groundtruth.collection import CollectionEntry, build
from kleene.groundtruth.judging.circuits import SHOWN, CircuitSize, drawn_inputs, known_circuit
from kleene.groundtruth.judging.networks import JudgeSize, drawn_words
from kleene.groundtruth.taught import taught_words


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
