"""Decision diagrams of functions from codes to integers: ordered, and reduced so that equal functions are one node.

Every node is a number. A node tests one variable, its *level* in the order, and has a child for each code; an end has
a value. Because equal functions have equal numbers, whether a function depends on a variable, or two parts of a table
agree, is a comparison of integers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

END = 1 << 30  # the level of an end


class Diagrams:
    """Functions of some variables in a fixed order."""

    def __init__(self, names: Sequence[str], sizes: Mapping[str, int]):
        self.names, self.size, self._sizes = list(names), [sizes[n] for n in names], sizes
        self.level = {n: i for i, n in enumerate(names)}
        self.top: list[int] = []  # the level that a node tests
        self.children: list[tuple[int, ...]] = []
        self._known: dict[Any, int] = {}
        self._memo: dict[Any, Any] = {}
        self.zero, self.one = self.end(0), self.end(1)

    def with_names(self, names: Iterable[str]) -> "Diagrams":
        """The same diagrams, in whose order all these names have a place."""
        missing = [name for name in names if name not in self.level]
        for name in missing:
            self.level[name] = len(self.names)
            self.names.append(name)
            self.size.append(self._sizes[name])
        return self

    def end(self, value: int) -> int:
        """The function that is this value everywhere."""
        return self._made(END, (value,))

    def node(self, level: int, children: tuple[int, ...]) -> int:
        """The function that has a child for each code of a variable; the children test later variables only."""
        return children[0] if children.count(children[0]) == len(children) else self._made(level, children)

    def identity(self, name: str) -> int:
        """The function that is the code of a variable."""
        level = self.level[name]
        return self.node(level, tuple(self.end(code) for code in range(self.size[level])))

    def copy(self, level: int) -> int:
        """The function that is the code of the variable at a level."""
        return self.identity(self.names[level])

    def is_end(self, f: int) -> bool:
        return self.top[f] == END

    def value(self, f: int) -> int:
        """The value of an end."""
        return self.children[f][0]

    def _made(self, level: int, children: tuple[int, ...]) -> int:
        found = self._known.get((level, children))
        if found is None:
            found = self._known[level, children] = len(self.top)
            self.top.append(level)
            self.children.append(children)
        return found

    def select(self, level: int, branches: tuple[int, ...]) -> int:
        """The function that is branch i where the variable has code i; the branches may test earlier variables."""
        if branches.count(branches[0]) == len(branches):
            return branches[0]
        first = min(self.top[b] for b in branches)
        if first > level:
            return self.node(level, branches)
        key = ("select", level, branches)
        if key not in self._memo:
            if first == level:
                children = tuple(self.children[b][i] if self.top[b] == level else b for i, b in enumerate(branches))
                self._memo[key] = self.node(level, children)
            else:
                below = [self.children[b] if self.top[b] == first else None for b in branches]
                self._memo[key] = self.node(
                    first,
                    tuple(
                        self.select(level, tuple(b if k is None else k[j] for b, k in zip(branches, below)))
                        for j in range(self.size[first])
                    ),
                )
        return self._memo[key]

    def cofactors(self, f: int, level: int) -> tuple[int, ...]:
        """The function for every code of the variable."""
        top = self.top[f]
        if top >= level:
            return self.children[f] if top == level else (f,) * self.size[level]
        key = ("cofactors", f, level)
        if key not in self._memo:
            below = [self.cofactors(child, level) for child in self.children[f]]
            self._memo[key] = tuple(self.node(top, column) for column in zip(*below))
        return self._memo[key]

    def support(self, f: int) -> frozenset[int]:
        """The levels of the variables that the function depends on."""
        if self.top[f] == END:
            return frozenset()
        key = ("support", f)
        if key not in self._memo:
            parts = (self.support(child) for child in set(self.children[f]))
            self._memo[key] = frozenset({self.top[f]}).union(*parts)
        return self._memo[key]

    def ends(self, f: int) -> frozenset[int]:
        """The values that the function has."""
        if self.top[f] == END:
            return frozenset(self.children[f])
        key = ("ends", f)
        if key not in self._memo:
            self._memo[key] = frozenset().union(*(self.ends(child) for child in set(self.children[f])))
        return self._memo[key]

    def combined(self, operation: Callable[[int, int], int], f: int, g: int) -> int:
        """The function whose values are those of an operation on the values of two others."""
        key = (operation, f, g)
        if key not in self._memo:
            a, b = self.top[f], self.top[g]
            if a == b == END:
                self._memo[key] = self.end(operation(self.value(f), self.value(g)))
            else:
                level = min(a, b)
                n = self.size[level]
                pairs = zip(self.children[f] if a == level else (f,) * n, self.children[g] if b == level else (g,) * n)
                self._memo[key] = self.node(level, tuple(self.combined(operation, x, y) for x, y in pairs))
        return self._memo[key]

    def differ(self, f: int, g: int) -> int:
        """1 where two functions have different values."""
        return self.zero if f == g else self.combined(_differ, f, g)

    def either(self, parts: Iterable[int]) -> int:
        """1 where one of the functions is 1."""
        found = self.zero
        for part in dict.fromkeys(parts):
            if found == self.one:
                break
            found = part if found == self.zero else self.combined(max, found, part)
        return found

    def all_of(self, parts: Iterable[int]) -> int:
        """1 where all of the functions are 1."""
        found = self.one
        for part in dict.fromkeys(parts):
            if found == self.zero:
                break
            found = part if found == self.one else self.combined(min, found, part)
        return found

    def within(self, f: int, g: int) -> bool:
        """Whether g is 1 wherever f is."""
        return f == self.zero or g == self.one or self.combined(_beyond, f, g) == self.zero

    def at(self, f: int, codes: Mapping[str, int]) -> int:
        """The function's value for an assignment."""
        while self.top[f] != END:
            f = self.children[f][codes[self.names[self.top[f]]]]
        return self.value(f)


def _differ(a: int, b: int) -> int:
    return int(a != b)


def _beyond(a: int, b: int) -> int:
    return int(a == 1 and b == 0)
