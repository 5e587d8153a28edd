"""The MLP of an ALTA program: a function of z or rules in ALTA's form, the builder that makes them, and their log.

A write outside a variable's range, or two rules that set one variable differently, are errors of the run in which they
happen.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kleene.errors import KleeneError, ProgramError, WriteError
from kleene.programs.alta import reference, rules
from kleene.programs.alta.asking.assignment import unknown
from kleene.programs.alta.compat.specs import RELATIVE_QK, Activations, MLPFunc, code_of, declared, resolved
from kleene.programs.alta.reference import Complaint
from kleene.programs.alta.variables import Head, Variable


@dataclass(frozen=True)
class LHSAtom:
    """A condition: the variable has the value with this index."""

    variable: str
    value_idx: int


@dataclass(frozen=True)
class RHS:
    """An update: the variable changes from its old value to the new one; None empties a head's output."""

    variable: str
    old_value: Any
    new_value: Any


@dataclass(frozen=True)
class Rule:
    """Where every condition of `lhs` holds, `rhs` happens."""

    lhs: tuple[LHSAtom, ...]
    rhs: RHS

    def plain(self, variables: Mapping[str, Variable]) -> rules.Rule:
        """The rule in Kleene's form, with values in place of indices."""
        asked = tuple((a.variable, a.value_idx) for a in self.lhs if a.variable != RELATIVE_QK)
        antecedent = tuple((name, variables[name].domain[code]) for name, code in asked)
        return rules.Rule(antecedent, self.rhs.variable, self.rhs.new_value)


RuleSet = list[Rule]


class MLPBuilder(rules.MLPBuilder):
    """Builds rules by looping over the values of variables; what is in scope becomes the antecedent.

    A rule always names the old value of the variable that it sets; no rule is made where nothing would change.

    >>> from kleene.programs.alta import compat as pb
    >>> x = pb.MLPBuilder({"bit": pb.input_var(2), "seen": pb.var(2)}, {})
    >>> for bit in x.get("bit"):
    ...     if bit:
    ...         x.set("seen", 1)
    >>> x.rules[0].lhs
    (LHSAtom(variable='bit', value_idx=1), LHSAtom(variable='seen', value_idx=0))
    """

    rules: RuleSet

    def __init__(self, variables: Mapping[str, Variable], heads: Mapping[str, Head]):
        self._known, resolved_heads = resolved(variables, heads)
        self._variables = {n: v for n, v in self._known.items() if n not in resolved_heads}
        self._outputs = {n: self._known[n] for n in resolved_heads}
        self._scope, self.rules = {}, []

    def get(self, *names: str) -> Iterator[Any]:
        """Every combination of the variables' values; each is in scope during its turn of the loop."""
        for name in set(names) & set(self._known):
            declared(name, self._known[name])
        yield from super().get(*names)

    def set(self, name: str, value: Any) -> None:
        """Add rules that set a variable, with the current scope as their antecedent."""
        self._check_target(name)
        if name not in self._scope:
            for _ in self.get(name):
                self.set(name, value)
        elif self._scope[name] != value:
            self.rules.append(_rule(self._known, self._scope, name, value))


def _rule(variables: Mapping[str, Variable], scope: Mapping[str, Any], name: str, value: Any) -> Rule:
    lhs = (LHSAtom(n, code_of(variables[n], scope[n]) or 0) for n in sorted(scope))
    return Rule(tuple(lhs), RHS(name, scope[name], value))


class MLPLogger:
    """Which rules fired, in `seen`, and how often each did, in `counts`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.counts: Counter[Rule] = Counter()

    def add(self, rule: Rule) -> None:
        self.counts[rule] += 1

    @property
    def seen(self) -> set[Rule]:
        return set(self.counts)


@dataclass(frozen=True)
class MLP:
    """What runs at every position. `variables` include the outputs of `heads`.

    Given rules fire where all that they name is defined. A function is called on the values as they are if `plain`;
    otherwise it stands for one rule for every combination of all variables' values, so that it does nothing where a
    head is undefined, and numbers are seen as the declared values nearest to them.
    """

    variables: Mapping[str, Variable]
    heads: Mapping[str, Head]
    function: MLPFunc | None = None
    rules: tuple[Rule, ...] = ()
    plain: bool = False

    def __post_init__(self) -> None:
        for rule in self.rules:
            for name in {*(atom.variable for atom in rule.lhs), rule.rhs.variable} - {*self.variables}:
                raise ProgramError(f"the rule {rule} names {name!r}; there are {', '.join(self.variables)}")
        for name, variable in self.variables.items():
            if self.function is not None and not self.plain:
                declared(name, variable)

    def written(
        self, values: Activations, undefined: Mapping[str, Complaint], log: MLPLogger | None = None
    ) -> Activations:
        """What is written at one position, unchecked. `undefined` makes the error of each head that reads nothing."""
        if self.plain:
            if log is not None:
                self.get_rules()
            return self.called({n: v for n, v in values.items() if n not in undefined}, undefined)
        codes = {name: code_of(self.variables[name], value) for name, value in values.items()}
        fired: dict[str, Rule] = {}
        for rule in self._fired(codes):
            known = fired.setdefault(rule.rhs.variable, rule)
            if known.rhs.new_value != rule.rhs.new_value:
                one, other = known.plain(self.variables), rule.plain(self.variables)
                raise WriteError(f"two rules set {rule.rhs.variable!r} at once: {one}; and {other}")
            if log is not None:
                log.add(rule)
        for name in self.heads if log is not None else ():
            if log is not None and codes[name] is not None:
                log.add(self._emptied(name, codes[name]))
        return {name: rule.rhs.new_value for name, rule in fired.items()}

    def called(self, seen: Activations, undefined: Mapping[str, Complaint]) -> Activations:
        """What the function writes."""
        assert self.function is not None
        try:
            written = reference.called(self.function, seen, undefined)
        except KleeneError:
            raise
        except Exception as error:
            raise WriteError(f"the MLP's function raised {type(error).__name__}: {error}") from error
        for name in written:
            if name in self.heads:
                raise ProgramError(f"the MLP writes to {name!r}, which is the output of a head; only attention sets it")
            if name not in self.variables:
                raise ProgramError(f"the MLP writes to {name!r}: {unknown(name, self.variables)}")
        return written

    def get_rules(self) -> RuleSet:
        """The rules, those that empty the heads' outputs included."""
        if self.plain:
            raise ProgramError("this program was built with generate_rules=False, so that it has no rules")
        found = list(self.rules)
        if self.function is not None:
            every = itertools.product(*(range(len(v.domain)) for v in self.variables.values()))
            found = [rule for codes in every for rule in self._fired(dict(zip(self.variables, codes)))]
        sizes = {name: len(declared(name, self.variables[name]).domain) for name in self.heads}
        return found + [self._emptied(name, code) for name, size in sizes.items() for code in range(size)]

    def _emptied(self, head: str, code: int | None) -> Rule:
        value = self.variables[head].domain[code or 0]
        return Rule((LHSAtom(head, code or 0),), RHS(head, value, None))

    def _fired(self, codes: Mapping[str, int | None]) -> Iterable[Rule]:
        if self.function is None:
            return (r for names, table in self._tables.items() for r in table.get(tuple(codes[n] for n in names), ()))
        if None in codes.values():
            return ()
        seen = {name: self.variables[name].domain[code or 0] for name, code in codes.items()}
        changes = {name: new for name, new in self.called(seen, {}).items() if new != seen[name]}
        return [_rule(self.variables, seen, name, new) for name, new in changes.items()]

    @cached_property
    def _tables(self) -> dict[tuple[str, ...], dict[tuple[int | None, ...], list[Rule]]]:
        """The given rules by the names and the codes that they ask for."""
        tables: dict = defaultdict(lambda: defaultdict(list))
        for rule in self.rules:
            tables[tuple(a.variable for a in rule.lhs)][tuple(a.value_idx for a in rule.lhs)].append(rule)
        return {names: dict(table) for names, table in tables.items()}
