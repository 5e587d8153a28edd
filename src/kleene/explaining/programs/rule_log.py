"""The rule log of a data set: how often each transition rule of the paper's form fired, and on which input first.

Rules are counted by table: where a case of the program holds, the codes of its variables are the place of the rule.
"""

from dataclasses import dataclass, field

import numpy as np

from kleene.explaining.programs.watching import Codes
from kleene.programs.alta.cases import Case, View
from kleene.programs.alta.program import Program
from kleene.programs.alta.rules import Rule, RuleSet, paper_rules

NEVER = np.iinfo(np.int64).max


class CaseRules:
    """The transition rules of one case, and where to find each of them by the codes of the case's variables."""

    def __init__(self, program: Program, target: str, case: Case, first: int):
        names, sizes = tuple(program.sizes), program.sizes
        self.case, self.rules = case, paper_rules({target: [case]}, (), sizes)
        self.used = sorted(case.variables | {target}, key=names.index)
        self.first = first  # the number of the first of these rules
        axes = [sorted(case.conditions.get(v, range(sizes[v]))) for v in self.used]
        self.ranks = [np.zeros(sizes[v] + 1, dtype=np.int64) for v in self.used]
        for rank, axis, stride in zip(self.ranks, axes, _strides([len(axis) for axis in axes])):
            rank[axis] = np.arange(len(axis)) * stride
        self.table = np.full(int(np.prod([len(axis) for axis in axes])), -1, dtype=np.int64)
        columns = [self.rules.antecedents[:, names.index(v)] for v in self.used]
        self.table[self._places(columns)] = np.arange(len(self.rules)) + first

    def _places(self, columns: list[np.ndarray]) -> np.ndarray:
        return np.sum([rank[column] for rank, column in zip(self.ranks, columns)], axis=0)

    def fired(self, codes: Codes, at: np.ndarray) -> np.ndarray:
        """The number of the rule that fires at each of these places, -1 where the case changes nothing."""
        return self.table[self._places([codes[v].reshape(-1)[at] for v in self.used])]


def _strides(shape: list[int]) -> list[int]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return strides[::-1]


@dataclass
class RuleLog:
    """Every rule of a program, how often it fired, the first input on which it did, and its source line.

    The rules that empty the outputs of heads come last, as in `Program.rules()`. `seen` has, for every variable, which
    of its codes the MLP was given.
    """

    program: Program
    rules: RuleSet = field(init=False)
    lines: np.ndarray = field(init=False)
    counts: np.ndarray = field(init=False)
    first: np.ndarray = field(init=False)
    seen: dict[str, np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        program = self.program
        self._cases: list[CaseRules] = []
        lines: list[int] = []
        for target, cases in program.updates.items():
            for case in cases:
                self._cases.append(CaseRules(program, target, case, len(lines)))
                lines += [case.line] * len(self._cases[-1].rules)
        self.rules = paper_rules(program.updates, program.outputs, program.sizes)
        self._heads, start = {}, len(lines)
        for head in program.outputs:
            self._heads[head] = start
            start += program.sizes[head]
        assert start == len(self.rules)
        self.lines = np.array(lines + [0] * (start - len(lines)), dtype=np.int64)
        self.counts = np.zeros(start, dtype=np.int64)
        self.first = np.full(start, NEVER)
        self.seen = {name: np.zeros(size, dtype=bool) for name, size in program.sizes.items()}
        self._tables: dict = {}

    @property
    def fired(self) -> np.ndarray:
        return self.counts > 0

    def seen_after_all(self) -> dict[str, np.ndarray]:
        """Which codes every variable had, also after the last layer."""
        found = {name: seen.copy() for name, seen in self.seen.items()}
        for target, result in set(
            zip(self.rules.targets[self.fired].tolist(), self.rules.results[self.fired].tolist())
        ):
            if result >= 0:
                found[self.rules.variables[target]][result] = True
        return found

    def see(self, rows: np.ndarray, codes: Codes, inside: np.ndarray) -> None:
        """Count the rules that fire in one layer. The rows go down, so that the last of a rule's places is its first
        input."""
        at = np.flatnonzero(inside)
        codes = {name: array.reshape(-1)[at] for name, array in codes.items()}
        row = rows[at // inside.shape[1]]
        view = View(codes, tables=self._tables)
        for found in self._cases:
            at = np.flatnonzero(view.holds(found.case))
            if len(at):
                fired = found.fired(codes, at)
                kept = fired >= 0
                self._count(fired[kept], row[at[kept]])
        for name, seen in self.seen.items():
            if name in self._heads:
                defined = np.flatnonzero(codes[name] >= 0)
                self._count(codes[name][defined].astype(np.int64) + self._heads[name], row[defined])
            seen |= np.bincount(codes[name].astype(np.int64) + 1, minlength=len(seen) + 1)[1:] > 0

    def _count(self, fired: np.ndarray, rows: np.ndarray) -> None:
        if not len(fired):
            return
        low = int(fired.min())
        counts = np.bincount(fired - low)
        first = np.full(len(counts), NEVER)
        first[fired - low] = rows  # of equal rules the last, which has the smallest row
        here = slice(low, low + len(counts))
        self.counts[here] += counts
        self.first[here] = np.minimum(self.first[here], first)


def named_rules(program: Program, rules: RuleSet, chosen: np.ndarray) -> list[Rule]:
    """The chosen rules with the values of variables in the place of codes; those that empty heads are left out."""
    domains = [program.domains[name].domain for name in rules.variables]
    found = []
    for number in np.flatnonzero(chosen & (rules.results >= 0)).tolist():
        asked = np.flatnonzero(rules.antecedents[number] >= 0).tolist()
        antecedent = tuple((rules.variables[v], domains[v][rules.antecedents[number, v]]) for v in asked)
        target = int(rules.targets[number])
        found.append(Rule(antecedent, rules.variables[target], domains[target][rules.results[number]]))
    return found
