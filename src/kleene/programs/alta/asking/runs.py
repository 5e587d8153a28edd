"""Runs of an MLP function on all combinations of the values that it reads, as a tree that is reduced while it grows.

The function runs on plain values. The first read of a run forks over all values of what is read, and so on, depth
first. What the runs wrote are the leaves. Equal subtrees are one node, and a read that changes nothing is no node, so
the leaves are never stored. All runs are done again in the opposite order: a function that answers differently is
refused.
"""

import random
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from kleene.errors import FunctionError, ProgramError
from kleene.programs.alta.asking.advice import advice, listed
from kleene.programs.alta.asking.assignment import Assignment, LocatedAssignment, Refusal, lines_of, unknown
from kleene.programs.alta.asking.patience import Lost, Patience
from kleene.programs.alta.asking.remembered import Remembered
from kleene.programs.alta.asking.undefined import Undefined, Used
from kleene.programs.alta.source import code_of, first_place, line_of, place, place_of
from kleene.programs.alta.variables import Variable
from kleene.users_code import users_code

MOST_LEAVES = 2_000_000
HOPELESS = 1000  # a function is given up early where so many times too many combinations are in sight: a rough guess
SECONDS = 5.0  # for one run
SAMPLED = 64  # assignments that are run once more
FEW, MANY_TIMES = 64, 7  # a function with so few combinations is run again more than once
FAULT = -1  # the code of a value that a variable cannot take, where that is left to the caller


@dataclass(frozen=True)
class Leaf:
    """What a run wrote, in codes. A run is `used` if it used an undefined reading."""

    writes: Mapping[str, int] = field(default_factory=dict)
    used: bool = False


@dataclass(frozen=True)
class Asked:
    """A read: what was read, and the node or leaf for each of its values, that of an undefined head last."""

    name: str
    children: tuple[int, ...]


@dataclass
class Tree:
    """The runs of one function. Node `root` is the whole; children have smaller numbers than their parents."""

    nodes: list[Asked | Leaf] = field(default_factory=list)
    root: int = 0
    leaves: int = 0  # how many combinations of values were run
    reads: list[str] = field(default_factory=list)  # names in the order in which they were first read
    lines: Callable[[Mapping[str, int]], Mapping[Any, int]] = lambda codes: {}  # which lines write, for an assignment

    def leaf(self, codes: Mapping[str, int]) -> Leaf:
        """The leaf at which an assignment ends; code -1 stands for an undefined head."""
        node = self.nodes[self.root]
        while isinstance(node, Asked):
            node = self.nodes[node.children[codes[node.name]]]
        return node

    @property
    def written(self) -> dict[str, None]:
        """The variables that some run writes."""
        return dict.fromkeys(name for node in self.nodes if isinstance(node, Leaf) for name in node.writes)


def ask(
    function: Callable[[Any], Any],
    variables: Mapping[str, Variable],
    heads: Mapping[str, Variable],
    *,
    strict: bool = True,
    undefined: bool = True,
    most: int = MOST_LEAVES,
    seconds: float = SECONDS,
) -> Tree:
    """The runs of the function. Unless `strict`, a run that raises or writes out of range has faults instead; unless
    `undefined`, heads always have a value."""
    asking = _Asking(function, variables, heads, strict, undefined, most)
    callers = _Asking.explore.__code__, _Asking._run_on.__code__
    watch = Patience(seconds, lambda: asking.runs, asking.share, f"asking {name_of(function)}", callers)
    before = Remembered(function)
    try:
        with users_code(), np.errstate(all="ignore"), watch:
            root = asking.tree.root = asking.explore(backwards=False)
            before.put_back()
            for again in range(MANY_TIMES if asking.runs <= FEW else 1):
                other = asking.explore(backwards=again % 2 == 0)
                if other != root:
                    asking.refuse_difference(root, other)
            asking.sample()
    except Refusal as refusal:
        raise refusal.error from refusal.error.__cause__
    except Lost as lost:
        raise asking.endless(lost, seconds) from None
    asking.tree.lines = asking.lines
    return asking.tree


def name_of(function: Callable) -> str:
    return getattr(function, "__name__", "function")


class _Asking:
    """The tree while it grows, and what is needed to make the next node."""

    def __init__(
        self, function: Callable, variables: Mapping, heads: Mapping, strict: bool, undefined: bool, most: int
    ):
        self.function, self.variables, self.heads = function, dict(variables), dict(heads)
        self.strict, self.most, self.runs, self.tree = strict, most, 0, Tree()
        self._used: list[bool] = []
        nothing = [Undefined(lambda: self._used.append(True))] if undefined else []
        self._domains = {n: list(v.domain) for n, v in self.variables.items()}
        self._domains |= {n: [*v.domain, *nothing] for n, v in self.heads.items()}
        self._known: dict[Any, int] = {}
        self._leaf_of: dict[Any, int] = {}
        self._read: dict[str, None] = {}
        self._z = Assignment({})

    def explore(self, *, backwards: bool) -> int:
        """Run the function on all combinations; returns the node that they come to."""
        function, used, leaf_of = self.function, self._used, self._leaf_of
        domains = {n: d[::-1] for n, d in self._domains.items()} if backwards else self._domains
        self._z = z = Assignment(domains)
        path, writes, choose, forget = z._path, z._writes, dict.__setitem__, dict.__delitem__
        runs, check_at, fork = 0, 1 << 17, None
        name, children, domain = "", list[int](), list[Any]()  # of the innermost fork
        while True:
            writes.clear()
            if used:
                used.clear()
            try:
                returned = function(z)
                if returned is not None and returned is not z and z._refused is None and not used:
                    raise Refusal(self._returned(returned))
                node = leaf_of.get(tuple(writes.items())) if not used and z._refused is None else None
                if node is None:
                    node = self._leaf(writes)
            except Used:
                node = self._leaf(writes)
            except (Exception, SystemExit) as error:
                node = self._raised(error)
            self.runs = runs = runs + 1
            if runs == check_at:
                check_at = self._check_bound(check_at)
            while path:
                if path[-1] is not fork:
                    fork = name, children = path[-1]
                    domain = domains[name]
                children.append(node)
                if (turn := len(children)) < len(domain):
                    choose(z, name, domain[turn])
                    break
                path.pop()
                forget(z, name)
                node = self._node(name, tuple(children[::-1] if backwards else children))
            else:
                self.tree.leaves = self.runs
                self.tree.reads = list(self._read)[::-1]
                return node

    def _node(self, name: str, children: tuple[int, ...]) -> int:
        if children.count(children[0]) == len(children):
            return children[0]
        self._read[name] = None
        return self._kept((name, children), Asked(name, children))

    def _kept(self, key: Any, node: Asked | Leaf) -> int:
        if key not in self._known:
            self._known[key] = len(self.tree.nodes)
            self.tree.nodes.append(node)
        return self._known[key]

    def _leaf(self, writes: Mapping[Any, Any]) -> int:
        """The leaf of a run that has ended; refuses what it wrote if it cannot be."""
        if self._used:
            return self._kept("used", Leaf(used=True))
        if self._z._refused is not None:
            raise Refusal(self._z._refused)
        codes = {}
        for given, value in writes.items():
            name = self._written_name(given)
            codes[name] = self._code(name, value)
        found = self._leaf_of[tuple(writes.items())] = self._kept(tuple(sorted(codes.items())), Leaf(codes))
        return found

    def _written_name(self, name: Any) -> str:
        if name in self.heads:
            raise Refusal(
                ProgramError(
                    f"{self._at(name)}: writes to {name!r}, which is the output of a head; only attention sets it. "
                    f"Keep the value in a variable of its own."
                )
            )
        if name not in self.variables:
            raise Refusal(ProgramError(f"{self._at(name)}: {unknown(name, self.variables)}"))
        return name

    def _code(self, name: str, value: Any) -> int:
        value = value[1] if type(value) is tuple else value
        variable = self.variables[name]
        code = variable.code(value)
        if code is None and self.strict:
            situation = self.situation()
            where = f" where {situation}" if situation else ""
            raise Refusal(
                ProgramError(
                    f"{self._at(name)}: the value written to {name!r} is {value!r}{where}, but {name!r} takes "
                    f"{variable.expected}. Widen its range, or clip or guard the value."
                )
            )
        return FAULT if code is None else code

    def _raised(self, error: BaseException) -> int:
        """The leaf of a run that raised. With an undefined reading, that is a use of it: `Decimal(reading)` asks it
        nothing and raises, and what raises with defined readings is found where they are."""
        if self._used or self._z._refused is not None:
            return self._leaf({})
        if any(type(dict.__getitem__(self._z, name)) is Undefined for name, _ in self._z._path):
            return self._kept("used", Leaf(used=True))
        if not self.strict:  # as if it wrote every variable out of range
            return self._kept("raised", Leaf(dict.fromkeys(self.variables, FAULT)))
        situation = self.situation()
        where = f" (where {situation})" if situation else ""
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise Refusal(self._error(error, f"raises {what}{where}")) from error

    def _error(self, error: BaseException, what: str) -> FunctionError:
        where = place_of(error) or first_place(self.function)
        made = FunctionError(
            f"{where}: the function {what}. It must give a result for every assignment of its variables."
        )
        made.__cause__ = error
        return made

    def _returned(self, returned: Any) -> FunctionError:
        kind = type(returned).__name__
        where, what = first_place(self.function), f"returns a value ({kind}), which has no effect"
        if isinstance(returned, Coroutine | Generator):
            returned.close()  # Python warns of a coroutine that was never awaited
            return FunctionError(
                f"{where}: the function returns a {kind}, so that its lines are never run: write it with `def`, and "
                f"without `await` and `yield`."
            )
        return FunctionError(f"{where}: the function {what}: write to z, and return nothing.")

    # --- bounds and errors ----------------------------------------------------------------------------------------

    def share(self) -> float:
        """Which part of all combinations was run, going by the values that had their turn."""
        done, part = 0.0, 1.0
        for name, children in list(self._z._path):
            part /= len(self._domains[name])
            done += part * len(children)
        return done

    def _check_bound(self, at: int) -> int:
        share = max(self.share(), 1e-300)
        if self.runs >= self.most or self.runs / share > HOPELESS * self.most:
            raise Refusal(self._too_many(share))
        return min(2 * at, self.most)

    def _too_many(self, share: float) -> FunctionError:
        sizes = {n: len(self._domains[n]) - (n in self.heads) for n, _ in self._z._path}
        together, runs = listed([f"{size} of {name}" for name, size in sizes.items()], " · "), self.runs
        return FunctionError(
            f"{first_place(self.function)}: the function reads too much at once: after {runs:,} combinations of "
            f"values about {_rounded(share)} of all are run. One run reads {together}. {advice(self._writes, sizes)}"
        )

    def _writes(self, codes: Mapping[str, int]) -> Mapping[str, int]:
        """What a run on some codes writes; all that is not given has its first value."""
        leaf = self.tree.nodes[self._run_on({**dict.fromkeys(self._domains, 0), **codes})]
        assert isinstance(leaf, Leaf)
        return leaf.writes

    def endless(self, lost: BaseException, seconds: float) -> FunctionError:
        situation = self.situation()
        where = f" where {situation}" if situation else ""
        return FunctionError(
            f"{place_of(lost)}: the function has not ended after {seconds:g} seconds{where}. A read gives the value "
            f"from before the layer, whatever was written meanwhile, so a loop that waits for z[…] to change never "
            f"ends; count in a local variable."
        )

    def situation(self) -> str:
        """What the run has read, in the user's names and values."""
        return listed([f"{name} = {self._shown(name)}" for name, _ in self._z._path])

    def _shown(self, name: str) -> str:
        value = dict.__getitem__(self._z, name)
        return "undefined" if type(value) is Undefined else repr(value)

    def _at(self, name: Any) -> str:
        """The place that wrote to `name` in this run, for an error message."""
        values = {read: dict.__getitem__(self._z, read) for read, _ in self._z._path}
        return place(code_of(self.function), self._lines_on(values).get(name, 0))

    def lines(self, codes: Mapping[str, int]) -> Mapping[Any, int]:
        """The lines that write where the variables have these codes."""
        with users_code(), np.errstate(all="ignore"):
            return self._lines_on({name: self._domains[name][code] for name, code in codes.items()})

    def _lines_on(self, values: Mapping[str, Any]) -> Mapping[Any, int]:
        """The function is run once more: to note lines in every run would take longer than the runs."""
        z = LocatedAssignment(self._domains, values, getattr(code_of(self.function), "co_filename", ""))
        try:
            self.function(z)
        except (Used, Refusal):
            pass
        except (Exception, SystemExit) as error:
            return dict.fromkeys(self.variables, line_of(self.function, error))
        return lines_of(z)

    def refuse_difference(self, first: int, second: int) -> None:
        """Refuse a function that answered differently when it was run again; reading in another order is no fault."""
        found = self._difference(first, second, {})
        if found is not None:
            self._refuse(*found)

    def sample(self) -> None:
        """Run the function on some assignments in no order, with all values in `z` from the start: it must not matter
        how, and after what, a value is read."""
        chance, nodes = random.Random(0), self.tree.nodes
        for _ in range(min(SAMPLED, 4 * self.tree.leaves)):
            codes = {name: chance.randrange(len(domain)) for name, domain in self._domains.items()}
            read, node = dict[str, int](), nodes[self.tree.root]
            while isinstance(node, Asked):
                read[node.name] = codes[node.name]
                node = nodes[node.children[codes[node.name]]]
            found = nodes[self._run_on(codes)]
            if found != node:
                assert isinstance(found, Leaf)
                self._refuse(read, node, found)

    def _run_on(self, codes: Mapping[str, int]) -> int:
        """The leaf of a run on one assignment."""
        values = {name: self._domains[name][code] for name, code in codes.items()}
        self._z = Assignment(self._domains, values)
        self._z._path.extend((name, []) for name in codes)
        self._used.clear()
        self.runs += 1
        try:
            self.function(self._z)
        except Used:
            pass
        except (Exception, SystemExit) as error:
            return self._raised(error)
        return self._leaf(self._z._writes)

    def _refuse(self, situation: Mapping[str, int], one: Leaf, other: Leaf) -> NoReturn:
        where = ", ".join(f"{n} = {self._value(n, code)}" for n, code in situation.items()) or "nothing is read"
        raise Refusal(
            FunctionError(
                f"{first_place(self.function)}: the function does not do the same when it is run again: where {where}, "
                f"it {self._told(one)} the first time and {self._told(other)} the second. It must depend on z alone, "
                f"not on chance, on time or on what it has kept from before."
            )
        )

    def _difference(self, first: int, second: int, chosen: dict[str, int]) -> tuple[dict, Leaf, Leaf] | None:
        one, other = self.tree.nodes[first], self.tree.nodes[second]
        if first == second:
            return None
        if isinstance(one, Leaf) and isinstance(other, Leaf):
            return None if (one.writes, one.used) == (other.writes, other.used) else (chosen, one, other)
        name = one.name if isinstance(one, Asked) else other.name if isinstance(other, Asked) else ""
        for code in [chosen[name]] if name in chosen else range(len(self._domains[name])):
            left = one.children[code] if isinstance(one, Asked) and one.name == name else first
            right = other.children[code] if isinstance(other, Asked) and other.name == name else second
            found = self._difference(left, right, chosen | {name: code})
            if found is not None:
                return found
        return None

    def _value(self, name: str, code: int) -> str:
        value = self._domains[name][code]
        return "undefined" if type(value) is Undefined else repr(value)

    def _told(self, leaf: Leaf) -> str:
        if leaf.used:
            return "used an undefined reading"
        shown = (f"{n} := {self.variables[n].domain[code]!r}" for n, code in leaf.writes.items() if code != FAULT)
        return f"wrote {', '.join(shown) or 'nothing'}"


def _rounded(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.0e}"
