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
class AltaRule:
    """Where every condition of `lhs` holds, `rhs` happens."""

    lhs: tuple[LHSAtom, ...]
    rhs: RHS

    def plain(self, variables: Mapping[str, Variable]) -> rules.Rule:
        """The rule in Kleene's form, with values in place of indices."""
        asked = tuple((a.variable, a.value_idx) for a in self.lhs if a.variable != RELATIVE_QK)
        antecedent = tuple((name, variables[name].domain[code]) for name, code in asked)
        return rules.Rule(antecedent, self.rhs.variable, self.rhs.new_value)


RuleSet = list[AltaRule]
Codes = Mapping[str, int | None]  # None is undefined


class AltaMLPBuilder(rules.MLPBuilder):
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


def _rule(variables: Mapping[str, Variable], scope: Mapping[str, Any], name: str, value: Any) -> AltaRule:
    lhs = (LHSAtom(n, code_of(variables[n], scope[n]) or 0) for n in sorted(scope))
    return AltaRule(tuple(lhs), RHS(name, scope[name], value))


class MLPLogger:
    """Which rules fired, in `seen`, and how often each did, in `counts`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.counts: Counter[AltaRule] = Counter()

    def add(self, rule: AltaRule) -> None:
        self.counts[rule] += 1

    @property
    def seen(self) -> set[AltaRule]:
        return set(self.counts)


def get_attention_transition_rules(variables: Mapping[str, Variable], heads: Iterable[str]) -> RuleSet:
    """The rules that empty every head's output, so that the next layer can write it again."""
    domains = {name: declared(name, variables[name]).domain for name in heads}
    values = ((name, code, value) for name, domain in domains.items() for code, value in enumerate(domain))
    return [AltaRule((LHSAtom(name, code),), RHS(name, value, None)) for name, code, value in values]


@dataclass(frozen=True)
class AltaMLP:
    """What runs at every position. `variables` include the outputs of `heads`.

    `rules` fire where all that they name is defined. A function is called on the values as they are if `plain`;
    otherwise it stands for one rule for every combination of all variables' values, so that it does nothing where a
    head is undefined, and numbers are seen as the declared values nearest to them.
    """

    variables: Mapping[str, Variable]
    heads: Mapping[str, Head]
    rules: tuple[AltaRule, ...] = ()
    function: MLPFunc | None = None
    plain: bool = False

    def written(self, values: Activations, undefined: Mapping[str, Complaint], log: MLPLogger | None) -> Activations:
        """What is written at one position, unchecked. `undefined` makes the error of each head that reads nothing."""
        if self.plain and log is None:
            return self.called({n: v for n, v in values.items() if n not in undefined}, undefined)
        self._refuse_plain()
        fired: dict[str, AltaRule] = {}
        for rule in self._fired({name: code_of(self.variables[name], value) for name, value in values.items()}):
            known = fired.setdefault(rule.rhs.variable, rule)
            if known.rhs.new_value != rule.rhs.new_value:
                one, other = known.plain(self.variables), rule.plain(self.variables)
                raise WriteError(f"two rules set {rule.rhs.variable!r} at once: {one}; and {other}")
            if log is not None:
                log.add(rule)
        return {name: rule.rhs.new_value for name, rule in fired.items() if name not in self.heads}

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
        self._refuse_plain()
        sizes = [len(v.domain) for v in self.variables.values()]
        every = itertools.product(*map(range, sizes)) if self.function is not None else ()
        return [r for codes in every for r in self._generated(dict(zip(self.variables, codes)))] + list(self.rules)

    def _refuse_plain(self) -> None:
        if self.plain:
            raise ProgramError("this program was built with generate_rules=False, so that it has no rules")

    def _fired(self, codes: Codes) -> RuleSet:
        given = [r for names, table in self._tables.items() for r in table.get(tuple(codes[n] for n in names), ())]
        return self._generated(codes) + given

    def _generated(self, codes: Codes) -> RuleSet:
        if self.function is None or None in codes.values():
            return []
        seen = {name: self.variables[name].domain[code or 0] for name, code in codes.items()}
        changes = {name: new for name, new in self.called(seen, {}).items() if new != seen[name]}
        return [_rule(self.variables, seen, name, new) for name, new in changes.items()]

    @cached_property
    def _tables(self) -> dict[tuple[str, ...], dict[tuple[int | None, ...], RuleSet]]:
        """The rules by the names and the codes that they ask for."""
        tables: dict = defaultdict(lambda: defaultdict(list))
        for rule in self.rules:
            tables[tuple(a.variable for a in rule.lhs)][tuple(a.value_idx for a in rule.lhs)].append(rule)
        return {names: dict(table) for names, table in tables.items()}
