"""Definition 1 of ALTA's Appendix B: constraints of rules that no example needs.

A constraint of a rule is needed if some example satisfies all the other constraints of the rule, but not this one: the
rule would fire there too. What a head read where its reading is undefined may be anything, so such an example counts
as satisfied. The constraint on the variable that the rule sets always stays, because every rule names the old value;
and rules that set the same variable stay exclusive, as Appendix B.1 asks of every rule set.
"""

from collections.abc import Sequence

import numpy as np

from kleene.errors import ProgramError
from kleene.explaining.programs.watching import Codes
from kleene.programs.alta.program import Program
from kleene.programs.alta.rules import RuleSet
from kleene.programs.alta.variables import Numeric

MOST_EXAMPLES = 4_000_000  # different examples of the MLP that are held in memory


class SeenAssignments:
    """The different inputs of the MLP that a data set gives."""

    def __init__(self, program: Program, most: int = MOST_EXAMPLES):
        numeric = [name for name, v in program.domains.items() if isinstance(v, Numeric)]
        if numeric:
            raise ProgramError(
                f"program {program.name!r} has numeric variables ({', '.join(numeric)}), and Definition 1 of ALTA's "
                f"Appendix B is about categorical ones; leave the constraints as they are"
            )
        self.program, self.names, self.most = program, tuple(program.sizes), most
        self._rows = [np.zeros((0, len(self.names)), dtype=np.int16)]
        self._waiting = 0

    def see(self, rows: np.ndarray, codes: Codes, inside: np.ndarray) -> None:
        """Keep the different examples of one layer."""
        found = np.stack([codes[name][inside].astype(np.int16) for name in self.names], axis=1)
        self._rows.append(_different(found))
        self._waiting += len(self._rows[-1])
        if self._waiting > 200_000:
            self._rows, self._waiting = [self.array], 0

    @property
    def array(self) -> np.ndarray:
        """The different examples, one a row: codes in the order of `names`, -1 for undefined readings."""
        found = _different(np.concatenate(self._rows))
        if len(found) > self.most:
            raise ProgramError(
                f"program {self.program.name!r}: the data set gives more than {self.most:,} different inputs of the "
                f"MLP; give fewer inputs, or leave constraints as they are"
            )
        return found


def _different(rows: np.ndarray) -> np.ndarray:
    """The rows without repetition; compared as bytes, which is faster than number by number."""
    rows = np.ascontiguousarray(rows)
    if not rows.size:
        return rows
    as_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)
    _, first = np.unique(as_bytes, return_index=True)
    return rows[first]


def spare(rules: RuleSet, examples: np.ndarray) -> list[tuple[int, int]]:
    """The constraints that no example needs, each by itself: the rule's number and the variable's."""
    found = []
    for number in range(len(rules)):
        unmet = _unmet(rules.antecedents[number], examples)
        once = unmet.sum(axis=1) == 1
        needed = unmet[once].any(axis=0)
        asked = (rules.antecedents[number] >= 0) & ~needed
        found += [(number, int(v)) for v in np.flatnonzero(asked) if v != rules.targets[number]]
    return found


def without_spare(rules: RuleSet, examples: np.ndarray) -> tuple[RuleSet, list[tuple[int, int]]]:
    """The rules without constraints that no example needs, one dropped after another, and which were dropped.

    What is left depends on the order, which is that of the variables; no single constraint more can be dropped.
    """
    antecedents, dropped = rules.antecedents.copy(), []
    for number in range(len(rules)):
        same = np.flatnonzero((rules.targets == rules.targets[number]) & (np.arange(len(rules)) != number))
        unmet = _unmet(antecedents[number], examples)
        left = unmet.sum(axis=1)
        for v in _droppable(rules, antecedents, number):
            if (unmet[:, v] & (left == 1)).any() or not _exclusive(antecedents, number, v, same):
                continue
            antecedents[number, v] = -1
            left = left - unmet[:, v]
            dropped.append((number, v))
    return RuleSet(rules.variables, antecedents, rules.targets, rules.results), dropped


def _droppable(rules: RuleSet, antecedents: np.ndarray, number: int) -> Sequence[int]:
    return [int(v) for v in np.flatnonzero(antecedents[number] >= 0) if v != rules.targets[number]]


def _unmet(antecedent: np.ndarray, examples: np.ndarray) -> np.ndarray:
    """Which constraints each example does not satisfy; an undefined reading may satisfy any."""
    return (antecedent >= 0) & (examples != antecedent) & (examples >= 0)


def _exclusive(antecedents: np.ndarray, number: int, without: int, others: np.ndarray) -> bool:
    """Whether the rule, without one constraint, can hold together with none of the others."""
    mine, theirs = antecedents[number].copy(), antecedents[others]
    mine[without] = -1
    return bool(((mine >= 0) & (theirs >= 0) & (mine != theirs)).any(axis=1).all())
