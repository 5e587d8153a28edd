"""From a plain Python function to the cases of an MLP: the function is asked, not read.

    function ─ ask ────────▶ Tree      runs.py: what it does for all values of all that it reads; assignment.py: its `z`
             ─ meaning_of ─▶ Meaning   meanings.py: the new code of each variable, as a decision diagram (diagrams.py)
             ─ cases_of ───▶ cases     splitting.py: few disjoint cases, with sums of variables (adding.py)

The function runs on ordinary Python values, so that it may do whatever Python can. Every step after it is an identity,
so that there is nothing to check afterwards.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from kleene.errors import FunctionError, ProgramError
from kleene.programs.alta.asking.meanings import Meaning, meaning_of
from kleene.programs.alta.asking.runs import Tree, ask
from kleene.programs.alta.asking.splitting import cases_of
from kleene.programs.alta.cases import Case
from kleene.programs.alta.source import code_of, first_place
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.variables import Variable

WITNESSES = 64  # assignments of a case that are tried to find the line that writes


@dataclass(frozen=True)
class Enumeration:
    """That the cases were made by running a function on all values of all that it reads."""

    combinations: int

    def __str__(self) -> str:
        return f"the function was run on all {self.combinations:,} combinations of the values that it reads, twice"


@dataclass(frozen=True)
class Answers:
    """The cases of an MLP: what is written to each variable, and where each head is used."""

    updates: Mapping[str, Sequence[Case]]
    reads: Mapping[str, Sequence[Case]]
    enumeration: Enumeration


class Functions:
    """Functions that write different variables, called one after the other as one function."""

    def __init__(self, functions: Sequence[Callable[[Any], Any]]):
        self.functions: tuple[Callable[[Any], Any], ...] = tuple(functions) if isinstance(functions, Iterable) else ()
        if not self.functions or not all(map(callable, self.functions)):
            raise ProgramError(f"ffn_fn must be a function of z, or a list of at least one, and is {functions!r}")
        self.__code__ = code_of(self.functions[0])
        self.__name__ = self.__qualname__ = " and ".join(getattr(f, "__name__", "function") for f in self.functions)

    def __call__(self, z: Any) -> None:
        for function in self.functions:
            function(z)


def answers_of(
    function: Callable[[Any], Any], variables: Mapping[str, Variable], heads: Mapping[str, Variable]
) -> Answers:
    """The cases of a function, or of each of several `Functions`."""
    parts = function.functions if isinstance(function, Functions) else (function,)
    trees = [ask(part, variables, heads) for part in parts]
    _refuse_shared(parts, trees)
    sizes = {name: len(v.domain) for name, v in (*variables.items(), *heads.items())}
    meaning = meaning_of(trees, sizes, heads)
    owners = {target: tree for tree in trees for target in tree.written}
    updates = {t: [_located(c, t, owners[t], sizes) for c in written_cases(meaning, t)] for t in meaning.updates}
    reads = {head: used_cases(meaning, head) for head in meaning.used}
    return Answers(updates, reads, Enumeration(sum(tree.leaves for tree in trees)))


def written_cases(meaning: Meaning, target: str) -> list[Case]:
    """The cases that write a variable."""
    return cases_of(meaning.diagrams, meaning.updates[target], target, meaning.used)


def used_cases(meaning: Meaning, head: str) -> list[Case]:
    """The cases in which a head is used."""
    others = {name: where for name, where in meaning.used.items() if name != head}
    return cases_of(meaning.diagrams, meaning.used[head], None, others)


def _refuse_shared(functions: Sequence[Callable], trees: Sequence[Tree]) -> None:
    owner: dict[str, Callable] = {}
    for function, tree in zip(functions, trees):
        for target in tree.written:
            if target in owner:
                raise FunctionError(
                    f"{first_place(function)}: {target!r} is written by this function and by the one at "
                    f"{first_place(owner[target])}. Functions in a list must write different variables: move what "
                    f"writes {target!r} into one of them."
                )
            owner[target] = function


def _located(c: Case, target: str, tree: Tree, sizes: Mapping[str, int]) -> Case:
    """The case with a source line that does what it says."""
    for codes in islice(_assignments(c, sizes), WITNESSES):
        if target in tree.leaf(codes).writes:
            return Case(c.where, c.action, tree.lines(codes).get(target, 0))
    return c


def _assignments(c: Case, sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Assignments for which a case holds; what it does not look at has code 0."""
    names = sorted(c.variables)
    sums = [(f, allowed) for f, allowed in c.where if isinstance(f, Sum)]
    for codes in product(*(sorted(c.conditions.get(n, range(sizes[n]))) for n in names)):
        chosen = dict(zip(names, codes))
        if all(sum(term[chosen[n]] for n, term in f.terms) in allowed for f, allowed in sums):
            yield dict.fromkeys(sizes, 0) | chosen
