"""The MLP of an ALTA program: rules in ALTA's form, the builder that makes them, and their run at one position.

A write outside a variable's range, or two rules that set one variable differently, are errors of the run in which they
happen.
"""

import difflib
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kleene.errors import KleeneError, ProgramError, RunError, WriteError
from kleene.programs.alta.compat.specs import (
    Activations,
    AttentionHead,
    BaseMLP,
    HeadSpecs,
    VariablesMap,
    VarSpec,
    get_specs,
)


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


RuleSet = list[AltaRule]


class AltaMLPBuilder:
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

    def __init__(self, variables: Mapping[str, VarSpec], heads: Mapping[str, AttentionHead]):
        self.var_specs, self.head_specs = get_specs(variables, heads)
        self.context: dict[str, tuple[int, Any]] = {}
        self.rules: RuleSet = []
        self._outputs = {spec.output for spec in self.head_specs}

    def get(self, *names: str) -> Iterator[Any]:
        """Every combination of the variables' values; each is in scope during its turn of the loop."""
        for name in names:
            if name not in self.var_specs:
                raise ProgramError(f"there is no variable {name!r} to loop over; there are {', '.join(self.var_specs)}")
            if name in self.context:
                raise ProgramError(f"{name!r} is already in scope; use the value that the outer loop gave")
        indexed = [list(enumerate(self.var_specs[name].choices(name))) for name in names]
        try:
            for values in itertools.product(*indexed):
                self.context.update(zip(names, values))
                yield values[0][1] if len(names) == 1 else tuple(value for _, value in values)
        finally:  # also where the loop is left by `break`
            for name in names:
                self.context.pop(name, None)

    def set(self, name: str, value: Any) -> None:
        """Add rules that set a variable, with the current scope as their antecedent."""
        if name in self._outputs:
            raise ProgramError(f"a rule sets {name!r}, which is the output of a head; only attention sets it")
        if name not in self.var_specs:
            raise ProgramError(f"a rule sets {name!r}; there are {', '.join(self.var_specs)}")
        if name not in self.context:
            for _ in self.get(name):
                self.set(name, value)
            return
        old = self.context[name][1]
        if old != value:
            conditions = sorted((LHSAtom(n, index) for n, (index, _) in self.context.items()), key=_by_name)
            self.rules.append(AltaRule(tuple(conditions), RHS(name, old, value)))


def _by_name(atom: LHSAtom) -> str:
    return atom.variable


def get_attention_transition_rules(var_specs: VariablesMap, head_specs: HeadSpecs) -> RuleSet:
    """The rules that empty every head's output, so that the next layer can write it again."""
    return [
        AltaRule((LHSAtom(spec.output, index),), RHS(spec.output, value, None))
        for spec in head_specs
        for index, value in enumerate(var_specs[spec.output].choices(spec.output))
    ]


MLPFunc = Callable[["VarsWrapper"], Any]


class MLPLogger:
    """Which rules fired, in `seen`, and how often each did, in `counts`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.seen: set[AltaRule] = set()
        self.counts: Counter[AltaRule] = Counter()

    def add(self, rule: AltaRule) -> None:
        self.seen.add(rule)
        self.counts[rule] += 1

    def add_all(self, rules: Iterable[AltaRule]) -> None:
        for rule in rules:
            self.add(rule)


class UndefinedRead(RunError):
    """The function read a head that is undefined at this position."""

    def __init__(self, head: str):
        self.head = head
        super().__init__(f"the MLP reads {head!r}, which is undefined")


class VarsWrapper:
    """The dict-like `z`: reads give the values from before the MLP, writes are kept in `updates`."""

    def __init__(self, variables: Mapping[str, VarSpec], head_specs: HeadSpecs, activations: Mapping[str, Any]):
        self.variables, self.activations = variables, activations
        self.updates: Activations = {}
        self._outputs = {spec.output for spec in head_specs}

    def __getitem__(self, name: str) -> Any:
        value = self.activations.get(name)
        if value is not None:
            return value
        self._check(name)
        raise UndefinedRead(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._check(name)
        if name in self._outputs:
            raise ProgramError(f"the MLP writes to {name!r}, which is the output of a head; only attention sets it")
        self.updates[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self.variables

    def _check(self, name: str) -> None:
        if name not in self.variables:
            close = difflib.get_close_matches(str(name), list(self.variables), n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ProgramError(f"the MLP names {name!r}, and there are {', '.join(self.variables)}{hint}")


def call(function: MLPFunc, specs: VariablesMap, heads: HeadSpecs, activations: Activations) -> Activations:
    """What the function writes at one position, unchecked."""
    z = VarsWrapper(specs, heads, activations)
    try:
        function(z)
    except KleeneError:
        raise
    except Exception as error:
        raise RunError(f"the MLP's function raised {type(error).__name__}: {error}") from error
    return z.updates


def write(specs: VariablesMap, activations: Activations, updates: Activations) -> None:
    """Set the variables; raises where a variable does not take its value."""
    for name, value in updates.items():
        if not specs[name].accepts(value):
            raise WriteError(f"{name!r} is set to {value!r}, but it takes {specs[name].expected}")
    activations.update({name: specs[name].plain(value) for name, value in updates.items()})


class SimpleMLP(BaseMLP):
    """A function that is called directly; it has no rules."""

    def __init__(self, var_specs: VariablesMap, head_specs: HeadSpecs, ffn_fn: MLPFunc):
        self.var_specs, self.head_specs, self.ffn_fn = var_specs, head_specs, ffn_fn

    def run_layer(self, activations: Activations, logger: MLPLogger | None = None) -> None:
        if logger is not None:
            self.get_rules()
        write(self.var_specs, activations, call(self.ffn_fn, self.var_specs, self.head_specs, activations))

    def get_rules(self) -> RuleSet:
        raise ProgramError("this program was built with generate_rules=False, so that it has no rules")


class GeneratedMLP(BaseMLP):
    """A function as rules: one for every combination of all variables' values.

    The rules are made only if they are asked for. They name every variable, so that none fires where a head is
    undefined, and numbers are seen as the declared values nearest to them.
    """

    def __init__(self, var_specs: VariablesMap, head_specs: HeadSpecs, ffn_fn: MLPFunc):
        self.var_specs, self.head_specs, self.ffn_fn = var_specs, head_specs, ffn_fn
        self._choices = {name: spec.choices(name) for name, spec in var_specs.items()}
        self._known: dict[tuple[int, ...], RuleSet] = {}

    def run_layer(self, activations: Activations, logger: MLPLogger | None = None) -> None:
        codes = codes_of(self.var_specs, activations)
        if logger is not None:
            log_emptied(self, codes, logger)
        found = tuple(code for code in codes.values() if code is not None)
        if len(found) < len(codes):
            return
        if found not in self._known:
            self._known[found] = self._rules_at(found)
        if logger is not None:
            logger.add_all(self._known[found])
        write(self.var_specs, activations, {r.rhs.variable: r.rhs.new_value for r in self._known[found]})

    def _rules_at(self, codes: tuple[int, ...]) -> RuleSet:
        """The rules that fire where the variables have these codes."""
        seen = {name: self._choices[name][code] for name, code in zip(self.var_specs, codes)}
        lhs = tuple(LHSAtom(*item) for item in sorted(zip(self.var_specs, codes)))
        written = call(self.ffn_fn, self.var_specs, self.head_specs, seen)
        return [AltaRule(lhs, RHS(name, seen[name], new)) for name, new in written.items() if new != seen[name]]

    def get_rules(self) -> RuleSet:
        every = itertools.product(*(range(len(values)) for values in self._choices.values()))
        rules = [rule for codes in every for rule in self._rules_at(codes)]
        return rules + get_attention_transition_rules(self.var_specs, self.head_specs)


class SparseMLP(BaseMLP):
    """Rules as they were given. A rule that names an undefined head does not fire."""

    def __init__(self, var_specs: VariablesMap, head_specs: HeadSpecs, rules: Iterable[AltaRule]):
        self.var_specs, self.head_specs = var_specs, head_specs
        self.given = tuple(rules)
        for rule in self.given:
            for name in (*(atom.variable for atom in rule.lhs), rule.rhs.variable):
                if name not in var_specs:
                    raise ProgramError(f"the rule {rule} names {name!r}; there are {', '.join(var_specs)}")
        # Most rules of a program test its step, so only those for the current step are searched.
        named = Counter(atom.variable for rule in self.given for atom in rule.lhs)
        self._pivot = max(named, key=lambda name: (named[name], name)) if named else None
        self._tables: dict[int | None, dict[tuple[str, ...], dict[tuple[int | None, ...], list[AltaRule]]]] = {}
        for rule in self.given:
            names = tuple(atom.variable for atom in rule.lhs)
            asked = next((atom.value_idx for atom in rule.lhs if atom.variable == self._pivot), None)
            table = self._tables.setdefault(asked, defaultdict(dict))[names]
            table.setdefault(tuple(atom.value_idx for atom in rule.lhs), []).append(rule)

    def run_layer(self, activations: Activations, logger: MLPLogger | None = None) -> None:
        codes = codes_of(self.var_specs, activations)
        fired: dict[str, AltaRule] = {}
        here = None if self._pivot is None else codes[self._pivot]
        for key in (None, here) if here is not None else (None,):
            for names, table in self._tables.get(key, {}).items():
                for rule in table.get(tuple(codes[n] for n in names), ()):
                    self._fire(rule, fired, logger)
        if logger is not None:
            log_emptied(self, codes, logger)
        write(self.var_specs, activations, {name: rule.rhs.new_value for name, rule in fired.items()})

    def _fire(self, rule: AltaRule, fired: dict[str, AltaRule], logger: MLPLogger | None) -> None:
        known = fired.setdefault(rule.rhs.variable, rule)
        if known.rhs.new_value != rule.rhs.new_value:
            raise WriteError(
                f"two rules set {rule.rhs.variable!r} at once: {shown(self, known)}; and {shown(self, rule)}"
            )
        if logger is not None:
            logger.add(rule)

    def get_rules(self) -> RuleSet:
        return list(self.given) + get_attention_transition_rules(self.var_specs, self.head_specs)


def shown(mlp: BaseMLP, rule: AltaRule) -> str:
    """The rule in words."""
    asked = [f"{a.variable} = {mlp.var_specs[a.variable].choices(a.variable)[a.value_idx]!r}" for a in rule.lhs]
    return f"{rule.rhs.variable} := {rule.rhs.new_value!r} where {' and '.join(asked) or 'always'}"


def codes_of(specs: VariablesMap, activations: Activations) -> dict[str, int | None]:
    """The code of every variable, None where it is undefined."""
    values = ((name, activations[name]) for name in specs)
    return {name: None if value is None else specs[name].code(value) for name, value in values}


def log_emptied(mlp: BaseMLP, codes: Mapping[str, int | None], logger: MLPLogger) -> None:
    """Log the rules that empty the heads' outputs."""
    for spec in mlp.head_specs:
        code = codes[spec.output]
        if code is not None:
            value = mlp.var_specs[spec.output].choices(spec.output)[code]
            logger.add(AltaRule((LHSAtom(spec.output, code),), RHS(spec.output, value, None)))
