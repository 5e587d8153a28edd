"""From an ALTA program to a `Program` of Kleene's, so that it can be compiled, checked and certified.

A forbidden write becomes a *fault*: a case in which the interpreter and the network end the run with an error instead
of an output.

ALTA's interpreter runs a layer's heads in order, so that the output of one may be the query of another, which no single
attention can do. Such a layer becomes several of Kleene's, and a variable `phase` says which of them it is.
"""

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from kleene.errors import KleeneError, ProgramError, WriteError
from kleene.programs.alta.cases import Case, CodeTable, Constant, Feature, Lookup, boxes, case, merged
from kleene.programs.alta.compat.mlp import GeneratedMLP, SimpleMLP, SparseMLP
from kleene.programs.alta.compat.specs import (
    RELATIVE_QK,
    AltaProgramParts,
    CategoricalVarSpec,
    NumericalVarSpec,
    VarSpec,
)
from kleene.programs.alta.definition import LAYERS_TO_HALT, Halt, Specification
from kleene.programs.alta.exploring import explore
from kleene.programs.alta.program import Program, program_of
from kleene.programs.alta.reference import ReferenceAssignment, Undefined, apply_rules
from kleene.programs.alta.rules import Rule, RuleCases, cases_from_rules
from kleene.programs.alta.symbols import Sum, Symbol
from kleene.programs.alta.trees import Fork, Joined, Leaf, Tree, cases_of
from kleene.programs.alta.variables import Categorical, Head, Numeric, SetValued, Variable

LAYERS = 101  # how many ALTA's interpreter runs by default


def lower(program: AltaProgramParts) -> Program:
    """The same program as a `Program`; a ProgramError says why where there is none."""
    specs = program.variables
    outputs = [spec.output for spec in program.head_specs]
    variables = {n: variable_of(n, s) for n, s in specs.items() if n not in outputs and n != RELATIVE_QK}
    if any(RELATIVE_QK in (s.query, s.key) and not s.relative_position_mask for s in program.head_specs):
        variables[RELATIVE_QK] = variable_of(RELATIVE_QK, specs[RELATIVE_QK])
    read = {n: variable_of(n, specs[n]) for n in outputs}
    domains = {**variables, **read}
    found = _cases(program, variables, read)
    chain = Chain(program, domains)
    variables, found = {**variables, **chain.variables}, chain.spread(found)
    heads = {s.output: chain.head(s, read[s.output]) for s in program.head_specs}
    halt = None if program.halt_spec is None else Halt(program.halt_spec.halt_var, program.halt_spec.halt_value)
    spec = Specification(
        name=program.name, variables=variables, heads=heads, output_name=program.outputs,
        input_range=program.input_range, position_range=program.position_range, halt=halt,
        max_layers=(LAYERS if halt is None else LAYERS_TO_HALT) * chain.depth,
    )  # fmt: skip
    assert spec.outputs is not None  # its parts are checked before its initial values
    mlp = chain.mlp(_mlp(program, domains, read))
    made = program_of(spec, mlp=mlp, updates=found.updates, reads=found.reads, faults=found.faults)
    _refuse_early_halting(made)
    return made


def variable_of(name: str, spec: VarSpec) -> Variable:
    """The variable as Kleene declares it."""
    starts = (spec.input_init_fn, spec.position_init_fn)
    if isinstance(spec, CategoricalVarSpec):
        return Categorical(spec.default, *starts, spec.range)
    values = tuple(spec.choices(name))
    if isinstance(spec, NumericalVarSpec):
        return Numeric(spec.default, *starts, values)
    return SetValued(frozenset(spec.default), *starts, spec.range, values)


def _cases(program: AltaProgramParts, variables: dict[str, Variable], read: dict[str, Variable]) -> RuleCases:
    domains = variables | read
    try:
        if isinstance(program.mlp, SparseMLP):
            return cases_from_rules(_rules(program.mlp, domains), domains, read, strict=False)
        if isinstance(program.mlp, SimpleMLP):
            tree = _explored(program.mlp.ffn_fn, variables, read)
            _refuse_numbers(tree, domains)
            return _traced(tree, variables, read)
        if isinstance(program.mlp, GeneratedMLP):
            tree = _explored(program.mlp.ffn_fn, variables, read)
            return _reading_all(_traced(tree, variables, read), variables, read)
    except ProgramError as error:
        raise type(error)(f"program {program.name!r}: {error}") from None
    raise ProgramError(
        f"program {program.name!r}: its MLP is a {type(program.mlp).__name__}, which has no known meaning"
    )


def _rules(mlp: SparseMLP, domains: Mapping[str, Variable]) -> tuple[Rule, ...]:
    """The given rules in Kleene's form."""
    return tuple(
        Rule(
            tuple((a.variable, domains[a.variable].domain[a.value_idx]) for a in r.lhs if a.variable != RELATIVE_QK),
            r.rhs.variable,
            r.rhs.new_value,
        )
        for r in mlp.given
    )


def _explored(function: Callable, variables: dict[str, Variable], read: dict[str, Variable]) -> Tree:
    return explore(function, variables, read, strict=False).tree


def _traced(tree: Tree, variables: dict[str, Variable], read: dict[str, Variable]) -> RuleCases:
    """The cases of a function; it is a fault where it writes outside a range, or raises."""
    sizes = {n: len(v.domain) for n, v in (variables | read).items()}
    faults = {v: _positive(cases_of(tree, lambda leaf, v=v: _bad(leaf, v), sizes), sizes) for v in variables}
    updates = {v: cases_of(tree, lambda leaf, v=v: _good(leaf, v), sizes) for v in variables}
    reads = {h: cases_of(tree, lambda leaf, h=h: 1 if h in leaf.looked_at else None, sizes) for h in read}
    return RuleCases(updates, reads, faults)


def _bad(leaf: Leaf, name: str) -> Any:
    """Where the leaf writes outside the variable's range: 1 there, 0 where it writes anything else."""
    value, line = leaf.writes.get(name, (None, 0))
    if isinstance(value, Symbol):
        return _marked(value, (value.table < 0).astype(np.int64)) if (value.table < 0).any() else (0, line)
    return None if value is None else (int(value < 0), line)


def _good(leaf: Leaf, name: str) -> Any:
    """What the leaf writes, with an arbitrary code where that is out of range, because a fault ends the run there."""
    written = leaf.writes.get(name)
    if written is None or (not isinstance(written[0], Symbol) and written[0] < 0):
        return None
    value, line = written
    if isinstance(value, Symbol) and (value.table < 0).any():
        return _marked(value, np.maximum(value.table, 0)), line
    return written


def _marked(symbol: Symbol, table: np.ndarray) -> Symbol:
    made = Symbol(symbol.name, symbol.support, table)
    made.base = symbol.base
    return made


def _positive(cases: Sequence[Case], sizes: Mapping[str, int]) -> list[Case]:
    """The cases narrowed to where they write 1, not 0."""
    found: list[Case] = []
    for c in cases:
        where = dict(c.where)
        if isinstance(c.action, Constant):
            found += [c] if c.action.code else []
        elif isinstance(c.action, Lookup):
            hit = frozenset(k for k, code in c.action.codes if code)
            hit &= where.get(c.action.feature, hit)
            found += [case(where | {c.action.feature: hit}, Constant(1), c.line)] if hit else []
        elif isinstance(c.action, CodeTable):
            parts = boxes(c.action.support, c.action.array > 0, where, sizes)
            found += [case(part, Constant(1), c.line) for part in parts]
    return merged(found, sizes)


def _refuse_numbers(tree: Tree, domains: Mapping[str, Variable]) -> None:
    numbers = [n for n in sorted(_looked_at(tree)) if isinstance(domains[n], Numeric)]
    if numbers:
        raise ProgramError(
            f"its function computes with the number {numbers[0]!r} as it is, and a network sees only the nearest of "
            f"its declared values. Build the program with generate_rules=True, which means those values."
        )


def _looked_at(tree: Tree | None) -> set[str]:
    """The variables on which decisions or written values depend."""
    if isinstance(tree, Joined):
        return _looked_at(tree.first) | _looked_at(tree.then[0])
    if isinstance(tree, Fork):
        return set(tree.symbol.support).union(*(_looked_at(child) for child in tree.children))
    written = [] if tree is None else [value for value, _ in tree.writes.values()]
    return {name for value in written if isinstance(value, Symbol) for name in value.support}


def _reading_all(found: RuleCases, variables: Mapping[str, Variable], read: Mapping[str, Variable]) -> RuleCases:
    """The same with every head looked at wherever anything is written, because generated rules name all heads."""
    sizes = {n: len(v.domain) for n, v in (dict(variables) | dict(read)).items()}
    every = [c for group in (found.updates, found.faults) for cases in group.values() for c in cases]
    reads = {}
    for head in read:
        rest = [
            {f: s for f, s in c.where if f != head and not (isinstance(f, Sum) and head in f.variables)} for c in every
        ]
        reads[head] = merged(list(dict.fromkeys(case(where, Constant(1)) for where in rest)), sizes)
    return RuleCases(found.updates, reads, found.faults)


def _refuse_early_halting(program: Program) -> None:
    """Refuse unless one extra layer changes nothing, because ALTA tests halting after a layer and Kleene before it."""
    halt = program.halt
    if halt is None or halt.value not in program.starts[halt.variable][1].tolist():
        return
    for group in (program.updates, program.reads):
        for name, cases in group.items():
            if any(halt.value in c.conditions.get(halt.variable, {halt.value}) for c in cases):
                raise ProgramError(
                    f"program {program.name!r}: it can hold its halting value ({halt.variable} = {halt.value}) before "
                    f"the first layer, and {name!r} still changes or is read then. ALTA's interpreter runs one layer "
                    f"more than a network that has halted. Let the MLP do nothing where {halt.variable} = {halt.value}."
                )


def _mlp(program: AltaProgramParts, domains: Mapping[str, Variable], read: Collection[str]) -> Any:
    """The MLP on plain values for the reference interpreter; it shares nothing with the cases."""
    mlp = program.mlp
    if isinstance(mlp, SparseMLP):
        rules = _rules(mlp, domains)
        return rules if layers_each(program) == 1 else lambda z: z.update(apply_rules(domains, rules, z.seen))
    if isinstance(mlp, SimpleMLP):
        return lambda z: _called(mlp.ffn_fn, z)
    assert isinstance(mlp, GeneratedMLP)
    return lambda z: _generated(mlp.ffn_fn, z, domains, read)


def _called(function: Callable, z: Any) -> None:
    try:
        function(z)
    except KleeneError:
        raise
    except Exception as error:
        raise WriteError(f"the MLP's function raised {type(error).__name__}: {error}") from error


def _generated(
    function: Callable, z: ReferenceAssignment, domains: Mapping[str, Variable], read: Collection[str]
) -> None:
    """Run the function; where heads are undefined, raise unless it writes nothing for any of their values."""
    undefined = {head: z.seen[head] for head in read if isinstance(z.seen[head], Undefined)}
    if not undefined:
        return _called(function, z)
    for values in itertools.product(*(domains[head].domain for head in undefined)):
        tried = ReferenceAssignment(z.seen | dict(zip(undefined, values)))
        try:
            _called(function, tried)
            written = bool(tried.written)
        except WriteError:
            written = True
        if written:
            raise next(iter(undefined.values())).error()


PHASE = "phase"


def layers_each(program: AltaProgramParts) -> int:
    """How many layers of Kleene's one layer of the program takes."""
    return max(_levels(program).values(), default=1)


def _levels(program: AltaProgramParts) -> dict[str, int]:
    """In which of a layer's attentions each head is defined: 1, or one more than the heads that it depends on."""
    levels: dict[str, int] = {}
    for spec in program.head_specs:
        levels[spec.output] = 1 + max(levels.get(n, 0) for n in (spec.query, spec.key, spec.value))
    return levels


class Chain:
    """The phases of one layer. In phase p the outputs of heads at level p + 1 that others need are kept in variables;
    in the last phase the MLP runs. Nothing else changes before, so that every head reads the same value again."""

    def __init__(self, program: AltaProgramParts, domains: Mapping[str, Variable]):
        self.levels = _levels(program)
        self.depth = max(self.levels.values(), default=1)
        needed = {n for s in program.head_specs for n in (s.query, s.key, s.value) if n in self.levels}
        self.kept = {n: f"{n} kept" for n in self.levels if n in needed}
        for name in self.kept:
            if not isinstance(domains[name], Categorical):
                raise ProgramError(
                    f"program {program.name!r}: a head reads the number {name!r} of another head. {_WHY}"
                )
        self.sizes = {n: len(v.domain) for n, v in domains.items()}
        taken = [n for n in ([PHASE] if self.depth > 1 else []) + list(self.kept.values()) if n in domains]
        if taken:
            raise ProgramError(f"program {program.name!r}: compiling needs the name {taken[0]!r}; rename the variable")

    @property
    def variables(self) -> dict[str, Variable]:
        """The variables that the phases need."""
        if self.depth == 1:
            return {}
        kept = {new: Categorical(0, None, None, self.sizes[old]) for old, new in self.kept.items()}
        return {PHASE: Categorical(0, None, None, self.depth), **kept}

    def head(self, spec: Any, output: Variable) -> Head:
        query, key, value = (str(self.kept.get(n, n)) for n in (spec.query, spec.key, spec.value))
        mask = frozenset(int(o) for o in spec.relative_position_mask)
        if mask and spec.query == spec.key == RELATIVE_QK:
            return Head(None, None, value, mask, output)
        return Head(query, key, value, mask, output)

    def spread(self, found: RuleCases) -> RuleCases:
        """The cases of the last phase, and those of the phases before it."""
        if self.depth == 1:
            return found
        last = self.depth - 1
        parts = [{n: [_in_phase(c, last) for c in cases] for n, cases in group.items()}
                 for group in (found.updates, found.reads, found.faults)]  # fmt: skip
        updates, reads, faults = parts
        turn = tuple((p, (p + 1) % self.depth) for p in range(self.depth))
        updates[PHASE] = [case({}, Lookup(PHASE, turn))]
        for old, new in self.kept.items():
            here: dict[Feature, frozenset[int]] = {PHASE: frozenset({self.levels[old] - 1})}
            copied = tuple((code, code) for code in range(self.sizes[old]))
            updates[new] = [case(here, Lookup(old, copied) if len(copied) > 1 else Constant(0))]
            reads[old] = [*reads.get(old, []), case(here, Constant(1))]
        return RuleCases(updates, reads, faults)

    def mlp(self, inner: Any) -> Any:
        """The MLP as the reference interpreter runs it."""
        if self.depth == 1:
            return inner

        def phased(z: Any) -> None:
            phase = z[PHASE]
            z[PHASE] = (phase + 1) % self.depth
            for old, new in self.kept.items():
                if phase == self.levels[old] - 1:
                    z[new] = z[old]
            if phase == self.depth - 1:
                inner(z)

        return phased


_WHY = "On the way it would be rounded to a declared value, so that a network could not do the same."


def _in_phase(c: Case, phase: int) -> Case:
    return case(dict(c.where) | {PHASE: frozenset({phase})}, c.action, c.line)
