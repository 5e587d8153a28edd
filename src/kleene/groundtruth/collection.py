"""The collection: networks whose algorithm is known, each a folder of three files in the user's cache.

- `network.safetensors`: the network;
- `circuit.json`: its truth, as data;
- `card.json`: what it is, how it was made, and the checksums of the other two. It is written last, so that an entry
  without a card is not there.

An entry is checked when it is loaded. Loading never runs code.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene import __version__
from kleene.errors import InputError, ModelFileError
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.files import check_seal, make_folder, parsed_json, read_bytes, sealed_json, write_atomically
from kleene.groundtruth.building import Made, Truth, make
from kleene.groundtruth.catalog import Form, KnownProgram, get
from kleene.groundtruth.places import CARD, CIRCUIT, NETWORK, collection_folder, is_built
from kleene.groundtruth.truths import StateCircuit
from kleene.machines.protocol import load as load_network
from kleene.traces.markup import html_facts

VERSION = 1
SHOWN = ("summary", "right", "inputs", "seed")  # entries of a card that are shown or compared
TRUTHS: dict[str, Any] = {"components": TrueCircuit, "states": StateCircuit}


@dataclass(frozen=True, eq=False)
class CollectionEntry:
    """A network of the collection with its truth and its card."""

    name: str
    network: Any
    circuit: Truth
    card: dict[str, Any]
    folder: Path

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "folder": str(self.folder)} | self.card

    def __repr__(self) -> str:
        return f"<CollectionEntry {self.name}: {self.card['right']} of {self.card['inputs']} inputs right>"

    def _repr_html_(self) -> str:
        return html_facts(self._facts(), self.name)

    def __str__(self) -> str:
        return "\n".join(f"{name:9} {value}" for name, value in {"name": self.name, **self._facts()}.items())

    def _facts(self) -> dict[str, str]:
        return {
            "computes": self.card["summary"],
            "network": repr(self.network).strip("<>"),
            "right": f"{self.card['right']} of {self.card['inputs']} sample inputs",
            "truth": told(self.circuit),
            **({} if "verified" not in self.card else {"verified": told_verified(self.card)}),
            "folder": str(self.folder),
        }


def told(truth: Truth) -> str:
    """A truth in a few words."""
    if isinstance(truth, TrueCircuit):
        return repr(truth).strip("<>").removeprefix("TrueCircuit: ")
    decoys = sum(unit < 0 for unit in truth.units)
    units = f"{len(truth.units) - decoys} units that mean states, {decoys} decoys" if truth.units else "no unit known"
    return f"{len(truth.states)} states, {units}"


def told_verified(card: Mapping[str, Any]) -> str:
    """Whether a taught network keeps its algorithm, and how that was counted."""
    counts = [f"{found['right']} of {found['pairs']} in {kind}" for kind, found in card.get("counted", {}).items()]
    return ", ".join(["yes" if card["verified"] else "no: its truth is only what it was taught", *counts])


def build(name: str, *, folder: Any = None, again: bool = False, seed: int = 0) -> list[CollectionEntry]:
    """Build what is not there yet, and return it: `rasp.reverse` compiled and hidden, or `rasp.reverse.taught` alone.

    An entry that is there is checked, and built anew only with `again`.
    """
    known, forms = get(name)
    return [_built(known, form, collection_folder(folder), again, seed) for form in forms]


def load(name: str, *, folder: Any = None) -> CollectionEntry:
    """An entry that was built, such as `rasp.reverse.hidden`; refuses one whose files do not have their checksums."""
    known, (form, *more) = get(name)
    if more:
        raise InputError(f"say which form of {name!r}: {', '.join(f'{name}.{one}' for one in known.forms)}")
    whole = f"{known.name}.{form}"
    place = collection_folder(folder) / whole
    if not is_built(whole, folder):
        raise InputError(f"{whole!r} is not built yet; build it with `kleene groundtruth build {whole}`")
    return _loaded(whole, place)


def _built(known: KnownProgram, form: Form, root: Path, again: bool, seed: int) -> CollectionEntry:
    name = f"{known.name}.{form}"
    place = root / name
    if os.path.isfile(place / CARD) and not again:
        found = _loaded(name, place)
        if found.card["seed"] != seed:
            raise InputError(
                f"{name!r} was built with seed {found.card['seed']}, and not {seed}; build it anew with --again"
            )
        return found
    made = make(known, form, seed)
    (make_folder(place) / CARD).unlink(missing_ok=True)
    made.network.save(place / NETWORK)
    write_atomically(place / CIRCUIT, json.dumps(_described(made.truth)) + "\n")
    card = _card(known, form, seed, made, {file: _digest(place / file) for file in (NETWORK, CIRCUIT)})
    write_atomically(place / CARD, sealed_json(card, indent=1))
    return _loaded(name, place)


def _card(known: KnownProgram, form: Form, seed: int, made: Made, digests: dict[str, str]) -> dict[str, Any]:
    size = made.network.size
    return {
        "version": VERSION, "name": f"{known.name}.{form}", "summary": known.summary, "family": known.family,
        "program": known.named, "machine": known.machine, "form": form, "options": dict(known.options), "seed": seed,
        "inputs": made.inputs, "right": made.right, "parameters": size.parameters, "nonzero": size.nonzero,
        "kleene": __version__, "sha256": digests, **made.facts,
    }  # fmt: skip


def _described(truth: Truth) -> dict[str, Any]:
    kind = next(kind for kind, held in TRUTHS.items() if isinstance(truth, held))
    return {"kind": kind} | truth.as_json()


def _loaded(name: str, place: Path) -> CollectionEntry:
    remedy = f"build it anew with `kleene groundtruth build {name} --again`"
    try:
        content = read_bytes(place / CARD)
        if not check_seal(place / CARD, content):
            raise ValueError("its card has no checksum")
        card = parsed_json(content)
        if card["version"] != VERSION or card["name"] != name:
            raise ValueError(f"its card is of {card['name']!r}, version {card['version']}")
        if missing := [entry for entry in SHOWN if entry not in card]:
            raise ValueError(f"its card has no {missing[0]!r}")
        for file, digest in card["sha256"].items():
            if _digest(place / file) != digest:
                raise ValueError(f"{file} does not have the checksum that its card says")
        described = parsed_json(read_bytes(place / CIRCUIT))
        circuit = TRUTHS[described.pop("kind")].from_json(described)
        network = load_network(place / NETWORK)
    except (ModelFileError, InputError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(f"the entry {name!r} in {str(place)!r} is damaged ({error}); {remedy}") from None
    card.pop("checksum", None)
    return CollectionEntry(name, network, circuit, card, place)


def _digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()
