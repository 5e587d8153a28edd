"""Heads that ask with what another head of the same layer has read.

ALTA's interpreter runs a layer's heads in order, which no single attention can do. Here one layer of such a program is
several of Kleene's, and a variable `phase` says which of them it is.
"""

from collections.abc import Mapping
from typing import Any

from kleene.errors import ProgramError
from kleene.programs.alta.cases import Case, Constant, Feature, Lookup, case
from kleene.programs.alta.compat.specs import RELATIVE_QK, Program
from kleene.programs.alta.heads import Head
from kleene.programs.alta.rule_cases import RuleCases
from kleene.programs.alta.variables import Categorical, Variable

PHASE = "phase"


def layers_each(program: Program) -> int:
    """How many layers of Kleene's one layer of the program takes."""
    return max(_levels(program).values(), default=1)


def _levels(program: Program) -> dict[str, int]:
    """In which of a layer's attentions each head is defined: 1, or one more than the heads that it asks or reads."""
    levels: dict[str, int] = {}
    for spec in program.head_specs:
        levels[spec.output] = 1 + max(levels.get(n, 0) for n in (spec.query, spec.key, spec.value))
    return levels


class Chain:
    """The phases of one layer. In phase p the outputs of heads at level p + 1 that others need are kept in variables;
    in the last phase the MLP runs. The state does not change before, so that every head reads the same again."""

    def __init__(self, program: Program, domains: Mapping[str, Variable]):
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
