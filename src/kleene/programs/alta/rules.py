"""ALTA's transition rules: written by hand, listed from a function's cases, or turned into cases.

Rules that are given become disjoint cases, only a few where the rules spell out sums.
"""

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import ModelFileError, ProgramError
from kleene.programs.alta.cases import Case, Constant, Sizes, act, case, merged
from kleene.programs.alta.rule_tables import RuleTable, cost
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.table_sums import FREE
from kleene.programs.alta.variables import Head, Variable, resolve_heads
from kleene.tensors import read_tensors, write_tensors


@dataclass(frozen=True)
class Rule:
    """Where every variable has the value that `antecedent` names, `variable` becomes `value`."""

    antecedent: tuple[tuple[str, Any], ...]
    variable: str
    value: Any

    def __str__(self) -> str:
        conditions = " and ".join(f"{n} = {v!r}" for n, v in self.antecedent) or "always"
        return f"{self.variable} := {self.value!r} where {conditions}"


class MLPBuilder:
    """Builds rules by looping over the values of variables; what is in scope becomes the antecedent.

    >>> from kleene.programs import alta
    >>> builder = alta.MLPBuilder({"bit": alta.input_var(2)}, {})
    >>> for bit in builder.get("bit"):
    ...     builder.set("bit", 1 - bit)
    >>> [str(rule) for rule in builder.rules]
    ['bit := 1 where bit = 0', 'bit := 0 where bit = 1']
    """

    def __init__(self, variables: Mapping[str, Variable], heads: Mapping[str, Head]):
        self._outputs = resolve_heads("MLPBuilder", variables, heads)
        self._variables = dict(variables)
        self._scope: dict[str, Any] = {}
        self.rules: list[Rule] = []

    def get(self, *names: str) -> Iterator[Any]:
        """Every combination of the variables' values; each is in scope during its turn of the loop."""
        known = self._variables | self._outputs
        for name in names:
            if name not in known:
                raise ProgramError(f"there is no variable {name!r} to loop over; the program has {', '.join(known)}.")
            if name in self._scope:
                raise ProgramError(f"{name!r} is already in scope; use the value that the outer loop gave.")
        try:
            for values in itertools.product(*(known[n].domain for n in names)):
                self._scope.update(zip(names, values))
                yield values[0] if len(names) == 1 else values
        finally:  # also where the loop is left by `break`
            for name in names:
                self._scope.pop(name, None)

    def set(self, name: str, value: Any) -> None:
        """Add a rule that sets a variable, with the current scope as its antecedent."""
        self._check_target(name)
        if self._scope.get(name, _ABSENT) == value:
            return  # nothing would change
        rule = Rule(tuple(sorted(self._scope.items())), name, value)
        if self._variables[name].code(value) is None:
            raise ProgramError(f"the rule {rule} is out of range: {name!r} takes {self._variables[name].expected}.")
        self.rules.append(rule)

    def _check_target(self, name: str) -> None:
        if name in self._outputs:
            raise ProgramError(f"a rule sets {name!r}, which is the output of a head; only attention sets it.")
        if name not in self._variables:
            raise ProgramError(f"a rule sets {name!r}; the variables are {', '.join(self._variables)}.")


_ABSENT = object()


@dataclass(frozen=True)
class RuleSet:
    """ALTA's transition rules as arrays.

    `antecedents[r, v]` is the code that rule r asks of variable v, or -1; the rule's own target is always among
    them. `targets[r]` is the index of the variable that it sets, `results[r]` the new code, or -1 for null.
    """

    variables: tuple[str, ...]
    antecedents: np.ndarray
    targets: np.ndarray
    results: np.ndarray

    def __len__(self) -> int:
        return len(self.targets)

    def save(self, path: Any) -> None:
        """Write the rules to a safetensors file."""
        arrays = {n: np.asarray(getattr(self, n), dtype=np.int32) for n in ("antecedents", "targets", "results")}
        write_tensors(path, "rule set", {"variables": list(self.variables)}, arrays)

    @staticmethod
    def load(path: Any) -> "RuleSet":
        """The rules in a file that `save` wrote. Opening a file never runs code."""
        header, arrays = read_tensors(path, "rule set")
        try:
            found = RuleSet(tuple(header["variables"]), arrays["antecedents"], arrays["targets"], arrays["results"])
            shape = (len(found.targets), len(found.variables))
        except KeyError as error:
            raise ModelFileError(f"{str(path)!r} does not hold a whole rule set: {error} is missing") from None
        except TypeError as error:
            raise ModelFileError(f"{str(path)!r} does not hold a rule set ({error}); make it again") from None
        if found.antecedents.shape != shape or found.targets.ndim != 1 or found.results.shape != found.targets.shape:
            raise ModelFileError(f"{str(path)!r} holds a rule set whose arrays do not fit together; make it again")
        return found


def paper_rules(updates: Mapping[str, Sequence[Case]], heads: Iterable[str], sizes: Sizes) -> RuleSet:
    """Every transition rule that the cases amount to, including those that empty the heads' outputs."""
    names = tuple(sizes)
    blocks = [_count_out(target, c, names, sizes) for target, cases in updates.items() for c in cases]
    for head in heads:
        column = np.full((sizes[head], len(names)), -1, dtype=np.int32)
        column[:, names.index(head)] = np.arange(sizes[head])
        blocks.append((column, np.full(sizes[head], names.index(head)), np.full(sizes[head], -1)))
    if not blocks:
        blocks = [(np.zeros((0, len(names)), dtype=np.int32), np.zeros(0, int), np.zeros(0, int))]
    return RuleSet(names, *(np.concatenate(parts) for parts in zip(*blocks)))


def _count_out(target: str, c: Case, names: tuple[str, ...], sizes: Sizes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    used = sorted(c.variables | {target}, key=names.index)
    axes = [sorted(c.conditions.get(v, range(sizes[v]))) for v in used]
    grid = dict(zip(used, (g.ravel() for g in np.meshgrid(*axes, indexing="ij"))))
    holds = np.ones(len(grid[target]), dtype=bool)
    for feature, allowed in c.where:
        if isinstance(feature, Sum):
            holds &= np.isin(feature.total(grid), list(allowed))
    new = np.broadcast_to(act(c, grid), holds.shape)
    holds &= (new != grid[target]) & (new >= 0)
    rules = np.full((int(holds.sum()), len(names)), -1, dtype=np.int32)
    for v in used:
        rules[:, names.index(v)] = grid[v][holds]
    return rules, np.full(len(rules), names.index(target)), new[holds]


Groups = dict[tuple[str, ...], dict[tuple[int, ...], int]]  # by the names that rules ask for: codes, and the new code


@dataclass(frozen=True)
class RuleCases:
    """The cases of a set of rules: `updates` write each variable, `reads` look at each head, and in `faults` a rule
    fires that must not, by variable."""

    updates: dict[str, list[Case]]
    reads: dict[str, list[Case]]
    faults: dict[str, list[Case]]


def cases_from_rules(
    rules: Iterable[Rule], domains: Mapping[str, Variable], heads: Collection[str], *, strict: bool = True
) -> RuleCases:
    """The disjoint cases of a set of rules, with the sums that are found in them.

    A rule looks at a head where all its other conditions hold. Rules that conflict or write outside a range
    are refused; unless `strict`, they are faults where they fire.
    """
    sizes = {name: len(v.domain) for name, v in domains.items()}
    by_target: dict[str, Groups] = defaultdict(lambda: defaultdict(dict))
    guards: dict[str, Groups] = {head: defaultdict(dict) for head in heads}
    for rule in rules:
        names, codes, new = _coded(rule, domains, strict)
        known = by_target[rule.variable][names].setdefault(codes, new)
        if known != new:
            if strict:
                _conflict(rule.variable, names, codes, known, names, codes, new, domains)
            by_target[rule.variable][names][codes] = FREE
        for head in (n for n in names if n in guards):
            at = names.index(head)
            guards[head][names[:at] + names[at + 1 :]][codes[:at] + codes[at + 1 :]] = 1
    reads = {
        h: [c for n, rules in groups.items() for c in _looked(n, rules, heads, sizes)] for h, groups in guards.items()
    }
    found = RuleCases({}, {head: merged(cases, sizes) for head, cases in reads.items()}, {})
    for target, groups in by_target.items():
        found.updates[target], found.faults[target] = _target_cases(target, groups, domains, heads, sizes, strict)
    return found


def _target_cases(
    target: str, groups: Groups, domains: Mapping[str, Variable], heads: Collection[str], sizes: Sizes, strict: bool
) -> tuple[list[Case], list[Case]]:
    """The cases of one variable, and its faults. Rules that overlap no others are searched for sums."""
    cases, faults, others = [], [], {}
    for names, rules in groups.items():
        bad = {codes: 1 for codes, new in rules.items() if new == FREE}
        faults += _fewest("", names, bad, heads, sizes, rules)
        if any(_meet(names, rules, other, groups[other]) for other in groups if other != names):
            others[names] = {codes: new for codes, new in rules.items() if new != FREE}
        else:
            cases += _fewest(target, names, rules, heads, sizes)
    conflicts: list[Case] | None = None if strict else []
    cases += merged(_disjoint(target, others, domains, heads, sizes, conflicts), sizes)
    return cases, merged(faults + (conflicts or []), sizes)


def _meet(names: tuple[str, ...], rules: Mapping, other_names: tuple[str, ...], other_rules: Mapping) -> bool:
    """Whether a rule of one group and one of another may both hold, because no variable that both test excludes it."""
    for name in set(names) & set(other_names):
        mine = {codes[names.index(name)] for codes in rules}
        if not mine & {codes[other_names.index(name)] for codes in other_rules}:
            return False
    return True


def _fewest(
    target: str,
    names: tuple[str, ...],
    rules: Mapping[tuple[int, ...], int],
    heads: Collection[str],
    sizes: Sizes,
    among: Mapping[tuple[int, ...], int] | None = None,
) -> list[Case]:
    """The cases of rules that test the same variables: one by one and merged, or with sums where these are fewer."""
    if not rules:
        return []
    table = RuleTable.of(target, names, rules, heads, among) if len(names) > 1 else None
    found = table.cases(sizes) if table is not None else None
    if found is not None and cost(found) <= len(names) + len(set(rules.values())):
        return found  # one case for each rule would need at least about as many
    plain = _one_by_one(names, rules, sizes)
    return plain if found is None or cost(plain) < cost(found) else found


def _one_by_one(names: tuple[str, ...], rules: Mapping[tuple[int, ...], int], sizes: Sizes) -> list[Case]:
    kept = ((codes, new) for codes, new in rules.items() if new != FREE)
    return merged([case({n: frozenset({c}) for n, c in zip(names, at)}, Constant(new)) for at, new in kept], sizes)


def _looked(
    names: tuple[str, ...], rules: Mapping[tuple[int, ...], int], heads: Collection[str], sizes: Sizes
) -> list[Case]:
    """The cases in which one of these conditions holds, without sums, which an undefined head would make unknown."""
    table = RuleTable.of("", names, rules) if len(names) > 1 else None
    found = table.cases(sizes) if table is not None else None
    if found is None or any(isinstance(f, Sum) and set(f.variables) & set(heads) for c in found for f, _ in c.where):
        return _one_by_one(names, rules, sizes)
    return found


def _coded(rule: Rule, domains: Mapping[str, Variable], strict: bool) -> tuple[tuple[str, ...], tuple[int, ...], int]:
    """The names that a rule tests, in order, their codes, and the code that it writes."""
    codes = {}
    if len(dict(rule.antecedent)) < len(rule.antecedent):
        raise ProgramError(f"the rule {rule} tests one variable twice; name each once.")
    for name, value in rule.antecedent:
        if name not in domains:
            raise ProgramError(f"the rule {rule} tests {name!r}; the program has {', '.join(domains)}.")
        code = domains[name].code(value)
        if code is None:
            raise ProgramError(
                f"the rule {rule} tests a value that cannot be: {name!r} takes {domains[name].expected}."
            )
        codes[name] = code
    new = domains[rule.variable].code(rule.value) if rule.variable in domains else None
    if new is None and not strict and rule.variable in domains:
        new = FREE
    if new is None:
        expected = domains[rule.variable].expected if rule.variable in domains else "nothing: there is no such variable"
        raise ProgramError(f"the rule {rule} is out of range: {rule.variable!r} takes {expected}.")
    names = tuple(sorted(codes))
    return names, tuple(codes[n] for n in names), new


def _disjoint(
    target: str,
    groups: Mapping,
    domains: Mapping[str, Variable],
    heads: Collection[str],
    sizes: Sizes,
    conflicts: list[Case] | None,
) -> list[Case]:
    """Cases for the rules, each narrowed to what the rules before it do not cover.

    Where two rules conflict, that is noted in `conflicts`, or an error where `conflicts` is None. A narrowed rule must
    not come to depend on a head that may be undefined where it did not look at it before. So rules with few heads come
    first, and what is taken away tests the head last.
    """
    signatures = sorted(groups, key=lambda names: (sum(n in heads for n in names), len(names)))
    found = []
    for position, names in enumerate(signatures):
        earlier = [(s, _index(s, names, groups[s])) for s in signatures[:position]]
        for codes, new in groups[names].items():
            at = dict(zip(names, codes))
            pieces = [{n: frozenset({c}) for n, c in at.items()}]
            for other, index in earlier:
                shared = tuple(n for n in other if n in at)
                for other_codes, other_new in index.get(tuple(at[n] for n in shared), ()):
                    if other_new != new and conflicts is None:
                        _conflict(target, names, codes, new, other, other_codes, other_new, domains)
                    elif other_new != new and conflicts is not None:
                        both = {n: frozenset({c}) for n, c in (at | dict(zip(other, other_codes))).items()}
                        conflicts.append(case(both, Constant(1)))
                    outside = {n: c for n, c in zip(other, other_codes) if n not in at}
                    if sum(n in heads for n in outside) > 1:
                        raise ProgramError(
                            f"two rules overlap: {_shown(target, names, codes, new, domains)}; and "
                            f"{_shown(target, other, other_codes, other_new, domains)}. They set the same variable, "
                            f"but look at different heads, either of which may be undefined; make them exclude each "
                            f"other."
                        )
                    outside = dict(sorted(outside.items(), key=lambda item: item[0] in heads))
                    pieces = [p for piece in pieces for p in _without(piece, outside, sizes)]
            found += [case(piece, Constant(new)) for piece in pieces]
    return found


def _index(signature: tuple[str, ...], names: tuple[str, ...], rules: Mapping) -> dict:
    index = defaultdict(list)
    for codes, new in rules.items():
        index[tuple(c for n, c in zip(signature, codes) if n in names)].append((codes, new))
    return index


def _without(piece: dict, outside: dict[str, int], sizes: Sizes) -> list[dict]:
    """The piece without the part where every variable in `outside` has its code, as disjoint parts."""
    parts, kept = [], dict(piece)
    for name, code in outside.items():
        here = kept.get(name, frozenset(range(sizes[name])))
        if here - {code}:
            parts.append(kept | {name: here - {code}})
        if code not in here:
            return parts
        kept[name] = frozenset({code})
    return parts


def _shown(target: str, names: Sequence[str], codes: Sequence[int], new: int, domains: Mapping[str, Variable]) -> str:
    antecedent = tuple((n, domains[n].domain[c]) for n, c in zip(names, codes))
    return str(Rule(antecedent, target, domains[target].domain[new]))


def _conflict(target, names, codes, new, other_names, other_codes, other_new, domains) -> None:
    raise ProgramError(
        f"two rules conflict: {_shown(target, names, codes, new, domains)}; and "
        f"{_shown(target, other_names, other_codes, other_new, domains)}. "
        f"Both can hold at once; add a condition to one of them."
    )
