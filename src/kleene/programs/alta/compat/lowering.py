"""From an ALTA program to a `Program` of Kleene's, so that it can be compiled, checked and certified.

A forbidden write becomes a *fault*: a case in which the interpreter and the network end the run with an error instead
of an output.

ALTA's interpreter runs a layer's heads in order, so that the output of one may be the query of another, which no single
attention can do. Such a layer becomes several of Kleene's, and a variable `phase` says which of them it is.
"""

import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from kleene.errors import KleeneError, ProgramError, WriteError
from kleene.programs.alta.asking import used_cases, written_cases
from kleene.programs.alta.asking.meanings import Meaning, meaning_of
from kleene.programs.alta.asking.runs import FAULT, Tree, ask
from kleene.programs.alta.asking.splitting import cases_of
from kleene.programs.alta.asking.undefined import Undefined, use
from kleene.programs.alta.cases import Case, CodeTable, Constant, Feature, Lookup, case
from kleene.programs.alta.compat.mlp import GeneratedMLP, SimpleMLP, SparseMLP
from kleene.programs.alta.compat.specs import (
    RELATIVE_QK,
    AltaProgramParts,
    CategoricalVarSpec,
    NumericalVarSpec,
    VarSpec,
)
from kleene.programs.alta.definition import LAYERS_TO_HALT, Halt, Specification
from kleene.programs.alta.program import Program, program_of
from kleene.programs.alta.reference import ReferenceAssignment, apply_rules
from kleene.programs.alta.rules import Rule, RuleCases, cases_from_rules
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
            tree = ask(program.mlp.ffn_fn, variables, read, strict=False)
            _refuse_numbers(tree, domains)
            return _asked(meaning_of([tree], _sizes(domains), read))
        if isinstance(program.mlp, GeneratedMLP):
            tree = ask(program.mlp.ffn_fn, variables, read, strict=False, undefined=False)
            return _asked(_reading_all(meaning_of([tree], _sizes(domains), ()), read))
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


def _sizes(domains: Mapping[str, Variable]) -> dict[str, int]:
    return {name: len(v.domain) for name, v in domains.items()}


def _asked(meaning: Meaning) -> RuleCases:
    """The cases of a function; it is a fault where it writes outside a range, or raises."""
    d = meaning.diagrams
    updates = {t: [good for c in written_cases(meaning, t) if (good := _good(c)) is not None] for t in meaning.updates}
    bad = {target: d.combined(_is_fault, f, d.zero) for target, f in meaning.updates.items()}
    faults = {target: cases_of(d, where, None, meaning.used) for target, where in bad.items()}
    return RuleCases(updates, {head: used_cases(meaning, head) for head in meaning.used}, faults)


def _is_fault(code: int, _: int) -> int:
    return int(code == FAULT)


def _good(c: Case) -> Case | None:
    """The case with an arbitrary code where it writes out of range, because a fault ends the run there."""
    if isinstance(c.action, Constant):
        return None if c.action.code == FAULT else c
    if isinstance(c.action, CodeTable):
        codes = tuple(max(code, 0) for code in c.action.codes)
        return Case(c.where, CodeTable(c.action.support, c.action.shape, codes), c.line)
    last = next(code for _, code in c.action.codes if code != FAULT)
    filled = []
    for value, code in c.action.codes:  # the code before it costs nothing
        last = last if code == FAULT else code
        filled.append((value, last))
    written = {code for _, code in filled}
    action = Constant(written.pop()) if len(written) == 1 else Lookup(c.action.feature, tuple(filled))
    return Case(c.where, action, c.line)


def _refuse_numbers(tree: Tree, domains: Mapping[str, Variable]) -> None:
    numbers = [n for n in sorted(tree.reads) if isinstance(domains[n], Numeric)]
    if numbers:
        raise ProgramError(
            f"its function computes with the number {numbers[0]!r} as it is, and a network sees only the nearest of "
            f"its declared values. Build the program with generate_rules=True, which means those values."
        )


def _reading_all(meaning: Meaning, read: Collection[str]) -> Meaning:
    """The same with every head used wherever anything is written, because generated rules name all heads."""
    d = meaning.diagrams.with_names(read)
    written = d.either(d.differ(f, d.identity(target)) for target, f in meaning.updates.items())
    return replace(meaning, used={head: d.either(d.cofactors(written, d.level[head])) for head in read})


def _refuse_early_halting(program: Program) -> None:
    """Refuse unless one extra layer changes nothing, because ALTA tests halting after a layer and Kleene before it."""
    halt = program.halt
    if halt is None or halt.value not in program.starts[halt.variable][1].tolist():
        return
    halted = {halt.variable: frozenset({halt.value})}
    for name, c in ((n, c) for group in (program.updates, program.reads) for n, cases in group.items() for c in cases):
        kept = (c.conditions | halted).get(name) if isinstance(c.action, Constant) and name in program.updates else None
        if halt.value in c.conditions.get(halt.variable, {halt.value}) and kept != {c.action.code}:
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
    """Run the function; where heads are undefined, raise unless it changes nothing for any of their values."""
    undefined = {head: z.seen[head] for head in read if type(z.seen[head]) is Undefined}
    if not undefined:
        return _called(function, z)
    for values in itertools.product(*(domains[head].domain for head in undefined)):
        tried = ReferenceAssignment(z.seen | dict(zip(undefined, values)))
        try:
            _called(function, tried)
            changes = any(value != z.seen[name] for name, value in tried.written.items())
        except WriteError:
            changes = True
        if changes:
            use(next(iter(undefined.values())))


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
