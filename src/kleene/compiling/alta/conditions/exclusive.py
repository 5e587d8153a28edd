"""No two cases of a variable hold at once."""

import math
from collections.abc import Sequence

import numpy as np

from kleene.compiling.alta.conditions import Condition
from kleene.compiling.alta.conditions.enumeration import assignments
from kleene.compiling.alta.conditions.updates import MOST_ASSIGNMENTS
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.cases import Case
from kleene.programs.alta.interpreter import View
from kleene.programs.alta.program import Program
from kleene.programs.alta.symbols import Sum


def exclusive(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """The cases of every variable exclude each other: two that agree on no feature by itself are looked at closely."""
    pairs = 0
    for target, cases in program.updates.items():
        pairs += len(cases) * (len(cases) - 1) // 2
        for i, j in np.argwhere(np.tril(_overlap(cases, program), -1)):
            a, b = cases[i], cases[j]
            if _meet(a, b, program):
                detail = f"two cases of {target!r} (lines {b.line} and {a.line}) can hold at once"
                return Condition("exclusive", False, detail)
    return Condition("exclusive", True, f"{pairs} pairs of cases exclude each other")


def _overlap(cases: Sequence[Case], program: Program) -> np.ndarray:
    """Which pairs of cases have, for every feature, a value that both allow."""
    found = np.ones((len(cases), len(cases)), dtype=bool)
    if len(cases) < 2:
        return found
    for feature in dict.fromkeys(f for c in cases for f, _ in c.where):
        size = feature.largest + 1 if isinstance(feature, Sum) else program.sizes[feature]
        allowed = np.ones((len(cases), size), dtype=np.float32)
        for row, c in enumerate(cases):
            if feature in c.conditions:
                allowed[row] = 0
                allowed[row, list(c.conditions[feature])] = 1
        found &= allowed @ allowed.T > 0
    return found


def _meet(a: Case, b: Case, program: Program) -> bool:
    where = dict(a.where)
    for feature, allowed in b.where:
        where[feature] = where.get(feature, allowed) & allowed
    if any(not allowed for allowed in where.values()):
        return False
    single = {f: s for f, s in where.items() if isinstance(f, str)}
    sums = [f for f in where if isinstance(f, Sum)]
    if all(where[f] & f.reachable(single) for f in sums) and len(sums) < 2:
        return True
    if any(not where[f] & f.reachable(single) for f in sums):
        return False
    names = sorted({v for f in sums for v in f.variables})
    if math.prod(len(single.get(v, range(program.sizes[v]))) for v in names) > MOST_ASSIGNMENTS:
        return True
    axes = [{v: np.array(sorted(single.get(v, range(program.sizes[v]))))} for v in names]
    both = Case(tuple((f, where[f]) for f in sums), a.action)
    return any(View(codes).holds(both).any() for codes in assignments(axes, len(names)))
