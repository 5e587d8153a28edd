"""Pages of NTMs, Neural GPUs and circuits: the document equals the trace, and modules compute what they do."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.machines.neural_gpu import NeuralGPU
from kleene.machines.ntm.ntm import NTM
from kleene.machines.protocol import load
from kleene.naming import find
from kleene.programs.circuits.library import entries
from kleene.watching.columns import unpacked
from kleene.watching.document import traces_of
from kleene.watching.memories import module_values

FILES = Path(__file__).parents[1] / "machines" / "files"


def test_the_document_of_a_neural_turing_machine_equals_its_trace():
    machine = NTM.random(3, width=4, hidden=(6, 5), key=jax.random.key(0))
    page = kleene.watch(machine, [0, 1, 2], cells=5)
    (found,) = traces_of(json.loads(json.dumps(page.document)))
    assert found == machine.run([0, 1, 2], cells=5)
    assert page.document["view"] == "memory"
    with pytest.raises(InputError, match="cut it by --steps alone"):
        kleene.watch(machine, [0, 1], positions="0-2")


def test_the_document_of_a_neural_gpu_equals_its_trace():
    machine = NeuralGPU.random(3, hidden=6, key=jax.random.key(0))
    page = kleene.watch(machine, [0, 1, 2])
    (found,) = traces_of(json.loads(json.dumps(page.document)))
    assert found == machine.run([0, 1, 2])
    assert (page.document["step"], page.document["positions"]) == ("step", ["0", "1", "2"])


@pytest.mark.parametrize("name", sorted(entries()))
def test_the_document_of_a_circuit_equals_its_trace(name):
    words = list(entries()[name].example)
    content = json.loads(json.dumps(kleene.watch(name, words).document))
    assert traces_of(content) == [kleene.run(name, words).trace]


def test_the_document_of_a_circuit_and_its_network_equals_both_traces():
    words = list(entries()["increment"].example)
    content = kleene.watch("increment", words, both=True).document
    assert traces_of(content) == [kleene.run("increment", words, compiled=compiled).trace for compiled in (False, True)]
    assert content["different"] is None


@pytest.mark.parametrize("name", sorted(entries()))
def test_registers_take_what_their_modules_computed(name):
    circuit, trace = find(name).subject, kleene.run(name, list(entries()[name].example)).trace
    wiring = circuit.wiring
    values = module_values(wiring, trace)
    for register in range(wiring.registers):
        before = np.stack([trace[f"r{n}"] for n in range(wiring.registers)], axis=1)
        for step in range(1, trace.steps + 1):
            known = [*before[step - 1], *values[step]]
            assert known[trace[f"r{register}.c"][step]] == trace[f"r{register}"][step]


def test_the_block_that_ran_is_the_one_whose_pattern_fits():
    content = kleene.watch("increment", ["3", "1", "4", "1", "5", "0"], steps="1-8").document
    blocks = unpacked(content["blocks"]).tolist()
    trace = kleene.run("increment", ["3", "1", "4", "1", "5", "0"]).trace
    assert blocks == [int(r1 == 0) for r1 in trace["r1"][:-1]]
    first, last = content["spans"][1]
    assert content["source"][first] == "when - 0:"
    assert content["source"][last] == "    r0 = r0  r1 = ZERO"
    with pytest.raises(InputError, match="shows all of its wires"):
        kleene.watch("increment", ["3", "1", "4", "1", "5", "0"], channels="r0")


def test_the_network_of_a_circuit_in_a_file_is_told_how_many_steps_to_take():
    network = kleene.compile(find("increment").subject)
    content = kleene.watch(network, [3, 1, 4, 1, 5, 0], max_steps=3).document
    assert content["steps"] == 3
    assert content["source"] is None
    assert traces_of(content) == [network.run([3, 1, 4, 1, 5, 0], steps=3)]
    with pytest.raises(InputError, match="give --max-steps"):
        kleene.watch(load(FILES / "nram.safetensors"), [0, 1, 1])
