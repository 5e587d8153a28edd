"""Running circuits: the plain meaning, the trace, the holes, and what is refused."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError, ProgramError, RunError
from kleene.notation.wiring import ARITIES, OPERATIONS, Wiring, module_sequence
from kleene.programs.circuits import Block, Circuit
from kleene.programs.circuits.blocks import HOLE
from kleene.programs.circuits.circuit import reference_run
from kleene.programs.circuits.library import get

WIRING = Wiring(2, module_sequence("def+R+W"))
PATTERNS = (("0", "0"), ("0", "!0"), ("!0", "-"))


def random_circuit(seed: int) -> Circuit:
    random = Random(seed)
    rows = [tuple(random.randrange(c.choices) for c in WIRING.connections) for _ in PATTERNS]
    return Circuit(WIRING, tuple(Block(p, row) for p, row in zip(PATTERNS, rows)))


@given(st.integers(0, 10**6), st.lists(st.integers(0, 6), min_size=7, max_size=9), st.integers(0, 6))
def test_a_run_is_what_the_modules_say_one_after_another(seed, memory, steps):
    circuit = random_circuit(seed)
    cells, registers = reference_run(circuit, memory, steps)
    trace = circuit.run(memory, steps)
    assert trace.output == cells
    assert [int(trace[f"r{number}"][-1]) for number in range(2)] == registers
    assert trace.steps == steps


def test_many_memories_of_different_sizes_run_as_each_alone():
    increment = get("increment").build()
    memories = [[1, 2, 0], [4, 4, 4, 4, 0], [1, 0]]
    assert increment.run_batch(memories) == [increment.run(memory) for memory in memories]
    assert increment.run_batch([]) == []


def test_the_trace_names_every_connection_and_has_the_start_at_step_0():
    trace = get("increment").build().run([1, 2, 0])
    assert trace["memory"].tolist()[:3] == [[1, 2, 0], [2, 2, 0], [2, 0, 0]]
    assert (trace["r0"].tolist(), trace["r1"].tolist()) == ([0, 1, 2, 2, 2, 2], [1, 2, 0, 0, 0, 0])
    channel = trace.channel("READ2.a")
    assert [channel.show(entry) for entry in trace["READ2.a"][:2]] == ["·", "INC"]
    assert "WRITE.b" in str(trace)
    assert trace.source == "program"


def test_holes_are_filled_alike_without_a_generator_and_anew_at_each_step_with_one():
    circuit = Circuit(WIRING, (Block(("-", "-"), (HOLE,) * len(WIRING.connections)),))
    assert circuit.run([1, 2, 0], 3) == circuit.filled().run([1, 2, 0], 3)
    assert circuit.filled().is_complete > circuit.is_complete
    drawn = circuit.run([1, 2, 0], 300, np.random.default_rng(0))["MAX.b"][1:]
    assert set(drawn.tolist()) == set(range(WIRING.registers + WIRING.names.index("MAX")))
    assert circuit.filled(np.random.default_rng(0)) != circuit.filled(np.random.default_rng(1))


def test_registers_that_match_no_block_stop_the_run_and_are_named():
    circuit = Circuit(WIRING, (Block(("0", "-"), (1,) * len(WIRING.connections)),), name="half")
    with pytest.raises(RunError, match=r"half: at step 1 of input 0 the registers are \[1, 1\].*when !0 !0"):
        circuit.run([1, 1, 0], 3)


@pytest.mark.parametrize(
    ("memory", "message"),
    [([1], "two or more"), ([0.5, 1.0], "whole numbers"), ([0, 3, 1], "cell 1 of the memory is 3"),
     ([0, -1], "cell 1 of the memory is -1"), ([[0, 1]], "two or more")],
)  # fmt: skip
def test_a_memory_that_cannot_be_one_is_refused(memory, message):
    with pytest.raises(InputError, match=message):
        get("increment").build().run(memory)


def test_a_run_needs_to_know_how_many_steps():
    with pytest.raises(InputError, match="how many steps"):
        random_circuit(0).run([1, 0])
    with pytest.raises(InputError, match="0 or more"):
        random_circuit(0).run([1, 0], -1)
    with pytest.raises(InputError, match="larger memory"):
        Circuit.from_text("registers 1\nmodules R\nsteps memory[5]\nwhen -: READ(r0)").run([1, 0])


def test_blocks_that_do_not_fit_the_wiring_are_refused():
    with pytest.raises(ProgramError, match="choices for"):
        Circuit(WIRING, (Block(("-", "-"), (0,)),))
    with pytest.raises(ProgramError, match="one of 0, !0 and -"):
        Circuit(WIRING, (Block(("-",), (0,) * len(WIRING.connections)),))
    with pytest.raises(ProgramError, match=r"READ1\.a is source 2, and it may be one of r0, r1 or a hole"):
        Circuit(WIRING, (Block(("-", "-"), (2,) * len(WIRING.connections)),))


@pytest.mark.parametrize(("steps", "message"), [([2], "1 numbers for 2 memories"), ([2, -1], "steps is -1")])
def test_numbers_of_steps_that_do_not_fit_the_memories_are_refused(steps, message):
    with pytest.raises(InputError, match=message):
        random_circuit(0).run_batch([[1, 0], [0, 1]], steps)


def test_every_module_that_needs_no_memory_has_one_meaning_on_integers():
    assert set(OPERATIONS) == set(ARITIES) - {"READ", "WRITE"}
    a, b = np.meshgrid(np.arange(5), np.arange(5))
    for kind, operation in OPERATIONS.items():
        plain = [[operation(int(x), int(y)) for x, y in zip(*rows)] for rows in zip(a, b)]
        assert (np.broadcast_to(operation(a, b), a.shape) == np.array(plain)).all(), kind
