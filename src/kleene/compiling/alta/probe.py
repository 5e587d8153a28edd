"""The sixth pass: the probe, which says where the output of an undefined head would be used, or a write is a fault."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kleene.compiling.alta.features import Features, changes_of
from kleene.compiling.alta.stream import Stream
from kleene.machines.transformer.parameters import Probe
from kleene.programs.alta.cases import Case, Feature
from kleene.programs.alta.program import Program
from kleene.programs.alta.symbols import Sum


@dataclass(frozen=True, eq=False)
class ProbeRow:
    """One comparison: the weighted features reach `least`. Its `sign` counts towards condition number `condition`."""

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
    """Where each head is looked at. A fault counts as the use of one head more, which is always undefined."""
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
