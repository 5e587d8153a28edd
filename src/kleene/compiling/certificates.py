"""Certificates: why a network equals its program, up to which length, and for its own number type.

Each condition is checked on the weights as they are, not on how they were meant. The MLP is run, in the network's
number type, on every combination of the variables that each update depends on.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kleene.compiling.expansions import check_steps
from kleene.errors import CompileError, InputError
from kleene.machines.layer import activate
from kleene.machines.universal_transformer import UniversalTransformer, vars_of
from kleene.programs.alta.cases import Case
from kleene.programs.alta.compat import Program as AltaProgram
from kleene.programs.alta.interpreter import View
from kleene.programs.alta.program import Program
from kleene.programs.alta.rules import act
from kleene.programs.alta.symbols import Sum
from kleene.programs.alta.variables import BLUR, Numeric, SetValued

MOST_ASSIGNMENTS = 1 << 22
CHUNK = 1 << 16


@dataclass(frozen=True)
class Condition:
    """One thing that must hold, whether it does, and the figures behind it."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True)
class Certificate:
    """All conditions together say that network and program have equal traces on every input up to `length`."""

    program: str
    dtype: str
    length: int
    conditions: tuple[Condition, ...]

    @property
    def valid(self) -> bool:
        return all(c.holds for c in self.conditions)

    @property
    def first_failure(self) -> Condition | None:
        return next((c for c in self.conditions if not c.holds), None)

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        verdict = f"{self.program} in {self.dtype}: network equals program for every input up to length {self.length}"
        if not self.valid:
            verdict = f"{self.program} in {self.dtype}: NOT certified for length {self.length}"
        return "\n".join([verdict, *(f"  {'✓' if c.holds else '✗'} {c.name}: {c.detail}" for c in self.conditions)])

    def as_json(self) -> dict[str, Any]:
        first = self.first_failure
        return asdict(self) | {"valid": self.valid, "first_failure": None if first is None else first.name}


def certify(network: UniversalTransformer, *, length: int, program: Program | AltaProgram | None = None) -> Certificate:
    """Why the network equals its program on every input of up to `length` tokens, or the first reason why it may not.

    A network that was just compiled knows its program; one from a file needs `program`.

    >>> import kleene
    >>> from kleene.programs.alta.library import parity
    >>> certify(kleene.compile(parity.relative()), length=1000).valid
    True
    """
    if not isinstance(network, UniversalTransformer):
        raise InputError(
            f"a certificate speaks of a transformer program's network, and this is a {type(network).__name__}; "
            f"kleene.check compares an automaton or a Turing machine with its network"
        )
    if length < 1:
        raise InputError(f"a certificate is for inputs of at least one token, and length is {length}")
    found = program if program is not None else (network.origin.program if network.origin is not None else None)
    found = found.lowered if isinstance(found, AltaProgram) else found
    if found is None:
        raise InputError("this network does not know its program, as it came from a file; give program=…")
    checks: tuple[Callable[[UniversalTransformer, Program, int], Condition], ...] = (
        _length, _weights, _embeddings, _selection, _averages, _steps, _exclusive, _mlp, _clearing, _halting,
    )  # fmt: skip
    conditions = []
    for check in checks:
        conditions.append(check(network, found, length))
        if not conditions[-1].holds:
            break  # what follows may rest on it
    return Certificate(found.name, network.dtype, length, tuple(conditions))


def _length(network: UniversalTransformer, program: Program, length: int) -> Condition:
    most = min(program.position_range or most_counted(network), most_counted(network))
    return Condition("length", length <= most, f"{length} of at most {most:,} positions")


def most_counted(network: UniversalTransformer) -> int:
    """How many positions attention can count exactly: counts are added up in float32 or float64."""
    return 1 << (53 if network.dtype == "float64" else 24)


def _weights(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """Every weight is the one that the compiler makes for this program."""
    from kleene.compiling.transformer import compile_program

    options: Any = network.origin.options if network.origin is not None else _options_of(network, program)
    fresh = compile_program(program, **options)
    for name, mine, theirs in _pairs(network, fresh):
        if (mine is None) != (theirs is None) or (mine is not None and mine.shape != theirs.shape):
            return Condition("weights", False, f"{name} has another shape than the compiler makes")
        if mine is not None and not np.array_equal(mine, theirs):
            place = tuple(int(i) for i in np.argwhere(np.asarray(mine != theirs))[0])
            detail = f"{name}{list(place)} is {float(mine[place])!r} and should be {float(theirs[place])!r}"
            return Condition("weights", False, detail)
    if network.layout != fresh.layout:
        return Condition("weights", False, "the layout is not the one that the compiler makes")
    return Condition("weights", True, f"all {network.size.parameters:,} are as the compiler makes them")


def _options_of(network: UniversalTransformer, program: Program) -> dict[str, str]:
    units = len(network.mlp_bias) // (2 if network.activation == "relu" else 1)
    rules = "paper" if len(program.rules()) == units else "compact"
    return {"dtype": network.dtype, "activation": network.activation, "rules": rules}


def _pairs(a: UniversalTransformer, b: UniversalTransformer) -> Iterator[tuple[str, Any, Any]]:
    def arrays(network: UniversalTransformer) -> dict[str, Any]:
        probe = {} if network.probe is None else vars_of(network.probe, "probe.")
        return network.weights() | probe | {"halt": network.halt}

    mine, theirs = arrays(a), arrays(b)
    for name in dict.fromkeys([*mine, *theirs]):
        yield name, mine.get(name), theirs.get(name)


def _embeddings(network: UniversalTransformer, program: Program, length: int) -> Condition:
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
            fine = variable.bucket(block[:, 0]) == variable.bucket(starts)
        else:
            fine = (block == _hot(variable, starts.astype(int))).all(axis=1)
        if not fine.all():
            at = int(np.flatnonzero(~fine)[0])
            return Condition("embeddings", False, f"{name!r} does not start as it should for {by} {at}")
    return Condition("embeddings", True, f"{len(program.starts)} variables start at exact values")


def _hot(variable: Any, codes: np.ndarray) -> np.ndarray:
    """The dimensions that hold each code of a categorical or set variable."""
    if isinstance(variable, SetValued):
        rows = np.zeros((len(variable.values), variable.range))
        for code, members in enumerate(variable.values):
            rows[code, list(members)] = 1
        return rows[codes]
    return np.eye(len(variable.domain))[codes]


def _selection(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """A match outweighs all other positions together by more than the number type can see."""
    least = math.inf
    for h, (name, head) in enumerate(program.heads.items()):
        square = _logit(network, h)
        bias = network.relative[h].astype(np.float64)
        masked = bias[bias != 0]
        gap = min(square if head.query is not None else math.inf, -(masked.max(initial=-math.inf)) - square)
        least = min(least, gap)
        # exp(-gap) must vanish beside 1, however many positions there are, for the type that softmax works in.
        smallest = 103.98 if network.dtype != "float64" else 745.14  # exp(-x) is 0 beyond these
        if gap <= smallest + math.log(length):
            detail = f"head {name!r} has a margin of {gap:g}; {length} positions need {smallest + math.log(length):.1f}"
            return Condition("selection", False, detail)
    if not program.heads:
        return Condition("selection", True, "no heads")
    return Condition(
        "selection", True, f"logits differ by {least:,.0f} or more: softmax is exactly hard at this length"
    )


def _logit(network: UniversalTransformer, h: int) -> float:
    return float(np.abs(network.query[h]).max(initial=0)) * float(np.abs(network.key[h]).max(initial=0))


def _averages(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """An average over many positions is rounded by less than the distance to the nearest step."""
    told = []
    for name, head in program.heads.items():
        variable, source = program.outputs[name], program.variables[head.value]
        if not isinstance(variable, Numeric) or len(variable.values) < 2 or name not in program.reads:
            continue
        starts = program.starts[head.value][1]
        numbers = np.unique(np.concatenate([starts, getattr(source, "values", ())]))
        largest = float(np.abs(numbers).max(initial=0.0))
        eps = float(np.finfo(np.float64 if network.dtype == "float64" else np.float32).eps)
        whole = bool((numbers == np.round(numbers)).all())
        rounding = eps * largest * (2 if whole else length + 2)  # whole numbers are added up without any
        margin = float(np.diff(variable.values).min()) * (0.5 - BLUR)  # how it is stored is checked in `steps`
        if rounding >= margin:
            most = max(0, int(margin / (eps * largest)) - 2)
            return Condition("averages", False, f"{name!r} can be told for at most {most:,} positions, not {length:,}")
        told.append(f"{name!r} is off by at most {rounding:.1e}, and {margin:.1e} is allowed")
    return Condition("averages", True, "; ".join(told) or "no numeric heads are read")


def _steps(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """Every declared number saturates every step that sorts it."""
    if network.expansion is None:
        return Condition("steps", True, "no numbers, sets or bits to expand")
    count = 0
    for name, variable in program.domains.items():
        if not isinstance(variable, Numeric):
            continue
        dim = network.layout.segment(name).start
        mine = np.flatnonzero(network.expansion.inputs[dim] != 0)
        mine = mine[: len(mine) // 2] if network.activation == "relu" else mine
        if len(mine) == 0:
            continue
        slopes, biases = network.expansion.inputs[dim, mine], network.expansion.bias[mine]
        try:
            check_steps(name, variable, slopes, biases, np.dtype(network.tokens.dtype), network.activation == "relu")
        except CompileError as error:
            return Condition("steps", False, str(error))
        count += len(variable.values)
    return Condition("steps", True, f"all steps are saturated at all {count} declared numbers")


def _exclusive(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """No two cases of a variable hold at once."""
    pairs = 0
    for target, cases in program.updates.items():
        for i, a in enumerate(cases):
            for b in cases[:i]:
                pairs += 1
                if _meet(a, b, program):
                    detail = f"two cases of {target!r} (lines {b.line} and {a.line}) can hold at once"
                    return Condition("exclusive", False, detail)
    return Condition("exclusive", True, f"{pairs} pairs of cases exclude each other")


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
    for block in _assignments(names, {v: sorted(single.get(v, range(program.sizes[v]))) for v in names}):
        if View(block).holds(Case(tuple((f, where[f]) for f in sums), a.action)).any():
            return True
    return False


def _assignments(names: Sequence[str], codes: dict[str, list[int]]) -> Iterator[dict[str, np.ndarray]]:
    """Every combination of the variables' codes, in blocks."""
    shape = tuple(len(codes[n]) for n in names)
    for start in range(0, math.prod(shape), CHUNK):
        index = np.unravel_index(np.arange(start, min(start + CHUNK, math.prod(shape))), shape)
        yield {n: np.array(codes[n])[i] for n, i in zip(names, index)}


def _mlp(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """On every combination of what an update depends on, the hidden units write exactly what its cases say."""
    wide = np.float64 if network.dtype == "float64" else np.float32
    total, skipped = 0, []
    for target in program.variables:
        segment = network.layout.segment(target)
        units = np.flatnonzero((network.mlp_out[:, segment.start : segment.stop] != 0).any(axis=1))
        cases = program.updates.get(target, ())
        names = _variables_read(network, program, units) | {target} | {v for c in cases for v in c.variables}
        ordered = [n for n in program.sizes if n in names]
        size = math.prod(program.sizes[n] for n in ordered)
        if size > MOST_ASSIGNMENTS:
            skipped.append(target)
            continue
        for codes in _assignments(ordered, {n: list(range(program.sizes[n])) for n in ordered}):
            if not _writes_exactly(network, program, target, cases, units, codes, wide):
                return Condition("MLP", False, f"the hidden units do not write {target!r} as its cases say")
        total += size
    detail = f"right on all {total:,} assignments of what each variable depends on"
    if skipped:
        detail += f"; {', '.join(skipped)}: too many to run, and rest on the weights being the compiler's"
    return Condition("MLP", True, detail)


def _variables_read(network: UniversalTransformer, program: Program, units: np.ndarray) -> set[str]:
    rows = set(np.flatnonzero((network.mlp_in[:, units] != 0).any(axis=1)).tolist())
    width = network.layout.width
    if network.expansion is not None:
        features = [r - width for r in rows if r >= width]
        steps = np.flatnonzero((network.expansion.outputs[:, features] != 0).any(axis=1))
        rows |= set(np.flatnonzero((network.expansion.inputs[:, steps] != 0).any(axis=1)).tolist())
    return {s.channel.name for s in network.layout.segments if rows & set(range(s.start, s.stop))}


def _writes_exactly(network, program: Program, target: str, cases, units, codes, wide) -> bool:
    count = len(codes[target])
    stream = np.zeros((count, network.layout.width), dtype=wide)
    for name, column in codes.items():
        segment, variable = network.layout.segment(name), program.domains[name]
        if isinstance(variable, Numeric):
            values = np.array(variable.values, dtype=network.tokens.dtype)
            stream[:, segment.start] = _held(network, program, name, values)[column]
        else:
            stream[:, segment.start : segment.stop] = _hot(variable, column)
    features = stream
    if network.expansion is not None:
        e = network.expansion
        steps = activate(np, network.activation, stream @ e.inputs.astype(wide) + e.bias.astype(wide))
        features = np.concatenate([stream, steps @ e.outputs.astype(wide) + e.constant.astype(wide)], axis=1)
    pre = features @ network.mlp_in[:, units].astype(wide) + network.mlp_bias[units].astype(wide)
    segment = network.layout.segment(target)
    place = slice(segment.start, segment.stop)
    after = stream[:, place] + activate(np, network.activation, pre) @ network.mlp_out[units, place].astype(wide)
    new, view = codes[target], View(codes)
    for c in cases:
        new = np.where(view.holds(c), act(c, codes), new)
    variable = program.domains[target]
    if isinstance(variable, Numeric):
        return bool((variable.bucket(after[:, 0]) == new).all())
    return bool((after == _hot(variable, new)).all())


def _held(network: UniversalTransformer, program: Program, name: str, values: np.ndarray) -> np.ndarray:
    """The numbers as the network holds them: on a grid where the MLP writes them."""
    from kleene.compiling.expansions import grid_values

    variable = program.domains[name]
    if name in program.updates and isinstance(variable, Numeric):
        return grid_values(name, variable, np.dtype(network.tokens.dtype))
    return values


def _clearing(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """What the heads wrote is gone after every MLP."""
    from kleene.machines.plan import plan_of

    if plan_of(network) is None:
        return Condition("clearing", False, "the units that empty the heads' outputs do not do it exactly")
    return Condition("clearing", True, f"{len(program.heads)} heads' outputs are emptied exactly")


def _halting(network: UniversalTransformer, program: Program, length: int) -> Condition:
    """The network stops where the program does."""
    if program.halt is None:
        return Condition("halting", network.halt is None, f"{program.max_layers} layers, no halting condition")
    dim = network.layout.segment(program.halt.variable).start + program.halt.value
    expected = np.zeros(network.layout.width)
    expected[dim] = 1
    same = network.halt is not None and bool((network.halt.astype(np.float64) == expected).all())
    return Condition("halting", same, f"done when {program.halt.variable!r} is {program.halt.value} everywhere")
