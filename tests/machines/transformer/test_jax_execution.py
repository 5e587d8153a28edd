"""Layers in jax: few programs are compiled, and edges such as no layers at all go as in numpy."""

import jax
import pytest

import kleene
from kleene.programs.alta.library import parity

COMPILED = "/jax/core/compile/backend_compile_duration"


@pytest.fixture
def compiled():
    """The names of the functions that jax compiles, as it does."""
    names: list[str] = []

    def listen(event: str, duration: float, **more) -> None:
        if event == COMPILED:
            names.append(str(more.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(listen)
    return names


def test_nothing_is_compiled_but_whole_segments_of_layers(compiled):
    network = kleene.compile(parity.relative())
    inputs = [[2] + [1] * (length % 5 + 1) for length in range(11)]
    outputs = network.run_batch(inputs, record=False, backend="jax").outputs
    assert len(compiled) <= 2
    traces = network.run_batch(inputs, backend="jax")
    assert [trace.output for trace in traces] == outputs
    assert {name.removeprefix("jit(").removesuffix(")") for name in compiled} <= {
        "_placed",
        "_recorded",
        "_shrunk",
        "_unrecorded",
    }


@pytest.mark.parametrize("record", [True, False])
def test_no_layers_and_no_inputs_go_as_in_numpy(record):
    network = kleene.compile(parity.relative())
    for inputs, layers in (([], None), ([[2]], None), ([[2]], 0)):
        found = [network.run_batch(inputs, max_layers=layers, record=record, backend=b) for b in ("numpy", "jax")]
        assert found[0].outputs == found[1].outputs
        assert found[0].steps.tolist() == found[1].steps.tolist()
