"""Transition rules in the paper's form: written by hand, or counted out from the cases of a function."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import ModelFileError, ProgramError
from kleene.programs.alta.cases import Case, Constant, Lookup, Sizes
from kleene.programs.alta.heads import Head, resolve_heads
from kleene.programs.alta.symbols import Sum
from kleene.programs.alta.variables import Variable
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
        """Every combination of the variables' values, each in scope while the loop is at it."""
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
        """Add the rule that sets a variable where the scope is as it is now."""
        if name in self._outputs:
            raise ProgramError(f"a rule sets {name!r}, which is the output of a head; only attention sets it.")
        if name not in self._variables:
            raise ProgramError(f"a rule sets {name!r}; the variables are {', '.join(self._variables)}.")
        if self._scope.get(name, _ABSENT) == value:
            return  # nothing would change
        rule = Rule(tuple(sorted(self._scope.items())), name, value)
        if self._variables[name].code(value) is None:
            raise ProgramError(f"the rule {rule} is out of range: {name!r} takes {self._variables[name].expected}.")
        self.rules.append(rule)


_ABSENT = object()


@dataclass(frozen=True)
class RuleSet:
    """The paper's transition rules as arrays.

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
    """Every transition rule that the cases stand for, those that empty the heads' outputs included."""
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


def act(c: Case, codes: Mapping[str, np.ndarray]) -> np.ndarray | int:
    """What the case writes for arrays of codes (one code where it is always the same); -1 where it has no entry."""
    action = c.action
    if isinstance(action, Constant):
        return action.code
    if isinstance(action, Lookup):
        if isinstance(action.feature, Sum):
            return action.table[action.feature.total(codes)]
        return action.table[np.minimum(codes[action.feature], len(action.table) - 1)]
    return action.array[tuple(codes[v] for v in action.support)]
