"""RASP programs of the collection, beside those of RASP's own shelf; each with plain Python that computes the same."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kleene.programs.rasp import lib
from kleene.programs.rasp.expressions import Full, Map, SequenceMap, SOp, indices, length, tokens
from kleene.programs.rasp.program import RaspProgram
from kleene.programs.rasp.selectors import Aggregate, Comparison, Select, SelectorWidth

EQ, LT, LEQ, GT = Comparison.EQ, Comparison.LT, Comparison.LEQ, Comparison.GT


@dataclass(frozen=True)
class RaspExample:
    """A program: what it computes in words, the s-op, and the same in plain Python."""

    summary: str
    make: Callable[[], SOp]
    reference: Callable[[list], list]
    vocab: Any = "abc"
    max_length: int = 5

    def build(self, name: str) -> RaspProgram:
        return RaspProgram(self.make(), self.vocab, self.max_length, name=name)


def _at(place: SOp, values: SOp = tokens) -> SOp:
    """What stands at another position."""
    return Aggregate(Select(indices, place, EQ), values)


def _same() -> Any:
    return Select(tokens, tokens, EQ)


def _before() -> Any:
    return Select(indices, indices, LT)


def _mirrored() -> SOp:
    return _at(length - indices - 1)


def _how_many(true: SOp) -> SOp:
    """At how many positions an s-op is true."""
    return SelectorWidth(Select(true, true, lambda key, query: key))


def _everywhere(value: Any, xs: list) -> list:
    return [value] * len(xs)


def _swapped(i: int, n: int) -> int:
    other = i + 1 if i % 2 == 0 else i - 1
    return other if other < n else i


def _next(letter: str) -> str:
    return {"a": "b", "b": "c", "c": "a"}[letter]


def _marked(letter: str, i: int) -> str:
    return letter.upper() if i % 2 == 0 else letter


def _run_starts(xs: list) -> int:
    return sum(i == 0 or x != xs[i - 1] for i, x in enumerate(xs))


DIGITS: Any = range(4)
EXAMPLES: dict[str, RaspExample] = {
    "identity": RaspExample("each letter itself", lambda: Map(lambda x: x, tokens), lambda xs: xs),
    "next_letter": RaspExample(
        "each letter replaced by the next of the alphabet, c by a", lambda: Map(_next, tokens),
        lambda xs: [_next(x) for x in xs],
    ),
    "mark_even": RaspExample(
        "capital letters at even positions", lambda: SequenceMap(_marked, tokens, indices),
        lambda xs: [_marked(x, i) for i, x in enumerate(xs)],
    ),
    "first": RaspExample(
        "the first letter, everywhere", lambda: Aggregate(Select(indices, Full(0), EQ), tokens),
        lambda xs: _everywhere(xs[0], xs),
    ),
    "last": RaspExample(
        "the last letter, everywhere", lambda: _at(length - 1), lambda xs: _everywhere(xs[-1], xs)
    ),
    "rotate": RaspExample(
        "a word turned to the left by one letter",
        lambda: _at(SequenceMap(lambda i, n: (i + 1) % n, indices, length)), lambda xs: xs[1:] + xs[:1],
    ),
    "swap_neighbours": RaspExample(
        "neighbours exchanged, two by two", lambda: _at(SequenceMap(_swapped, indices, length)),
        lambda xs: [xs[_swapped(i, len(xs))] for i in range(len(xs))],
    ),
    "repeat_half": RaspExample(
        "the first half of a word, again and again",
        lambda: _at(SequenceMap(lambda i, n: i % ((n + 1) // 2), indices, length)),
        lambda xs: [xs[i % ((len(xs) + 1) // 2)] for i in range(len(xs))],
    ),
    "clamp_shift": RaspExample(
        "a word moved to the right, whose first letter stays", lambda: _at(Map(lambda i: max(0, i - 1), indices)),
        lambda xs: [xs[max(0, i - 1)] for i in range(len(xs))],
    ),
    "earlier_count": RaspExample(
        "how often each letter occurred before", lambda: SelectorWidth(_before() & _same()),
        lambda xs: [xs[:i].count(x) for i, x in enumerate(xs)],
    ),
    "later_count": RaspExample(
        "how often each letter will occur again", lambda: SelectorWidth(Select(indices, indices, GT) & _same()),
        lambda xs: [xs[i + 1 :].count(x) for i, x in enumerate(xs)],
    ),
    "is_new": RaspExample(
        "whether a letter occurs for the first time", lambda: SelectorWidth(_before() & _same()) == 0,
        lambda xs: [x not in xs[:i] for i, x in enumerate(xs)],
    ),
    "mask_repeats": RaspExample(
        "a star in place of each letter that occurred before",
        lambda: SequenceMap(lambda x, n: "*" if n else x, tokens, SelectorWidth(_before() & _same())),
        lambda xs: ["*" if x in xs[:i] else x for i, x in enumerate(xs)],
    ),
    "distinct": RaspExample(
        "how many different letters there are", lambda: _how_many(SelectorWidth(_before() & _same()) == 0),
        lambda xs: _everywhere(len(set(xs)), xs),
    ),
    "has_twins": RaspExample(
        "whether some letter occurs twice", lambda: _how_many(SelectorWidth(_same()) > 1) > 0,
        lambda xs: _everywhere(len(set(xs)) < len(xs), xs),
    ),
    "prefix_count": RaspExample(
        "how many a there are so far",
        lambda: SelectorWidth(Select(indices, indices, LEQ) & Select(tokens, Full("a"), EQ)),
        lambda xs: [xs[: i + 1].count("a") for i in range(len(xs))],
    ),
    "prefix_parity": RaspExample(
        "whether there is an odd number of a so far",
        lambda: Map(
            lambda n: n % 2, SelectorWidth(Select(indices, indices, LEQ) & Select(tokens, Full("a"), EQ))
        ),
        lambda xs: [xs[: i + 1].count("a") % 2 for i in range(len(xs))],
    ),
    "more_a_than_b": RaspExample(
        "whether there are more a than b",
        lambda: SequenceMap(lambda a, b: a > b, lib.make_count(tokens, "a"), lib.make_count(tokens, "b")),
        lambda xs: _everywhere(xs.count("a") > xs.count("b"), xs),
    ),
    "count_twice": RaspExample(
        "how many positions have a letter that occurs exactly twice",
        lambda: _how_many(SelectorWidth(_same()) == 2), lambda xs: _everywhere(sum(xs.count(x) == 2 for x in xs), xs),
    ),
    "rank": RaspExample(
        "how many numbers are smaller", lambda: SelectorWidth(Select(tokens, tokens, LT)),
        lambda xs: [sum(y < x for y in xs) for x in xs], DIGITS,
    ),
    "maximum": RaspExample(
        "the largest number", lambda: Aggregate(Select(SelectorWidth(Select(tokens, tokens, GT)), Full(0), EQ), tokens),
        lambda xs: _everywhere(max(xs), xs), DIGITS,
    ),
    "minimum": RaspExample(
        "the smallest number",
        lambda: Aggregate(Select(SelectorWidth(Select(tokens, tokens, LT)), Full(0), EQ), tokens),
        lambda xs: _everywhere(min(xs), xs), DIGITS,
    ),
    "is_maximum": RaspExample(
        "whether no number is larger", lambda: SelectorWidth(Select(tokens, tokens, GT)) == 0,
        lambda xs: [x == max(xs) for x in xs], DIGITS,
    ),
    "inversions": RaspExample(
        "how many larger numbers stand before", lambda: SelectorWidth(_before() & Select(tokens, tokens, GT)),
        lambda xs: [sum(y > x for y in xs[:i]) for i, x in enumerate(xs)], DIGITS,
    ),
    "is_sorted": RaspExample(
        "whether the numbers are in order",
        lambda: _how_many(SelectorWidth(_before() & Select(tokens, tokens, GT)) > 0) == 0,
        lambda xs: _everywhere(xs == sorted(xs), xs), DIGITS,
    ),
    "mirror_equal": RaspExample(
        "whether a letter equals the one at the mirrored position",
        lambda: SequenceMap(lambda x, y: x == y, tokens, _mirrored()),
        lambda xs: [x == y for x, y in zip(xs, xs[::-1])],
    ),
    "palindrome": RaspExample(
        "whether the word is the same backwards",
        lambda: _how_many(SequenceMap(lambda x, y: x != y, tokens, _mirrored())) == 0,
        lambda xs: _everywhere(xs == xs[::-1], xs),
    ),
    "same_ends": RaspExample(
        "whether the first letter is the last one",
        lambda: SequenceMap(
            lambda x, y: x == y, Aggregate(Select(indices, Full(0), EQ), tokens), _at(length - 1)
        ),
        lambda xs: _everywhere(xs[0] == xs[-1], xs),
    ),
    "runs": RaspExample(
        "how many runs of equal letters there are",
        lambda: _how_many(
            SequenceMap(
                lambda same, i: i == 0 or not same,
                SequenceMap(lambda x, y: x == y, tokens, _at(Map(lambda i: max(0, i - 1), indices))), indices,
            )
        ),
        lambda xs: _everywhere(_run_starts(xs), xs),
    ),
    "odd_length": RaspExample(
        "whether the length is odd", lambda: Map(lambda n: n % 2 == 1, length),
        lambda xs: _everywhere(len(xs) % 2 == 1, xs),
    ),
}  # fmt: skip
