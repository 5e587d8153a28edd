"""RASP programs as people publish them, each with plain Python that computes the same: one table for all tests.

They are written as for Tracr, but for the import line: functions without arguments that return an s-op.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isclose, isnan
from typing import Any

from kleene.programs import rasp
from kleene.programs.rasp import lib


@dataclass(frozen=True)
class Published:
    """A program, what it may be given, and what it should give."""

    make: Callable[[], rasp.SOp]
    reference: Callable[[list], list]
    vocab: Sequence[Any] = "abc"
    max_length: int = 5
    causal: bool = False
    valid: Callable[[list], bool] = lambda xs: True  # inputs on which RASP has a value

    @property
    def name(self) -> str:
        return self.make.__name__.removeprefix("make_")


# Moving tokens about.


def make_identity() -> rasp.SOp:
    return rasp.Map(lambda x: x, rasp.tokens).named("identity")


def make_reverse() -> rasp.SOp:
    opp_idx = (rasp.length - rasp.indices).named("opp_idx")
    opp_idx = (opp_idx - 1).named("opp_idx-1")
    reverse_selector = rasp.Select(rasp.indices, opp_idx, rasp.Comparison.EQ).named("reverse_selector")
    return rasp.Aggregate(reverse_selector, rasp.tokens).named("reverse")


def make_shift_right() -> rasp.SOp:
    prev = rasp.Select(rasp.indices, rasp.indices, lambda k, q: k == q - 1)
    return rasp.Aggregate(prev, rasp.tokens, default="_")


def make_rotate_left() -> rasp.SOp:
    target = rasp.SequenceMap(lambda i, n: (i + 1) % n, rasp.indices, rasp.length)
    return rasp.Aggregate(rasp.Select(rasp.indices, target, rasp.Comparison.EQ), rasp.tokens).named("rotate")


def make_swap_neighbours() -> rasp.SOp:
    def partner(i, n):
        other = i + 1 if i % 2 == 0 else i - 1
        return other if other < n else i

    other = rasp.SequenceMap(partner, rasp.indices, rasp.length)
    return rasp.Aggregate(rasp.Select(rasp.indices, other, rasp.Comparison.EQ), rasp.tokens)


def make_first_token() -> rasp.SOp:
    first = rasp.Select(rasp.indices, rasp.indices, lambda k, q: k == 0)
    return rasp.Aggregate(first, rasp.tokens).named("first")


def make_last_token() -> rasp.SOp:
    last = rasp.Select(rasp.indices, rasp.length - 1, rasp.Comparison.EQ)
    return rasp.Aggregate(last, rasp.tokens).named("last")


def make_repeat_first_half() -> rasp.SOp:
    half = rasp.SequenceMap(lambda i, n: i % ((n + 1) // 2), rasp.indices, rasp.length)
    return rasp.Aggregate(rasp.Select(rasp.indices, half, rasp.Comparison.EQ), rasp.tokens)


def make_caesar() -> rasp.SOp:
    return rasp.Map(lambda c: chr((ord(c) - ord("a") + 1) % 3 + ord("a")), rasp.tokens).named("caesar")


def make_upper_at_even() -> rasp.SOp:
    return rasp.SequenceMap(lambda t, i: t.upper() if i % 2 == 0 else t, rasp.tokens, rasp.indices)


def make_mask_repeats() -> rasp.SOp:
    earlier = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ) & rasp.Select(
        rasp.indices, rasp.indices, rasp.Comparison.LT
    )
    seen = rasp.SelectorWidth(earlier) > 0
    return rasp.SequenceMap(lambda t, s: "*" if s else t, rasp.tokens, seen).named("mask_repeats")


# Counting.


def make_length() -> rasp.SOp:
    all_true = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.TRUE).named("all_true_selector")
    return rasp.SelectorWidth(all_true).named("length")


def make_hist() -> rasp.SOp:
    same_tok = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ).named("same_tok")
    return rasp.SelectorWidth(same_tok).named("hist")


def make_count_a() -> rasp.SOp:
    return rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.Full("a"), rasp.Comparison.EQ))


def make_distinct_tokens() -> rasp.SOp:
    before = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LT)
    same = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
    new = (rasp.SelectorWidth(before & same) == 0).named("is_new")
    return rasp.SelectorWidth(rasp.Select(new, new, lambda k, q: k)).named("distinct")


def make_prefix_count() -> rasp.SOp:
    upto = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ)
    is_a = rasp.Select(rasp.tokens, rasp.tokens, lambda k, q: k == "a")
    return rasp.SelectorWidth(rasp.SelectorAnd(upto, is_a))


def make_prefix_sums() -> rasp.SOp:
    upto = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ)
    mean = rasp.numerical(rasp.Aggregate(upto, rasp.numerical(rasp.tokens), default=0))
    return rasp.SequenceMap(lambda m, i: round(m * (i + 1)), mean, rasp.indices).named("prefix_sums")


def make_sum() -> rasp.SOp:
    everything = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.TRUE)
    mean = rasp.Aggregate(everything, rasp.tokens)
    return rasp.SequenceMap(lambda m, n: round(m * n), mean, rasp.length)


def make_moving_average() -> rasp.SOp:
    window = rasp.Select(rasp.indices, rasp.indices, lambda k, q: q - 2 < k <= q)
    return rasp.numerical(rasp.Aggregate(window, rasp.numerical(rasp.tokens), default=0)).named("moving_average")


def make_mean() -> rasp.SOp:
    everything = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.TRUE)
    return rasp.numerical(rasp.Aggregate(everything, rasp.numerical(rasp.tokens), default=0))


def make_frac_prevs() -> rasp.SOp:
    bools = rasp.numerical(rasp.tokens == "a")
    prevs = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ)
    return rasp.numerical(rasp.Aggregate(prevs, bools, default=0)).named("frac_prevs")


def make_count_greater_than_average() -> rasp.SOp:
    everything = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.TRUE)
    mean = rasp.Aggregate(everything, rasp.tokens)
    above = rasp.SequenceMap(lambda x, m: x > m, rasp.tokens, mean)
    return rasp.SelectorWidth(rasp.Select(above, above, lambda k, q: k))


# Order.


def make_rank() -> rasp.SOp:
    return rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.LT)).named("rank")


def make_sort_unique() -> rasp.SOp:
    smaller = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.LT).named("smaller")
    target_pos = rasp.SelectorWidth(smaller).named("target_pos")
    sel_new = rasp.Select(target_pos, rasp.indices, rasp.Comparison.EQ)
    return rasp.Aggregate(sel_new, rasp.tokens).named("sort")


def make_sort() -> rasp.SOp:
    keys = rasp.SequenceMap(lambda x, i: x + i / 10, rasp.tokens, rasp.indices)
    smaller = rasp.Select(keys, keys, rasp.Comparison.LT)
    target_pos = rasp.SelectorWidth(smaller)
    return rasp.Aggregate(rasp.Select(target_pos, rasp.indices, rasp.Comparison.EQ), rasp.tokens).named("sort")


def make_sort_with_selectors() -> rasp.SOp:
    less = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.LT)
    tie = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
    earlier = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LT)
    target = rasp.SelectorWidth(less | (tie & earlier))
    return rasp.Aggregate(rasp.Select(target, rasp.indices, rasp.Comparison.EQ), rasp.tokens)


def make_maximum() -> rasp.SOp:
    bigger = rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.GT))
    top = rasp.Select(bigger, bigger, lambda k, q: k == 0)
    return rasp.Aggregate(top, rasp.tokens).named("max")


def make_minimum() -> rasp.SOp:
    smaller = rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.LT))
    return rasp.Aggregate(rasp.Select(smaller, rasp.Full(0), rasp.Comparison.EQ), rasp.tokens).named("min")


def make_running_maximum() -> rasp.SOp:
    upto = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ)
    sees = [rasp.SelectorWidth(upto & rasp.Select(rasp.tokens, rasp.Full(v), rasp.Comparison.EQ)) > 0 for v in (1, 2)]
    return rasp.SequenceMap(lambda one, two: 2 if two else 1 if one else 0, *sees)


def make_is_sorted() -> rasp.SOp:
    before = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LT)
    larger = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.GT)
    wrong = rasp.SelectorWidth(before & larger) > 0
    return rasp.SelectorWidth(rasp.Select(wrong, wrong, lambda k, q: k)) == 0


def make_sort_by_frequency() -> rasp.SOp:
    return lib.make_sort_freq(max_seq_len=5)


def make_inversions() -> rasp.SOp:
    before = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LT)
    return rasp.SelectorWidth(before & rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.GT)).named("inversions")


# Patterns.


def make_detect_ab() -> rasp.SOp:
    return lib.detect_pattern(rasp.tokens, "ab")


def make_first_occurrence() -> rasp.SOp:
    earlier = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LT)
    same = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
    return rasp.SelectorWidth(earlier & same) == 0


def make_last_occurrence() -> rasp.SOp:
    later = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.GT)
    same = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
    return ~(rasp.SelectorWidth(later & same) > 0)


def make_palindrome() -> rasp.SOp:
    mirror = rasp.Select(rasp.indices, rasp.length - rasp.indices - 1, rasp.Comparison.EQ)
    same = rasp.SequenceMap(lambda x, y: x == y, rasp.tokens, rasp.Aggregate(mirror, rasp.tokens))
    return rasp.SelectorWidth(rasp.Select(same, same, lambda k, q: not k)) == 0


def make_alternates() -> rasp.SOp:
    prev = lib.shift_by(1, rasp.tokens)
    repeated = rasp.SequenceMap(lambda x, y: 1 if x == y else 0, rasp.tokens, prev)
    count = rasp.SelectorWidth(rasp.Select(repeated, repeated, lambda k, q: k == 1))
    return (count == 0).named("alternates")


def make_run_length() -> rasp.SOp:
    """How long the run of equal tokens is that ends here."""
    prev = lib.shift_by(1, rasp.tokens)
    starts = rasp.SequenceMap(lambda x, y: x != y, rasp.tokens, prev)
    begins = rasp.SequenceMap(lambda i, s: i if s else -1, rasp.indices, starts)  # None at 0, where nothing is before
    earlier = rasp.Select(begins, rasp.indices, lambda k, q: k is not None and 0 <= k <= q)
    runs = rasp.SelectorWidth(earlier)  # the run's number
    same = rasp.Select(runs, runs, rasp.Comparison.EQ) & rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ)
    return rasp.SelectorWidth(same).named("run_length")


def make_duplicates() -> rasp.SOp:
    return make_hist() > 1


def make_majority() -> rasp.SOp:
    ones = rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, lambda k, q: k == 1))
    return rasp.SequenceMap(lambda k, n: 2 * k > n, ones, rasp.length).named("majority")


def make_parity() -> rasp.SOp:
    ones = rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.Full(1), rasp.Comparison.EQ))
    return (ones % 2).named("parity")


def make_most_frequent() -> rasp.SOp:
    hist = make_hist()
    keys = rasp.SequenceMap(lambda h, i: h * 10 - i, hist, rasp.indices)
    larger = rasp.SelectorWidth(rasp.Select(keys, keys, rasp.Comparison.GT))
    return rasp.Aggregate(rasp.Select(larger, rasp.Full(0), rasp.Comparison.EQ), rasp.tokens).named("most_frequent")


def make_dyck1() -> rasp.SOp:
    return lib.make_shuffle_dyck(["()"])


def make_dyck2() -> rasp.SOp:
    return lib.make_shuffle_dyck2()


def make_pair_balance() -> rasp.SOp:
    opens = rasp.numerical(lib.make_frac_prevs(rasp.tokens == "(")).named("opens")
    closes = rasp.numerical(lib.make_frac_prevs(rasp.tokens == ")")).named("closes")
    return rasp.numerical(rasp.LinearSequenceMap(opens, closes, 1, -1)).named("pair_balance")


def make_depth() -> rasp.SOp:
    upto = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ)
    opens = rasp.SelectorWidth(upto & rasp.Select(rasp.tokens, rasp.Full("("), rasp.Comparison.EQ))
    closes = rasp.SelectorWidth(upto & rasp.Select(rasp.tokens, rasp.Full(")"), rasp.Comparison.EQ))
    return (opens - closes).named("depth")


def make_match_previous_same() -> rasp.SOp:
    """The index of the last earlier position with the same token, -1 where there is none."""
    best = rasp.Full(-1)
    for back in (4, 3, 2, 1):
        there = lib.shift_by(back, rasp.tokens)
        same = rasp.SequenceMap(lambda x, y: x == y, rasp.tokens, there)
        hit = rasp.Aggregate(rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.EQ), same, default=False)
        found = rasp.Select(hit, rasp.indices, lambda k, q: k is True)
        here = rasp.SelectorWidth(found & rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.EQ))
        index = rasp.SequenceMap(lambda h, i, back=back: i - back if h else -1, here, rasp.indices)
        best = rasp.SequenceMap(lambda old, new: new if new >= 0 else old, best, index)
    return best


def make_induction() -> rasp.SOp:
    """The token after the only earlier occurrence of this token; None where there is none."""
    prev = lib.shift_by(1, rasp.tokens)
    follows = rasp.Select(prev, rasp.tokens, lambda k, q: k == q)
    before = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ)
    return rasp.Aggregate(follows & before, rasp.tokens).named("induction")


# Own functions, types of values, and constants.


def make_token_types() -> rasp.SOp:
    return rasp.Map(lambda x: {"a": 1, "b": 2.5, "c": None}[x], rasp.tokens)


def make_bigrams() -> rasp.SOp:
    return rasp.SequenceMap(lambda x, y: (x, y), lib.shift_by(1, rasp.tokens), rasp.tokens)


def make_polynomial() -> rasp.SOp:
    return 2 * rasp.indices * rasp.indices - 3 * rasp.indices + 1


def make_divisions() -> rasp.SOp:
    return (1 / (rasp.indices + 1) - rasp.indices / 2) ** 2


def make_flags() -> rasp.SOp:
    return ((rasp.tokens == "a") | (rasp.indices == 0)) & ~(rasp.tokens == "c")


def make_full() -> rasp.SOp:
    return rasp.Full("x")


def make_nary() -> rasp.SOp:
    return lib.make_nary_sequencemap(lambda t, i, n: f"{t}{i}/{n}", rasp.tokens, rasp.indices, rasp.length)


def make_unsimplified() -> rasp.SOp:
    nothing = rasp.Map(lambda x: None if x == "a" else x, rasp.tokens)
    return rasp.Map(lambda x: x + "!", nothing, simplify=False)


def make_none_seen() -> rasp.SOp:
    nothing = rasp.Map(lambda x: None if x == "a" else x, rasp.tokens)
    return rasp.Map(lambda x: x is None, nothing)


def make_not_selected() -> rasp.SOp:
    near = rasp.SelectorOr(
        rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.EQ),
        rasp.Select(rasp.tokens, rasp.tokens, lambda k, q: k < q),
    )
    return rasp.SelectorWidth(rasp.SelectorNot(near))


def make_everything_equal() -> rasp.SOp:
    """Aggregates several equal categories: RASP allows it."""
    same = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
    return rasp.Aggregate(same, rasp.Map(lambda x: x * 2, rasp.tokens))


def make_nothing_selected() -> rasp.SOp:
    return rasp.Aggregate(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.FALSE), rasp.tokens, default="none")


# Causal programs.


def make_causal_count() -> rasp.SOp:
    return rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ))


def make_causal_length() -> rasp.SOp:
    return lib.make_length()


def make_causal_mean() -> rasp.SOp:
    return rasp.Aggregate(rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.TRUE), rasp.tokens)


def make_causal_not() -> rasp.SOp:
    same = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
    return rasp.SelectorWidth(rasp.SelectorNot(same))


def make_causal_looks_ahead() -> rasp.SOp:
    after = rasp.Select(rasp.indices, rasp.indices, lambda k, q: k == q + 1)
    return rasp.Aggregate(after, rasp.tokens, default="hidden")


# What they should give, in plain Python.


def mean(xs: list) -> float:
    return sum(xs) / len(xs)


def _runs(xs: list) -> list:
    found: list[int] = []
    for i, x in enumerate(xs):
        found.append(found[-1] + 1 if i and xs[i - 1] == x else 1)
    return found


def _balanced(xs: list, pairs: Sequence[str]) -> list:
    right = True
    for opening, closing in pairs:
        depths = [xs[: i + 1].count(opening) - xs[: i + 1].count(closing) for i in range(len(xs))]
        right = right and min(depths) >= 0 and depths[-1] == 0
    return [right] * len(xs)


def _induction(xs: list) -> list:
    return [next((xs[j] for j in range(1, i + 1) if xs[j - 1] == x), None) for i, x in enumerate(xs)]


def _one_follower(xs: list) -> bool:
    """Whether all that follows an earlier occurrence of a token is the same."""
    return all(len({xs[j] for j in range(1, i + 1) if xs[j - 1] == x}) < 2 for i, x in enumerate(xs))


def _swapped(xs: list) -> list:
    found = list(xs)
    for i in range(0, len(xs) - 1, 2):
        found[i], found[i + 1] = xs[i + 1], xs[i]
    return found


def _by_frequency(xs: list) -> list:
    return sorted(xs, key=lambda x: -xs.count(x))


def _last_same(xs: list) -> list:
    return [max((j for j in range(i) if xs[j] == x), default=-1) for i, x in enumerate(xs)]


def _types(xs: list) -> list:
    return [{"a": 1, "b": 2.5, "c": None}[x] for x in xs]


def _most_frequent(xs: list) -> list:
    return [max(enumerate(xs), key=lambda pair: (xs.count(pair[1]), -pair[0]))[1]] * len(xs)


def same_values(found: list, expected: list) -> bool:
    """Whether two sequences are equal, floats up to rounding."""
    return len(found) == len(expected) and all(map(_same_value, found, expected))


def _same_value(found: Any, expected: Any) -> bool:
    if isinstance(found, tuple) and isinstance(expected, tuple):
        return same_values([*found], [*expected])
    if isinstance(found, float) and isinstance(expected, float):
        return isclose(found, expected, abs_tol=1e-12)
    return found == expected


def same_typed_values(found: list, expected: list) -> bool:
    """Whether two sequences are the same, but for numbers, which a network may give as an int or rounded."""
    return len(found) == len(expected) and all(map(_same_typed_value, found, expected))


def _same_typed_value(found: Any, expected: Any) -> bool:
    if isinstance(found, tuple) and isinstance(expected, tuple):
        return same_typed_values([*found], [*expected])
    if float in (type(found), type(expected)) and {type(found), type(expected)} <= {int, float}:
        return isclose(found, expected, abs_tol=1e-12) or (isnan(found) and isnan(expected))
    return type(found) is type(expected) and found == expected


DIGITS = (0, 1, 2)
PROGRAMS = (
    Published(make_identity, list),
    Published(make_reverse, lambda xs: xs[::-1]),
    Published(make_shift_right, lambda xs: ["_", *xs[:-1]]),
    Published(make_rotate_left, lambda xs: [*xs[1:], xs[0]]),
    Published(make_swap_neighbours, _swapped),
    Published(make_first_token, lambda xs: [xs[0]] * len(xs)),
    Published(make_last_token, lambda xs: [xs[-1]] * len(xs)),
    Published(make_repeat_first_half, lambda xs: [xs[i % ((len(xs) + 1) // 2)] for i in range(len(xs))]),
    Published(make_caesar, lambda xs: ["abca"["abc".index(x) + 1] for x in xs]),
    Published(make_upper_at_even, lambda xs: [x.upper() if i % 2 == 0 else x for i, x in enumerate(xs)]),
    Published(make_mask_repeats, lambda xs: ["*" if x in xs[:i] else x for i, x in enumerate(xs)]),
    Published(make_length, lambda xs: [len(xs)] * len(xs)),
    Published(make_hist, lambda xs: [xs.count(x) for x in xs]),
    Published(make_count_a, lambda xs: [xs.count("a")] * len(xs)),
    Published(make_distinct_tokens, lambda xs: [len(set(xs))] * len(xs)),
    Published(make_prefix_count, lambda xs: [xs[: i + 1].count("a") for i in range(len(xs))]),
    Published(make_prefix_sums, lambda xs: [sum(xs[: i + 1]) for i in range(len(xs))], DIGITS),
    Published(make_sum, lambda xs: [sum(xs)] * len(xs), DIGITS),
    Published(make_moving_average, lambda xs: [mean(xs[max(0, i - 1) : i + 1]) for i in range(len(xs))], DIGITS),
    Published(make_mean, lambda xs: [mean(xs)] * len(xs), DIGITS),
    Published(make_frac_prevs, lambda xs: [xs[: i + 1].count("a") / (i + 1) for i in range(len(xs))]),
    Published(make_count_greater_than_average, lambda xs: [sum(x > mean(xs) for x in xs)] * len(xs), DIGITS),
    Published(make_rank, lambda xs: [sum(y < x for y in xs) for x in xs], DIGITS),
    Published(make_sort_unique, sorted, (5, 3, 4, 1, 2), valid=lambda xs: len(set(xs)) == len(xs)),
    Published(make_sort, sorted, (3, 1, 2)),
    Published(make_sort_with_selectors, sorted, (3, 1, 2)),
    Published(make_maximum, lambda xs: [max(xs)] * len(xs), DIGITS),
    Published(make_minimum, lambda xs: [min(xs)] * len(xs), DIGITS),
    Published(make_running_maximum, lambda xs: [max(xs[: i + 1]) for i in range(len(xs))], DIGITS),
    Published(make_is_sorted, lambda xs: [xs == sorted(xs)] * len(xs), DIGITS),
    Published(make_sort_by_frequency, _by_frequency),
    Published(make_inversions, lambda xs: [sum(y > x for y in xs[:i]) for i, x in enumerate(xs)], DIGITS),
    Published(make_detect_ab, lambda xs: [None, *(xs[i - 1 : i + 1] == ["a", "b"] for i in range(1, len(xs)))]),
    Published(make_first_occurrence, lambda xs: [x not in xs[:i] for i, x in enumerate(xs)]),
    Published(make_last_occurrence, lambda xs: [x not in xs[i + 1 :] for i, x in enumerate(xs)]),
    Published(make_palindrome, lambda xs: [xs == xs[::-1]] * len(xs)),
    Published(make_alternates, lambda xs: [all(x != y for x, y in pairwise(xs))] * len(xs)),
    Published(make_run_length, _runs),
    Published(make_duplicates, lambda xs: [xs.count(x) > 1 for x in xs]),
    Published(make_majority, lambda xs: [2 * sum(xs) > len(xs)] * len(xs), (0, 1), 6),
    Published(make_parity, lambda xs: [sum(xs) % 2] * len(xs), (0, 1), 6),
    Published(make_most_frequent, _most_frequent),
    Published(make_dyck1, lambda xs: _balanced(xs, ["()"]), "()", 6),
    Published(make_dyck2, lambda xs: _balanced(xs, ["()", "{}"]), "(){}", 4),
    Published(
        make_pair_balance,
        lambda xs: [(xs[: i + 1].count("(") - xs[: i + 1].count(")")) / (i + 1) for i in range(len(xs))],
        "()a",
    ),
    Published(make_depth, lambda xs: [xs[: i + 1].count("(") - xs[: i + 1].count(")") for i in range(len(xs))], "()a"),
    Published(make_match_previous_same, _last_same),
    Published(make_induction, _induction, valid=_one_follower),
    Published(make_token_types, _types),
    Published(make_bigrams, lambda xs: [None, *pairwise(xs)]),
    Published(make_polynomial, lambda xs: [2 * i * i - 3 * i + 1 for i in range(len(xs))], "a"),
    Published(make_divisions, lambda xs: [(1 / (i + 1) - i / 2) ** 2 for i in range(len(xs))], "a"),
    Published(make_flags, lambda xs: [(x == "a" or i == 0) and x != "c" for i, x in enumerate(xs)]),
    Published(make_full, lambda xs: ["x"] * len(xs)),
    Published(make_nary, lambda xs: [f"{x}{i}/{len(xs)}" for i, x in enumerate(xs)]),
    Published(make_unsimplified, lambda xs: [None if x == "a" else x + "!" for x in xs]),
    Published(make_none_seen, lambda xs: [x == "a" for x in xs]),
    Published(
        make_not_selected,
        lambda xs: [sum(not (i == j or y < x) for j, y in enumerate(xs)) for i, x in enumerate(xs)],
    ),
    Published(make_everything_equal, lambda xs: [x * 2 for x in xs]),
    Published(make_nothing_selected, lambda xs: ["none"] * len(xs)),
    Published(make_causal_count, lambda xs: [xs[: i + 1].count(x) for i, x in enumerate(xs)], causal=True),
    Published(make_causal_length, lambda xs: [i + 1 for i in range(len(xs))], causal=True),
    Published(make_causal_mean, lambda xs: [mean(xs[: i + 1]) for i in range(len(xs))], DIGITS, causal=True),
    Published(make_causal_not, lambda xs: [sum(y != x for y in xs[:i]) for i, x in enumerate(xs)], causal=True),
    Published(make_causal_looks_ahead, lambda xs: ["hidden"] * len(xs), causal=True),
)
assert max(Counter(program.name for program in PROGRAMS).values()) == 1
