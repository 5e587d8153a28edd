"""Where the branches of a function meet again, and what becomes of its local variables there.

A junction, found in the bytecode, is an instruction that every branch must pass, at which Python holds nothing of the
function but its local variables and the iterators of the loops around it. Two runs that agree in those do the same from
there on. Local variables in which the branches differ become tables.
"""

import dis
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from kleene.programs.alta.symbols import Symbol, aligned, key_of, packed
from kleene.programs.alta.tracing import Tracer
from kleene.programs.alta.trees import Decision, equals
from kleene.programs.alta.values import TracedAssignment, Value, is_value, symbol_of

END = -1  # the offset after a return
RETURNS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}
JUMPS = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE"}


@dataclass(frozen=True)
class Junctions:
    """The junctions of one function's code."""

    code: CodeType

    @cached_property
    def instructions(self) -> dict[int, dis.Instruction]:
        return {i.offset: i for i in dis.get_instructions(self.code)}

    @cached_property
    def following(self) -> dict[int, tuple[int, ...]]:
        """The offsets that may follow each instruction; errors that are raised and caught are left out."""
        offsets = list(self.instructions)
        after = dict(zip(offsets, [*offsets[1:], END]))
        return {offset: self._targets(i, after[offset]) for offset, i in self.instructions.items()}

    def _targets(self, instruction: dis.Instruction, after: int) -> tuple[int, ...]:
        if instruction.opname in RETURNS:
            return (END,)
        jumps = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
        target = (int(instruction.argval),) if jumps else ()
        return target if instruction.opname in JUMPS else (after, *target)

    def after(self, offset: int) -> int | None:
        """The junction where the branches of a fork at this instruction meet again; None where that is only the end."""
        # During a call the offset may lie behind the instruction, among the interpreter's inline caches.
        offset = max((o for o in self.instructions if o <= offset), default=0)
        if offset not in self._reached or self._hides_state:
            return None  # in a handler, or in a function with state beyond its local variables
        for candidate in self._behind(offset):
            # A loop that begins after the fork iterates over something that may depend on it.
            if candidate in self._clean and self._around(candidate) <= self._around(offset):
                return candidate
        return None

    def live(self, offset: int) -> frozenset[str]:
        """The local variables that may still be read from here on."""
        return self._live[offset]

    def _behind(self, offset: int) -> Iterable[int]:
        """The instructions that every path from here passes, the nearest first."""
        passed = self._passed[offset] - {offset, END}
        return sorted(passed, key=lambda o: len(self._passed[o]), reverse=True)

    @cached_property
    def _passed(self) -> dict[int, frozenset[int]]:
        """For every instruction, those that each path from it to the end passes, itself included."""
        every = frozenset(self._reached) | {END}
        passed = dict.fromkeys(self._reached, every) | {END: frozenset({END})}
        changed = True
        while changed:
            changed = False
            for offset in sorted(self._reached, reverse=True):
                meets = frozenset.intersection(*(passed[t] for t in self.following[offset])) | {offset}
                changed |= meets != passed[offset]
                passed[offset] = meets
        return passed

    @cached_property
    def _reached(self) -> dict[int, int]:
        """The depth of Python's stack before each instruction that is reached without an error."""
        first = next(iter(self.instructions))
        depths, waiting = {first: 0}, [first]
        while waiting:
            offset = waiting.pop()
            instruction = self.instructions[offset]
            for target in self.following[offset]:
                jump = target != END and target == instruction.argval and instruction.opname not in RETURNS
                depth = depths[offset] + dis.stack_effect(instruction.opcode, instruction.arg, jump=jump)
                if target != END and target not in depths:
                    depths[target] = depth
                    waiting.append(target)
                elif target != END and depths[target] != depth:
                    raise ValueError(f"two depths of the stack at {target}")
        return depths

    @cached_property
    def _hides_state(self) -> bool:
        """Whether the function changes state that outlives it, or reads its local variables other than by name."""
        stores = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"}
        outer = set(self.code.co_freevars)
        changes = any(
            i.opname in stores or (i.opname in ("STORE_DEREF", "DELETE_DEREF") and i.argval in outer)
            for i in self.instructions.values()
        )
        return changes or bool({"locals", "vars", "eval", "exec", "dir"}.intersection(self.code.co_names))

    @cached_property
    def _guarded(self) -> frozenset[int]:
        """The instructions from which an error leads to a handler of the function."""
        entries: Any = getattr(dis.Bytecode(self.code), "exception_entries")  # noqa: B009  # not in the type stubs
        ranges = [(e.start, e.end) for e in entries]
        return frozenset(o for o in self.instructions for start, end in ranges if start <= o <= end)

    @cached_property
    def _clean(self) -> frozenset[int]:
        """Where a line begins, or a loop repeats, with nothing on the stack but the iterators of the loops.

        In a loop that handles errors, a branch may reach the same instruction with an iterator that is further on.
        """
        starts = {i.offset for i in self.instructions.values() if _starts_line(i)}
        starts |= {t for o, targets in self.following.items() for t in targets if 0 <= t <= o}
        handled = {index for index, body in enumerate(self._loops) if body & self._guarded}
        fit = (starts & self._reached.keys()) - self._guarded
        return frozenset(o for o in fit if self._reached[o] == len(self._around(o)) and not self._around(o) & handled)

    def _around(self, offset: int) -> set[int]:
        """The `for` loops that the instruction is part of."""
        return {index for index, body in enumerate(self._loops) if offset in body}

    @cached_property
    def _loops(self) -> list[frozenset[int]]:
        """The instructions of every `for` loop, the one that fetches the next item included."""
        heads = [o for o, i in self.instructions.items() if i.opname == "FOR_ITER" and o in self._reached]
        return [frozenset({head} | (self._reach(head) & self._reaching(head))) for head in heads]

    def _reach(self, head: int) -> set[int]:
        body, leave = self.following[head][0], self.following[head][1]
        found, waiting = {body}, [body]
        while waiting:
            for target in self.following[waiting.pop()]:
                if target not in found and target not in (END, head, leave):
                    found.add(target)
                    waiting.append(target)
        return found

    def _reaching(self, head: int) -> set[int]:
        found: set[int] = {head}
        changed = True
        while changed:
            more = {o for o in self._reached if o not in found and found.intersection(self.following[o])}
            changed = bool(more)
            found |= more
        return found

    @cached_property
    def _live(self) -> dict[int, frozenset[str]]:
        # Inner functions may read these at any time, and where errors are handled a handler may read any variable.
        shared = frozenset(self.code.co_varnames if self._guarded else ()) | frozenset(self.code.co_cellvars)
        live = dict.fromkeys(self._reached, shared) | {END: frozenset()}
        changed = True
        while changed:
            changed = False
            for offset in sorted(self._reached, reverse=True):
                after = frozenset().union(*(live[t] for t in self.following[offset]))
                read, written = _locals_of(self.instructions[offset])
                needed = shared | read | (after - written)
                changed |= needed != live[offset]
                live[offset] = needed
        return live


def _starts_line(instruction: dis.Instruction) -> bool:
    """Whether a line begins here; `starts_line` is a line number or None before Python 3.13, a truth value since."""
    return bool(instruction.starts_line)


def _locals_of(instruction: dis.Instruction) -> tuple[frozenset[str], frozenset[str]]:
    """The local variables that an instruction reads, and those that it replaces; since Python 3.13 some do both."""
    value = instruction.argval
    actions = re.findall("(LOAD|STORE|DELETE)_FAST", instruction.opname)
    names = value if isinstance(value, tuple) else (value,)
    read: set[str] = set()
    written: set[str] = set()
    for action, name in zip(actions, names):
        if action == "LOAD" and name not in written:
            read.add(name)
        elif action != "LOAD":
            written.add(name)
    return frozenset(read), frozenset(written)


LARGEST_MERGED = 1 << 18
CONTAINERS = (list, tuple, dict, set)
PLAIN = (bool, int, float, str, bytes, frozenset, type(None))
Branch = tuple[list[Decision], frozenset[str], dict[str, Any]]  # decisions, heads looked at, local variables


def merged_locals(tracer: Tracer, branches: Sequence[Branch]) -> dict[str, Any] | None:
    """The local variables that differ, each merged into one value; None where one cannot be merged."""
    names = set().union(*(local for *_, local in branches))
    looked_at = frozenset.intersection(*(heads for _, heads, _ in branches))
    if any(names != set(local) for *_, local in branches):
        return None  # one is bound in only some of the branches
    if len({_aliases(local) for *_, local in branches}) > 1:
        return None
    merged = {}
    for name in sorted(names):
        values = [local[name] for *_, local in branches]
        if all(_same(values[-1], value) for value in values):
            continue
        one = _one(tracer, name, [(conditions, local[name]) for conditions, _, local in branches], looked_at)
        if one is None:
            return None
        merged[name] = one[0]
    return merged


def outside(function: Any) -> dict[str, Any]:
    """A copy of what the function can change beyond its local variables: objects that it names, and its own object."""
    plain = getattr(function, "__func__", function)
    code, known = getattr(plain, "__code__", None), getattr(plain, "__globals__", {})
    found = {n: known[n] for n in getattr(code, "co_names", ()) if n in known}
    found |= {n: c.cell_contents for n, c in zip(getattr(code, "co_freevars", ()), plain.__closure__ or ()) if _full(c)}
    found["its object"] = getattr(function, "__self__", None)
    return {f"outer {name}": copied for name, thing in found.items() if (copied := _copied(thing)) is not None}


def _full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # a variable that has no value yet
        return False


def _copied(thing: Any) -> Any:
    """The current content of an object; None for one that cannot change."""
    if type(thing) in CONTAINERS:
        return type(thing)(thing)
    fixed = isinstance(thing, (type, FunctionType, BuiltinFunctionType, ModuleType)) or is_value(thing)
    return None if fixed or not hasattr(thing, "__dict__") else dict(vars(thing))


def _aliases(local: Mapping[str, Any]) -> tuple[int, ...]:
    """Which of the containers in these variables are the same object, in the order in which they are met."""
    order: dict[int, int] = {}
    return tuple(order.setdefault(thing, len(order)) for name in sorted(local) for thing in _containers(local[name], 0))


def _containers(thing: Any, depth: int) -> Iterator[int]:
    if type(thing) in (list, dict, set):
        yield id(thing)
    if type(thing) in (list, tuple, dict) and depth < 8:
        for item in thing.values() if type(thing) is dict else thing:
            yield from _containers(item, depth + 1)


def _same(a: Any, b: Any) -> bool:
    """Whether two runs hold the same value here, as far as the rest of the function can distinguish."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if is_value(a):
        return symbol_of(a) is symbol_of(b)
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if type(a) is dict:
        return list(map(key_of, a)) == list(map(key_of, b)) and all(map(_same, a.values(), b.values()))
    if type(a) is FunctionType:
        cells = [tuple(c.cell_contents for c in f.__closure__ or () if _full(c)) for f in (a, b)]
        parts = [(f.__defaults__, f.__kwdefaults__, vars(f), *inner) for f, inner in zip((a, b), cells)]
        return a.__code__ is b.__code__ and _same(*parts)
    return type(a) is TracedAssignment or (type(a) in (*PLAIN, set) and key_of(a) == key_of(b))


def _one(
    tracer: Tracer, name: str, branches: list[tuple[list[Decision], Any]], looked_at: frozenset[str]
) -> tuple[Any] | None:
    """One value that equals each branch's value under that branch's decisions; None where it cannot be tabulated.

    Only numbers of one kind can be: `is None` or `is True` would not work on a table.
    """
    values = [value for _, value in branches]
    if all(type(v) is tuple and len(v) == len(values[0]) for v in values):
        items = [_item(tracer, name, branches, looked_at, i) for i in range(len(values[0]))]
        return None if any(i is None for i in items) else (tuple(i[0] for i in items if i is not None),)
    kinds = {type(v) for v in values if not is_value(v)}
    if kinds not in (set(), {int}, {float}):
        return None
    symbols = [d.symbol for conditions, _ in branches for d in conditions]
    symbols += [symbol_of(v) for v in values if is_value(v)]
    support = tuple(sorted({v for s in symbols for v in s.support}))
    if not looked_at.issuperset(v for v in support if v in tracer.heads):
        return None  # the table would look at a head in branches that did not, and there it may be undefined
    shape = tuple(len(tracer.domains[v].domain) for v in support)
    if math.prod(shape) > LARGEST_MERGED:
        return None
    symbol = Symbol(name, support, _table(branches, support, shape))
    bases = {s.base for s in symbols}
    if len(support) > 1 and len(bases) == 1:
        symbol.base = bases.pop()
    return (Value(tracer, symbol),)


def _item(
    tracer: Tracer, name: str, branches: list[tuple[list[Decision], Any]], looked_at: frozenset[str], index: int
) -> tuple[Any] | None:
    items = [(conditions, value[index]) for conditions, value in branches]
    if all(_same(items[-1][1], item) for _, item in items):
        return (items[-1][1],)
    return _one(tracer, name, items, looked_at)


def _table(branches: list[tuple[list[Decision], Any]], support: tuple[str, ...], shape: tuple[int, ...]) -> np.ndarray:
    """The value of each branch, where its decisions hold; any value where none of them holds."""
    table = np.empty(shape, dtype=object)
    for index, (conditions, value) in enumerate(branches):
        here = np.ones(shape, dtype=bool)
        for decision in conditions if index else []:  # the first branch also fills the entries where none holds
            here &= equals(aligned(decision.symbol, support), decision.outcome)
        if is_value(value):
            table[here] = np.broadcast_to(aligned(symbol_of(value), support), shape)[here]
        else:
            table[here] = value
    return packed(table.ravel().tolist(), shape)
