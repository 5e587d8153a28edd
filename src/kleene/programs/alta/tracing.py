"""One path through an MLP function, run on symbolic values: what it decides on, and what it writes.

Only control flow forks. A path keeps the decisions that it took, and never takes one that earlier ones rule out.
Reads give the value that a variable had when the MLP began, so that the order of updates does not matter.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kleene.errors import ProgramError, TracingError
from kleene.programs.alta.source import line_in, line_of, place, place_of, signature_of
from kleene.programs.alta.symbols import Fault, Symbol, apply, filled_codes, identity_of, packed, same_symbol
from kleene.programs.alta.trees import (
    Allowed,
    Decision,
    Fork,
    Join,
    Leaf,
    Tree,
    combinations,
    distinct,
    feasible,
    narrowed,
    witness,
)
from kleene.programs.alta.values import TracedAssignment, Value, is_value, symbol_of
from kleene.programs.alta.variables import Variable, unwrapped

COSTLY = {"pow", "lshift"}  # without the guard that the user put before them, these may never end
MOST_STEPS = 100_000  # reads, writes, operations and decisions on one path


class Refusal(BaseException):
    """Ends the tracing. It is not an Exception, so that no `except` in the user's function catches it."""

    def __init__(self, error: ProgramError):
        super().__init__(str(error))
        self.error = error


class Impossible(BaseException):
    """Ends a path that no assignment takes."""


class Tracer:
    """Runs one function along one path after another. Unless `strict`, writes out of range are left to the caller."""

    def __init__(self, variables: Mapping[str, Variable], heads: Mapping[str, Variable], *, strict: bool = True):
        self.variables, self.heads, self.strict = dict(variables), dict(heads), strict
        self.domains = self.variables | self.heads
        self.root: list[Any] = [None]
        self.on_fork: Callable[[Decision], None] = lambda decision: None
        self._cache: dict[Any, Symbol] = {}
        self._alive: list[Any] = []
        self._symbols = {n: Symbol(n, (n,), packed(list(v.domain), (len(v.domain),))) for n, v in self.domains.items()}
        self.computed: dict[int, Symbol] = {}  # every symbol that an operation made
        self.closed = False  # once the function is explored
        self._operations: list[tuple[Any, Symbol]] = []
        self._everything = {n: np.ones(len(s.table), dtype=bool) for n, s in self._symbols.items()}

    # --- a path -------------------------------------------------------------------------------------------------

    def run(self, function: Callable[[Any], Any], script: Sequence[Decision | Join]) -> Leaf:
        """Run the function along the path that the script begins, and hang the leaf where it ends into the tree."""
        self._function, self._script = function, script
        self._before, self._operations = self._operations, []  # results of the user's own functions, in order
        self.log: list[Decision | Join] = []
        self.open: list[Decision] = []  # the forks of the path whose branches have not met again
        self.allowed: Allowed = self._everything
        self._slot: tuple[list[Any], int] = (self.root, 0)
        self._writes: dict[str, tuple[Any, int]] = {}
        self._looked_at: set[str] = set()
        self._steps, self._tabulating, self._refused = 0, False, None
        z = TracedAssignment(self)
        try:
            returned = function(z)
            if self._refused is not None:
                raise self._refused
            if returned is not None and returned is not z:
                raise self._returned(returned)
            leaf = self.leaf()
        except Impossible:
            leaf = Leaf({}, frozenset(), dead=True)
        except (Exception, SystemExit) as error:
            leaf = self._raised(error)
        self.hang(leaf)
        return leaf

    def leaf(self) -> Leaf:
        """What the path has written and looked at since it began, or since branches last met."""
        if len(self.log) < len(self._script):
            raise self._changeable()
        checked = {name: (self._checked(name, value, line), line) for name, (value, line) in self._writes.items()}
        return Leaf(checked, frozenset(self._looked_at))

    def hang(self, node: Tree) -> None:
        """Put a node into the tree at the path's current place."""
        children, index = self._slot
        children[index] = node

    def join(self, entry: Join) -> None:
        """Continue from where the branches of a fork have met."""
        decision = self.log[entry.start]
        assert isinstance(decision, Decision)
        self.allowed = decision.allowed
        del self.open[self.open.index(decision) :]
        self._slot = (entry.node.then, 0)
        self._writes, self._looked_at = {}, set()
        self.log.append(entry)

    @property
    def scripted(self) -> Decision | Join | None:
        """The next entry of the script; None where it has ended."""
        return self._script[len(self.log)] if len(self.log) < len(self._script) else None

    # --- what the function does ---------------------------------------------------------------------------------

    def read(self, name: str) -> Value:
        self._step()
        name = self._known(name)
        if name not in self._symbols:
            self._refuse_with(ProgramError(f"{self._place()}: {_unknown(name, self._symbols)}"))
        return Value(self, self._symbols[name])

    def write(self, name: str, value: Any) -> None:
        self._step()
        name, value = self._known(name), value if is_value(value) else unwrapped(value)
        if name in self.heads:
            self._refuse_with(
                ProgramError(
                    f"{self._place()}: writes to {name!r}, which is the output of a head; only attention sets it. "
                    f"Keep the value in a variable of its own."
                )
            )
        if name not in self.variables:
            self._refuse_with(ProgramError(f"{self._place()}: {_unknown(name, self.variables)}"))
        if is_value(value):
            value = symbol_of(value)
            self._looked_at.update(v for v in value.support if v in self.heads)
        self._writes[name] = (self._without_values(value), line_in(self._function))

    def combine(self, name: str, function: Callable, operands: tuple[Any, ...], *, own: bool = False) -> Value:
        """The value of an operation. The same operation on the same operands is the same symbol.

        The result of a function of the user's `own` may change, and is kept only for when the same path is run again.
        """
        self._step()
        plain = tuple(symbol_of(o) if is_value(o) else self._without_values(o) for o in operands)
        key: tuple[Any, ...] = (name, *(identity_of(o) for o in plain))
        if own or name in COSTLY:
            symbol = self._again(key) or self._partly(key, function, plain, own)
            self._operations.append((key, symbol))
        else:
            symbol = self._cache.get(key) or self._kept(key, self._tabulated(name, function, plain), plain)
        self.computed[id(symbol)] = symbol
        if symbol.faults is not None:
            self._raise_fault(symbol, symbol.faults)
        return Value(self, symbol)

    def _partly(self, key: tuple[Any, ...], function: Callable, operands: tuple[Any, ...], own: bool) -> Symbol:
        """The symbol of an operation, tabulated only where the path can lead, because elsewhere it might never end."""
        signature = signature_of(function) if own else "operator"
        left = tuple(self.allowed[v].tobytes() for o in operands if isinstance(o, Symbol) for v in o.support)
        wide = (*key, signature, left)
        if signature is None or any(len(d.symbol.support) > 1 for d in self.open):
            return self._tabulated(key[0], function, operands, self._possible)
        found = self._cache.get(wide)
        return found or self._kept(wide, self._tabulated(key[0], function, operands, self._possible), operands)

    def _kept(self, key: tuple[Any, ...], symbol: Symbol, operands: tuple[Any, ...]) -> Symbol:
        self._cache[key] = symbol
        self._alive.append(operands)  # objects known by their id must not be freed
        return symbol

    def _again(self, key: tuple[Any, ...]) -> Symbol | None:
        """The symbol of an operation that the previous path did too, in the part that both paths share."""
        done = len(self._operations)
        if self.scripted is None or done >= len(self._before):
            return None
        (name, *_), symbol = self._before[done]
        return symbol if name == key[0] else None

    def _tabulated(
        self, name: str, function: Callable, operands: tuple[Any, ...], where: Callable[..., np.ndarray] | None = None
    ) -> Symbol:
        self._tabulating = True
        try:
            return apply(name, function, operands, where)
        except TracingError as error:
            self._tabulating = False
            raise self._refusal(TracingError(f"{self._place()}: the function {error}.")) from None
        finally:
            self._tabulating = False

    def _possible(self, support: tuple[str, ...]) -> np.ndarray:
        return combinations(support, self.allowed, self.open)

    def decide(self, symbol: Symbol) -> Any:
        """The symbol's value on this path; forks where the path so far leaves it open."""
        self._step()
        self._looked_at.update(v for v in symbol.support if v in self.heads)
        return self._settled(symbol).outcome

    def _settled(self, symbol: Symbol) -> Decision:
        scripted = self.scripted
        if scripted is not None:
            return self._settled_again(symbol, scripted)
        outcomes = distinct(self.feasible(symbol))
        if not outcomes:
            raise Impossible
        decision = Decision(symbol, outcomes[0], self.allowed, self._slot)
        self.log.append(decision)
        if len(outcomes) > 1:
            decision.fork = Fork(symbol, outcomes, self._place(), [None] * len(outcomes))
            self.hang(decision.fork)
            self._take(decision)
            self.on_fork(decision)
        return decision

    def class_of(self, symbol: Symbol) -> type:
        """The class of the symbol's value; forks where several are possible."""
        if symbol.table.dtype != object:
            return bool if symbol.table.dtype.kind == "b" else int
        classes = {type(entry) for entry in self.feasible(symbol).tolist()}
        return classes.pop() if len(classes) == 1 else self.decide(symbol_of(self.combine("type", type, (symbol,))))

    def length_of(self, symbol: Symbol) -> int | None:
        """The number of items of a tuple or list; None for objects whose value must be known to iterate over them."""
        kind = self.class_of(symbol)
        if not hasattr(kind, "__iter__"):
            raise TypeError(f"{kind.__name__!r} object is not iterable")
        lengths = {len(entry) for entry in self.feasible(symbol).tolist()} if kind in (tuple, list) else set()
        return lengths.pop() if len(lengths) == 1 else None

    def refuse(self, what: str) -> None:
        """End the tracing: the function does something that no rules can be derived from."""
        self._refuse_with(TracingError(f"{self._place()}: the function {what}."))

    def _refuse_with(self, error: ProgramError) -> None:
        raise self._refusal(error)

    def _refusal(self, error: ProgramError) -> Refusal:
        self._refused = Refusal(error)  # kept, because a bare `except:` in the user's function would swallow it
        return self._refused

    def _step(self) -> None:
        if self.closed:
            raise TracingError(
                "a value from when a program was traced is used afterwards: the MLP function keeps values in a cache "
                "or a variable outside it. It must depend on z alone."
            )
        if self._refused is not None:
            raise self._refused
        if self._tabulating:
            self._tabulating = False
            self.refuse("uses z inside a function that is applied to single values; give the values as arguments")
        self._steps += 1
        if self._steps > MOST_STEPS:
            self.refuse(
                f"goes on for more than {MOST_STEPS:,} steps. A read gives the value from before the layer, whatever "
                f"was written meanwhile, so a loop that waits for z[…] to change never ends; count in a local variable"
            )

    def _place(self) -> str:
        return place_of()

    def _settled_again(self, symbol: Symbol, scripted: Decision | Join) -> Decision:
        if isinstance(scripted, Join) or not same_symbol(scripted.symbol, symbol):
            raise self._changeable()
        self.log.append(scripted)
        if scripted.fork is not None:
            scripted.outcome = scripted.fork.outcomes[scripted.choice]
            self._take(scripted)
        return scripted

    def _take(self, decision: Decision) -> None:
        """Follow an outcome of a fork."""
        assert decision.fork is not None
        if self.scripted is None:  # while a script is followed, nothing asks what is still possible
            self.allowed = narrowed(decision, decision.allowed, self.open)
        self.open.append(decision)
        self._slot = (decision.fork.children, decision.choice)

    def _changeable(self) -> Refusal:
        self._refused = Refusal(
            TracingError(
                f"{self._place()}: the function does not do the same when it is run again. It must depend on z alone, "
                f"not on chance, on time or on what it has kept from before."
            )
        )
        return self._refused

    def _raised(self, error: BaseException) -> Leaf:
        if self._contradictory():
            return Leaf({}, frozenset(), dead=True)
        if not self.strict:  # as if it wrote every variable out of range
            return Leaf(dict.fromkeys(self.variables, (-1, line_of(self._function, error))), frozenset(self._looked_at))
        raise TracingError(
            f"{place_of(error)}: the function raises {type(error).__name__}: {error}{self._situation()}. "
            f"It must give a result for every assignment of its variables."
        ) from error

    def _returned(self, returned: Any) -> Refusal:
        kind = "value" if is_value(returned) else type(returned).__name__
        first = getattr(getattr(self._function, "__code__", None), "co_firstlineno", 0)
        shown = f"the function returns a {kind}, which has no effect: write to z, and return nothing."
        return Refusal(TracingError(f"{self._at(first)}: {shown}"))

    def _raise_fault(self, symbol: Symbol, faults: Symbol) -> None:
        """Raise where the operation raises on plain values; go on where it does not."""
        decision = self._settled(faults)
        if decision.fork is not None:
            self._looked_at.update(v for v in faults.support if v in self.heads)
        if decision.outcome:
            raise symbol.errors[decision.outcome - 1].with_traceback(None)

    def _without_values(self, thing: Any) -> Any:
        """A container in which every traced value is replaced by what it is on this path."""
        kind = type(thing)
        if kind in (tuple, list, set, frozenset):
            if any(is_value(item) or type(item) in (tuple, list, set, frozenset, dict) for item in thing):
                return kind(self._known(item) for item in thing)
        elif kind is dict:
            return {self._known(k): self._known(v) for k, v in thing.items()}
        return thing

    def _known(self, thing: Any) -> Any:
        return self.decide(symbol_of(thing)) if is_value(thing) else self._without_values(thing)

    # --- what is written ----------------------------------------------------------------------------------------

    def feasible(self, symbol: Symbol) -> np.ndarray:
        """The entries of the symbol's table that this path can still meet."""
        return feasible(symbol, self.allowed, self.open)

    def _checked(self, name: str, value: Any, line: int) -> Any:
        """The written value in codes: an integer, or a symbol whose table holds codes (-1 where no path leads)."""
        variable = self.variables[name]
        if not isinstance(value, Symbol):
            code = variable.code(value)
            if code is None and self.strict:
                raise Refusal(
                    ProgramError(f"{self._at(line)}: sets {name!r} to {value!r}, but it takes {variable.expected}.")
                )
            return _or_minus_one(code)
        key = ("codes", name, id(value))
        if key not in self._cache:
            entries = value.table.ravel().tolist()
            codes = [-1 if isinstance(v, Fault) else _or_minus_one(variable.code(v)) for v in entries]
            symbol = Symbol(value.name, value.support, np.array(codes, dtype=np.int64).reshape(value.table.shape))
            symbol.base = value.base
            self._cache[key] = symbol
        coded = self._cache[key]
        if not self.strict or not (coded.table < 0).any():
            return coded
        if (self.feasible(coded) < 0).any():
            self._refuse_write(name, value, coded, line)
        if ("filled", *key) not in self._cache:
            self._cache["filled", *key] = filled_codes(coded)
        return self._cache["filled", *key]

    def _at(self, line: int) -> str:
        """The place of a line that was noted earlier, for an error message."""
        return place(getattr(self._function, "__code__", None), line)

    def _refuse_write(self, name: str, value: Symbol, coded: Symbol, line: int) -> None:
        """Raise, unless the decisions on this path together rule out every bad entry."""
        codes = witness(Symbol(value.name, coded.support, coded.table < 0), self.allowed, self.open)
        if codes is None:
            return
        entry = value.table[tuple(slice(codes[v], codes[v] + 1) for v in value.support)].ravel().tolist()[0]
        where = ", ".join(f"{v} = {self.domains[v].domain[c]!r}" for v, c in codes.items())
        raise Refusal(
            ProgramError(
                f"{self._at(line)}: the value written to {name!r} is {entry!r} where {where}, but {name!r} takes "
                f"{self.variables[name].expected}. Widen its range, or clip or guard the value."
            )
        )

    def _contradictory(self) -> bool:
        """Whether no assignment takes this path."""
        return bool(self.open) and witness(None, self.allowed, self.open) is None

    def _situation(self) -> str:
        names = [n for n, mask in self.allowed.items() if not mask.all() and mask.any()]
        shown = [f"{n} = {self.domains[n].domain[int(self.allowed[n].argmax())]!r}" for n in names[:6]]
        return f" (for example where {', '.join(shown)})" if shown else ""


def _unknown(name: Any, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(str(name), list(known), n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"there is no variable {name!r}{hint} The program has {', '.join(known)}."


def _or_minus_one(code: int | None) -> int:
    return -1 if code is None else code
