"""Random RASP programs, with every kind of expression in them, for tests and for checks of the compiler.

Most have a value on every input: numbers are averaged, categories are read from one position or from equal ones.
"""

import operator
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kleene.programs.rasp.definition import RaspDefinition
from kleene.programs.rasp.expressions import (
    Full,
    LinearSequenceMap,
    Map,
    SequenceMap,
    SOp,
    categorical,
    indices,
    length,
    numerical,
    tokens,
)
from kleene.programs.rasp.selectors import (
    Aggregate,
    Comparison,
    Select,
    Selector,
    SelectorWidth,
    selector_and,
    selector_not,
    selector_or,
)

ORDERED = (Comparison.LT, Comparison.LEQ, Comparison.GT, Comparison.GEQ, Comparison.EQ, Comparison.NEQ)


def random_program(seed: int, *, size: int = 6, max_length: int = 4, causal: bool | None = None) -> RaspDefinition:
    """A program of about `size` expressions over two or three tokens; the same seed gives the same program."""
    chance = random.Random(seed)
    chosen = chance.random() < 0.5 if causal is None else causal
    vocab: Any = chance.choice(["ab", "abc", (0, 1), (3, 1, 2)])
    grown = _Growing(chance, vocab, chosen)
    for _ in range(size):
        grown.grow()
    return RaspDefinition(grown.last, vocab, max_length, chosen, f"random_{seed}")


@dataclass
class _Growing:
    """The expressions so far: numbers, which may be averaged, and categories. None of them is ever None."""

    chance: random.Random
    vocab: Any
    causal: bool
    numbers: list[SOp] = field(default_factory=list)
    categories: list[SOp] = field(default_factory=list)
    selectors: list[Selector] = field(default_factory=list)
    last: SOp = tokens

    def __post_init__(self) -> None:
        self.numbers += [indices] if self.causal else [indices, length]
        (self.categories if isinstance(self.vocab[0], str) else self.numbers).append(tokens)
        self.selectors += [Select(tokens, tokens, Comparison.EQ), Select(indices, indices, Comparison.LEQ)]

    def grow(self) -> None:
        """Add an expression of a random kind."""
        steps: list[Callable[[], SOp]] = [self._map, self._pair, self._width, self._aggregate, self._moved]
        self.last = self.chance.choice(steps)()

    def _any(self) -> SOp:
        return self.chance.choice(self.numbers[-3:] + self.categories[-2:])

    def _some(self) -> SOp:
        """A number, more often a new one."""
        return self.chance.choice(self.numbers + 2 * self.numbers[-2:])

    def _number(self, made: SOp) -> SOp:
        self.numbers.append(made)
        return made

    def _category(self, made: SOp) -> SOp:
        self.categories.append(made)
        return made

    def _map(self) -> SOp:
        one, number = self._some(), self.chance.randint(-1, 2)
        made = self.chance.choice([one + number, number - one, one * 2, abs(one - 1), one > number, one == number])
        if self.chance.random() < 0.3:
            return self._category(Map(lambda x: f"<{x:g}>", one, simplify=False))
        return self._number(self.chance.choice([numerical, categorical])(made))

    def _pair(self) -> SOp:
        one, other = self._some(), self._some()
        kind = self.chance.randrange(4)
        if kind == 0:
            return self._number(LinearSequenceMap(one, other, 1, self.chance.choice([-1, 2])))
        if kind == 1:
            return self._category(SequenceMap(lambda x, y: (x, y), self._any(), self._any()))
        return self._number(SequenceMap(self.chance.choice([min, max, operator.sub]), one, other))

    def selector(self) -> Selector:
        """A random selector, which is kept."""
        one, other = self._some(), self._some()
        mine, compared = self._any(), self.chance.choice(ORDERED)
        first, second = self.chance.choice(self.selectors), self.chance.choice(self.selectors)
        simplify = self.chance.random() < 0.5
        makers: list[Callable[[], Selector]] = [
            lambda: Select(one, other, compared),
            lambda: Select(mine, mine, Comparison.EQ),
            lambda: Select(one, Full(1), compared),
            lambda: Select(one, other, lambda key, query: (key + query) % 2 == 0),
            lambda: selector_and(first, second, simplify),
            lambda: selector_or(first, second, simplify),
            lambda: selector_not(first, simplify),
        ]
        made = self.chance.choice(makers)()
        self.selectors.append(made)
        return made

    def _width(self) -> SOp:
        return self._number(SelectorWidth(self.selector()))

    def _aggregate(self) -> SOp:
        read = numerical(self._some().copy())
        return self._number(numerical(Aggregate(self.selector(), read, default=self.chance.choice([0, 0, 1]))))

    def _moved(self) -> SOp:
        """A category read from at most one position, or from positions at which it is the same."""
        read = self.chance.choice(self.categories or [Map(str, indices)])
        if self.chance.random() < 0.3:
            return self._category(Aggregate(Select(read, read, Comparison.EQ), read))
        offset = self.chance.choice([-1, 1, 2])
        there = Select(indices, indices, lambda key, query: key == query - offset)
        return self._category(Aggregate(there, read, default="?"))
