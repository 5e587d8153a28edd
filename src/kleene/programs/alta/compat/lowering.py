"""From an ALTA program to a `Program` of Kleene's, so that it can be compiled, checked, certified and explained.

A forbidden write becomes a *fault*: a case in which the interpreter and the network end the run with an error instead
of an output.

ALTA's interpreter runs a layer's heads in order, so that the output of one may be the query of another, which no single
attention can do. Such a layer becomes several, and a variable `phase` says which of them it is.
"""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from kleene.errors import ProgramError, WriteError
from kleene.programs.alta.asking import used_cases, written_cases
from kleene.programs.alta.asking.meanings import Meaning, meaning_of
from kleene.programs.alta.asking.runs import FAULT, ask
from kleene.programs.alta.asking.splitting import cases_of
from kleene.programs.alta.asking.undefined import Undefined, use
from kleene.programs.alta.cases import Case, CodeTable, Constant, Lookup
from kleene.programs.alta.compat.mlp import AltaMLP
from kleene.programs.alta.compat.parts import AltaProgramParts
from kleene.programs.alta.compat.specs import RELATIVE_QK, declared
from kleene.programs.alta.definition import LAYERS_TO_HALT, Specification
from kleene.programs.alta.program import Program, program_of
from kleene.programs.alta.reference import ReferenceAssignment
from kleene.programs.alta.rules import Rule, RuleCases, cases_from_rules
from kleene.programs.alta.variables import Categorical, Head, Numeric, Variable

LAYERS = 101  # how many ALTA's interpreter runs by default
PHASE = "phase"


def lower(program: AltaProgramParts) -> Program:
    """The same program as a `Program`; a ProgramError says why where there is none."""
    count, program = layers_each(program), in_phases(program)
    known = {n: declared(n, v) for n, v in program.variables.items() if n != RELATIVE_QK}
    variables = {n: v for n, v in known.items() if n not in program.heads}
    try:
        found = _cases(program.mlp, variables, {n: known[n] for n in program.heads})
    except ProgramError as error:
        raise type(error)(f"program {program.name!r}: {error}") from None
    spec = Specification(
        name=program.name, variables=variables, heads=program.heads, output_name=program.outputs,
        input_range=program.input_range, position_range=program.position_range, halt=program.halt_spec,
        max_layers=(LAYERS_TO_HALT if program.halt_spec else LAYERS) * count,
    )  # fmt: skip
    assert spec.outputs is not None  # its parts are checked before its initial values
    mlp = _mlp(program.mlp)
    made = program_of(spec, mlp=mlp, updates=found.updates, reads=found.reads, faults=found.faults)
    _refuse_early_halting(made)
    return made


def _cases(mlp: AltaMLP, variables: dict[str, Variable], read: dict[str, Variable]) -> RuleCases:
    """The cases of the MLP; it is a fault where a function writes outside a range, or raises."""
    domains = variables | read
    if mlp.function is None:
        return cases_from_rules(_plain_rules(mlp), domains, read, strict=False)
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


def _mlp(mlp: AltaMLP) -> Any:
    """The MLP on plain values for the reference interpreter; it shares nothing with the cases."""
    if mlp.function is None:
        return _plain_rules(mlp)
    return (lambda z: z.update(mlp.called(z.seen, {}))) if mlp.plain else partial(_generated, mlp)


def _plain_rules(mlp: AltaMLP) -> tuple[Rule, ...]:
    return tuple(rule.plain(mlp.variables) for rule in mlp.rules if rule.rhs.variable not in mlp.heads)


def _generated(mlp: AltaMLP, z: ReferenceAssignment) -> None:
    """Run the function; where heads are undefined, raise unless it changes nothing for any of their values."""
    undefined = {head: z.seen[head] for head in mlp.heads if type(z.seen[head]) is Undefined}
    for values in itertools.product(*(mlp.variables[head].domain for head in undefined)):
        try:
            written = mlp.called(z.seen | dict(zip(undefined, values)), {})
        except WriteError:
            if not undefined:
                raise
            use(next(iter(undefined.values())))
        if undefined and any(value != z.seen[name] for name, value in written.items()):
            use(next(iter(undefined.values())))
        z.update(written if not undefined else {})


def levels_of(heads: Mapping[str, Head]) -> dict[str, int]:
    """For every head, how many heads in a row it needs to have read before it: 0 where it needs none."""
    levels: dict[str, int] = {}
    for name, head in heads.items():
        levels[name] = max((levels[n] + 1 for n in (head.query, head.key, head.value) if n in levels), default=0)
    return levels


def layers_each(program: AltaProgramParts) -> int:
    """How many layers of Kleene's one layer of the program takes."""
    return 1 + max(levels_of(program.heads).values(), default=0)


def in_phases(program: AltaProgramParts) -> AltaProgramParts:
    """The same program, of which one layer is several, so that no head needs what another reads in the same layer.

    In phase p, variables keep what was read by the heads at level p that others need; in the last phase the MLP runs.
    Nothing else changes before, so that every head reads the same value again.
    """
    levels, count = levels_of(program.heads), layers_each(program)
    if count == 1:
        return program
    kept = {n: f"{n} kept" for h in program.heads.values() for n in (h.query, h.key, h.value) if n in levels}
    for name in kept:
        if not isinstance(program.variables[name], Categorical):
            raise ProgramError(
                f"program {program.name!r}: a head reads the number {name!r} of another head. On the way it would be "
                f"rounded to a declared value, so that a network could not do the same."
            )
        if not program.mlp.plain:
            raise ProgramError(
                f"program {program.name!r}: a head reads what the head {name!r} has read, and rules name the heads of "
                f"one layer. Give the MLP as a function, with generate_rules=False."
            )
    taken = {PHASE, *kept.values()} & set(program.variables)
    if taken:
        raise ProgramError(f"program {program.name!r}: compiling needs the name {min(taken)!r}; rename the variable")

    def phased(z: Any) -> None:
        phase = z[PHASE]
        z[PHASE] = (phase + 1) % count
        for old, new in kept.items():
            if phase == levels[old]:
                z[new] = z[old]
        if phase == count - 1 and program.mlp.function is not None:
            program.mlp.function(z)

    def renamed(name: str | None) -> Any:
        return kept.get(name or "", name)

    heads = {
        n: replace(h, query=renamed(h.query), key=renamed(h.key), value=renamed(h.value))
        for n, h in program.heads.items()
    }
    variables = {**program.variables, PHASE: Categorical(range=count)}
    variables |= {new: program.variables[old] for old, new in kept.items()}
    mlp = replace(program.mlp, variables=variables, heads=heads, function=phased)
    return replace(program, variables=variables, heads=heads, mlp=mlp)
