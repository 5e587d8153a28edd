"""Machines as models of PyTorch: the source of each model, which needs nothing of Kleene, and how it is built.

A source is a text file here, because it is copied into exported folders as their `modeling.py`, and because it imports
torch, which is an extra.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import ModuleType
from typing import Any

import numpy as np

from kleene.errors import InputError


@dataclass(frozen=True, eq=False)
class TorchParts:
    """A machine in PyTorch's terms.

    `modeling` names the source of the model, `config` is what its config.json says, `arrays` are its tensors.
    `meanings` says what each dimension or unit stands for, and `parts` what else there is to know, as rows of tables.
    """

    modeling: str
    config: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]
    meanings: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...] = ()

    @property
    def source(self) -> str:
        """The text of modeling.py."""
        return source_of(self.modeling)

    def build(self) -> Any:
        """The model as a module of PyTorch, in memory."""
        torch = imported_torch("to_torch")
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in self.arrays.items()}
        return module_of(self.modeling).build(tensors, dict(self.config))


def source_of(name: str) -> str:
    """The source of a model."""
    return resources.files("kleene.machines.modeling").joinpath(f"{name}.py.txt").read_text(encoding="utf-8")


def module_of(name: str) -> ModuleType:
    """The source of a model, run as a module."""
    module = ModuleType(f"kleene_{name}_in_torch")
    exec(compile(source_of(name), f"<{name} in PyTorch>", "exec"), module.__dict__)
    return module


def imported_torch(what: str) -> Any:
    """PyTorch; an InputError says how to install it."""
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(
            f"{what} makes a model of PyTorch, which is not installed: pip install 'kleene[torch]'. "
            f"`kleene.export(network, 'torch', FOLDER)` writes a folder that PyTorch reads without it"
        ) from None
    return torch
