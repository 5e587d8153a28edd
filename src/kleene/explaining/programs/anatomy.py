"""The anatomy of a transformer program: the cost of each variable, and which cases hold on given inputs."""

import linecache
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kleene.compiling.alta.units import compact_units
from kleene.programs.alta.cases import Case, View
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Numeric, SetValued
from kleene.programs.alta.wording import action_text, condition_text
from kleene.traces import Trace
from kleene.traces.markup import MOST_ROWS, Table


@dataclass(frozen=True)
class Cost:
    """What one variable costs: dimensions of the residual stream, hidden units, ALTA's transition rules."""

    variable: str
    residual_dims: int
    hidden_units: int
    rules: int


@dataclass(frozen=True)
class Fired:
    """One case: when it holds, what it writes, the source line behind it, and how often it changed its variable."""

    variable: str
    where: str
    writes: str
    line: int
    source: str
    fired: int


@dataclass(frozen=True, repr=False)
class Anatomy:
    """The parts of a program: what its variables cost, and how often its cases acted."""

    program: str
    costs: tuple[Cost, ...]
    cases: tuple[Fired, ...]
    inputs: int

    def __repr__(self) -> str:
        return f"Anatomy({self.program!r}, {len(self.costs)} variables, {len(self.cases)} cases, {self.inputs} inputs)"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def tables(self) -> tuple[Table, Table]:
        """The table of costs, and that of cases."""
        costs = [[c.variable, *(f"{n:,}" for n in (c.residual_dims, c.hidden_units, c.rules))] for c in self.costs]
        cases = [[str(c.line), c.writes, c.where, *([f"{c.fired:,}"] if self.inputs else [])] for c in self.cases]
        heads = ["line", "writes", "where", *(["fired"] if self.inputs else [])]
        head = ["variable", "residual dims", "hidden units", "the paper's rules"]
        return Table(head, costs, self.program), Table(heads, cases, "cases")

    def _repr_html_(self) -> str:
        return "".join(table.html(MOST_ROWS) for table in self.tables())


def anatomy(program: Program, inputs: Sequence[Sequence[Any]] = ()) -> Anatomy:
    """The costs of the program's variables, and how often each of its cases changes its variable on the inputs.

    >>> from kleene.programs.alta.library import parity
    >>> found = anatomy(parity.relative(), [[2, 1, 0, 1]])
    >>> [(c.variable, c.residual_dims, c.hidden_units) for c in found.costs]
    [('parity', 2, 2), ('done', 2, 1), ('parity_left', 2, 2), ('done_left', 2, 2)]
    >>> [(c.variable, c.fired) for c in found.cases]
    [('parity', 2), ('done', 3)]
    """
    traces = list(program.run_batch(inputs)) if len(inputs) else []
    fired = Counter()
    for trace in traces:
        fired.update(_fired(program, trace))
    cases = tuple(
        Fired(
            name,
            condition_text(program, c, name),
            action_text(program, name, c),
            c.line,
            _source(program, c),
            fired[name, i],
        )
        for name, found in program.updates.items()
        for i, c in enumerate(found)
    )
    return Anatomy(program.name, _costs(program), cases, len(traces))


def _costs(program: Program) -> tuple[Cost, ...]:
    units = Counter(u.target for u in compact_units(program).units)
    rules = program.rules()
    counted = Counter(rules.variables[t] for t in rules.targets.tolist())
    found = []
    for name, variable in program.domains.items():
        dims = (
            1
            if isinstance(variable, Numeric)
            else (variable.range if isinstance(variable, SetValued) else len(variable.domain))
        )
        clearing = 0 if name in program.variables else (2 if isinstance(variable, Numeric) else dims)
        found.append(Cost(name, dims, units[name] + clearing, counted[name]))
    return tuple(found)


def _fired(program: Program, trace: Trace) -> Counter:
    """How often each case changed its variable, over all layers and positions."""
    count: Counter = Counter()
    for layer in range(1, trace.steps + 1):
        codes = {n: _codes(program, n, trace.data[n][layer - 1]) for n in program.variables}
        codes |= {n: _codes(program, n, trace.data[n][layer]) for n in program.outputs}
        view = View(codes)
        for name, cases in program.updates.items():
            for i, c in enumerate(cases):
                count[name, i] += int(view.changes(c, name).sum())
    return count


def _codes(program: Program, name: str, entries: np.ndarray) -> np.ndarray:
    variable = program.domains[name]
    if isinstance(variable, Numeric):
        return np.where(np.isnan(entries), -1, variable.bucket(np.nan_to_num(entries)))
    if isinstance(variable, SetValued):
        return np.array([variable.values.index(frozenset(np.flatnonzero(row).tolist())) for row in entries])
    return entries


def _source(program: Program, c: Case) -> str:
    code = getattr(program.mlp, "__code__", None)
    return linecache.getline(code.co_filename, c.line).strip() if code is not None and c.line else ""
