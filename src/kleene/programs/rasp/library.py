"""RASP programs for the command line: a shelf of examples, how tokens are typed, and how a run is shown."""

from collections.abc import Callable, Sequence
from typing import Any

from kleene.notation.console import Entry, Shelf, Telling, typed_tokens
from kleene.programs.rasp import lib
from kleene.programs.rasp.expressions import SOp, tokens
from kleene.programs.rasp.program import RaspProgram


def _entry(
    name: str,
    summary: str,
    make: Callable[[], SOp],
    example: str,
    reference: Callable[[list], list],
    *,
    vocab: Any = "abcde",
    max_length: int = 10,
    causal: bool = False,
) -> Entry:
    """An entry of the shelf, whose program has the entry's name."""
    return Entry(
        name, summary, lambda: RaspProgram(make(), vocab, max_length, causal, name), (example,), reference=reference
    )


def _balance(xs: list, pair: str = "()") -> list[int]:
    """How many more brackets are open than closed, after each token."""
    opening, closing = pair
    return [xs[: i + 1].count(opening) - xs[: i + 1].count(closing) for i in range(len(xs))]


def _balanced(xs: list, *pairs: str) -> list[bool]:
    found = [_balance(xs, pair) for pair in pairs]
    return [all(min(depths) >= 0 and depths[-1] == 0 for depths in found)] * len(xs) if xs else []


def _found(xs: list, pattern: str) -> list:
    size = len(pattern)
    return [None if i < size - 1 else xs[i - size + 1 : i + 1] == list(pattern) for i in range(len(xs))]


def _by_rank(xs: list) -> list:
    """Each number at as many places from the left as there are smaller ones; None where there is none."""
    ranked = {sum(y < x for y in xs): x for x in xs}
    return [ranked.get(i) for i in range(len(xs))]


_SHELF = Shelf(
    "RASP program",
    (
        _entry(
            "reverse", "a word backwards", lambda: lib.make_reverse(tokens), "abc", lambda xs: xs[::-1]
        ),
        _entry("length", "how long the word is", lib.make_length, "abc", lambda xs: [len(xs)] * len(xs)),
        _entry(
            "hist", "how often each letter occurs", lib.make_hist, "abac", lambda xs: [xs.count(x) for x in xs]
        ),
        _entry(
            "count", "how often a occurs", lambda: lib.make_count(tokens, "a"), "abac",
            lambda xs: [xs.count("a")] * len(xs),
        ),
        _entry(
            "count_less_freq", "how many letters occur at most twice", lambda: lib.make_count_less_freq(2), "aaabbc",
            lambda xs: [sum(xs.count(x) <= 2 for x in xs)] * len(xs),
        ),
        _entry(
            "sort_unique", "different numbers in order", lambda: lib.make_sort_unique(tokens, tokens), "3142",
            _by_rank, vocab=range(1, 6), max_length=5,
        ),
        _entry(
            "sort", "numbers in order", lambda: lib.make_sort(tokens, tokens), "31421", sorted,
            vocab=range(1, 6), max_length=8,
        ),
        _entry(
            "sort_freq", "the most frequent letters first", lib.make_sort_freq, "abccba",
            lambda xs: sorted(xs, key=lambda x: -xs.count(x)), vocab="abc", max_length=8,
        ),
        _entry(
            "frac_prevs", "the fraction of a so far", lambda: lib.make_frac_prevs(tokens == "a"), "abaa",
            lambda xs: [xs[: i + 1].count("a") / (i + 1) for i in range(len(xs))],
        ),
        _entry(
            "pair_balance", "how much is open, as a fraction of what was read",
            lambda: lib.make_pair_balance(tokens, "(", ")"), "(()a",
            lambda xs: [depth / (i + 1) for i, depth in enumerate(_balance(xs))], vocab="()a",
        ),
        _entry(
            "shuffle_dyck", "whether brackets are balanced", lambda: lib.make_shuffle_dyck(["()"]), "(()())",
            lambda xs: _balanced(xs, "()"), vocab="()",
        ),
        _entry(
            "shuffle_dyck2", "whether two kinds of brackets are balanced", lib.make_shuffle_dyck2, "({)}",
            lambda xs: _balanced(xs, "()", "{}"), vocab="(){}", max_length=8,
        ),
        _entry(
            "shift", "a word moved to the right", lambda: lib.shift_by(1, tokens), "abc",
            lambda xs: [None, *xs][: len(xs)],
        ),
        _entry(
            "detect_pattern", "where abc ends", lambda: lib.detect_pattern(tokens, "abc"), "ababc",
            lambda xs: _found(xs, "abc"), vocab="abc",
        ),
        _entry(
            "causal_hist", "how often each letter occurred so far", lib.make_hist, "abac",
            lambda xs: [xs[: i + 1].count(x) for i, x in enumerate(xs)], causal=True,
        ),
    ),
)  # fmt: skip
entries, get = _SHELF.entries, _SHELF.get


def read(words: Sequence[str], subject: Any) -> list:
    """The tokens that a person typed, of the subject's vocabulary."""
    vocab = subject.vocab if isinstance(subject, RaspProgram) else subject.layout.vocabulary.values
    return typed_tokens(words, vocab)


def telling(outcome: Any) -> Telling:
    """The s-op's value at every position, and the number of layers."""
    trace = outcome.trace
    facts = {"output": trace.output, "steps": trace.steps}
    answer = " ".join(shown_value(value) for value in trace.output)
    return Telling(facts, answer, f"ran {trace.steps} layer{'s' * (trace.steps != 1)}")


def shown_value(value: Any) -> str:
    """A value as the terminal shows it: fractions with few digits.

    >>> shown_value("a"), shown_value(1 / 3), shown_value(2.0), shown_value(None)
    ('a', '0.333333', '2', 'None')
    """
    return f"{value:.6g}" if isinstance(value, float) else str(value)
