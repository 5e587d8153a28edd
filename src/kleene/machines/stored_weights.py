"""Checks that arrays from a file are the weights of a machine. What is wrong is a ValueError; loaders name the file."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np


def float_weights(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The arrays for jax; refuses those that are not floating-point numbers, or that jax would round."""
    return {name: _weight(name, array) for name, array in arrays.items()}


def _weight(name: str, array: np.ndarray) -> Any:
    weight = jnp.asarray(array)
    if not jnp.issubdtype(array.dtype, jnp.floating) or weight.dtype != array.dtype:
        raise ValueError(f"{name} holds {array.dtype}, and floating-point numbers that jax would not round are needed")
    return weight


def check_shapes(weights: Mapping[str, Any], expected: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse weights that are not those expected, each of its shape.

    >>> check_shapes({"bias": np.zeros(3)}, {"bias": (3,)})
    """
    wrong = [
        name
        for name in {**expected, **weights}
        if name not in weights or weights[name].shape != expected.get(name) or 0 in weights[name].shape
    ]
    if wrong:
        raise ValueError(f"{', '.join(sorted(wrong))} missing, not expected, or of the wrong shape")


def check_version(header: Mapping[str, Any], version: int) -> None:
    """Refuse a file of another version than the one that is read."""
    if header["version"] != version:
        raise ValueError(f"its version is {header['version']}, and this Kleene reads version {version}")


def sizes(header: Mapping[str, Any], *names: str) -> tuple[int, ...]:
    """The whole numbers, 1 or more, that a header has under these names.

    >>> sizes({"width": 3, "hidden": 5}, "hidden", "width")
    (5, 3)
    """
    found = tuple(header[name] for name in names)
    for name, size in zip(names, found):
        if type(size) is not int or size < 1:
            raise ValueError(f"its {name} is {size!r}, and a whole number, 1 or more, was expected")
    return found
