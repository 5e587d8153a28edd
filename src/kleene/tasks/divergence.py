"""How far two sets of commands differ in their atoms and in their compounds, and splits that differ most.

Keysers et al. 2020 compare two distributions P and Q by the Chernoff coefficient, the sum of p^α q^(1-α), which is 1
where they are equal. The divergence is 1 minus it: with α = 0.5 for atoms, and α = 0.1 for compounds, where it matters
more whether a test compound is in the training set at all than how often.

The search is greedy, as theirs. It begins with a few random commands, adds the commands that lower the coefficient of
the compounds most, some at a time, and then exchanges commands while that helps. All candidates are weighed at once,
each by the coefficient that the split would have with it. Atom divergence beyond the bound is punished, and so is every
atom that only the test set has.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.tasks.compounds import CommandParts
from kleene.traces.markup import html_text

ATOM_ALPHA = 0.5
COMPOUND_ALPHA = 0.1
MOST_ATOMS = 0.02  # atom divergence, the bound of Keysers et al.
MARGIN = 0.95  # of the bound, at which the punishment begins
PUNISHMENT = 20.0  # a point of atom divergence weighs as much as so many of compound divergence
TRAIN, TEST = 1, 2
LEAST_GAIN = 1e-6  # in the loss, for each command that is exchanged
ROUND_GAIN = 1e-3  # in the loss, by which a round of exchanges is followed by another
STEPS = 60
GROWTH = 1.5  # the first steps are small, because they decide which compounds belong to which part
TINY = 1e-12


@dataclass(frozen=True)
class Divergences:
    """The atom and the compound divergence of a test set from a training set, each between 0 and 1."""

    atom: float
    compound: float

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        return f"atom divergence {self.atom:.4f}, compound divergence {self.compound:.4f}"

    def as_json(self) -> dict[str, Any]:
        return {"atom": round(self.atom, 6), "compound": round(self.compound, 6)}


def chernoff(one: np.ndarray, other: np.ndarray, alpha: float) -> float:
    """The Chernoff coefficient of two distributions, given as weights of any sum.

    >>> round(chernoff(np.array([1, 1, 0]), np.array([0, 3, 3]), 0.5), 6)
    0.5
    """
    if min(one.sum(), other.sum()) <= 0:
        return 0.0
    return float(((one / one.sum()) ** alpha * (other / other.sum()) ** (1 - alpha)).sum())


def divergences(parts: CommandParts, train: np.ndarray, test: np.ndarray) -> Divergences:
    """The divergences of the test commands from the training commands, given by their places in `parts`.

    A command that is there several times counts as often.
    """
    for name, places in (("training", train), ("test", test)):
        if not len(places):
            raise InputError(f"the {name} set is empty; a divergence needs commands in both")
    before, after = (np.bincount(places, minlength=len(parts)) for places in (train, test))
    atoms = chernoff(parts.atom_counts(before), parts.atom_counts(after), ATOM_ALPHA)
    compounds = chernoff(parts.compound_weights(before), parts.compound_weights(after), COMPOUND_ALPHA)
    return Divergences(max(0.0, 1 - atoms), max(0.0, 1 - compounds))


def most_divergent(
    parts: CommandParts, train: int, test: int, *, seed: int = 0, most_atoms: float = MOST_ATOMS, starts: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    """The places of `train` training and `test` test commands with low atom and high compound divergence, sorted.

    The best of some `starts` is improved until no exchange helps. A seed always gives the same split.
    """
    for name, count in (("train", train), ("test", test), ("starts", starts)):
        if count < 1:
            raise InputError(f"{name} is {count}; give 1 or more")
    if train + test > len(parts):
        raise InputError(f"{train:,} training and {test:,} test commands were asked for, and there are {len(parts):,}")
    rng, sizes = np.random.default_rng(seed), {TRAIN: train, TEST: test}
    search = min((_grown(parts, sizes, most_atoms, rng) for _ in range(starts)), key=lambda found: found.loss())
    _exchange(search, sizes)
    found = np.flatnonzero(search.part == TRAIN), np.flatnonzero(search.part == TEST)
    reached = divergences(parts, *found).atom
    if reached > most_atoms or search.loss() > 1:  # more than any compounds make, so some atoms are unseen
        raise InputError(
            f"no split with an atom divergence of at most {most_atoms:g} was found, only one with {reached:.4f}, or "
            f"with atoms that only its test set has; allow more, or ask for other sizes"
        )
    return found


class _Search:
    """A split in the making: which part each command is in, 0 for none, and the weights of both parts."""

    def __init__(self, parts: CommandParts, most_atoms: float, rng: np.random.Generator):
        self.parts, self.bound, self.rng = parts, MARGIN * most_atoms, rng
        self.part = np.zeros(len(parts), dtype=np.int8)
        self.own = np.bincount(parts.rows, parts.weights, len(parts))  # the weight of each command's compounds
        self.count()

    def count(self) -> None:
        often = {side: (self.part == side).astype(float) for side in (TRAIN, TEST)}
        self.atoms = {side: self.parts.atom_counts(n) for side, n in often.items()}
        self.compounds = {side: self.parts.compound_weights(n) for side, n in often.items()}

    def loss(self) -> float:
        """The Chernoff coefficient of the compounds, with the punishment."""
        unseen = int(((self.atoms[TRAIN] == 0) & (self.atoms[TEST] > 0)).sum())
        atoms = 1 - chernoff(self.atoms[TRAIN], self.atoms[TEST], ATOM_ALPHA) + unseen
        compounds = chernoff(self.compounds[TRAIN], self.compounds[TEST], COMPOUND_ALPHA)
        return compounds + PUNISHMENT * max(0.0, atoms - self.bound)

    def losses(self, side: int, sign: int) -> np.ndarray:
        """What the loss would be with one command more (`sign` 1) or less (-1) in the part, for each command."""
        power = {TRAIN: COMPOUND_ALPHA, TEST: 1 - COMPOUND_ALPHA}
        parts, mine, theirs = self.parts, self.compounds[side], self.compounds[TRAIN + TEST - side]
        before, fixed = mine ** power[side], theirs ** power[TRAIN + TEST - side]
        after = np.maximum(mine[parts.columns] + sign * parts.weights, 0) ** power[side]
        changes = fixed[parts.columns] * (after - before[parts.columns])
        total = before @ fixed + np.bincount(parts.rows, changes, len(parts))
        norm = np.maximum(mine.sum() + sign * self.own, TINY) ** power[side]
        compounds = total / (norm * max(theirs.sum(), TINY) ** power[TRAIN + TEST - side])
        return compounds + PUNISHMENT * np.maximum(0, self._atoms(side, sign) - self.bound)

    def _atoms(self, side: int, sign: int) -> np.ndarray:
        """The atom divergence with one command more or less, and 1 more for every atom that only the test has."""
        mine = np.maximum(self.atoms[side] + sign * self.parts.atoms, 0)
        theirs = self.atoms[TRAIN + TEST - side]
        shares = mine / np.maximum(mine.sum(axis=1, keepdims=True), TINY)
        train, test = (mine, theirs) if side == TRAIN else (theirs, mine)
        unseen = ((train == 0) & (test > 0)).sum(axis=1)
        return 1 - np.sqrt(shares) @ np.sqrt(theirs / max(theirs.sum(), TINY)) + unseen

    def move(self, side: int, sign: int, count: int) -> None:
        """Add the best `count` commands to the part, or take the worst away; ties are broken by chance."""
        losses = self.losses(side, sign) + self.rng.random(len(self.parts)) * LEAST_GAIN / 10
        losses[self.part != (0 if sign > 0 else side)] = np.inf
        self.part[np.argsort(losses, kind="stable")[:count]] = side if sign > 0 else 0
        self.count()


def _grown(parts: CommandParts, sizes: dict[int, int], most_atoms: float, rng: np.random.Generator) -> _Search:
    """A split that began with a few random commands; its parts grow in proportion, in sixty steps."""
    search = _Search(parts, most_atoms, rng)
    few = {side: max(1, size // 1000) for side, size in sizes.items()}
    chosen = rng.permutation(len(parts))[: sum(few.values())]
    search.part[chosen] = np.repeat([*few], [*few.values()])
    search.count()
    for step in range(1, STEPS + 1):
        for side in (TEST, TRAIN):
            wanted = max(few[side], round(sizes[side] * (step / STEPS) ** GROWTH))
            missing = wanted - int((search.part == side).sum())
            if missing > 0:
                search.move(side, 1, missing)
    return search


def _exchange(search: _Search, sizes: dict[int, int]) -> None:
    """Exchange commands of a part with unused ones, many at first and then fewer, while the loss falls."""
    loss = np.inf
    while search.loss() < loss - ROUND_GAIN:
        loss = search.loss()
        together = {side: max(1, size // 8) for side, size in sizes.items()}
        while any(together.values()):
            for side, count in together.items():
                if count and not _exchanged(search, side, count):
                    together[side] = count // 2


def _exchanged(search: _Search, side: int, count: int) -> bool:
    """Exchange `count` commands of a part with unused ones, if the loss falls; whether it did."""
    loss, before = search.loss(), search.part.copy()
    search.move(side, -1, count)
    search.move(side, 1, count)
    if search.loss() < loss - LEAST_GAIN * count:
        return True
    search.part[:] = before
    search.count()
    return False
