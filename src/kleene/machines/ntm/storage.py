"""Neural Turing Machines on disk. The decoder that value hints look through is for teaching alone, and is not kept."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, ModelFileError
from kleene.machines.ntm.ntm import NTM, commands_of
from kleene.machines.stored_weights import check_shapes, check_version, float_weights, sizes
from kleene.tensors import read_tensors, write_tensors

KIND = "ntm"
VERSION = 1
SIZES = ("symbols", "outputs", "width", "first", "hidden")


def save(machine: NTM, path: Any) -> Path:
    """The path of the file now holding the machine."""
    if machine.heard.ndim != 2:
        raise InputError(
            f"heard has shape {machine.heard.shape}: these are several machines in one; save them one by one"
        )
    (first, symbols), (outputs, hidden) = machine.heard.shape, machine.said.shape
    header = {"version": VERSION} | dict(zip(SIZES, (symbols, outputs, machine.width, first, hidden)))
    return write_tensors(path, KIND, header, {f.name: np.asarray(getattr(machine, f.name)) for f in fields(NTM)})


def load(path: Any) -> NTM:
    """The machine in a file; refuses one whose arrays do not fit together."""
    header, arrays = read_tensors(path, KIND)
    try:
        check_version(header, VERSION)
        weights = float_weights(arrays)
        check_shapes(weights, _shapes(*sizes(header, *SIZES)))
        return NTM(**weights)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole NTM ({error}); make it again") from None


def _shapes(symbols: int, outputs: int, width: int, first: int, hidden: int) -> dict[str, tuple[int, ...]]:
    commands = commands_of(width)
    return {
        "heard": (first, symbols),
        "read": (first, width),
        "first_bias": (first,),
        "second": (hidden, first),
        "second_bias": (hidden,),
        "commands": (commands, hidden),
        "commands_bias": (commands,),
        "said": (outputs, hidden),
        "said_bias": (outputs,),
        "unread": (width,),
    }
