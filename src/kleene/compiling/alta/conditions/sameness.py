"""Everything that a run uses is what the compiler makes for this program."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from kleene.compiling.alta.conditions import Condition
from kleene.errors import CompileError
from kleene.machines.transformer.parameters import Expansion, Probe
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.program import Program

RULES = ("compact", "paper")  # how a network from a file may have been compiled


def weights(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """Every field of the network, number types, activation and layout included, is as the compiler makes it."""
    from kleene.compiling.alta.compiler import compile_program

    guesses: list[Any] = [{"dtype": network.dtype, "activation": network.activation, "rules": r} for r in RULES]
    first = None
    if network.origin is not None:
        guesses = [network.origin.options]
    for options in guesses:
        try:
            fresh = compile_program(program, **options)
        except CompileError as error:
            return Condition("weights", False, f"the compiler refuses this program: {error}")
        found = _first_difference(network, fresh)
        if found is None:
            return Condition("weights", True, f"all {network.size.parameters:,} are as the compiler makes them")
        first = first or found
    return Condition("weights", False, first or "")


def _first_difference(mine: UniversalTransformer, theirs: UniversalTransformer) -> str | None:
    found = ((name, _difference(a, b)) for name, a, b in _fields(mine, theirs))
    return next((name + problem for name, problem in found if problem is not None), None)


def _fields(mine: Any, theirs: Any, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The fields of two networks side by side, those of their parts included; `origin` is used by no run."""
    for name in mine.__dataclass_fields__:
        a, b = getattr(mine, name), getattr(theirs, name)
        if isinstance(a, Expansion | Probe) and type(a) is type(b):
            yield from _fields(a, b, f"{prefix}{name}.")
        elif name != "origin":
            yield prefix + name, a, b


def _difference(mine: Any, theirs: Any) -> str | None:
    if not (hasattr(mine, "dtype") and hasattr(theirs, "dtype")):
        if type(mine) is not type(theirs):
            return f" is a {type(mine).__name__}, and the compiler makes a {type(theirs).__name__}"
        return None if mine == theirs else _unlike(mine, theirs)
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    if mine.dtype != theirs.dtype:
        return f" is in {mine.dtype}, and the compiler makes it in {theirs.dtype}"
    if mine.shape != theirs.shape:
        return " has another shape than the compiler makes"
    if np.array_equal(mine, theirs):
        return None
    place = tuple(int(i) for i in np.argwhere(np.asarray(mine != theirs))[0])
    return f"{list(place)} is {float(mine[place])!r} and should be {float(theirs[place])!r}"


def _unlike(mine: Any, theirs: Any) -> str:
    for name in getattr(mine, "__dataclass_fields__", ()):
        if getattr(mine, name) != getattr(theirs, name):
            return f".{name} is {getattr(mine, name)!r}, and the compiler makes {getattr(theirs, name)!r}"
    return f" is {mine!r}, and the compiler makes {theirs!r}"
