"""Certificates of unrolled networks: why each layer does what the program does there.

The argument has three parts. The weights are those that the compiler makes, so each layer is what its own program was
compiled to. Each layer's own program agrees with the whole one on every assignment of the codes that are possible in
that layer; those sets are computed, each from the one before, by `reaching`, and are not checked here again. And the
conditions that certify shared layers hold for each layer with its own program: selection is hard, numbers are sorted
rightly, units write what the cases say, an undefined head does no harm. So the entries that the network holds are those
of the program's trace, layer by layer, on every input up to the length.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kleene.compiling.alta.certificates import (
    Certificate,
    exclusive,
    function_condition,
    is_exhaustive,
    program_of,
    selection,
)
from kleene.compiling.alta.compiler import compile_program
from kleene.compiling.alta.conditions import Condition
from kleene.compiling.alta.conditions.means import averages
from kleene.compiling.alta.conditions.undefined import undefined
from kleene.compiling.alta.conditions.units import SeenUnits, assignments
from kleene.compiling.alta.conditions.updates import MOST_ASSIGNMENTS, updates
from kleene.compiling.alta.conditions.weights import embeddings, steps
from kleene.compiling.alta.reaching import UNDEFINED
from kleene.compiling.alta.specialising import tests_of
from kleene.compiling.alta.stream import embeddings as start_of
from kleene.compiling.alta.stream import residual_stream
from kleene.compiling.alta.unrolling import LayerPlan, Unrolling, layer_weights, unrolled
from kleene.errors import CompileError, InputError
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.machines.transformer.unrolled import UnrolledTransformer
from kleene.programs.alta.cases import Case, View, act
from kleene.programs.alta.program import Program

LENGTH = 1 << 20  # of an input, where the layers are for any


def certify_unrolled(network: UnrolledTransformer, *, length: int | None = None, program: Any = None) -> Certificate:
    """Why an unrolled network equals its program on every input of up to `length` tokens, in what it holds of it."""
    if length is not None and length < 1:
        raise InputError(f"a certificate is for inputs of at least one token, and length is {length}")
    found = program_of(network, program)
    most = network.layout.max_length
    asked = most if length is None and most is not None else (length or LENGTH) + found.prefix  # positions
    within = f"{asked:,} of at most {most:,} positions" if most is not None else f"{asked:,} positions"
    conditions = [Condition("length", most is None or asked <= most, within)]
    plan = None
    if conditions[-1].holds:
        plan, condition = _weights(network, found)
        conditions.append(condition)
    if plan is not None and conditions[-1].holds:
        conditions.append(function_condition(found))
        layers = _Layers(network, plan, asked)
        for check in (_held, _depth, _staying, _possible, *_LAYERED):
            if not conditions[-1].holds:
                break
            conditions.append(check(layers))
    return Certificate(found.name, network.dtype, asked - found.prefix, tuple(conditions), is_exhaustive(found))


def options_of(network: UnrolledTransformer) -> dict[str, Any]:
    """The options of `kleene.compile` that made a network, as far as its layout and origin tell."""
    layout = network.layout
    given = "were asked for" in layout.depth
    prefix = layout.program.prefix
    found: dict[str, Any] = {
        "layers": "unrolled", "dtype": network.dtype, "activation": network.activation, "causal": layout.causal,
        "max_length": None if layout.max_length is None else layout.max_length - prefix,
        "depth": len(layout.layers) if given else None,
    }  # fmt: skip
    return found | ({} if network.origin is None else {"rules": network.origin.options["rules"]})


def _weights(network: UnrolledTransformer, program: Program) -> tuple[Unrolling | None, Condition]:
    """The plan of the network's layers, and whether all weights are as the compiler makes them."""
    options = options_of(network)
    try:
        fresh = compile_program(program, **options)
    except CompileError as error:
        return None, Condition("weights", False, f"the compiler refuses this program: {error}")
    mine, theirs = network.arrays(), fresh.arrays()
    odd = next((n for n in {*mine, *theirs} if not np.array_equal(mine.get(n, ()), theirs.get(n, ()))), None)
    if odd is not None or network.layout != fresh.layout or network.activation != fresh.activation:
        return None, Condition("weights", False, f"{odd or 'the layout'} is not as the compiler makes it")
    asked = {name: options[name] for name in ("max_length", "causal", "depth")}
    same = f"all {network.size.parameters:,} are as the compiler makes them"
    return unrolled(program, **asked), Condition("weights", True, same)


@dataclass(frozen=True, eq=False)
class _Layers:
    """The layers of a network on all dimensions of its program, each with its plan."""

    network: UnrolledTransformer
    plan: Unrolling
    length: int

    @property
    def whole(self) -> Program:
        return self.plan.staying.program

    @cached_property
    def layers(self) -> list[tuple[LayerPlan, UniversalTransformer]]:
        stream = residual_stream(self.whole, np.dtype(self.network.dtype))
        start = start_of(stream)
        rules = "compact" if self.network.origin is None else self.network.origin.options["rules"]
        found = []
        for layer in self.plan.layers:
            w = layer_weights(
                layer, stream, self.network.layout.program, rules=rules, activation=self.network.activation
            ).parameters
            made = UniversalTransformer(
                start.tokens, start.positions, w.query, w.key, w.value, w.out, w.relative, w.expansion, w.mlp_in,
                w.mlp_bias, w.mlp_out, start.halt, w.probe, w.layout, w.activation,
            )  # fmt: skip
            found.append((layer, made))
        return found

    def reading(self, layer: LayerPlan) -> Program:
        """The whole program with the heads of one layer alone: it says which numbers variables can hold."""
        heads = layer.program.heads
        reads = {head: cases for head, cases in self.whole.reads.items() if head in heads}
        return replace(self.whole, heads=heads, reads=reads)


class LayerUnits(SeenUnits):
    """The hidden units of one layer; numbers are held on a grid if any layer writes them."""

    def __init__(self, network: UniversalTransformer, program: Program, whole: Program):
        super().__init__(network, program)
        self.whole = whole

    @cached_property
    def streams(self) -> dict[str, np.ndarray]:
        held = SeenUnits(self.network, replace(self.whole, heads=self.program.heads, reads={}))
        return held.streams


def _held(layers: _Layers) -> Condition:
    """What is equal: the entries that the network holds."""
    layout = layers.network.layout
    steps = range(len(layout.layers) + 1)
    held = sum(len(set(layout.held_at(step)) - set(layout.own)) for step in steps)
    every = len(steps) * len(layout.channels)
    detail = f"what is equal are {held} of {every} channels at {len(steps)} steps, the output at the end among them"
    return Condition("held", True, detail)


def _depth(layers: _Layers) -> Condition:
    return Condition("depth", True, layers.plan.depth.reason)


def _staying(layers: _Layers) -> Condition:
    """Nothing changes once all positions have halted, so that all layers can always be run."""
    return Condition("halting", True, layers.plan.staying.reason)


def _possible(layers: _Layers) -> Condition:
    """Each layer's own program agrees with the whole one on all possible codes."""
    total, skipped = 0, 0
    for number, (layer, _) in enumerate(layers.layers, 1):
        for target in sorted(layer.live & set(layers.whole.updates)):
            count, is_wrong = _compared(layers.whole, layer, target)
            total, skipped = total + (count or 0), skipped + (count is None)
            if is_wrong:
                detail = f"layer {number} does not write {target!r} as the program does"
                return Condition("possible codes", False, detail)
    detail = f"each layer's cases agree with the program's on all {total:,} assignments that can occur in it"
    if skipped:
        detail += f"; {skipped} variables of layers have too many, and rest on the argument of the specialising pass"
    return Condition("possible codes", True, detail)


def _compared(whole: Program, layer: LayerPlan, target: str) -> tuple[int | None, bool]:
    """How many assignments were compared, None if they are too many, and whether the cases differ on one.

    Heads are defined in all of them; the condition `undefined` is about the others.
    """
    cases, own = whole.updates[target], layer.program.updates.get(target, ())
    names = sorted({target, *(n for c in (*cases, *own) for n in c.variables)})
    sets = [np.array(sorted(layer.sets[name] - {UNDEFINED}), dtype=np.int64) for name in names]
    count = int(np.prod([len(codes) for codes in sets], dtype=float))
    if count > MOST_ASSIGNMENTS:
        return None, False
    for codes in assignments([{n: s} for n, s in zip(names, sets)], 4 * len(names)):
        mine, theirs = (_written(found, codes, codes[target]) for found in (own, cases))
        if (mine != theirs).any():
            return count, True
    return count, False


def _written(cases: Sequence[Case], codes: Any, old: np.ndarray) -> np.ndarray:
    view, new = View(codes), np.array(old)
    for c in cases:
        new = np.where(view.holds(c), act(c, codes), new)
    return new


def _each(name: str, check: Callable[[_Layers, LayerPlan, UniversalTransformer], Condition]) -> Any:
    """A condition that must hold for every layer; layers with the same program are looked at once."""

    def checked(layers: _Layers) -> Condition:
        found, known = None, set()
        for number, (layer, network) in enumerate(layers.layers, 1):
            key = (repr(layer.program.updates), tuple(layer.program.heads), repr(layer.program.reads), layer.is_last)
            if key in known:
                continue
            known.add(key)
            condition = check(layers, layer, network)
            if not condition.holds:
                return Condition(name, False, f"layer {number}: {condition.detail}")
            found = found or condition
        assert found is not None
        return Condition(name, True, f"in all {len(layers.layers)} layers; in the first, {found.detail}")

    return checked


def _undefined(layers: _Layers, layer: LayerPlan, network: UniversalTransformer) -> Condition:
    guards = {
        head: tests_of(layers.whole.reads.get(head, ()), layer.sets)
        for head in layer.program.heads
        if UNDEFINED in layer.sets[head] and head not in layers.plan.staying.added
    }
    return undefined(LayerUnits(network, layer.program, layers.whole), guards=guards)


_LAYERED: tuple[Callable[[_Layers], Condition], ...] = (
    _each("embeddings", lambda all, layer, network: embeddings(network, all.whole, all.length)),
    _each("selection", lambda all, layer, network: selection(network, layer.program, all.length)),
    _each("averages", lambda all, layer, network: averages(network, all.reading(layer), all.length)),
    _each("steps", lambda all, layer, network: steps(network, all.reading(layer), all.length)),
    _each("exclusive", lambda all, layer, network: exclusive(network, layer.program, all.length)),
    _each("MLP", lambda all, layer, network: updates(LayerUnits(network, layer.program, all.whole))),
    _each("undefined", _undefined),
)
