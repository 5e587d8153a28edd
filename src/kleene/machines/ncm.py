"""Differentiable neural computational machines: a controller and a processor that take turns, and the trace they leave.

At each step the controller turns (feedback, state, input) into (command, state, output), and the processor
(command, memory) into (feedback, memory). Whoever writes these two functions has a machine that runs, records its trace
and can be taught with hints on any part of it; nothing else has to know about it.
"""

import os
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
from jaxtyping import PyTree

Records = dict[str, PyTree]  # what a run records, by name; every array has the step as its first axis


class Start(NamedTuple):
    """What a run begins with."""

    feedback: PyTree
    state: PyTree
    memory: PyTree


@runtime_checkable
class NCM(Protocol):
    """A ∂NCM. Both functions are of one run, unbatched: batch with `jax.vmap`."""

    def control(self, feedback: PyTree, state: PyTree, entry: PyTree) -> tuple[PyTree, PyTree, PyTree]:
        """The controller κ: (command, state, output)."""
        ...

    def process(self, command: PyTree, memory: PyTree) -> tuple[PyTree, PyTree]:
        """The processor π: (feedback, memory)."""
        ...


def run(machine: NCM, start: Start, entries: PyTree, *, unroll: int = 1) -> Records:
    """The trace of one run: `command`, `feedback`, `state`, `output` and `memory` after each step.

    `entries` has the step as the first axis of each of its arrays.
    """

    def step(before: Start, entry: PyTree) -> tuple[Start, Records]:
        command, state, output = machine.control(before.feedback, before.state, entry)
        feedback, memory = machine.process(command, before.memory)
        recorded: dict[str, Any] = {"command": command, "feedback": feedback, "state": state}
        return Start(feedback, state, memory), recorded | {"output": output, "memory": memory}

    return jax.lax.scan(step, start, entries, unroll=unroll)[1]


def compiler_options() -> dict[str, Any]:
    """How hard XLA tries when it compiles what runs for seconds, not hours.

    On a CPU that is LLVM's first level: as fast to run, and a fifth of the time to compile, because each call of
    `jax.random` takes three seconds of the third level. A level set in XLA_FLAGS stands.
    """
    if jax.default_backend() != "cpu" or "xla_backend_optimization_level" in os.environ.get("XLA_FLAGS", ""):
        return {}
    return {"xla_backend_optimization_level": 1}
