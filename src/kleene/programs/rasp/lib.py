"""Tracr's library of programs, by Tracr's names: `from kleene.programs.rasp import lib`, then `lib.make_reverse(…)`.

The functions give the same values as Tracr's; how they compute them is our own, so that fewer values have to be told
apart. `kleene list` has them as `rasp:reverse` and so on, from `library.py`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from kleene.errors import ProgramError
from kleene.programs.rasp.expressions import Map, SequenceMap, SOp, indices, numerical, tokens
from kleene.programs.rasp.selectors import Aggregate, Comparison, Select, SelectorWidth


def make_length() -> SOp:
    """The number of positions that a position can read: the length, and in causal programs the positions so far."""
    everything = Select(tokens, tokens, Comparison.TRUE).named("all_true_selector")
    return SelectorWidth(everything).named("length")


length = make_length()


def make_reverse(sop: SOp) -> SOp:
    """The s-op backwards.

    >>> make_reverse(tokens)("Hello")
    ['o', 'l', 'l', 'e', 'H']
    """
    mirrored = (length - 1 - indices).named("mirrored")
    return Aggregate(Select(indices, mirrored, Comparison.EQ), sop).named("reverse")


def make_frac_prevs(bools: SOp) -> SOp:
    """The fraction of positions so far, this one included, at which the s-op is true.

    >>> make_frac_prevs(tokens == "l")("hell")
    [0.0, 0.0, 0.3333333333333333, 0.5]
    """
    prevs = Select(indices, indices, Comparison.LEQ).named("prevs")
    return numerical(Aggregate(prevs, numerical(Map(float, bools)), default=0)).named("frac_prevs")


def make_pair_balance(sop: SOp, open_token: Any, close_token: Any) -> SOp:
    """The fraction of positions so far that open, minus the fraction that close.

    >>> make_pair_balance(tokens, "(", ")")("()((")
    [1.0, 0.0, 0.3333333333333333, 0.5]
    """
    steps = Map(lambda token: (token == open_token) - (token == close_token), sop)
    return make_frac_prevs(steps).named("pair_balance")


def make_shuffle_dyck(pairs: Sequence[str]) -> SOp:
    """Whether each pair of brackets is balanced, at every position; brackets of different kinds may cross.

    >>> make_shuffle_dyck(["()", "{}"])("({)}"), make_shuffle_dyck(["()"])("(()")
    ([True, True, True, True], [False, False, False])
    """
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ProgramError(f"the pairs are {pairs!r}; give one or more, each of an opening and a closing bracket")
    balances = [make_pair_balance(tokens, *pair).named(f"balance_{pair}") for pair in pairs]
    negative, zero = balances[0] < 0, balances[0] == 0
    for balance in balances[1:]:
        negative, zero = negative | (balance < 0), zero & (balance == 0)
    everywhere = Select(indices, indices, Comparison.TRUE).named("select_all")
    fell = numerical(Aggregate(everywhere, numerical(negative), default=0)).named("has_neg")
    last = Select(indices, length - 1, Comparison.EQ).named("select_last")
    closed = Aggregate(last, zero).named("last_zero")
    return (closed & ~fell).named("shuffle_dyck")


def make_shuffle_dyck2() -> SOp:
    """Whether round and curly brackets are balanced, which may cross."""
    return make_shuffle_dyck(["()", "{}"]).named("shuffle_dyck2")


def make_hist() -> SOp:
    """How often the token occurs in the input.

    >>> make_hist()("abac")
    [2, 1, 2, 1]
    """
    return SelectorWidth(Select(tokens, tokens, Comparison.EQ).named("same_tok")).named("hist")


def make_sort_unique(vals: SOp, keys: SOp) -> SOp:
    """The values in the order of their keys, which must all be different.

    >>> make_sort_unique(tokens, tokens)([2, 4, 3, 1])
    [1, 2, 3, 4]
    """
    target = SelectorWidth(Select(keys, keys, Comparison.LT).named("smaller")).named("target_pos")
    return Aggregate(Select(target, indices, Comparison.EQ), vals).named("sort")


def make_sort(vals: SOp, keys: SOp, *, max_seq_len: int | None = None, min_key: float | None = None) -> SOp:
    """The values in the order of their keys; those with equal keys stay in order.

    `max_seq_len` and `min_key` are Tracr's and change nothing: here ties are broken by the position itself.

    >>> make_sort(tokens, tokens, max_seq_len=4, min_key=1)([2, 4, 1, 2])
    [1, 2, 2, 4]
    """
    return make_sort_unique(vals, SequenceMap(lambda key, index: (key, index), keys, indices).named("placed"))


def make_sort_freq(max_seq_len: int | None = None) -> SOp:
    """The tokens by how often they occur, the most frequent first; those that occur equally often stay in order.

    >>> make_sort_freq(4)([2, 4, 4, 1])
    [4, 4, 2, 1]
    """
    return make_sort(tokens, -make_hist(), max_seq_len=max_seq_len).named("sort_freq")


def shift_by(offset: int, /, sop: SOp) -> SOp:
    """The s-op moved right by `offset` positions, None where nothing arrives.

    >>> shift_by(1, tokens)("abc")
    [None, 'a', 'b']
    """
    before = Select(indices, indices, lambda key, query: query == key + offset)
    return Aggregate(before, sop).named(f"shift_by({offset})")


def detect_pattern(sop: SOp, pattern: Sequence[Any]) -> SOp:
    """Whether the pattern ends here; None at the first positions, where it cannot yet.

    >>> detect_pattern(tokens, "ab")("abcab")
    [None, True, False, False, True]
    """
    if not len(pattern):
        raise ProgramError("the pattern is empty; give at least one value to look for")
    *earlier, last = pattern
    found = sop == last
    for back, value in enumerate(reversed(earlier), start=1):
        found = shift_by(back, sop == value) & found
    return found.named(f"detect_pattern({pattern})")


def make_count_less_freq(n: int) -> SOp:
    """How many positions have a token that occurs at most n times, at every position.

    >>> make_count_less_freq(2)("aaabbc")
    [3, 3, 3, 3, 3, 3]
    """
    hist = make_hist()
    return SelectorWidth(Select(hist, hist, lambda key, query: key <= n).named("select_less")).named("count_less_freq")


def make_count(sop: SOp, token: Any) -> SOp:
    """How often the value occurs in the s-op, at every position.

    >>> make_count(tokens, "a")("abac")
    [2, 2, 2, 2]
    """
    return SelectorWidth(Select(sop, sop, lambda key, query: key == token)).named(f"count_{token}")


def make_nary_sequencemap(f: Callable[..., Any], *sops: SOp) -> SOp:
    """A function of the values of any number of s-ops at the same position, by way of tuples.

    >>> make_nary_sequencemap(lambda x, y, z: x + y + z, tokens, indices, tokens)([1, 2])
    [2, 5]
    """
    if not sops:
        raise ProgramError("make_nary_sequencemap takes a function and at least one s-op")
    gathered: SOp = Map(lambda x: (x,), sops[0])
    for sop in sops[1:]:
        gathered = SequenceMap(lambda x, y: (*x, y), gathered, sop)
    return Map(lambda arguments: f(*arguments), gathered)
