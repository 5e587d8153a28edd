"""From an ALTA program to a `Program` of Kleene's, so that it can be compiled, checked, certified and explained.

A forbidden write becomes a *fault*: a case in which the interpreter and the network end the run with an error instead
of an output.

ALTA's interpreter runs a layer's heads in order, so that the output of one may be the query of another, which no single
attention can do. Such a layer becomes several of Kleene's, and a variable `phase` says which of them it is.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kleene.errors import ProgramError, WriteError
from kleene.programs.alta.asking import used_cases, written_cases
from kleene.programs.alta.asking.meanings import Meaning, meaning_of
from kleene.programs.alta.asking.runs import FAULT, ask
from kleene.programs.alta.asking.splitting import cases_of
from kleene.programs.alta.asking.undefined import Undefined, use
from kleene.programs.alta.cases import Case, CodeTable, Constant, Lookup, Where, case
from kleene.programs.alta.compat.mlp import MLP
from kleene.programs.alta.compat.program import AltaProgram
from kleene.programs.alta.compat.specs import RELATIVE_QK, declared
from kleene.programs.alta.definition import LAYERS_TO_HALT, Specification
from kleene.programs.alta.program import Program, program_of
from kleene.programs.alta.reference import ReferenceAssignment, apply_rules
from kleene.programs.alta.rules import RuleCases, cases_from_rules
from kleene.programs.alta.variables import Categorical, Head, Numeric, Variable

LAYERS = 101  # how many ALTA's interpreter runs by default
PHASE = "phase"


def lower(program: AltaProgram) -> Program:
    """The same program as a `Program`; a ProgramError says why where there is none."""
    known = {n: declared(n, v) for n, v in program.variables.items() if n != RELATIVE_QK}
    phases = Phases.of(program.name, program.heads, known)
    read = {n: known[n] for n in program.heads}
    variables = {n: v for n, v in known.items() if n not in read}
    try:
        found = phases.spread(_cases(program.mlp, variables, read))
    except ProgramError as error:
        raise type(error)(f"program {program.name!r}: {error}") from None
    spec = Specification(
        name=program.name, variables=variables | phases.variables, heads=phases.heads(program.heads),
        output_name=program.outputs, input_range=program.input_range, position_range=program.position_range,
        halt=program.halt_spec, max_layers=(LAYERS_TO_HALT if program.halt_spec else LAYERS) * phases.count,
    )  # fmt: skip
    assert spec.outputs is not None  # its parts are checked before its initial values
    mlp = phases.mlp(_mlp(program.mlp, known))
    made = program_of(spec, mlp=mlp, updates=found.updates, reads=found.reads, faults=found.faults)
    _refuse_early_halting(made)
    return made


def _cases(mlp: MLP, variables: dict[str, Variable], read: dict[str, Variable]) -> RuleCases:
    """The cases of the MLP; it is a fault where a function writes outside a range, or raises."""
    domains = variables | read
    if mlp.function is None:
        return cases_from_rules([rule.plain(domains) for rule in mlp.rules], domains, read, strict=False)
    tree = ask(mlp.function, variables, read, strict=False, undefined=mlp.plain)
    numbers = [n for n in sorted(tree.reads) if isinstance(domains[n], Numeric)]
    if mlp.plain and numbers:
        raise ProgramError(
            f"its function computes with the number {numbers[0]!r} as it is, and a network sees only the nearest of "
            f"its declared values. Build the program with generate_rules=True, which means those values."
        )
    meaning = meaning_of([tree], {n: len(v.domain) for n, v in domains.items()}, read if mlp.plain else ())
    meaning = meaning if mlp.plain else _reading_all(meaning, read)
    d = meaning.diagrams
    updates = {t: [good for c in written_cases(meaning, t) if (good := _good(c)) is not None] for t in meaning.updates}
    bad = {target: d.combined(_is_fault, f, d.zero) for target, f in meaning.updates.items()}
    faults = {target: cases_of(d, where, None, meaning.used) for target, where in bad.items()}
    return RuleCases(updates, {head: used_cases(meaning, head) for head in meaning.used}, faults)


def _reading_all(meaning: Meaning, read: Mapping[str, Variable]) -> Meaning:
    """The same with every head used wherever anything is written, because generated rules name all heads."""
    d = meaning.diagrams.with_names(read)
    written = d.either(d.differ(f, d.identity(target)) for target, f in meaning.updates.items())
    return replace(meaning, used={head: d.either(d.cofactors(written, d.level[head])) for head in read})


def _is_fault(code: int, _: int) -> int:
    return int(code == FAULT)


def _good(c: Case) -> Case | None:
    """The case with an arbitrary code where it writes out of range, because a fault ends the run there."""
    if isinstance(c.action, Constant):
        return None if c.action.code == FAULT else c
    if isinstance(c.action, CodeTable):
        return replace(c, action=replace(c.action, codes=tuple(max(code, 0) for code in c.action.codes)))
    last = next(code for _, code in c.action.codes if code != FAULT)
    filled = []
    for value, code in c.action.codes:  # the code before it costs nothing
        last = last if code == FAULT else code
        filled.append((value, last))
    constant = len({code for _, code in filled}) == 1
    return replace(c, action=Constant(last) if constant else Lookup(c.action.feature, tuple(filled)))


def _refuse_early_halting(program: Program) -> None:
    """Refuse unless one extra layer changes nothing, because ALTA tests halting after a layer and Kleene before it."""
    halt = program.halt
    if halt is None or halt.value not in program.starts[halt.variable][1].tolist():
        return
    for group in (program.updates, program.reads, program.faults):
        for name, c in ((name, c) for name, cases in group.items() for c in cases):
            here = c.conditions | {halt.variable: frozenset({halt.value})}
            kept = group is program.updates and isinstance(c.action, Constant) and here.get(name) == {c.action.code}
            if halt.value in c.conditions.get(halt.variable, {halt.value}) and not kept:
                raise ProgramError(
                    f"program {program.name!r}: it can hold its halting value ({halt.variable} = {halt.value}) before "
                    f"the first layer, and {name!r} still changes or is read then. ALTA's interpreter runs one layer "
                    f"more than a network that has halted. Let the MLP do nothing where {halt.variable} = {halt.value}."
                )


def _mlp(mlp: MLP, domains: Mapping[str, Variable]) -> Any:
    """The MLP on plain values for the reference interpreter; it shares nothing with the cases."""
    rules = [rule.plain(domains) for rule in mlp.rules]
    if mlp.function is None:
        return lambda z: z.update(apply_rules(domains, rules, z.seen))
    return (lambda z: _call(mlp, z)) if mlp.plain else partial(_generated, mlp, domains)


def _call(mlp: MLP, z: Any) -> None:
    assert mlp.function is not None
    try:
        mlp.function(z)
    except Exception as error:
        raise WriteError(f"the MLP's function raised {type(error).__name__}: {error}") from error


def _generated(mlp: MLP, domains: Mapping[str, Variable], z: ReferenceAssignment) -> None:
    """Run the function; where heads are undefined, raise unless it changes nothing for any of their values."""
    undefined = {head: z.seen[head] for head in mlp.heads if type(z.seen[head]) is Undefined}
    if not undefined:
        return _call(mlp, z)
    for values in itertools.product(*(domains[head].domain for head in undefined)):
        tried = ReferenceAssignment(z.seen | dict(zip(undefined, values)))
        try:
            _call(mlp, tried)
            changes = any(value != z.seen[name] for name, value in tried.written.items())
        except WriteError:
            changes = True
        if changes:
            use(next(iter(undefined.values())))


def layers_each(program: AltaProgram) -> int:
    """How many layers of Kleene's one layer of the program takes."""
    return Phases.of(program.name, program.heads, program.variables).count


@dataclass(frozen=True)
class Phases:
    """The phases of one layer. In phase p the outputs of heads at level p that others need are kept in variables; in
    the last phase the MLP runs. Nothing else changes before, so that every head reads the same value again."""

    levels: Mapping[str, int]  # of the heads that others need: 0, or one more than those that they need themselves
    count: int
    kept: Mapping[str, str]  # the variables that keep what they read
    sizes: Mapping[str, int]

    @staticmethod
    def of(program: str, heads: Mapping[str, Head], domains: Mapping[str, Variable]) -> "Phases":
        levels: dict[str, int] = {}
        for name, head in heads.items():
            levels[name] = max((levels[n] + 1 for n in (head.query, head.key, head.value) if n in levels), default=0)
        needed = {n for head in heads.values() for n in (head.query, head.key, head.value) if n in levels}
        kept = {n: f"{n} kept" for n in levels if n in needed}
        for name in kept:
            if not isinstance(domains[name], Categorical):
                raise ProgramError(
                    f"program {program!r}: a head reads the number {name!r} of another head. On the way it would be "
                    f"rounded to a declared value, so that a network could not do the same."
                )
        for name in (PHASE, *kept.values()):
            if kept and name in domains:
                raise ProgramError(f"program {program!r}: compiling needs the name {name!r}; rename the variable")
        sizes = {name: len(domains[name].domain) for name in kept}
        return Phases(levels, 1 + max(levels.values(), default=0), kept, sizes)

    @property
    def variables(self) -> dict[str, Variable]:
        """The variables that the phases need."""
        kept = {new: Categorical(range=self.sizes[old]) for old, new in self.kept.items()}
        return {PHASE: Categorical(range=self.count), **kept} if kept else {}

    def heads(self, heads: Mapping[str, Head]) -> dict[str, Head]:
        """The heads, which read what was kept."""

        def kept(name: str | None) -> Any:
            return self.kept.get(name or "", name)

        return {n: replace(h, query=kept(h.query), key=kept(h.key), value=kept(h.value)) for n, h in heads.items()}

    def spread(self, found: RuleCases) -> RuleCases:
        """The cases of the last phase, and those of the phases before it."""
        if not self.kept:
            return found
        last = {PHASE: frozenset({self.count - 1})}
        updates, reads, faults = (
            {name: [case(c.conditions | last, c.action, c.line) for c in cases] for name, cases in group.items()}
            for group in (found.updates, found.reads, found.faults)
        )
        updates[PHASE] = [case({}, Lookup(PHASE, tuple((p, (p + 1) % self.count) for p in range(self.count))))]
        for old, new in self.kept.items():
            here: Where = {PHASE: frozenset({self.levels[old]})}
            copied = tuple((code, code) for code in range(self.sizes[old]))
            updates[new] = [case(here, Lookup(old, copied) if len(copied) > 1 else Constant(0))]
            reads[old] = [*reads.get(old, []), case(here, Constant(1))]
        return RuleCases(updates, reads, faults)

    def mlp(self, inner: Any) -> Any:
        """The MLP as the reference interpreter runs it."""

        def phased(z: Any) -> None:
            phase = z[PHASE]
            z[PHASE] = (phase + 1) % self.count
            for old, new in self.kept.items():
                if phase == self.levels[old]:
                    z[new] = z[old]
            if phase == self.count - 1:
                inner(z)

        return phased if self.kept else inner
