"""The ticks of an exact network: found once over symbolic numbers, and then written as Python code.

A state is a set of coordinates, each a known small integer or unknown within bounds. Most rows of the network then have
a sign that can be proven. The others are tested at run time (`Guard`), and each combination of their outcomes gives a
linear map from the old coordinates to the new ones. A sign is either proven or tested, never assumed.

The code is a tree of sign tests, with a linear map at each leaf. It contains only integers: numbered coordinates and
small coefficients. All numbers are integers over one scale, which may grow; so constants are names, whose values are
set again with the scale.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, gcd, inf, lcm
from typing import Any

from kleene.errors import CompileError
from kleene.notation.exact import ExactMatrix

Number = int | Fraction
Bounds = tuple[Any, Any]  # numbers, or infinite
SMALL = 4  # an integer up to this stays a known constant; others are treated as unknown, so that states repeat
PATIENCE = 4  # how many sets of bounds with the same constants are kept before growing ends become infinite
ONE = 2  # the outcome of a guard whose form equals `one`: an open gate, which fixes the coordinate in it
DEEPEST = 60  # nested sign tests; Python allows a hundred levels of indentation


@dataclass(frozen=True)
class Form:
    """constant + Σ terms[k] · (old coordinate k)."""

    constant: Number
    terms: Mapping[int, Number]

    def at(self, fixed: Mapping[int, Number]) -> "Form":
        """The form with some coordinates replaced by their known values."""
        if self.terms.keys().isdisjoint(fixed):
            return self
        known = sum(c * fixed[k] for k, c in self.terms.items() if k in fixed)
        return Form(self.constant + known, {k: c for k, c in self.terms.items() if k not in fixed})

    def span(self, bounds: Mapping[int, Bounds]) -> Bounds:
        """The least and the greatest value of the form."""
        low = high = self.constant
        for k, c in self.terms.items():
            ends = bounds[k] if c > 0 else bounds[k][::-1]
            low, high = low + c * ends[0], high + c * ends[1]
        return low, high

    def numerator(self, values: Mapping[int, int], scale: int) -> Number:
        """The form's value times the scale, where the coordinates are values / scale."""
        return self.constant * scale + sum(c * values[k] for k, c in self.terms.items())


@dataclass(frozen=True)
class Layers:
    """A network as two sparse layers: units = σ(inner · coordinates + inputs + bias), coordinates' = outer · units.

    With the identity as `outer` the coordinates are the hidden units themselves. Units are multiplied by `one`, which
    makes all weights of the first layer integers.
    """

    inner: tuple[tuple[tuple[int, int], ...], ...]  # for each coordinate the units it touches
    outer: tuple[tuple[tuple[int, Number], ...], ...]  # for each unit the coordinates it touches
    resting: tuple[dict[int, int], ...]  # for each symbol, inputs plus bias of each unit
    awake: tuple[tuple[int, ...], ...]  # for each symbol, the units where that is positive
    clips: bool
    one: int
    base: int  # every weight is an integer over this

    @classmethod
    def of(cls, network: Any, inner: ExactMatrix | None = None, outer: ExactMatrix | None = None) -> "Layers":
        """The layers of a `SimpleRNN`; inner · outer, where given, must be its recurrent weights."""
        if inner is not None and outer is not None and inner @ outer != network.recurrent:
            raise CompileError("the two layers do not multiply to the network's recurrent weights")
        if inner is None or outer is None:
            recurrent: ExactMatrix = network.recurrent
            inner, outer = recurrent, ExactMatrix.identity(network.hidden_units)
        one = lcm(inner.denominator, network.inputs.denominator, network.bias.denominator)
        resting = _resting(network, one)
        return cls(
            inner=_by_column(inner, inner.over(one)),
            outer=_by_column(outer, [_simplest(Fraction(n, outer.denominator * one)) for n in outer.numerators]),
            resting=resting,
            awake=tuple(tuple(unit for unit, value in rest.items() if value > 0) for rest in resting),
            clips=network.activation == "slu",
            one=one,
            base=lcm(one, outer.denominator),
        )


def _by_column(matrix: ExactMatrix, values: Sequence[Any]) -> tuple[tuple[tuple[int, Any], ...], ...]:
    columns: list[list[tuple[int, Any]]] = [[] for _ in range(matrix.shape[1])]
    for row, column, value in zip(matrix.rows.tolist(), matrix.columns.tolist(), values):
        columns[column].append((row, value))
    return tuple(map(tuple, columns))


def _resting(network: Any, one: int) -> tuple[dict[int, int], ...]:
    inputs, bias = network.inputs, network.bias
    biases = dict(zip(bias.rows.tolist(), bias.over(one)))
    resting = [dict(biases) for _ in network.alphabet]
    for row, symbol, value in zip(inputs.rows.tolist(), inputs.columns.tolist(), inputs.over(one)):
        resting[symbol][row] = resting[symbol].get(row, 0) + value
    return tuple(resting)


def _simplest(value: Fraction) -> Number:
    return value.numerator if value.denominator == 1 else value


@dataclass(frozen=True)
class KnownCoordinates:
    """The known part of a state: coordinates that are small integers (0 is left out), and bounds of the others."""

    constants: Mapping[int, int]
    bounds: Mapping[int, Bounds]

    @classmethod
    def of(cls, forms: Mapping[int, Form], bounds: Mapping[int, Bounds]) -> "KnownCoordinates":
        constants, unknown = {}, {}
        for k, form in sorted(forms.items()):
            low, high = form.span(bounds)
            if form.terms or low.denominator != 1 or abs(low) > SMALL:
                # Bounds are rounded outwards to integers, so that the same ones recur.
                unknown[k] = (floor(low) if low != -inf else low, ceil(high) if high != inf else high)
            elif low:
                constants[k] = int(low)
        return cls(constants, unknown)

    def covers(self, other: "KnownCoordinates") -> bool:
        """Whether these bounds contain the other's, given the same constants."""
        if not self.bounds.keys() >= other.bounds.keys():
            return False
        pairs = ((b, other.bounds.get(k, (0, 0))) for k, b in self.bounds.items())
        return all(mine[0] <= theirs[0] and theirs[1] <= mine[1] for mine, theirs in pairs)

    def joined(self, others: list["KnownCoordinates"]) -> "KnownCoordinates":
        """Bounds that cover this and the others; an end that still grows after `PATIENCE` of them becomes infinite."""
        keys = sorted(self.bounds.keys() | {k for other in others for k in other.bounds})
        bounds = {}
        for k in keys:
            lows, highs = zip(*(other.bounds.get(k, (0, 0)) for other in others))
            low, high = self.bounds.get(k, (0, 0))
            is_late = len(others) >= PATIENCE
            low = -inf if is_late and low < min(lows) else min(low, *lows)
            high = inf if is_late and high > max(highs) else max(high, *highs)
            bounds[k] = (low, high)
        return KnownCoordinates(self.constants, bounds)

    def forms(self) -> dict[int, Form]:
        return {k: Form(c, {}) for k, c in self.constants.items()} | {k: Form(0, {k: 1}) for k in self.bounds}


@dataclass(frozen=True)
class Guard:
    """A form whose sign, -1, 0 or 1, is tested. If it can equal `one`, that is an outcome of its own."""

    form: Form
    one: int | None


@dataclass(frozen=True)
class Tick:
    """One outcome of a tick: the signs that were tested, and the coordinates before and after it."""

    guards: tuple[tuple[Guard, int], ...]
    before: dict[int, Form]
    after: dict[int, Form]
    known: KnownCoordinates


def traced(layers: Layers, known: KnownCoordinates, symbol: int, outcome: Callable[[Guard], int]) -> Tick:
    """The tick in which guards have that `outcome`; every form whose sign is not proven becomes a guard."""
    looking = _Looking(dict(known.bounds), outcome, layers.one)
    rest = layers.resting[symbol]
    sums: dict[int, list[Any]] = {unit: [0, {}] for unit in layers.awake[symbol]}
    for k, form in known.forms().items():
        for unit, weight in layers.inner[k]:
            at = sums.setdefault(unit, [0, {}])
            at[0] += weight * form.constant
            if form.terms:
                at[1][k] = at[1].get(k, 0) + weight
    live, bounds = {}, known.bounds
    for unit, (constant, terms) in sums.items():
        constant += rest.get(unit, 0)
        if terms:
            if constant + sum(c * bounds[k][c > 0] for k, c in terms.items()) <= 0:
                continue
            found = looking.activation(Form(constant, terms), layers.clips)
        else:  # most units: no unknown coordinate
            found = Form(min(constant, layers.one) if layers.clips else constant, {}) if constant > 0 else None
        if found is not None:
            live[unit] = found
    after = _outer(layers, live, looking.fixed)
    before = {k: form.at(looking.fixed) for k, form in known.forms().items()}
    return Tick(tuple(looking.guards), before, after, KnownCoordinates.of(after, looking.bounds))


def _outer(layers: Layers, live: dict[int, Form], fixed: Mapping[int, Number]) -> dict[int, Form]:
    sums: dict[int, list[Any]] = {}
    for unit, form in live.items():
        form = form.at(fixed)
        for k, weight in layers.outer[unit]:
            at = sums.setdefault(k, [0, {}])
            at[0] += weight * form.constant
            for term, c in form.terms.items():
                at[1][term] = at[1].get(term, 0) + weight * c
    return {k: Form(constant, {t: c for t, c in terms.items() if c}) for k, (constant, terms) in sums.items()}


class _Looking:
    """The signs tested so far in a tick, and the bounds that follow from them."""

    def __init__(self, bounds: dict[int, Bounds], outcome: Callable[[Guard], int], one: int):
        self.bounds, self.outcome, self.one = bounds, outcome, one
        self.fixed: dict[int, Number] = {}
        self.guards: list[tuple[Guard, int]] = []

    def activation(self, form: Form, clips: bool) -> Form | None:
        """The form after ReLU or SLU; None if that is 0."""
        form = form.at(self.fixed)
        low, high = form.span(self.bounds)
        if high <= 0 or (low < 0 and self.look(form) <= 0):
            return None
        if not clips:
            return form
        form = form.at(self.fixed)
        low, high = form.span(self.bounds)
        if high <= self.one:
            return form
        above = Form(form.constant - self.one, form.terms)
        return Form(self.one, {}) if low >= self.one or self.look(above) >= 0 else form

    def look(self, form: Form) -> int:
        """The outcome of a new guard. If its form has one coordinate, the outcome narrows or fixes that one."""
        alone = len(form.terms) == 1
        guard = Guard(form, self.one if alone and form.span(self.bounds)[1] > self.one else None)
        outcome = self.outcome(guard)
        self.guards.append((guard, outcome))
        if alone:
            ((k, c),) = form.terms.items()
            low, high = self.bounds[k]
            edge = Fraction(self.one * (outcome == ONE) - form.constant) / c
            if outcome in (0, ONE):
                self.fixed[k] = _simplest(edge)
            elif outcome * c > 0:
                self.bounds[k] = (max(low, edge), high)
            else:
                self.bounds[k] = (low, min(high, edge))
        return outcome


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
