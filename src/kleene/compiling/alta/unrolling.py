"""A transformer program compiled into an ordinary Transformer, whose layers have weights of their own.

First the number of layers is found (`depth`), and the program is made to stay as it is once it has halted (`staying`).
Then sets of codes go forward through the layers (`reaching`), and what is needed goes backward: the output after the
last layer, and what each layer reads of the one before. The program of each layer (`specialising`) goes through the
same passes as a program with shared layers, onto the same residual stream, of which only the dimensions that some layer
uses are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kleene.compiling.alta.depth import Depth, depth_of
from kleene.compiling.alta.features import Features, expand
from kleene.compiling.alta.hidden import MLP, clearing_mlp, compact_mlp, paper_mlp, probe_of, relu_pairs, with_room
from kleene.compiling.alta.reaching import UNDEFINED, Codes, Reaching, Sets, possible, united, written
from kleene.compiling.alta.specialising import needed_before, specialised
from kleene.compiling.alta.staying import Staying, staying
from kleene.compiling.alta.stream import Stream, attention_heads, embeddings, residual_stream
from kleene.compiling.alta.units import compact_units, paper_units
from kleene.errors import CompileError
from kleene.machines.transformer.parameters import Expansion, Layout, Origin, Parameters, Probe, digest_of
from kleene.machines.transformer.unrolled import LayerLayout, UnrolledLayer, UnrolledLayout, UnrolledTransformer
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Numeric, SetValued

METHODS: dict[str, tuple[Any, Any]] = {"compact": (compact_units, compact_mlp), "paper": (paper_units, paper_mlp)}


@dataclass(frozen=True, eq=False)
class LayerPlan:
    """One layer before its weights: its program, the codes that are possible in it, and what is needed after it."""

    program: Program
    sets: Sets
    live: frozenset[str]
    is_last: bool


@dataclass(frozen=True, eq=False)
class Unrolling:
    """What unrolling a program found: how deep it is, why it stays, what each layer has, and what is needed first."""

    program: Program
    staying: Staying
    depth: Depth
    layers: tuple[LayerPlan, ...]
    live: frozenset[str]
    max_length: int | None
    causal: bool


def unrolled(program: Program, *, max_length: int | None, causal: bool, depth: int | None) -> Unrolling:
    """The layers of a program for inputs of up to `max_length` tokens; refuses what would not be exact."""
    max_length = _checked_length(program, max_length)
    if causal:
        _refuse_looking_ahead(program)
    found = depth_of(program, max_length) if depth is None else _given_depth(program, depth)
    stays = staying(program, max_length, found.layers, causal=causal)
    sets, looked_at = _forward(stays.program, max_length, found.layers)
    layers, live = _backward(stays.program, sets, looked_at)
    return Unrolling(program, stays, found, layers, live, max_length, causal)


def _checked_length(program: Program, max_length: int | None) -> int | None:
    """The most positions of an input, those that the program puts before it included."""
    most = program.position_range
    if max_length is None:
        return most if program.halt is None else None
    if type(max_length) is not int or max_length < 1:
        raise CompileError(f"{program.name}: max_length is {max_length!r}; it is a whole number, 1 or more")
    positions = max_length + program.prefix
    if most is not None and positions > most:
        able = most - program.prefix
        raise CompileError(f"{program.name}: max_length is {max_length}, and the program takes at most {able} tokens")
    return positions


def _refuse_looking_ahead(program: Program) -> None:
    for name, head in program.heads.items():
        ahead = sorted(o for o in head.offsets if o > 0)
        if not head.offsets or ahead:
            how = f"{ahead[-1]} to the right" if ahead else "anywhere"
            raise CompileError(
                f"{program.name}: the head {name!r} looks {how}, and a position of a causal network sees only what is "
                f"to its left. Give the head distances of 0 or less (relative_position_mask), or leave causal=True out"
            )


def _given_depth(program: Program, depth: int) -> Depth:
    if type(depth) is not int or depth < 1:
        raise CompileError(f"{program.name}: depth is {depth!r}; it is a whole number, 1 or more")
    if program.halt is None and depth != program.max_layers:
        raise CompileError(
            f"{program.name}: it always takes {program.max_layers} layers, and depth is {depth}; leave depth out"
        )
    return Depth(depth, f"{depth} layers were asked for: an input that takes more is refused")


def _forward(program: Program, max_length: int | None, layers: int) -> tuple[list[Sets], list[set[str]]]:
    """The codes that variables and heads can hold in each layer, and the heads that it may look at undefined."""
    reaching = Reaching(program, max_length)
    state, found, looked_at = reaching.start(), [], []
    for _ in range(layers):
        read, after = reaching.layer(state)
        places = [reaching.at(place, state, read) for place in range(reaching.count)]
        found.append({name: united([sets[name] for sets in places]) for name in program.domains})
        looked_at.append({h for h in read if any(reaching.looks_at_undefined(h, sets) for sets in places)})
        state = after
    return found, looked_at


def _backward(
    program: Program, sets: Sequence[Sets], looked_at: Sequence[set[str]]
) -> tuple[tuple[LayerPlan, ...], frozenset[str]]:
    """The layers from the last to the first, each with what the later ones need; and what the first one needs."""
    always = set() if program.halt is None else {program.output_name, program.halt.variable}
    live, plans = {program.output_name} | always, []
    for index in reversed(range(len(sets))):
        own = specialised(program, sets[index], live, looked_at[index])
        plans.append(LayerPlan(own, sets[index], frozenset(live), index == len(sets) - 1))
        live = needed_before(own, live) | always
    return tuple(reversed(plans)), frozenset(live)


# --- weights ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """The weights of a layer on all dimensions of the program, and the stream and features that they were made for."""

    parameters: Parameters
    stream: Stream
    features: Features


def layer_weights(plan: LayerPlan, stream: Stream, layout: Layout, *, rules: str, activation: str) -> LayerWeights:
    """The weights of one layer, made by the passes that make those of shared layers."""
    own = Stream(plan.program, stream.dtype, stream.segments, stream.numbers)
    make_units, make_mlp = METHODS[rules]
    relu = activation == "relu"
    heads, units = attention_heads(own), make_units(plan.program)
    features = expand(own, units.bits, relu=relu)
    mlp = _whole_mlp(make_mlp(own, features, units), own, features, relu=relu, clears=not plan.is_last)
    mlp_in, bias, mlp_out = (own.exact(a, "the MLP") for a in (mlp.inputs, mlp.bias, mlp.outputs))
    described = plan.program.heads
    queries = tuple(head.query is not None for head in described.values())
    layout = replace(layout, heads=tuple(described), queries=queries, number_steps=features.number_steps)
    nothing = np.zeros((layout.input_range, stream.width), dtype=stream.dtype)
    parameters = Parameters(
        nothing, None, heads.query, heads.key, heads.value, heads.out, heads.relative, features.expansion, mlp_in,
        bias, mlp_out, None, probe_of(own, features), layout, "relu" if relu else "clipped",
    )  # fmt: skip
    return LayerWeights(parameters, own, features)


def _whole_mlp(writing: MLP, stream: Stream, features: Features, *, relu: bool, clears: bool) -> MLP:
    """The units that write, and those that clear the heads' outputs, which nothing reads after the last layer."""
    numbers = any(isinstance(v, Numeric) and n in features.columns for n, v in stream.program.domains.items())
    mlp = with_room(writing) if relu and numbers else writing
    mlp = mlp.beside(clearing_mlp(stream, features)) if clears else mlp
    return relu_pairs(mlp) if relu else mlp


def compile_unrolled(
    program: Program,
    *,
    dtype: np.dtype,
    rules: str,
    activation: str,
    max_length: int | None,
    causal: bool,
    depth: int | None,
) -> UnrolledTransformer:
    """An ordinary Transformer that does what the program does, on every input of up to `max_length` tokens."""
    if dtype.itemsize < 4:
        raise CompileError(f"{program.name}: unrolled layers are compiled for float32 or float64, not for {dtype.name}")
    plan = unrolled(program, max_length=max_length, causal=causal, depth=depth)
    whole = plan.staying.program
    stream = residual_stream(whole, dtype)
    layout = Layout(
        program.name, tuple(stream.segments.values()), tuple(whole.heads),
        tuple(h.query is not None for h in whole.heads.values()), program.output_name, program.input_range,
        program.position_range, program.halt is not None, plan.depth.layers, (), program.alphabet, program.vocabulary,
    )  # fmt: skip
    made = [layer_weights(layer, stream, layout, rules=rules, activation=activation) for layer in plan.layers]
    network = _assembled(plan, stream, layout, [layer.parameters for layer in made], activation)
    asked = {"dtype": dtype.name, "rules": rules, "activation": activation, "layers": "unrolled"}
    asked |= {"max_length": str(max_length), "causal": str(causal), "depth": str(depth)}
    return replace(network, origin=Origin(program, asked, digest_of(network.arrays())))


def _assembled(
    plan: Unrolling, stream: Stream, layout: Layout, layers: Sequence[Parameters], activation: str
) -> UnrolledTransformer:
    """The network on the dimensions that some layer uses."""
    dims = used_dims(plan, stream, layers)
    start = embeddings(stream)
    given_up = plan.program.max_layers if "were asked for" not in plan.depth.reason else plan.depth.layers
    described = UnrolledLayout(
        layout, tuple(dims),
        tuple(
            LayerLayout(w.layout.heads, w.layout.queries, w.layout.number_steps, _held(plan, p.live))
            for p, w in zip(plan.layers, layers)
        ),
        _held(plan, plan.live), plan.staying.added, plan.causal, plan.max_length, given_up, plan.depth.reason,
    )  # fmt: skip
    return UnrolledTransformer(
        start.tokens[:, dims],
        None if start.positions is None else start.positions[:, dims],
        tuple(_on_dims(layer, dims) for layer in layers),
        None if start.halt is None else start.halt[dims],
        described,
        "relu" if activation == "relu" else "clipped",
    )


def _held(plan: Unrolling, live: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in plan.staying.program.variables if name in live)


def used_dims(plan: Unrolling, stream: Stream, layers: Sequence[Parameters]) -> list[int]:
    """The dimensions that hold a needed variable or a head's output, with a code that is possible in some layer."""
    found: set[int] = set()
    first = plan.layers[0]
    found |= _dims_of(stream, {n: c for n, c in first.sets.items() if n in plan.live})
    for layer in plan.layers:
        names = {*layer.live, *layer.program.heads}
        found |= _dims_of(stream, {n: c for n, c in layer.sets.items() if n in names})
        found |= _dims_of(stream, _after(layer))
    for layer in layers:  # a head that never matches keeps one key, which says so
        for h, is_by_key in enumerate(layer.layout.queries):
            rows = [set(np.flatnonzero(matrix[h][:, 0]).tolist()) for matrix in (layer.query, layer.key)]
            if is_by_key and not _has_column(layer, h, found):
                found |= rows[0] | rows[1]
    return sorted(found)


def _after(layer: LayerPlan) -> dict[str, Codes]:
    """The codes that the layer's own cases can write."""
    found: dict[str, Codes] = {}
    for target, cases in layer.program.updates.items():
        for c in cases:
            where = possible(c, layer.sets)
            if where is not None:
                found[target] = found.get(target, frozenset()) | written(c.action, where, layer.sets)
    return found


def _has_column(layer: Parameters, h: int, dims: set[int]) -> bool:
    kept = sorted(dims)
    return bool((layer.query[h][kept].any(axis=0) & layer.key[h][kept].any(axis=0)).any())


def _dims_of(stream: Stream, sets: Sets) -> set[int]:
    found: set[int] = set()
    for name, codes in sets.items():
        segment, variable = stream.segments[name], stream.program.domains[name]
        if isinstance(variable, Numeric):
            found.add(segment.start)
        elif isinstance(variable, SetValued):
            found |= {segment.start + member for code in codes - {UNDEFINED} for member in variable.values[code]}
        else:
            found |= {segment.start + code for code in codes - {UNDEFINED}}
    return found


def _on_dims(layer: Parameters, dims: list[int]) -> UnrolledLayer:
    """The weights of a layer on some of the dimensions; the others are 0 in every run."""
    more = list(range(layer.layout.width, len(layer.mlp_in)))
    features = [*dims, *more]
    query, key = _packed(layer.query[:, dims], layer.key[:, dims])
    value, out = _packed(layer.value[:, dims], layer.out[:, :, dims].swapaxes(1, 2))
    e, p = layer.expansion, layer.probe
    return UnrolledLayer(
        query, key, value, np.ascontiguousarray(out.swapaxes(1, 2)), layer.relative,
        None if e is None else Expansion(e.inputs[dims], e.bias, e.outputs, e.constant),
        layer.mlp_in[features], layer.mlp_bias, np.ascontiguousarray(layer.mlp_out[:, dims]),
        None if p is None else Probe(p.rows[features], p.least, p.conditions, p.mentions, p.guards, p.guarded),
    )  # fmt: skip


def _packed(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two stacks of matrices (heads, width, columns), without the columns that are 0 in one of the two."""
    used = np.asarray(first.any(axis=1) & second.any(axis=1))
    count = max(1, int(used.sum(axis=1).max(initial=0)))
    packed = np.zeros((2, len(first), first.shape[1], count), dtype=first.dtype)
    for h, columns in enumerate(used):
        for slot, column in enumerate(np.flatnonzero(columns)):
            packed[0, h, :, slot], packed[1, h, :, slot] = first[h][:, column], second[h][:, column]
    return packed[0], packed[1]
