"""Ticks as Python code: a tree of sign tests, with a linear map at each leaf.

The code contains only integers: numbered coordinates and small coefficients. All numbers are integers over one scale,
which may grow; so constants are names, whose values are set again with the scale.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from kleene.machines.turing_rnn.exact_ticks import ONE, Form, Guard

DEEPEST = 60  # nested sign tests; Python allows a hundred levels of indentation


class ScaleTooSmall(Exception):
    """A number is not an integer over the scale; the scale must grow, and the tick be repeated."""

    def __init__(self, denominator: int = 1):
        self.denominator = denominator


@dataclass(frozen=True)
class CodeLeaf:
    """The end of a path through a tree: the next state's unknown coordinates as forms of the old ones."""

    number: int
    updates: tuple[Form, ...]


@dataclass
class Branch:
    """A sign to test, and the subtree of each outcome met so far."""

    guard: Guard
    outcomes: dict[int, "Branch | CodeLeaf"] = field(default_factory=dict)


Tree = Branch | CodeLeaf


class Constants:
    """Named rationals, each multiplied by the scale."""

    def __init__(self, base: int):
        self.base, self.scale = base, 1
        self.names: dict[Fraction, str] = {}
        self.space: dict[str, Any] = {"__builtins__": {"divmod": divmod}, "ScaleTooSmall": ScaleTooSmall}

    @property
    def denominator(self) -> int:
        """The number of which the scale must be a multiple."""
        return lcm(*(value.denominator for value in self.names))

    def rescale(self, scale: int) -> None:
        """Set the scale, and every constant with it."""
        self.scale = lcm(scale, self.denominator)
        for value, name in self.names.items():
            self.space[name] = (value * self.scale).numerator

    def name(self, value: Fraction) -> str:
        name = self.names.setdefault(value, f"c{len(self.names)}")
        if self.scale % value.denominator:
            raise ScaleTooSmall(value.denominator // gcd(value.denominator, self.scale))
        self.space[name] = (value * self.scale).numerator
        return name

    def fits(self, value: Fraction) -> bool:
        """Whether a scale that is a power of the base can ever make the number an integer."""
        return self.base**64 % value.denominator == 0


def function(tree: Tree, unknown: tuple[int, ...], constants: Constants, missed: Callable[[Any], Any]) -> Any:
    """A function from (leaf, unknown coordinates…) to the next such tuple; `missed` gets outcomes not met yet."""
    lines = ["def tick(v, missed=missed):", f" _, {''.join(f'v{k}, ' for k in unknown)} = v"]
    _write(tree, 1, lines, constants)
    constants.space["missed"] = missed
    exec("\n".join(lines), constants.space)
    return constants.space["tick"]


def _write(tree: Tree, depth: int, lines: list[str], constants: Constants) -> None:
    pad = " " * depth
    if isinstance(tree, CodeLeaf):
        lines.extend(pad + line for line in _leave(tree, constants))
        return
    if depth > DEEPEST:
        lines.append(f"{pad}return missed(v)")
        return
    tests, before = _tests(tree.guard, constants)
    lines.extend(pad + line for line in before)
    lines.append(f"{pad}if {tests[1]}:")
    tells_one = tree.guard.one is not None
    if tells_one:
        lines.append(f"{pad} if {tests[ONE]}:")
        _write_outcome(tree, ONE, depth + 2, lines, constants)
        lines.append(f"{pad} else:")
    _write_outcome(tree, 1, depth + 1 + tells_one, lines, constants)
    lines.append(f"{pad}elif {tests[-1]}:")
    _write_outcome(tree, -1, depth + 1, lines, constants)
    lines.append(f"{pad}else:")
    _write_outcome(tree, 0, depth + 1, lines, constants)


def _write_outcome(branch: Branch, outcome: int, depth: int, lines: list[str], constants: Constants) -> None:
    if outcome in branch.outcomes:
        _write(branch.outcomes[outcome], depth, lines, constants)
    else:
        lines.append(" " * depth + "return missed(v)")


def _tests(guard: Guard, constants: Constants) -> tuple[dict[int, str], list[str]]:
    """A condition for each outcome except 0, and the lines that must come before."""
    form = guard.form
    if len(form.terms) == 1:
        ((k, c),) = form.terms.items()
        edge, one = Fraction(-form.constant) / c, Fraction((guard.one or 0) - form.constant) / c
        if constants.fits(edge) and constants.fits(one):  # single comparisons
            name = constants.name(edge)
            more, less = f"v{k} > {name}", f"v{k} < {name}"
            equal = {ONE: f"v{k} == {constants.name(one)}"} if guard.one is not None else {}
            return equal | ({1: more, -1: less} if c > 0 else {1: less, -1: more}), []
    whole = lcm(*(Fraction(c).denominator for c in form.terms.values()))
    terms = _sum({k: int(c * whole) for k, c in form.terms.items()})
    tests = {1: "e > 0", -1: "e < 0"}
    if guard.one is not None:
        tests[ONE] = f"e == {constants.name(Fraction(guard.one * whole))}"
    return tests, [f"e = {terms}{_plus(Fraction(form.constant) * whole, constants)}"]


def _leave(edge: CodeLeaf, constants: Constants) -> list[str]:
    lines, values, rests = [], [], []
    for place, form in enumerate(edge.updates):
        whole = lcm(*(Fraction(c).denominator for c in form.terms.values()))
        terms = _sum({k: int(c * whole) for k, c in form.terms.items()})
        if whole > 1:
            lines.append(f"x{place}, r{place} = divmod({terms}, {whole:#x})")
            terms = f"x{place}"
            rests.append(f"r{place}")
        values.append(terms + _plus(Fraction(form.constant), constants))
    if rests:
        lines.append(f"if {' or '.join(rests)}: raise ScaleTooSmall")
    return [*lines, f"return ({edge.number}, {''.join(f'{value}, ' for value in values)})"]


def _sum(terms: dict[int, int]) -> str:
    """Integer coefficients times coordinates, as a Python expression."""
    parts = [
        f"v{k}" if c == 1 else f"{c:#x}*v{k}" for k, c in terms.items()
    ]  # hexadecimal, because Python limits the digits of decimals
    return " + ".join(parts) or "0"


def _plus(constant: Fraction, constants: Constants) -> str:
    if not constant:
        return ""
    return f" {'+' if constant > 0 else '-'} {constants.name(abs(constant))}"
