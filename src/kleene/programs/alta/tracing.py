"""From a plain Python function to a decision tree: the function is run again for every way it can branch.

Only control flow forks. A path remembers the decisions it took; a branch that the decisions before it rule
out is never run. Reads give the value that a variable had when the MLP began, so that the order of updates
does not matter.
"""

import ast
import difflib
import inspect
import os
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kleene.errors import KleeneError, ProgramError, TracingError
from kleene.programs.alta.symbols import LARGEST_TABLE, Fault, Symbol, aligned, apply
from kleene.programs.alta.variables import Variable

MOST_PATHS = 50_000
HERE = os.path.dirname(__file__)


@dataclass(frozen=True)
class Leaf:
    """Where a path ends: what it wrote (constants or symbols, with the source line), which heads it looked at.

    A path that no assignment takes (its decisions contradict each other) is `dead`.
    """

    writes: Mapping[str, tuple[Any, int]]
    looked_at: frozenset[str]
    dead: bool = False


@dataclass
class Fork:
    """A decision: the symbol it looked at, its possible outcomes, and what follows each."""

    symbol: Symbol
    outcomes: list[Any]
    line: int
    children: list["Fork | Leaf | None"] = field(default_factory=list)


class Assignment:
    """The dict-like `z` that an MLP function gets while it is traced."""

    def __init__(self, tracer: "Tracer"):
        self._tracer = tracer

    def __getitem__(self, name: str) -> Symbol:
        return self._tracer.read(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._tracer.write(name, value)

    def __contains__(self, name: str) -> bool:
        return name in self._tracer.variables or name in self._tracer.heads

    def update(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            self[name] = value


class Tracer:
    """Explores every path of one function. Unless `strict`, the code -1 stands for what is written out of range."""

    def __init__(self, variables: Mapping[str, Variable], heads: Mapping[str, Variable], *, strict: bool = True):
        self.variables, self.heads, self.strict = dict(variables), dict(heads), strict
        self._cache: dict[Any, Symbol] = {}
        self._alive: list[Any] = []
        self._symbols = {n: self._base(n, v) for n, v in (self.variables | self.heads).items()}
        self._forks_at: Counter[int] = Counter()

    def _base(self, name: str, variable: Variable) -> Symbol:
        domain = variable.domain
        integers = all(type(v) is int for v in domain)
        table = np.empty(len(domain), dtype=object)
        table[:] = domain
        return Symbol(self, name, (name,), table.astype(np.int64) if integers else table)

    def explore(self, function: Callable[[Any], Any]) -> "Fork | Leaf":
        """The decision tree of the function: the root fork, or the only leaf."""
        reject_identity_tests(function)
        root: Fork | Leaf | None = None
        prefix: list[int] = []
        for _ in range(MOST_PATHS):
            self._start(prefix)
            leaf = self._run(function)
            root = self._insert(root, leaf)
            prefix = list(self._choices)
            while prefix and prefix[-1] + 1 == len(self._path[len(prefix) - 1].outcomes):
                prefix.pop()
            if not prefix:
                return root
            prefix[-1] += 1
        busiest = ", ".join(f"line {line} ({count:,} times)" for line, count in self._forks_at.most_common(3))
        raise TracingError(
            f"the function branches into more than {MOST_PATHS:,} paths, most often at {busiest}. Independent `if`s "
            f"in a row multiply: compute with the values instead (`x + y`, `x ^ y`), or give the rules with MLPBuilder."
        )

    def _start(self, prefix: list[int]) -> None:
        self._prefix = prefix
        self._path: list[Fork] = []
        self._choices: list[int] = []
        self._allowed = {n: np.ones(len(s.table), dtype=bool) for n, s in self._symbols.items()}
        self._writes: dict[str, tuple[Any, int]] = {}
        self._looked_at: set[str] = set()

    def _run(self, function: Callable[[Any], Any]) -> Leaf:
        try:
            function(Assignment(self))
        except KleeneError as error:
            if not isinstance(error, TracingError):
                raise
            if self._contradiction():
                return Leaf({}, frozenset(), dead=True)
            raise TracingError(f"line {user_line(error)}: the function {error}") from None
        except Exception as error:
            if self._contradiction():
                return Leaf({}, frozenset(), dead=True)
            if not self.strict:  # as if it wrote every variable out of range
                line = user_line(error)
                return Leaf(dict.fromkeys(self.variables, (-1, line)), frozenset(self._looked_at))
            raise TracingError(
                f"line {user_line(error)}: the function raised {type(error).__name__}: {error}"
                f"{self._situation()}. It must give a result for every assignment of its variables."
            ) from error
        for name, (value, line) in self._writes.items():
            self._writes[name] = (self._checked(name, value, line), line)
        return Leaf(self._writes, frozenset(self._looked_at))

    def _insert(self, root: "Fork | Leaf | None", leaf: Leaf) -> "Fork | Leaf":
        if not self._path:
            return leaf
        node = root if isinstance(root, Fork) else self._path[0]
        top = node
        for depth, choice in enumerate(self._choices):
            if not node.children:
                node.children = [None] * len(node.outcomes)
            last = depth + 1 == len(self._choices)
            if node.children[choice] is None:
                node.children[choice] = leaf if last else self._path[depth + 1]
            following = node.children[choice]
            if isinstance(following, Fork):
                node = following
        return top

    def read(self, name: str) -> Symbol:
        if name not in self._symbols:
            raise ProgramError(f"line {user_line()}: {_unknown(name, self._symbols)}")
        return self._symbols[name]

    def write(self, name: str, value: Any) -> None:
        line = user_line()
        if name in self.heads:
            raise ProgramError(
                f"line {line}: writes to {name!r}, which is the output of a head; only attention sets it. "
                f"Keep the value in a variable of its own."
            )
        if name not in self.variables:
            raise ProgramError(f"line {line}: {_unknown(name, self.variables)}")
        if isinstance(value, Symbol):
            self._looked_at.update(v for v in value.support if v in self.heads)
        self._writes[name] = (value, line)

    def combine(self, name: str, function: Callable, operands: tuple[Any, ...]) -> Symbol:
        """The symbol for an operation; the same operation on the same operands is the same symbol."""
        key: tuple[Any, ...] = (name, *(_identity(o) for o in operands))
        if key not in self._cache:
            self._cache[key] = apply(self, name, function, operands)
            self._alive.append(operands)  # what is known by its id must not be freed
        return self._cache[key]

    def decide(self, symbol: Symbol) -> Any:
        """The value that the symbol has on this path; forks where the path so far leaves it open."""
        self._looked_at.update(v for v in symbol.support if v in self.heads)
        outcomes = _distinct(self._feasible(symbol))
        for outcome in outcomes:
            if isinstance(outcome, Fault):
                error = outcome.error
                raise TracingError(f"raises {type(error).__name__}: {error}{self._situation()}, at {symbol.name}")
        if len(outcomes) == 1:
            return outcomes[0]
        depth = len(self._path)
        choice = self._prefix[depth] if depth < len(self._prefix) else 0
        line = user_line()
        self._forks_at[line] += 1
        self._narrow(symbol, outcomes[choice])
        self._path.append(Fork(symbol, outcomes, line))
        self._choices.append(choice)
        return outcomes[choice]

    def _possible(self, support: tuple[str, ...]) -> np.ndarray:
        """Which combinations of these variables' codes the decisions that look at nothing else have left over."""
        masks = [self._allowed[v].reshape([-1 if u == v else 1 for u in support]) for v in support]
        possible = np.logical_and.reduce(np.broadcast_arrays(*masks))
        for fork, choice in zip(self._path, self._choices):
            if len(fork.symbol.support) > 1 and set(fork.symbol.support) <= set(support):
                possible = possible & _equals(aligned(fork.symbol, support), fork.outcomes[choice])
        return possible

    def _feasible(self, symbol: Symbol) -> np.ndarray:
        """The entries of the symbol's table that this path can still meet."""
        return symbol.table[self._possible(symbol.support)]

    def _narrow(self, symbol: Symbol, outcome: Any) -> None:
        hit = self._possible(symbol.support) & _equals(symbol.table, outcome)
        for axis, name in enumerate(symbol.support):
            others = tuple(i for i in range(hit.ndim) if i != axis)
            self._allowed[name] &= hit.any(axis=others)

    def _checked(self, name: str, value: Any, line: int) -> Any:
        """The written value in codes: an integer, or a symbol whose table holds codes (-1 where no path leads)."""
        variable = self.variables[name]
        if not isinstance(value, Symbol):
            code = variable.code(value)
            if code is None and not self.strict:
                return -1
            if code is None:
                raise ProgramError(f"line {line}: sets {name!r} to {value!r}, but it takes {variable.expected}.")
            return code
        key = ("codes", name, id(value))
        if key not in self._cache:
            codes = [
                -1 if isinstance(v, Fault) else _or_minus_one(variable.code(v)) for v in value.table.ravel().tolist()
            ]
            symbol = Symbol(self, value.name, value.support, np.array(codes, dtype=np.int64).reshape(value.table.shape))
            symbol.base = value.base
            self._cache[key] = symbol
        coded = self._cache[key]
        if self.strict and (self._feasible(coded) < 0).any():
            self._refuse_write(name, value, coded, line)
        return coded

    def _refuse_write(self, name: str, value: Symbol, coded: Symbol, line: int) -> None:
        """Raise, unless the decisions on this path together rule every bad entry out."""
        bad = Symbol(self, value.name, coded.support, coded.table < 0)
        codes = self._witness(bad)
        if codes is None:
            return
        entry = value.table[tuple(slice(codes[v], codes[v] + 1) for v in value.support)].ravel().tolist()[0]
        domains = self.variables | self.heads
        where = ", ".join(f"{v} = {domains[v].domain[c]!r}" for v, c in codes.items())
        what = f"raises {type(entry.error).__name__}: {entry.error}" if isinstance(entry, Fault) else f"is {entry!r}"
        raise ProgramError(
            f"line {line}: the value written to {name!r} {what} where {where}, but {name!r} takes "
            f"{self.variables[name].expected}. Widen its range, or clip or guard the value."
        )

    def _contradiction(self) -> bool:
        """Whether no assignment takes this path."""
        return bool(self._path) and self._witness(None) is None

    def _witness(self, wanted: Symbol | None) -> dict[str, int] | None:
        """Codes that take this path and make the wanted symbol true; None where there are none.

        Where there are too many combinations to try, codes that the variables allow one by one.
        """
        symbols = [f.symbol for f in self._path] + ([wanted] if wanted is not None else [])
        support = tuple(sorted({v for s in symbols for v in s.support}))
        axes = [np.flatnonzero(self._allowed[v]) for v in support]
        if np.prod([float(len(a)) for a in axes]) > LARGEST_TABLE:
            return {v: int(a[0]) for v, a in zip(support, axes)}
        grid = dict(zip(support, np.meshgrid(*axes, indexing="ij", sparse=True)))
        taken = np.ones([len(a) for a in axes], dtype=bool)
        for fork, choice in zip(self._path, self._choices):
            table = fork.symbol.table[tuple(grid[v] for v in fork.symbol.support)]
            taken &= _equals(table, fork.outcomes[choice])
        if wanted is not None:
            taken &= wanted.table[tuple(grid[v] for v in wanted.support)]
        if not taken.any():
            return None
        return {v: int(a[i]) for v, a, i in zip(support, axes, np.argwhere(taken)[0])}

    def _situation(self) -> str:
        names = [n for n, mask in self._allowed.items() if not mask.all()]
        domains = self.variables | self.heads
        told = [f"{n} = {domains[n].domain[int(np.flatnonzero(self._allowed[n])[0])]!r}" for n in names[:6]]
        return f" (for example where {', '.join(told)})" if told else ""


def reject_identity_tests(function: Callable) -> None:
    """Refuse `z["x"] is 3`, which Python answers without asking the symbol, and so wrongly."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        first = inspect.getsourcelines(function)[1]
        tree = ast.parse(source)
        given = next(iter(inspect.signature(function).parameters), "")
    except (OSError, TypeError, ValueError, SyntaxError):
        return  # no source to read: a function typed into a shell, or a lambda inside a longer line
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            sides = [node.left, *node.comparators]
            if any(isinstance(s, ast.Subscript) and getattr(s.value, "id", None) == given for s in sides):
                raise TracingError(
                    f"line {first + node.lineno - 1}: the function compares a variable with `is`; use `==` or `!=`."
                )


def user_line(error: BaseException | None = None) -> int:
    """The line of the user's own code that is being run, or that raised the error."""
    if error is not None:
        lines = []
        trace = error.__traceback__
        while trace is not None:
            if os.path.dirname(trace.tb_frame.f_code.co_filename) != HERE:
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        return lines[-1] if lines else 0
    frame = sys._getframe(1)
    while frame is not None:
        if os.path.dirname(frame.f_code.co_filename) != HERE:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(str(name), list(known), n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"there is no variable {name!r}{hint} The program has {', '.join(known)}."


def _identity(operand: Any) -> Any:
    if isinstance(operand, Symbol):
        return ("symbol", id(operand))
    try:
        return (type(operand).__name__, operand, hash(operand))
    except TypeError:
        return ("object", id(operand))


def _distinct(table: np.ndarray) -> list[Any]:
    if table.dtype.kind in "ib":
        return np.unique(table).tolist()
    found: list[Any] = []
    for value in table.ravel().tolist():
        if not any(value is f or (type(value) is type(f) and value == f) for f in found):
            found.append(value)
    return found


def _equals(table: np.ndarray, outcome: Any) -> np.ndarray:
    if table.dtype.kind in "ib":
        return table == outcome
    flat = [type(v) is type(outcome) and v == outcome for v in table.ravel().tolist()]
    return np.array(flat, dtype=bool).reshape(table.shape)


def _or_minus_one(code: int | None) -> int:
    return -1 if code is None else code
