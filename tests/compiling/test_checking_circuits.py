"""The check of circuits finds what is wrong."""

import pytest

from kleene.compiling.alta.checking import check
from kleene.compiling.circuits.checking import check_circuit, instances
from kleene.programs.circuits import Block, Circuit
from kleene.programs.circuits.library import Entry, get
from kleene.tasks.memory import memory_task


def test_a_wrong_plain_reference_is_reported_with_the_memory():
    report = check_circuit(get("increment").build(), name="mine", expected=lambda memory: list(memory), samples=3)
    assert not report
    assert report.first_disagreement is not None
    assert report.first_disagreement.startswith("mine on [")
    assert "but the plain reference says" in report.first_disagreement


def test_a_wrong_network_is_reported(monkeypatch):
    circuit = get("increment").build()
    first, second = circuit.blocks
    wrong = Circuit(circuit.wiring, (first, Block(second.pattern, first.choices)), circuit.steps)
    compiled = check_circuit.__globals__["compile_circuit"]
    monkeypatch.setitem(check_circuit.__globals__, "compile_circuit", lambda _: compiled(wrong))
    report = check(get("increment"), samples=3)
    assert not report
    assert "in network" in str(report.first_disagreement)


def test_a_wrong_interpreter_is_reported(monkeypatch):
    monkeypatch.setitem(check_circuit.__globals__, "reference_run", lambda circuit, memory, steps: (memory, [0, 0]))
    report = check(get("increment"), samples=2)
    assert "the plain interpreter's are" in str(report.first_disagreement)


@pytest.mark.parametrize("name", ["list_k", "merge"])
def test_instances_are_of_all_sizes_that_the_task_has(name):
    task, entry = memory_task(name), get(name)
    drawn = instances(name, 12, 13, seed=0)
    assert {len(memory) for memory in drawn} == set(range(task.smallest, 14))
    assert drawn == instances(name, 12, 13, seed=0) != instances(name, 12, 13, seed=1)
    for memory in drawn:
        assert entry.build().run(memory).output == entry.expected(memory)
    assert isinstance(entry, Entry)
