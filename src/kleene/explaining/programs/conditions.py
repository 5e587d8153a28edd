"""What ALTA's theorems assume of rules and pairs (Appendix B.1 to B.4); whatever falls outside is refused."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.errors import InputError
from kleene.explaining.programs.pairs import MLPPairs, check_categories
from kleene.programs.alta.program import Program
from kleene.programs.alta.rules import Rule, RuleSet


@dataclass(frozen=True, eq=False, repr=False)
class PaperForm:
    """Rules that the theorems are about, with the pairs that they reproduce.

    `rules` has no rule that empties a head's output: the theorems leave those out. Its variables are those of `pairs`.
    """

    rules: RuleSet
    pairs: MLPPairs
    sizes: tuple[int, ...]

    @cached_property
    def texts(self) -> dict[int, str]:
        """The texts that were asked for so far."""
        return {}

    def text(self, rule: int) -> str:
        """A rule as a person would write it."""
        if rule not in self.texts:
            self.texts[rule] = self._text(rule)
        return self.texts[rule]

    def _text(self, rule: int) -> str:
        names, asked = self.rules.variables, self.rules.antecedents[rule]
        antecedent = tuple((names[v], int(asked[v])) for v in np.flatnonzero(asked >= 0))
        return str(Rule(antecedent, names[self.rules.targets[rule]], int(self.rules.results[rule])))

    @cached_property
    def features(self) -> tuple[tuple[int, int], ...]:
        """The dimensions of the residual stream: a variable's index and one of its codes."""
        return tuple((v, code) for v, size in enumerate(self.sizes) for code in range(size))


def paper_form(rules: Program | RuleSet | Sequence[Rule], pairs: MLPPairs) -> PaperForm:
    """The rules and pairs, or an InputError that names the theorems' condition that does not hold."""
    if not len(pairs):
        raise InputError("there are no pairs, and minimality is relative to a data set; give at least one input.")
    if isinstance(rules, Program):
        check_categories(rules)
        found = rules.rules()
    else:
        found = rules if isinstance(rules, RuleSet) else _rule_set(rules, pairs.variables)
    if found.variables != pairs.variables:
        raise InputError(f"the rules name {', '.join(found.variables)}, and the pairs {', '.join(pairs.variables)}.")
    kept = found.results >= 0
    found = RuleSet(found.variables, found.antecedents[kept], found.targets[kept], found.results[kept])
    sizes = tuple(rules.sizes.values()) if isinstance(rules, Program) else _sizes(found, pairs)
    form = PaperForm(found, pairs, sizes)
    _check_codes(form)
    _check_rules(form)
    _check_exclusive(form)
    _check_reproduces(form)
    return form


def _rule_set(rules: Sequence[Rule], variables: tuple[str, ...]) -> RuleSet:
    """Rules written by hand, as they are."""
    antecedents = np.full((len(rules), len(variables)), -1, dtype=np.int64)
    for r, rule in enumerate(rules):
        for name, value in (*rule.antecedent, (rule.variable, rule.value)):
            if name not in variables:
                raise InputError(f"the rule {rule} names {name!r}; the pairs have {', '.join(variables)}.")
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
                raise InputError(f"the rule {rule}: {value!r} is no category; ALTA's theorems assume 0, 1, 2, …")
        if len(dict(rule.antecedent)) < len(rule.antecedent):
            raise InputError(f"the rule {rule} tests one variable twice; name each once.")
        for name, value in rule.antecedent:
            antecedents[r, variables.index(name)] = value
    targets = np.array([variables.index(rule.variable) for rule in rules], dtype=np.int64)
    return RuleSet(variables, antecedents, targets, np.array([rule.value for rule in rules], dtype=np.int64))


def _sizes(rules: RuleSet, pairs: MLPPairs) -> tuple[int, ...]:
    """How many codes rules and pairs name. The weights of others would be 0, and no move of those helps."""
    most = np.max([a.max(axis=0, initial=0) for a in (rules.antecedents, pairs.inputs, pairs.outputs)], axis=0)
    np.maximum.at(most, rules.targets, rules.results)
    return tuple((most + 1).tolist())


def _check_codes(form: PaperForm) -> None:
    """The pairs hold only values that the variables have."""
    for codes in (form.pairs.inputs, form.pairs.outputs):
        for n, v in np.argwhere(codes >= np.array(form.sizes))[:1]:
            name, size = form.pairs.variables[v], form.sizes[v]
            raise InputError(f"{name!r} is {codes[n, v]} in a pair; it takes an integer in 0..{size - 1}.")


def _check_rules(form: PaperForm) -> None:
    """Every rule names the old value of the variable that it sets, and the new one differs from it."""
    rules = form.rules
    old = rules.antecedents[np.arange(len(rules)), rules.targets]
    for r in np.flatnonzero(old < 0)[:1]:
        raise InputError(f"the rule {form.text(r)} does not name the old value of what it sets, as the theorems ask.")
    for r in np.flatnonzero(old == rules.results)[:1]:
        raise InputError(f"the rule {form.text(r)} sets what is so already; the theorems ask that every rule changes.")


def _check_exclusive(form: PaperForm) -> None:
    """No assignment at all, in the data or not, lets two rules set one variable."""
    rules = form.rules
    groups: dict[tuple[int, bytes], list[int]] = {}
    for r, (target, tested) in enumerate(zip(rules.targets.tolist(), rules.antecedents >= 0)):
        groups.setdefault((target, tested.tobytes()), []).append(r)
    listed = [(target, np.frombuffer(tested, dtype=bool), members) for (target, tested), members in groups.items()]
    for i, (target, tested, members) in enumerate(listed):
        for other_target, other_tested, others in listed[i:]:
            if target == other_target:
                both = next(_meeting(rules.antecedents[:, tested & other_tested], members, others), None)
                if both is not None:
                    first, second = map(form.text, both)
                    raise InputError(f"two rules can set one variable at once: {first}; and {second}.")


def _meeting(shared: np.ndarray, members: list[int], others: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs of rules that agree on every variable that both test."""
    seen: dict[bytes, int] = {}
    for r in members:
        key = shared[r].tobytes()
        if members is others and key in seen:
            yield seen[key], r
        seen[key] = r
    if members is not others:
        for r in others:
            if shared[r].tobytes() in seen:
                yield seen[shared[r].tobytes()], r


def misses(form: PaperForm, chunk: int = 1 << 24) -> Iterator[tuple[slice, np.ndarray]]:
    """For each block of rules, which constraints fail on which pairs: booleans of shape (variables, pairs, rules)."""
    asked, given = form.rules.antecedents.T, form.pairs.inputs.T
    size = max(1, chunk // max(1, given.size))
    for start in range(0, len(form.rules), size):
        rows = slice(start, min(start + size, len(form.rules)))
        wanted = asked[:, None, rows]
        yield rows, (wanted >= 0) & (given[:, :, None] != wanted)


def _check_reproduces(form: PaperForm) -> None:
    """The rules make each pair's output of its input."""
    rules, pairs = form.rules, form.pairs
    made = pairs.inputs.copy()
    for rows, failing in misses(form):
        n, r = np.nonzero(~failing.any(axis=0))
        made[n, rules.targets[rows][r]] = rules.results[rows][r]
    wrong = np.argwhere(made != pairs.outputs)
    if len(wrong):
        n, v = wrong[0]
        given = ", ".join(f"{name} = {_shown(c)}" for name, c in zip(pairs.variables, pairs.inputs[n].tolist()))
        wanted = f"{_shown(int(made[n, v]))}, and the pair says {_shown(int(pairs.outputs[n, v]))}"
        raise InputError(f"the rules do not reproduce the pairs: at {given} they make {pairs.variables[v]} {wanted}.")


def _shown(code: int) -> str:
    return "null" if code < 0 else str(code)
