"""Every file of Kleene carries a checksum; one table over all formats."""

import json
import random
import warnings

import jax
import numpy as np
import pytest

import kleene
from kleene.compiling.alta.fuzzing import Tally, fuzz
from kleene.errors import InputError, ModelFileError
from kleene.files import MARKS, SEAL, UnsealedWarning, check_seal, sealed, sealed_json
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.neural_gpu import NeuralGPU
from kleene.machines.nram import NRAM
from kleene.machines.ntm.ntm import NTM
from kleene.machines.pretrained import grammar_model
from kleene.programs.alta.library import parity
from kleene.programs.alta.rules import RuleSet
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.library import get as get_circuit
from kleene.programs.turing.library import get as get_machine
from kleene.teaching.lessons import lesson
from kleene.teaching.loop import fresh_learners
from kleene.teaching.plan import Plan, Progress, restored, stored
from kleene.traces import Trace

EVEN = kleene.DFA.from_regex("(0|10*1)*")
KEY = jax.random.key(0)


def checkpoint_case(path):
    plan = Plan.grid(lesson("dfa:tomita_1", hidden=2), seeds=1, iterations=2)
    learners = fresh_learners(plan)
    stored(path, plan, Progress(), learners)
    return lambda file: restored(file, plan, learners)


def tally_case(path):
    fuzz(1, resume=str(path))
    return lambda file: fuzz(1, resume=str(file))


def saved(thing, load, path):
    thing.save(path)
    return load


# By the file's name: what writes the file, and gives the function that reads it again.
FORMATS = {
    "exact.safetensors": lambda path: saved(kleene.compile(EVEN), kleene.load, path),
    "float.safetensors": lambda path: saved(kleene.compile(EVEN, dtype="float32"), kleene.load, path),
    "turing.safetensors": lambda path: saved(kleene.compile(get_machine("bump").build()), kleene.load, path),
    "transformer.safetensors": lambda path: saved(kleene.compile(parity.relative()), kleene.load, path),
    "lstm.safetensors": lambda path: saved(LSTM.random(["a", "b"], 2, key=KEY), kleene.load, path),
    "nram.safetensors": lambda path: saved(NRAM.random(1, "R", hidden=2, key=KEY), kleene.load, path),
    "ntm.safetensors": lambda path: saved(NTM.random(2, width=2, hidden=(2, 2), key=KEY), kleene.load, path),
    "neural_gpu.safetensors": lambda path: saved(NeuralGPU.random(2, hidden=3, key=KEY), kleene.load, path),
    "rules.safetensors": lambda path: saved(parity.relative().rules(), RuleSet.load, path),
    "checkpoint.safetensors": checkpoint_case,
    "automaton.json": lambda path: saved(EVEN, kleene.DFA.load, path),
    "automaton.dot": lambda path: saved(EVEN, kleene.DFA.load, path),
    "automaton.jff": lambda path: saved(EVEN, kleene.DFA.load, path),
    "machine.jff": lambda path: saved(get_machine("bump").build(), kleene.TuringMachine.load, path),
    "machine.tm": lambda path: saved(get_machine("bump").build(), kleene.TuringMachine.load, path),
    "circuit.nram": lambda path: saved(get_circuit("swap").build(), Circuit.load, path),
    "trace.json": lambda path: saved(EVEN.run("0110"), Trace.load, path),
    "trace.npz": lambda path: saved(EVEN.run("0110"), Trace.load, path),
    "tally.json": tally_case,
}
BY_HAND = (
    "automaton.dot",
    "automaton.jff",
    "machine.jff",
    "machine.tm",
    "circuit.nram",
    "tally.json",
)  # these are read without a checksum, and without a warning


@pytest.mark.parametrize("name", FORMATS)
def test_any_flipped_bit_and_any_cut_is_refused_as_damage(tmp_path, name):
    path = tmp_path / name
    read = FORMATS[name](path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(path)
    content = path.read_bytes()
    bits = range(8 * len(content))
    seal = content.index(MARKS[0])
    tried = {*random.Random(0).sample(bits, 100), *range(8 * seal, 8 * (seal + len(SEAL)), 9)}
    for bit in tried:
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(ModelFileError, match="is damaged or cut short"):
            read(path)
    cuts = {*random.Random(0).sample(range(len(content)), 40), *range(seal - 2, seal + 20)}
    for length in cuts:
        path.write_bytes(content[:length])
        with pytest.raises(kleene.KleeneError):
            read(path)


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in BY_HAND])
def test_an_old_file_without_a_checksum_is_read_with_a_warning(tmp_path, name):
    path = tmp_path / name
    read = FORMATS[name](path)
    content = path.read_bytes()
    start = content.index(MARKS[0])
    written = content[start : start + len(SEAL)]
    path.write_bytes(content.replace(written, b" " * len(SEAL)))
    with pytest.warns(UnsealedWarning, match="has no checksum, so damage to it cannot be noticed"):
        read(path)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_text_that_people_may_write_needs_no_checksum(tmp_path, name):
    path = tmp_path / name
    read = FORMATS[name](path)
    text = path.read_text()
    start = text.index(MARKS[0].decode())
    path.write_text(text.replace(text[start : start + len(SEAL)], ""))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(path)


def test_an_edited_text_says_how_to_go_on(tmp_path):
    path = get_machine("bump").build().save(tmp_path / "bump.tm")
    path.write_text(path.read_text() + "\n// mine\n")
    with pytest.raises(ModelFileError, match="if you changed it on purpose, remove its checksum"):
        kleene.TuringMachine.load(path)


def test_a_shipped_model_has_a_checksum():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grammar_model()


def test_the_checksum_is_of_the_whole_file_with_zeros_in_its_place():
    content = sealed(f"before {SEAL} after")
    assert check_seal("x", content)
    assert len(content) == len(f"before {SEAL} after")
    assert not check_seal("x", b"before after")


def test_json_stays_json_and_numpy_reads_the_arrays(tmp_path):
    assert json.loads(sealed_json({"a": 1}))["a"] == 1
    EVEN.run("0110").save(tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz") as arrays:
        assert len(arrays["arr_1"]) == 5


def test_a_name_that_looks_like_a_checksum_is_not_written():
    with pytest.raises(InputError, match="which marks a file's checksum"):
        sealed_json({"name": SEAL})


def test_a_tally_whose_counts_are_no_numbers_is_refused(tmp_path):
    (tmp_path / "tally.json").write_bytes(sealed_json(vars(Tally(0)) | {"done": "many"}))
    with pytest.raises(ModelFileError, match="does not hold a tally of random checks"):
        fuzz(1, resume=str(tmp_path / "tally.json"))
