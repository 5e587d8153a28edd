"""NRAMs and NTMs on disk: every weight comes back, and files that do not fit together are refused."""

import jax
import numpy as np
import pytest

import kleene
from kleene.errors import InputError, ModelFileError
from kleene.machines.nram.nram import NRAM
from kleene.machines.ntm.ntm import NTM
from kleene.machines.ntm.tracing import whole_trace
from kleene.notation.wiring import Steps
from kleene.tensors import open_tensors, read_tensors, write_tensors

NRAM_MADE = NRAM.random(2, "def+R", hidden=3, key=jax.random.key(0))
NTM_MADE = NTM.random(4, outputs=3, width=2, hidden=(5, 6), key=jax.random.key(0))
MADE = {"nram": NRAM_MADE, "ntm": NTM_MADE}


@pytest.mark.parametrize("kind", MADE)
def test_a_saved_machine_comes_back_with_every_weight(tmp_path, kind):
    file = MADE[kind].save(tmp_path / "machine.safetensors")
    back = kleene.load(file)
    assert open_tensors(file).kind == kind
    assert jax.tree.structure(back) == jax.tree.structure(MADE[kind])
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(back), jax.tree.leaves(MADE[kind])))


def test_a_compiled_circuit_comes_back_as_the_machine_that_runs_it(tmp_path):
    from kleene.programs.circuits.library import get

    circuit = get("list_k").build()
    back = NRAM.load(kleene.compile(circuit).save(tmp_path / "n"))
    assert back.steps == circuit.steps == Steps(constant=5, cells=(1,))
    assert back.run(get("list_k").example) == circuit.run(get("list_k").example)


def test_a_machine_that_does_not_know_its_steps_stays_so(tmp_path):
    back = NRAM.load(NRAM_MADE.save(tmp_path / "n"))
    with pytest.raises(InputError, match="does not say how many steps"):
        back.run([1, 2, 0])
    assert back.run([1, 2, 0], steps=2) == NRAM_MADE.run([1, 2, 0], steps=2)


def test_a_saved_ntm_does_the_same(tmp_path):
    back = NTM.load(NTM_MADE.save(tmp_path / "n"))
    assert whole_trace(back, [0, 3, 1], 5) == whole_trace(NTM_MADE, [0, 3, 1], 5)


@pytest.mark.parametrize("kind", MADE)
def test_several_machines_in_one_are_not_saved(tmp_path, kind):
    several = jax.tree.map(lambda leaf: np.stack([leaf, leaf]), MADE[kind])
    with pytest.raises(InputError, match="several machines in one"):
        several.save(tmp_path / "n")
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize(
    ("kind", "change", "complaint"),
    [
        ("nram", lambda header, arrays: arrays.pop("stop_bias"), "stop_bias missing"),
        ("nram", lambda header, arrays: arrays.pop("first"), "first"),
        ("nram", lambda header, arrays: arrays.update(circuit=np.zeros((2, 3, 3), "f4")), "circuit missing, not"),
        ("nram", lambda header, arrays: arrays.update(more=np.zeros(2, "f4")), "more missing, not expected"),
        ("nram", lambda header, arrays: arrays.update(stop=np.zeros(3, "i4")), "stop holds int32"),
        ("nram", lambda header, arrays: arrays.update(stop=np.zeros(3, "f8")), "stop holds float64"),
        ("nram", lambda header, arrays: header.update(registers=10**9), "first missing, not expected, or of the wrong"),
        ("nram", lambda header, arrays: header.update(registers=True), "its registers is True"),
        ("nram", lambda header, arrays: header.update(modules=["DANCE"]), "DANCE"),
        ("nram", lambda header, arrays: header.update(modules="def"), "not a list of names"),
        ("nram", lambda header, arrays: header.update(modules=[3]), "modules|str|sequence"),
        ("nram", lambda header, arrays: header.update(steps="many"), "'many' is not understood"),
        ("nram", lambda header, arrays: header.update(steps=4), "does not hold a whole NRAM"),
        ("nram", lambda header, arrays: header.pop("hidden"), "hidden"),
        ("nram", lambda header, arrays: header.update(version=9), "its version is 9"),
        ("ntm", lambda header, arrays: arrays.pop("said"), "said missing"),
        ("ntm", lambda header, arrays: arrays.update(commands=np.zeros((3, 6), "f4")), "commands missing, not"),
        ("ntm", lambda header, arrays: arrays.update(more=np.zeros(2, "f4")), "more missing, not expected"),
        ("ntm", lambda header, arrays: arrays.update(read=np.zeros((5, 2), "i4")), "read holds int32"),
        ("ntm", lambda header, arrays: header.update(width=3), "commands, commands_bias, read, unread missing"),
        ("ntm", lambda header, arrays: header.update(width="3"), "its width is '3'"),
        ("ntm", lambda header, arrays: header.update(version=9), "its version is 9"),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(tmp_path, kind, change, complaint):
    header, arrays = read_tensors(MADE[kind].save(tmp_path / "n"), kind)
    change(header, arrays)
    header.pop("kind")
    file = write_tensors(tmp_path / "m", kind, header, arrays)
    with pytest.raises(ModelFileError, match=complaint):
        kleene.load(file)
    with pytest.raises(ModelFileError, match="does not hold a whole"):
        type(MADE[kind]).load(file)


def test_a_file_of_another_kind_or_cut_short_is_refused(tmp_path):
    file = NTM_MADE.save(tmp_path / "n")
    with pytest.raises(ModelFileError, match="holds a ntm, and a nram was expected"):
        NRAM.load(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(ModelFileError, match="damaged or cut short"):
        kleene.load(file)
