"""The fifth pass: the weights of the MLP, `mlp_out · clip(mlp_in · features + bias)`."""

from dataclasses import dataclass, replace

import numpy as np

from kleene.compiling.alta.features import Features
from kleene.compiling.alta.stream import Stream
from kleene.compiling.alta.units import PaperUnits, Unit, Units
from kleene.programs.alta.variables import Numeric


@dataclass(frozen=True, repr=False, eq=False)
class MLP:
    """The MLP in float64: (features, hidden), (hidden) and (hidden, width)."""

    inputs: np.ndarray
    bias: np.ndarray
    outputs: np.ndarray

    @staticmethod
    def empty(features: int, hidden: int, width: int) -> "MLP":
        return MLP(np.zeros((features, hidden)), np.zeros(hidden), np.zeros((hidden, width)))

    def beside(self, other: "MLP") -> "MLP":
        """The MLP with the hidden units of both."""
        return MLP(
            np.concatenate([self.inputs, other.inputs], axis=1),
            np.concatenate([self.bias, other.bias]),
            np.concatenate([self.outputs, other.outputs]),
        )

    def __repr__(self) -> str:
        return f"<MLP of {len(self.bias)} hidden units, {np.count_nonzero(self.inputs)} input weights>"


def whole_mlp(writing: MLP, stream: Stream, features: Features, *, relu: bool) -> MLP:
    """The units that write, beside units that empty the heads' outputs; as clipped units or as pairs of ReLU units."""
    numbers = any(isinstance(v, Numeric) and n in features.columns for n, v in stream.program.domains.items())
    if relu and numbers:
        writing = with_room(writing)
    mlp = writing.beside(clearing_mlp(stream, features))
    return relu_pairs(mlp) if relu else mlp


def compact_mlp(stream: Stream, features: Features, units: Units) -> MLP:
    """The compact units as weights: see `kleene.compiling.alta.units`."""
    mlp = MLP.empty(features.count, len(units.units), stream.width)
    for u, unit in enumerate(units.units):
        _fill(mlp, u, unit, stream, features)
    return mlp


def _fill(mlp: MLP, u: int, unit: Unit, stream: Stream, features: Features) -> None:
    """Write one unit into column `u` of an MLP that is being made."""
    large = 2.0  # M: one literal that fails outweighs all else, with 1 to spare for rounding in undefined heads
    mlp.bias[u] = 1.0
    if unit.total is not None:
        mlp.inputs[:, u] = features.terms(unit.total)
        mlp.bias[u] = 1.0 - unit.least
        large = unit.total.largest - unit.least + 2.0
    for name, codes in unit.literals:
        mlp.inputs[[features.columns[name][code] for code in codes], u] += large
    for bit in unit.bits:
        mlp.inputs[features.bits[bit], u] += large
    mlp.bias[u] -= large * (len(unit.literals) + len(unit.bits))
    for code, weight in unit.effect:
        dims, entries = stream.entries(unit.target, code)
        mlp.outputs[u, dims] += weight * entries


def paper_mlp(stream: Stream, features: Features, units: PaperUnits) -> MLP:
    """ALTA, equations 8 to 10: weight 1 for each condition, bias 1 - N, old value out, new value in."""
    found = units.rules
    rules = np.flatnonzero(found.results >= 0)
    mlp = MLP.empty(features.count, len(rules), stream.width)
    mlp.bias[:] = 1
    for v, name in enumerate(found.variables):
        asked = found.antecedents[rules, v]
        which = np.flatnonzero(asked >= 0)
        if len(which):
            mlp.inputs[np.array(features.columns[name])[asked[which]], which] = 1
            mlp.bias[which] -= 1
        mine = np.flatnonzero(found.targets[rules] == v)
        if len(mine):
            vectors = np.stack([stream.vector(name, code) for code in range(stream.program.sizes[name])])
            mlp.outputs[mine] = vectors[found.results[rules][mine]] - vectors[asked[mine]]
    return mlp


def clearing_mlp(stream: Stream, features: Features) -> MLP:
    """The units that empty the heads' outputs, so that the next layer can write them afresh."""
    program, pairs = stream.program, []
    for name, variable in program.outputs.items():
        segment = stream.segments[name]
        if isinstance(variable, Numeric):
            value = program.heads[name].value
            reach = max(abs(x) for x in (*program.starts[value][1], *stream.numbers[value]))
            scale = 2.0 ** np.ceil(np.log2(max(reach, 1.0)))
            pairs += [(segment.start, 1 / scale), (segment.start, -1 / scale)]
        else:
            pairs += [(dim, 1.0) for dim in range(segment.start, segment.stop)]
    mlp = MLP.empty(features.count, len(pairs), stream.width)
    for u, (dim, weight) in enumerate(pairs):
        mlp.inputs[dim, u], mlp.outputs[u, dim] = weight, -1 / weight
    return mlp


def with_room(mlp: MLP) -> MLP:
    """Every unit at 2, not 1, where it is on. With plain ReLU, steps on numbers are 0 or 1 to within rounding only, and
    this absorbs it."""
    return replace(mlp, inputs=4 * mlp.inputs, bias=4 * mlp.bias - 2)


def relu_pairs(mlp: MLP) -> MLP:
    """Each clipped unit as the difference of two plain ReLU units."""
    return mlp.beside(MLP(mlp.inputs, mlp.bias - 1, -mlp.outputs))
