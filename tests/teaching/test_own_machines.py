"""Machines of a user's own: hints on what they record are normalised or refused, and memories may be tuples."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

import kleene
from kleene.errors import InputError
from kleene.machines.ncm import Start
from kleene.teaching import NCM, Examples, Lesson, Task

ZEROS = jnp.zeros(2)
LARGE = 100.0  # scales the output, so that log-probabilities differ much from logits
MEMORIES = {"array": ZEROS, "tuple": (ZEROS, ZEROS), "list after tuple": (ZEROS, ZEROS), "integers": jnp.array([0, 0])}


class Machine(eqx.Module):
    weights: eqx.nn.Linear
    memory: str = eqx.field(static=True)

    def start(self):
        return Start((), (), MEMORIES[self.memory])

    def control(self, feedback, state, entry):
        logits = self.weights(jax.nn.one_hot(entry, 2))
        return {"action": logits, "symbol": entry}, state, LARGE * logits

    def process(self, command, memory):
        sums: Any = jax.tree.map(lambda one: one + 0.5, memory)
        return (), list(sums) if self.memory == "list after tuple" else sums


class Copy(Task):
    """The output is the input. The trace says the contrary, so that hints and answers cannot both be right."""

    name, longest, lengths = "copy", 3, (3,)

    def draw(self, key, length, longest):
        bits = jax.random.bernoulli(key, shape=(longest,)).astype(int)
        hints = ("output", "action", "symbol", "memory", "elsewhere")
        return Examples(bits, bits, dict.fromkeys(hints, 1 - bits) | {"pair": jnp.stack([bits, bits], axis=1)})


def taught(channel, memory="array", iterations=40):
    lesson = Lesson(
        Copy(),
        NCM(lambda key: Machine(eqx.nn.Linear(2, 2, key=key), memory)),
        {channel: lambda trace: {channel: 1.0}} if channel else {},
    )
    return kleene.teach(lesson, hints=channel or "none", seeds=1, iterations=iterations)


@pytest.mark.parametrize("channel", ["output", "action"])
def test_logits_with_hints_become_log_probabilities(channel):
    """The loss of logits would fall below 0 without bound."""
    assert taught(channel).as_json()["settings"][0]["loss"] > 0


@pytest.mark.parametrize(
    ("channel", "memory", "problem"),
    [
        ("memory", "tuple", "on 'memory', which the machine records as a tuple; .*an entry of a command"),
        ("symbol", "array", r"on 'symbol', which the machine records as an array of shape \(3,\)"),
        ("pair", "array", "on 'pair', which the machine does not record"),
        ("elsewhere", "array", "on 'elsewhere', which the machine does not record"),
    ],
)
def test_hints_on_what_is_no_array_of_logits_are_refused(channel, memory, problem):
    with pytest.raises(InputError, match=problem):
        taught(channel, memory)


def test_a_memory_may_be_a_tuple():
    assert taught("action", "tuple").as_json()["settings"][0]["loss"] > 0


@pytest.mark.parametrize("memory", ["list after tuple", "integers"])
def test_a_memory_that_changes_its_kind_is_refused(memory):
    with pytest.raises(InputError, match=r"must have the structure, shapes and number types .*start\(\)"):
        taught(None, memory)


@pytest.mark.parametrize(("task", "known"), [("copy", "read, value, write"), ("increment", "command")])
def test_hints_on_the_output_of_an_ntm_or_nram_are_refused(task, known):
    with pytest.raises(InputError, match=f"hints are on 'output', and the trace has the channels {known}"):
        kleene.teach(task, hints={"own": lambda trace: {"output": 1.0}}, seeds=1, iterations=1)
