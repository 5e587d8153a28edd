"""The fifth and sixth passes: the weights that read the features, which are the MLP and the probe.

The MLP is `mlp_out · clip(mlp_in · features + bias)`. The probe finds where the output of an undefined head would be
used, or where a write is a fault; a run then refuses with an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kleene.compiling.alta.features import Features, changes_of
from kleene.compiling.alta.stream import Stream, wider
from kleene.compiling.alta.units import PaperUnits, Unit, Units
from kleene.errors import CompileError
from kleene.machines.transformer.parameters import Probe
from kleene.programs.alta.cases import Case, Feature
from kleene.programs.alta.program import Program
from kleene.programs.alta.sums import Sum
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
    """The units that write and the units that clear the heads' outputs, as clipped units or pairs of ReLU units."""
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
    """The units that clear the heads' outputs, so that the next layer can write them again."""
    program, pairs = stream.program, []
    for name, variable in program.outputs.items():
        segment = stream.segments[name]
        if isinstance(variable, Numeric):
            value = program.heads[name].value
            # An intervention may set the output to any of its own declared values.
            reach = max(abs(x) for x in (*program.starts[value][1], *stream.numbers[value], *variable.values))
            _refuse_vast(name, reach, stream.dtype)
            scale = 2.0 ** np.ceil(np.log2(max(reach, 1.0)))
            pairs += [(segment.start, 1 / scale), (segment.start, -1 / scale)]
        else:
            pairs += [(dim, 1.0) for dim in range(segment.start, segment.stop)]
    mlp = MLP.empty(features.count, len(pairs), stream.width)
    for u, (dim, weight) in enumerate(pairs):
        mlp.inputs[dim, u], mlp.outputs[u, dim] = weight, -1 / weight
    return mlp


def _refuse_vast(head: str, reach: float, dtype: np.dtype) -> None:
    """Refuse numbers that the type holds, but not the weights that empty the head, or sums of a few of them."""
    with np.errstate(over="ignore"):
        if not np.isfinite(np.asarray(8 * reach).astype(dtype).astype(np.float64)):
            raise CompileError(
                f"the head {head!r} reads numbers up to {reach:.4g}, and {dtype.name} ends before a few of them are "
                f"added up. Declare smaller numbers{wider(dtype)}."
            )


def with_room(mlp: MLP) -> MLP:
    """Every unit at 2, not 1, where it is on. With plain ReLU, steps on numbers are 0 or 1 to within rounding only, and
    this absorbs it."""
    return replace(mlp, inputs=4 * mlp.inputs, bias=4 * mlp.bias - 2)


def relu_pairs(mlp: MLP) -> MLP:
    """Each clipped unit as the difference of two plain ReLU units."""
    return mlp.beside(MLP(mlp.inputs, mlp.bias - 1, -mlp.outputs))


@dataclass(frozen=True, eq=False)
class ProbeRow:
    """One comparison, 1 where the weighted features reach `least`; `sign` times it is added to `condition`."""

    weights: np.ndarray
    least: float
    condition: int
    sign: float


def probe_of(stream: Stream, features: Features) -> Probe | None:
    """The probe of a program; None where no use of a head needs guarding and there are no faults."""
    guards = _guards(stream.program)
    if not guards:
        return None
    heads = list(stream.program.heads)
    uses = len(heads) + any(stream.program.faults.values())
    asked = list(dict.fromkeys(item for _, c in guards for item in c.where))
    rows = [row for index, item in enumerate(asked) for row in _rows(index, *item, features)]
    conditions = np.zeros((len(rows), len(asked)))
    for r, row in enumerate(rows):
        conditions[r, row.condition] = row.sign
    mentions = np.zeros((len(asked), uses))
    for index, (feature, _) in enumerate(asked):
        mentions[index, [heads.index(n) for n in _variables(feature) if n in heads]] = 1
    membership = np.zeros((len(asked), len(guards)))
    for g, (_, c) in enumerate(guards):
        membership[[asked.index(item) for item in c.where], g] = 1
    weights = np.stack([r.weights for r in rows], axis=1) if rows else np.zeros((features.count, 0))
    least = np.array([row.least for row in rows], dtype=np.float32)
    guarded = np.eye(uses, dtype=np.float32)[[use for use, _ in guards]]
    conditions, mentions, membership = (a.astype(np.float32) for a in (conditions, mentions, membership))
    return Probe(weights.astype(stream.dtype), least, conditions, mentions, membership, guarded)


def _guards(program: Program) -> list[tuple[int, Case]]:
    """The cases that use each head. A fault counts as the use of one more head, which is always undefined."""
    heads = list(program.heads)
    looked_at = [(heads.index(head), c) for head, cases in program.reads.items() for c in cases]
    return looked_at + [(len(heads), c) for cases in program.faults.values() for c in cases]


def _rows(index: int, feature: Feature, allowed: frozenset[int], features: Features) -> list[ProbeRow]:
    """The comparisons whose signed sum is 1 where the feature has an allowed value."""
    if isinstance(feature, Sum):
        weights = features.terms(feature)
        return [ProbeRow(weights, value - 0.5, index, sign) for value, sign in changes_of(feature, allowed)]
    weights = np.zeros(features.count)
    weights[[features.columns[feature][code] for code in allowed]] = 1
    return [ProbeRow(weights, 0.5, index, 1.0)]


def _variables(feature: Feature) -> Sequence[str]:
    return feature.variables if isinstance(feature, Sum) else (feature,)
