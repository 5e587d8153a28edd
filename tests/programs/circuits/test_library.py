"""The five circuits of the paper do what they should, whatever fills their holes."""

from random import Random

import numpy as np
import pytest

from kleene.errors import InputError
from kleene.programs.circuits import Circuit
from kleene.programs.circuits.library import entries, get, read
from tests.programs.circuits import instances

NAMES = list(entries())


@pytest.mark.parametrize("name", NAMES)
def test_a_circuit_is_right_on_a_thousand_memories_with_its_holes_filled_at_random(name):
    entry, random = entries()[name], Random(name)
    memories = [getattr(instances, name)(random) for _ in range(1200)]
    runs = entry.build().run_batch(memories, generator=np.random.default_rng(1))
    assert [run.output for run in runs] == [entry.reference(memory) for memory in memories]


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_stays_when_the_circuit_goes_on(name):
    entry, random = entries()[name], Random(name)
    circuit, memories = entry.build(), [getattr(instances, name)(random) for _ in range(100)]
    longer = [run.steps + 7 for run in circuit.run_batch(memories)]
    runs = circuit.run_batch(memories, longer, np.random.default_rng(2))
    assert [run.output for run in runs] == [entry.reference(memory) for memory in memories]


@pytest.mark.parametrize("name", NAMES)
def test_a_circuit_reads_its_own_text_again_and_solves_its_example(name):
    entry = entries()[name]
    circuit = entry.build()
    assert Circuit.from_text(circuit.text) == circuit
    memory = read(entry.example)
    assert circuit.run(memory).output == entry.reference(memory) != memory


def test_an_unknown_circuit_is_refused_with_a_suggestion():
    with pytest.raises(InputError, match="did you mean increment"):
        get("incremnt")
