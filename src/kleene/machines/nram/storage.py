"""NRAMs on disk."""

from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, KleeneError, ModelFileError
from kleene.machines.nram.nram import NRAM
from kleene.machines.stored_weights import check_shapes, check_version, float_weights, sizes
from kleene.notation.wiring import Steps, Wiring
from kleene.tensors import read_tensors, write_tensors

KIND = "nram"
VERSION = 1
WEIGHTS = ("first", "first_bias", "second", "second_bias", "circuit", "circuit_bias", "stop", "stop_bias")


def save(machine: NRAM, path: Any) -> Path:
    """The path of the file now holding the machine; how many steps it runs, where that is known, is kept as a text."""
    if machine.stop.ndim != 1:
        raise InputError(
            f"stop has shape {machine.stop.shape}: these are several machines in one; save them one by one"
        )
    wiring = machine.wiring
    header = {
        "version": VERSION,
        "registers": wiring.registers,
        "modules": list(wiring.modules),
        "hidden": len(machine.stop),
        "steps": None if machine.steps is None else str(machine.steps),
    }
    return write_tensors(path, KIND, header, {name: np.asarray(getattr(machine, name)) for name in WEIGHTS})


def load(path: Any) -> NRAM:
    """The machine in a file; refuses one whose arrays do not fit together."""
    header, arrays = read_tensors(path, KIND)
    try:
        check_version(header, VERSION)
        return _machine(header, float_weights(arrays))
    except (KeyError, TypeError, ValueError, AttributeError, KleeneError) as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole NRAM ({error}); make it again") from None


def _machine(header: dict[str, Any], arrays: dict[str, Any]) -> NRAM:
    registers, hidden = sizes(header, "registers", "hidden")
    if not isinstance(header["modules"], list):
        raise ValueError("its modules are not a list of names")
    check_shapes({"first": arrays["first"]}, {"first": (hidden, registers)})  # before anything is made of that size
    wiring = Wiring(registers, tuple(header["modules"]))
    steps = None if header["steps"] is None else Steps.parse(header["steps"])
    wires = (len(wiring.connections), len(wiring.sources))
    shapes = ((hidden, registers), (hidden,), (hidden, hidden), (hidden,), (*wires, hidden), wires, (hidden,), ())
    check_shapes(arrays, dict(zip(WEIGHTS, shapes)))
    return NRAM(**arrays, wiring=wiring, steps=steps)
