"""Saved machines of every kind: the files in `stored/machines` load, run as they did, and save as they were.

A file of a new machine is added by hand, with its input below. Rewriting writes what Kleene now saves of each.
"""

from pathlib import Path
from shutil import copy
from typing import Any

import pytest

import kleene
from kleene import kinds
from tests.snapshots import traces
from tests.snapshots.comparing import EXACT, first_differences
from tests.snapshots.files import described
from tests.snapshots.library import examples, file_name
from tests.snapshots.normalising import normalised
from tests.snapshots.storing import STORED, compare, left_over, rewriting

FILES = STORED / "machines"
BITS, CODES, SYMBOLS = [1, 0, 1], [2, 1, 0], [0, 3, 1]
INPUTS: dict[str, Any] = {
    "universal-transformer": BITS,
    "a-Transformer-with-an-expansion": BITS,
    "unrolled-transformer": BITS,
    "unrolled-layers-with-expansions": BITS,
    "plain-transformer": BITS,
    "shared-transformer": CODES,
    "transformer-with-a-learned-mlp": BITS,
    "a-learned-MLP-after-an-expansion": BITS,
    "encoder": CODES,
    "an-encoder-that-shares-its-weights": CODES,
    "encoder-decoder": ["jump", "twice", "jump"],
    "an-encoder-decoder-that-shares-its-weights": ["jump", "twice", "jump"],
    "simple-rnn": "aabb",
    "a-floating-simple-RNN": "0110111",
    "turing-rnn": "11",
    "a-floating-Turing-machine": "11",
    "lstm": "abba",
    "an-LSTM-that-is-a-language-model": [1, 0, 2],
    "transformer-language-model": ["a", 3, "a"],
    "nram": [1, 2, 0],
    "an-NRAM-that-does-not-say-its-steps": None,  # runs only when taught
    "ntm": SYMBOLS,
    "neural-gpu": SYMBOLS,
}


@pytest.mark.parametrize("name", INPUTS)
def test_machines(name: str, tmp_path: Path):
    stored = FILES / f"{name}.safetensors"
    machine = kleene.load(stored)
    saved = machine.save(tmp_path / stored.name)
    found = first_differences(described(stored), described(saved), EXACT)
    if found and rewriting():
        copy(saved, stored)
    answer: dict[str, Any] = {"machine": normalised(machine.as_json()), "file": described(saved)}
    if INPUTS[name] is not None:
        answer |= {"input": INPUTS[name], "trace": traces.described(machine.run(INPUTS[name]))}
    compare(f"machines/{name}", answer)
    assert not found or rewriting(), f"{stored.name} is saved in another way than it was: {found}"


def test_machines_have_no_snapshot_left_over():
    assert left_over("machines", list(INPUTS)) == []
    assert {file.stem for file in FILES.glob("*.safetensors")} == set(INPUTS)


def test_every_kind_of_machine_has_a_file():
    classes = {kind.classes[1] if kind.program else kind.classes[0] for kind in kinds.known()}
    there = {type(kleene.load(FILES / f"{name}.safetensors")) for name in INPUTS}
    assert {one.rpartition(":")[2] for one in classes} <= {one.__name__ for one in there}


EXAMPLES = examples()
UNROLLED = {"layers": "unrolled", "max_length": 5}
COMPILED: dict[str, list[dict[str, Any]]] = {
    "parity_relative": [
        {},
        {"rules": "paper"},
        {"activation": "relu"},
        {"dtype": "float64"},
        {"dtype": "bfloat16"},
        UNROLLED,
    ],
    "parity_sum_modulo_steps": [{}, UNROLLED],
    "addition": [{}],
    "fraction_previous": [{}, UNROLLED | {"causal": True}],
    "dfa:tomita_4": [
        {},
        {"form": "textbook"},
        {"activation": "slu"},
        {"dtype": "float32"},
        {"dtype": "float64"},
        {"machine": "lstm"},
    ],
    "dfa:contains_abba": [{}, {"machine": "lstm", "form": "textbook"}],
    "tm:sipser": [{}, {"construction": "merged"}, {"dtype": "float32"}],
    "tm:palindrome": [{"dtype": "float64"}],
    "swap": [{}],
    "merge": [{}],
    "rasp:reverse": [{}, {"rules": "paper"}],
    "rasp:sort": [{}, {"layers": "unrolled"}],
}


def variant(program: str, options: dict[str, Any]) -> str:
    """The name of a snapshot: the program, and the options that are not the default."""
    return "-".join([file_name(program), *(f"{key}-{value}" for key, value in options.items())])


VARIANTS = {variant(program, options): (program, options) for program, given in COMPILED.items() for options in given}


@pytest.mark.parametrize("name", VARIANTS)
def test_compiled(name: str, tmp_path: Path):
    program, options = VARIANTS[name]
    ran = kleene.run(program, EXAMPLES[program])
    network = kleene.compile(ran.subject, **options)
    file = network.save(tmp_path / "network.safetensors")
    trace = kleene.load(file).run(ran.input)
    answer = {"program": program, "options": options, "machine": normalised(network.as_json())}
    answer |= {"file": described(file), "loaded": trace.difference(network.run(ran.input)) or "the same trace"}
    compare(f"compiled/{name}", answer)


def test_compiled_have_no_snapshot_left_over():
    assert left_over("compiled", list(VARIANTS)) == []
