"""Weights, embeddings and steps: three conditions that are read off the weights in exact arithmetic.

The weights are those that the compiler makes for this program. Every variable starts at an exact value. The steps that
sort numbers are right at every number that a variable can hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kleene.compiling.alta.conditions import Condition
from kleene.compiling.alta.stream import grid_values
from kleene.errors import CompileError
from kleene.machines.transformer.parameters import Expansion, Probe
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Numeric, SetValued


def unit_roundoff(dtype: Any) -> float:
    """Half a unit in the last place of 1: the greatest relative error of one rounding."""
    return {2: 2.0**-8, 4: 2.0**-24, 8: 2.0**-53}[np.dtype(dtype).itemsize]


def wide_type(network: UniversalTransformer) -> type:
    """The type in which a layer adds up."""
    return np.float64 if network.dtype == "float64" else np.float32


def held_numbers(network: UniversalTransformer, program: Program, name: str) -> tuple[list[float], list[float]]:
    """Every number that a variable can hold, ascending, and the numbers that the network holds for them."""
    variable = program.variables[name]
    assert isinstance(variable, Numeric)
    if program.updates.get(name):
        return list(variable.values), grid_values(name, variable, np.dtype(network.tokens.dtype)).tolist()
    by, table = program.starts[name]
    rows = network.positions if by == "position" else network.tokens
    assert rows is not None
    block = rows[:, network.layout.segment(name).start].astype(np.float64)
    found = dict(zip(np.broadcast_to(table, len(block)).tolist(), block.tolist()))
    ordered = sorted(found)
    return [float(v) for v in ordered], [found[v] for v in ordered]


@dataclass(frozen=True)
class NumberSteps:
    """The step units of one number. With plain ReLU a step is a difference; `seconds` are the units subtracted."""

    slopes: np.ndarray
    biases: np.ndarray
    seconds: np.ndarray | None

    def edges(self, i: int, noise: float) -> tuple[list[Fraction], list[Fraction]]:
        """Where step i stops being 0, and where it begins to be 1; with plain ReLU, the range of each place."""
        slope, bias = Fraction(float(self.slopes[i])), Fraction(float(self.biases[i]))
        if self.seconds is None:
            return [-bias / slope], [(1 - bias) / slope]
        allowed = 2 * Fraction(noise)
        second = Fraction(float(self.seconds[i]))
        return [-bias / slope, (allowed - bias) / slope], [-second / slope, (1 - allowed - bias) / slope]


def number_steps(network: UniversalTransformer, name: str) -> NumberSteps | None:
    """The steps that sort a number, or None if nothing reads it."""
    if network.expansion is None:
        return None
    e, dim = network.expansion, network.layout.segment(name).start
    mine = np.flatnonzero(e.inputs[dim] != 0)
    if not len(mine):
        return None
    slopes, biases = e.inputs[dim, mine].astype(np.float64), e.bias[mine].astype(np.float64)
    if network.activation != "relu":
        return NumberSteps(slopes, biases, None)
    half = len(mine) // 2
    return NumberSteps(slopes[:half], biases[:half], biases[half:])


def embeddings(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """Every token and position starts every variable at an exact value."""
    for name, (by, table) in program.starts.items():
        variable, segment = program.variables[name], network.layout.segment(name)
        rows = network.positions if by == "position" else network.tokens
        other = network.tokens if by == "position" else network.positions
        assert rows is not None
        block = rows[:, segment.start : segment.stop].astype(np.float64)
        if other is not None and other[:, segment.start : segment.stop].any():
            return Condition("embeddings", False, f"{name!r} is started by both token and position")
        starts = np.broadcast_to(table, len(block)) if by == "default" else table
        if isinstance(variable, Numeric):
            fine = block[:, 0] == _started(network, program, name, starts)
        else:
            fine = (block == hot(variable, starts.astype(int))).all(axis=1)
        if not fine.all():
            at = int(np.flatnonzero(~fine)[0])
            return Condition("embeddings", False, f"{name!r} does not start as it should for {by} {at}")
    return Condition("embeddings", True, f"{len(program.starts)} variables start at exact values")


def _started(network: UniversalTransformer, program: Program, name: str, starts: np.ndarray) -> np.ndarray:
    variable = program.variables[name]
    assert isinstance(variable, Numeric)
    if program.updates.get(name):
        return grid_values(name, variable, np.dtype(network.tokens.dtype))[variable.bucket(starts)]
    return starts.astype(network.tokens.dtype).astype(np.float64)


def hot(variable: Any, codes: np.ndarray) -> np.ndarray:
    """The dimensions that hold each code of a categorical or set variable."""
    if isinstance(variable, SetValued):
        rows = np.zeros((len(variable.values), variable.range))
        for code, members in enumerate(variable.values):
            rows[code, list(members)] = 1
        return rows[codes]
    return np.eye(len(variable.domain))[codes]


def steps(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """Every step is right at every number that a variable can hold, whatever the rounding.

    The numbers that heads read are not among them; they are the condition `averages`.
    """
    count = 0
    for name, variable in program.variables.items():
        found = number_steps(network, name) if isinstance(variable, Numeric) else None
        if found is None or not isinstance(variable, Numeric):
            continue
        exact, held = held_numbers(network, program, name)
        wrong = _first_unsure(network, found, variable.bucket(exact), held)
        if wrong is not None:
            return Condition("steps", False, f"{network.dtype} cannot distinguish {exact[wrong]:g} of {name!r} safely")
        count += len(exact)
    if network.expansion is None:
        return Condition("steps", True, "no numbers, sets or bits to expand")
    return Condition("steps", True, f"all steps are saturated at all {count} numbers that variables hold")


def _first_unsure(
    network: UniversalTransformer, found: NumberSteps, codes: np.ndarray, held: Sequence[float]
) -> int | None:
    """The first number at which some step might not be the 0 or 1 that it should be."""
    unit, x = unit_roundoff(wide_type(network)), np.array(held)[:, None]
    above = np.asarray(codes)[:, None] > np.arange(len(found.slopes))
    upper = found.biases - 1 if found.seconds is None else found.seconds
    pre = np.where(above, x * found.slopes + upper, -(x * found.slopes + found.biases))  # must not be negative
    error = 4 * unit * (np.abs(x * found.slopes) + np.abs(found.biases) + 1)
    for row, column in np.argwhere(pre < error):
        slope = Fraction(float(found.slopes[column]))
        product = Fraction(held[row]) * slope
        bias = Fraction(float(upper[column] if above[row, column] else found.biases[column]))
        unrounded = Fraction(float(wide_type(network)(float(product)))) == product
        if product + bias != 0 or not unrounded:
            return int(row)
    return None


RULES = ("compact", "paper")  # compile options that a network in a file may have


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
    """The fields of two networks in pairs, those of their parts included; no run uses `origin`, so it is left out."""
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
