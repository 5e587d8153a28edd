"""The MLP of an ALTA program, run at one position: as rules, or by calling its function.

What a program may not do is judged where it does it: a write outside a variable's range, or two rules that set one
variable differently, are errors of the run in which they fire.
"""

import difflib
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kleene.errors import KleeneError, ProgramError, RunError, WriteError
from kleene.programs.alta.compat.rules import (
    RHS,
    LHSAtom,
    Rule,
    RuleSet,
    get_attention_transition_rules,
)
from kleene.programs.alta.compat.specs import Activations, BaseMLP, HeadSpecs, VariablesMap, VarSpec

MLPFunc = Callable[["VarsWrapper"], Any]


class MLPLogger:
    """Which rules fired, in `seen`, and how often each did, in `counts`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.seen: set[Rule] = set()
        self.counts: Counter[Rule] = Counter()

    def add(self, rule: Rule) -> None:
        self.seen.add(rule)
        self.counts[rule] += 1

    def add_all(self, rules: Iterable[Rule]) -> None:
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
    """What the function writes at one position, as it wrote it."""
    z = VarsWrapper(specs, heads, activations)
    try:
        function(z)
    except KleeneError:
        raise
    except Exception as error:
        raise RunError(f"the MLP's function raised {type(error).__name__}: {error}") from error
    return z.updates


def write(specs: VariablesMap, activations: Activations, updates: Activations) -> None:
    """Set the variables; an error where a value is not one that its variable takes."""
    for name, value in updates.items():
        if not specs[name].accepts(value):
            raise WriteError(f"{name!r} is set to {value!r}, but it takes {specs[name].expected}")
    activations.update({name: specs[name].plain(value) for name, value in updates.items()})


class SimpleMLP(BaseMLP):
    """A function that is called as it is; it has no rules."""

    def __init__(self, var_specs: VariablesMap, head_specs: HeadSpecs, ffn_fn: MLPFunc):
        self.var_specs, self.head_specs, self.ffn_fn = var_specs, head_specs, ffn_fn

    def run_layer(self, activations: Activations, logger: MLPLogger | None = None) -> None:
        if logger is not None:
            self.get_rules()
        write(self.var_specs, activations, call(self.ffn_fn, self.var_specs, self.head_specs, activations))

    def get_rules(self) -> RuleSet:
        raise ProgramError("this program was built with generate_rules=False, so that it has no rules")


class GeneratedMLP(BaseMLP):
    """A function as the rules that it stands for: one for every combination of all variables' values.

    The rules are never made unless they are asked for. They name every variable, so that none fires where a head is
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
        return [Rule(lhs, RHS(name, seen[name], new)) for name, new in written.items() if new != seen[name]]

    def get_rules(self) -> RuleSet:
        every = itertools.product(*(range(len(values)) for values in self._choices.values()))
        rules = [rule for codes in every for rule in self._rules_at(codes)]
        return rules + get_attention_transition_rules(self.var_specs, self.head_specs)


class SparseMLP(BaseMLP):
    """Rules as they were given. One that names a head which is undefined does not fire."""

    def __init__(self, var_specs: VariablesMap, head_specs: HeadSpecs, rules: Iterable[Rule]):
        self.var_specs, self.head_specs = var_specs, head_specs
        self.given = tuple(rules)
        for rule in self.given:
            for name in (*(atom.variable for atom in rule.lhs), rule.rhs.variable):
                if name not in var_specs:
                    raise ProgramError(f"the rule {rule} names {name!r}; there are {', '.join(var_specs)}")
        # Most rules of a program ask for its step: only those for the step at hand are looked through.
        named = Counter(atom.variable for rule in self.given for atom in rule.lhs)
        self._pivot = max(named, key=lambda name: (named[name], name)) if named else None
        self._tables: dict[int | None, dict[tuple[str, ...], dict[tuple[int | None, ...], list[Rule]]]] = {}
        for rule in self.given:
            names = tuple(atom.variable for atom in rule.lhs)
            asked = next((atom.value_idx for atom in rule.lhs if atom.variable == self._pivot), None)
            table = self._tables.setdefault(asked, defaultdict(dict))[names]
            table.setdefault(tuple(atom.value_idx for atom in rule.lhs), []).append(rule)

    def run_layer(self, activations: Activations, logger: MLPLogger | None = None) -> None:
        codes = codes_of(self.var_specs, activations)
        fired: dict[str, Rule] = {}
        here = None if self._pivot is None else codes[self._pivot]
        for key in (None, here) if here is not None else (None,):
            for names, table in self._tables.get(key, {}).items():
                for rule in table.get(tuple(codes[n] for n in names), ()):
                    self._fire(rule, fired, logger)
        if logger is not None:
            log_emptied(self, codes, logger)
        write(self.var_specs, activations, {name: rule.rhs.new_value for name, rule in fired.items()})

    def _fire(self, rule: Rule, fired: dict[str, Rule], logger: MLPLogger | None) -> None:
        known = fired.setdefault(rule.rhs.variable, rule)
        if known.rhs.new_value != rule.rhs.new_value:
            raise WriteError(
                f"two rules set {rule.rhs.variable!r} at once: {told(self, known)}; and {told(self, rule)}"
            )
        if logger is not None:
            logger.add(rule)

    def get_rules(self) -> RuleSet:
        return list(self.given) + get_attention_transition_rules(self.var_specs, self.head_specs)


def told(mlp: BaseMLP, rule: Rule) -> str:
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
            logger.add(Rule((LHSAtom(spec.output, code),), RHS(spec.output, value, None)))
