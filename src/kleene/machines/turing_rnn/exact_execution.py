"""The fast exact run of one sequence: rationals of any size, hundreds of thousands of ticks a second.

A recurrent network that computes repeats few patterns of positive units, and within a pattern a tick is a small linear
map. The first time that a pattern is met, its map is traced (`exact_ticks`); from the fourth time on it runs as
Python code made for it (`exact_code`). All numbers are integers over one scale, a power of the weights' denominator; if
a division leaves a remainder, the scale grows and the tick is repeated. Results are always exact; only speed depends
on patterns that recur. If they do not, ticks are computed one by one (`PlainStepper`).
"""

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from math import lcm
from typing import Any

from kleene.machines.rnn.exact_execution import ExactVector, PlainStepper
from kleene.machines.turing_rnn.exact_ticks import (
    ONE,
    Branch,
    CodeLeaf,
    Constants,
    Form,
    Guard,
    KnownCoordinates,
    Layers,
    Number,
    ScaleTooSmall,
    Tick,
    Tree,
    function,
    traced,
)
from kleene.notation.exact import ExactMatrix

HOT = 3  # how often a pattern is met before code is made for it
MOST = 4000  # ticks traced before patterns count as not recurring

Describe = Callable[[Mapping[int, Form], Mapping[int, Form]], Any]
Values = tuple[int, ...]  # the last edge, and the unknown coordinates times the scale


class _Stopped(Exception):
    """A coordinate of `stop` is no longer 0."""


class _Crowded(Exception):
    """Too many ticks were traced; continue with `PlainStepper`."""


@dataclass(eq=False)
class _Program:
    """The outcomes, met so far, of the tick of one symbol in one state."""

    tree: Tree | None = None
    visits: int = 0
    compiled: bool = False


@dataclass(eq=False)
class _Node:
    """The known part of a state, the edges that lead to it, and a program for every symbol."""

    known: KnownCoordinates
    unknown: tuple[int, ...]
    edges: list[int] = field(default_factory=list)
    programs: dict[int, _Program] = field(default_factory=dict)


class ExactExecution:
    """Steps an exact ReLU or SLU network, one sequence at a time. Its code is kept from one sequence to the next.

    `inner` and `outer`, whose product must be the recurrent weights, choose its coordinates, outer · h: the
    variables of a compiled network. By default the coordinates are the hidden units themselves. A run stops when a
    coordinate of `stop` is not 0. `describe(before, after)` says what a tick does, from the
    coordinates as linear forms; `trail` then collects numbers whose meaning is in `labels`.

    >>> from kleene.machines.rnn.library import majority_slu
    >>> execution = ExactExecution(majority_slu())
    >>> execution.read([1, 1, 1])
    >>> execution.coordinates[0]
    Fraction(7, 8)
    """

    def __init__(
        self,
        network: Any,
        *,
        inner: ExactMatrix | None = None,
        outer: ExactMatrix | None = None,
        stop: Iterable[int] = (),
        describe: Describe | None = None,
        most: int = MOST,
    ):
        self.layers = Layers.of(network, inner, outer)
        self.stop, self.describe, self.most = frozenset(stop), describe, most
        self._network = network
        start = network.start if outer is None else outer @ network.start
        self.start = {row: Fraction(value) for (row, _), value in start.entries().items()}
        self._forget()
        self.begin()

    def _forget(self) -> None:
        self._constants = Constants(self.layers.base)
        self._nodes: dict[frozenset[tuple[int, int]], list[_Node]] = {}
        self._targets: list[_Node] = []
        self._functions: list[list[Callable[[Values], Values]]] = [[] for _ in self.layers.resting]
        self.labels: dict[int, Any] = {}
        self._plain_numbers: dict[Any, int] = {}

    def begin(self, coordinates: Mapping[int, Number] | None = None) -> None:
        """Go back to the network's start, or to any other coordinates."""
        at = self.start if coordinates is None else coordinates
        if len(self._targets) > self.most:
            self._forget()
        self._plain: ExactVector | None = None
        self.stopped = False
        scale = lcm(self.layers.base**4, *(Fraction(value).denominator for value in at.values()))
        self._constants.rescale(lcm(scale, self._constants.denominator))
        forms = {k: Form(value, {}) for k, value in at.items()}
        edge = self._edge(KnownCoordinates.of(forms, {}), forms, None)
        self._values = self._taken(edge, {})

    @property
    def coordinates(self) -> dict[int, Fraction]:
        """The coordinates that are not 0."""
        if self._plain is not None:
            return self._outer_of(self._plain)
        node, scale = self._targets[self._values[0]], self._constants.scale
        found = {k: Fraction(c) for k, c in node.known.constants.items()}
        return found | {k: Fraction(n, scale) for k, n in zip(node.unknown, self._values[1:]) if n}

    def read(self, symbols: Iterable[int], trail: array | None = None) -> None:
        """Read the symbols, given by their index in the alphabet, one tick each."""
        for symbol in symbols:
            self.run(symbol, 1, trail)

    def run(self, symbol: int, ticks: int, trail: array | None = None) -> int:
        """Take up to `ticks` ticks with the same symbol and return their number: fewer if the run stopped."""
        taken = 0
        while taken < ticks and not self.stopped:
            if self._plain is None:
                taken += self._burst(symbol, ticks - taken, trail)
            else:
                taken += self._plain_tick(symbol, trail)
        return taken

    def _burst(self, symbol: int, ticks: int, trail: array | None) -> int:
        """Take ticks until one needs special treatment, treat it, and return the number of ticks."""
        values, functions, taken = self._values, self._functions[symbol], 0
        try:
            if trail is None:
                for taken in range(ticks):  # noqa: B007 - how far the loop came is the answer
                    values = functions[values[0]](values)
            else:
                for taken in range(ticks):  # noqa: B007
                    values = functions[values[0]](values)
                    trail.append(values[0])
            taken += 1
        except ScaleTooSmall as error:
            values = self._grown(values, error.denominator)
        except _Stopped:
            self.stopped = True
        except _Crowded:
            self._values = values
            before, self._plain = self.coordinates, self._units(symbol)
            self._remember_plainly(before, trail)
            return taken + 1
        self._values = values
        return taken

    def _grown(self, values: Values, denominator: int) -> Values:
        """The same numbers over a larger scale."""
        old, base = self._constants.scale, self.layers.base
        longer = max(4, old.bit_length() // max(base.bit_length(), 1) // 4)
        foreign = denominator if base**64 % denominator else 1
        self._constants.rescale(old * base**longer * foreign)
        factor = self._constants.scale // old
        return (values[0], *(n * factor for n in values[1:]))

    def _edge(self, known: KnownCoordinates, after: Mapping[int, Form], label: Any) -> CodeLeaf:
        """A new edge to the state with this known part."""
        node = self._node(known)
        number = len(self._targets)
        node.edges.append(number)
        self._targets.append(node)
        self.labels[number] = label
        for symbol, functions in enumerate(self._functions):
            program = node.programs.get(symbol)
            same = functions[node.edges[0]] if program is not None and program.compiled else None
            functions.append(same or self._interpreter(node, symbol))
        return CodeLeaf(number, tuple(after.get(k, Form(0, {})) for k in node.unknown))

    def _node(self, known: KnownCoordinates) -> _Node:
        """The narrowest node that covers what is known, or a new one."""
        alike = self._nodes.setdefault(frozenset(known.constants.items()), [])
        covering = [node for node in alike if node.known.covers(known)]
        if covering:
            return min(covering, key=lambda node: len(node.unknown))
        if len(alike) > 1:
            known = known.joined([node.known for node in alike])
        alike.append(_Node(known, tuple(known.bounds)))
        return alike[-1]

    def _interpreter(self, node: _Node, symbol: int) -> Callable[[Values], Values]:
        """The function that takes the tick of a symbol in that node."""
        if any(k in self.stop for k in (*node.known.constants, *node.unknown)):
            return _stop
        return partial(self._interpret, node, symbol)

    def _interpret(self, node: _Node, symbol: int, values: Values) -> Values:
        """The values after the tick. A new outcome is traced; code is made for a program that is visited often."""
        program = node.programs.setdefault(symbol, _Program())
        numbers = dict(zip(node.unknown, values[1:]))
        program.visits += 1
        edge = self._met(program.tree, numbers)
        new = edge is None
        if edge is None:
            edge = self._traced_edge(node, symbol, program, numbers)
        if program.visits >= HOT and (new or not program.compiled):
            self._compile(node, symbol, program)
        return self._taken(edge, numbers)

    def _outcome(self, guard: Guard, numbers: Mapping[int, int]) -> int:
        number = guard.form.numerator(numbers, self._constants.scale)
        if guard.one is not None and number == guard.one * self._constants.scale:
            return ONE
        return (number > 0) - (number < 0)

    def _met(self, tree: Tree | None, numbers: Mapping[int, int]) -> CodeLeaf | None:
        while isinstance(tree, Branch):
            tree = tree.outcomes.get(self._outcome(tree.guard, numbers))
        return tree

    def _traced_edge(self, node: _Node, symbol: int, program: _Program, numbers: Mapping[int, int]) -> CodeLeaf:
        """The edge of a tick with a new outcome, which is added to the program's tree."""
        if len(self._targets) > self.most:
            raise _Crowded
        tick = traced(self.layers, node.known, symbol, lambda guard: self._outcome(guard, numbers))
        label = self.describe(tick.before, tick.after) if self.describe else None
        edge = self._edge(tick.known, tick.after, label)
        program.tree = _grafted(program.tree, tick, edge)
        return edge

    def _compile(self, node: _Node, symbol: int, program: _Program) -> None:
        assert program.tree is not None
        code = function(program.tree, node.unknown, self._constants, self._interpreter(node, symbol))
        program.compiled = True
        for edge in node.edges:
            self._functions[symbol][edge] = code

    def _taken(self, edge: CodeLeaf, numbers: Mapping[int, int]) -> Values:
        found = [Fraction(form.numerator(numbers, self._constants.scale)) for form in edge.updates]
        if any(value.denominator > 1 for value in found):
            raise ScaleTooSmall(lcm(*(value.denominator for value in found)))
        return (edge.number, *(value.numerator for value in found))

    def _units(self, symbol: int) -> ExactVector:
        """The hidden vector after one more tick, from the coordinates."""
        sums: dict[int, Number] = dict(self.layers.resting[symbol])
        for k, value in self.coordinates.items():
            for unit, weight in self.layers.inner[k]:
                sums[unit] = sums.get(unit, 0) + weight * value
        one, clips = self.layers.one, self.layers.clips
        live = {unit: Fraction(min(v, one) if clips else v) / one for unit, v in sums.items() if v > 0}
        over = lcm(*(value.denominator for value in live.values()))
        return ExactVector({unit: int(value * over) for unit, value in live.items()}, over)

    @cached_property
    def _stepper(self) -> PlainStepper:
        return PlainStepper(self._network)

    def _plain_tick(self, symbol: int, trail: array | None) -> int:
        assert self._plain is not None
        before = self.coordinates if trail is not None else {}
        self._plain = self._stepper.step(self._plain, symbol)
        self._remember_plainly(before, trail)
        return 1

    def _remember_plainly(self, before: Mapping[int, Number], trail: array | None) -> None:
        after = self.coordinates
        self.stopped = any(k in self.stop for k in after)
        if trail is not None and self.describe is not None:
            label = self.describe(*({k: Form(value, {}) for k, value in at.items()} for at in (before, after)))
            number = self._plain_numbers.setdefault(label, -1 - len(self._plain_numbers))  # edges count from 0
            self.labels[number] = label
            trail.append(number)

    def _outer_of(self, hidden: ExactVector) -> dict[int, Fraction]:
        found: dict[int, Fraction] = {}
        for unit in hidden.live:
            value = hidden.value(unit) * self.layers.one
            for k, weight in self.layers.outer[unit]:
                found[k] = found.get(k, Fraction(0)) + weight * value
        return {k: value for k, value in found.items() if value}


def _stop(values: Values) -> Values:
    raise _Stopped


def _grafted(tree: Tree | None, tick: Tick, edge: CodeLeaf) -> Tree:
    """The tree with the tick's signs as a path to its edge."""
    if not tick.guards:
        return edge
    root = tree if isinstance(tree, Branch) else Branch(tick.guards[0][0])
    at = root
    for (_, outcome), (guard, _) in zip(tick.guards, tick.guards[1:]):
        at = at.outcomes.setdefault(outcome, Branch(guard))
        assert isinstance(at, Branch)
    at.outcomes[tick.guards[-1][1]] = edge
    return root
