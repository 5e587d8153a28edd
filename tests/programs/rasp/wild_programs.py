"""Random RASP programs without any care: values of all types, None, functions that raise, means of what has none.

RASP has no value for some of their inputs, and for some programs none at all.
"""

import random
from collections.abc import Callable
from typing import Any

from kleene.programs import rasp
from kleene.programs.rasp import lib
from kleene.programs.rasp.program import RaspProgram

MIXED: tuple[tuple, ...] = (  # values that are equal and not the same
    (1, 1.0, True),
    (0.0, -0.0, 0),
    ((1,), (True,), (1.0,)),
    ((0.0, "a"), (-0.0, "a"), "a"),
    (1, "1", 1.0, (1,)),
    (float("nan"), 1, "nan"),
    (2, 2.0, 10**17),
)
VOCABULARIES = ("ab", "abc", (0, 1), (3, 1, 2), ("x", 1, 2.5), (True, False, "t"), *MIXED)


def wild_program(seed: int, size: int, *, causal: bool) -> RaspProgram:
    """A program of `size` expressions; the same seed gives the same program."""
    chance = random.Random(seed)
    sops: list[rasp.SOp] = [rasp.tokens, rasp.indices] + ([] if causal else [rasp.length])
    selectors: list[rasp.Selector] = [
        rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ),
        rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ),
    ]
    for _ in range(size):
        made = _sop(chance, sops, selectors)
        sops.append(rasp.numerical(made) if chance.random() < 0.2 else made)
    return RaspProgram(sops[-1], chance.choice(VOCABULARIES), chance.choice([3, 4]), causal, f"wild_{seed}")


def _sop(chance: random.Random, sops: list[rasp.SOp], selectors: list[rasp.Selector]) -> rasp.SOp:
    one, other = (chance.choice(sops + sops[-3:]) for _ in range(2))
    constant = chance.choice([0, 1, "a"])
    makers: list[Callable[[], rasp.SOp]] = [
        lambda: rasp.Map(_function(chance), one, simplify=chance.random() < 0.5),
        lambda: rasp.SequenceMap(_function_of_two(chance), one, other),
        lambda: rasp.SelectorWidth(_selector(chance, sops, selectors)),
        lambda: rasp.Aggregate(_selector(chance, sops, selectors), one, chance.choice([None, None, 0, "d", 1])),
        lambda: lib.shift_by(chance.choice([1, -1, 2]), one),
        lambda: chance.choice([one == constant, ~one, one & other, one | other]),
    ]
    return chance.choice(makers)()


def _function(chance: random.Random) -> Callable[[Any], Any]:
    k = chance.choice([0, 1, 2, "a", None, True])
    return chance.choice(
        [
            lambda x: x == k,
            lambda x: (x, k),
            lambda x: None if x == k else x,
            lambda x: x + 1,
            lambda x: not x,
            lambda x: {0: "z", 1: None}.get(x, x),
            lambda x: 5 if isinstance(x, tuple) else x,
            repr,
            lambda x: type(x).__name__,
            lambda x: -x,
            lambda x: (x, (x,)),
            lambda x: x[0],
            lambda x: "ten"[x],
            lambda x: len(x) if isinstance(x, (str, tuple)) else x,
        ]
    )


def _function_of_two(chance: random.Random) -> Callable[[Any, Any], Any]:
    return chance.choice(
        [
            lambda x, y: x == y,
            lambda x, y: (x, y),
            lambda x, y: x if y else None,
            lambda x, y: x + y,
            lambda x, y: max(x, y),
            lambda x, y: y,
            lambda x, y: x ** (y % 2),
            lambda x, y: f"{x} {y!r}",
            lambda x, y: x if isinstance(x, (int, float)) else y,
        ]
    )


def _selector(chance: random.Random, sops: list[rasp.SOp], selectors: list[rasp.Selector]) -> rasp.Selector:
    one, other = (chance.choice(sops + sops[-3:]) for _ in range(2))
    first, second = chance.choice(selectors), chance.choice(selectors)
    offset = chance.choice([-1, 0, 1, 2])
    own: list[rasp.Predicate] = [
        lambda k, q: k == q,
        lambda k, q: k is None,
        lambda k, q: q is not None and k == q,
        lambda k, q: bool(k),
        lambda k, q: type(k) is type(q),
        lambda k, q: repr(k) <= repr(q),
        lambda k, q: isinstance(k, int) and isinstance(q, int) and k <= q,
    ]
    makers: list[Callable[[], rasp.Selector]] = [
        lambda: rasp.Select(one, other, chance.choice(list(rasp.Comparison))),
        lambda: rasp.Select(one, one, rasp.Comparison.EQ),
        lambda: rasp.Select(one, rasp.Full(chance.choice([0, 1, "a"])), rasp.Comparison.NEQ),
        lambda: rasp.Select(one, other, chance.choice(own)),
        lambda: rasp.Select(rasp.indices, rasp.indices, lambda k, q: k == q - offset),
        lambda: first & second,
        lambda: first | second,
        lambda: ~first,
        lambda: rasp.SelectorNot(first),
    ]
    selectors.append(chance.choice(makers)())
    return selectors[-1]
