"""Atoms and compounds of SCAN's commands, after Keysers et al. 2020, "Measuring Compositional Generalization".

A command is derived by the twenty rules of SCAN's interpretation (Lake & Baroni 2018, figure 6): a verb is a rule, and
`turn` with its direction is one, such as `turn around left`; the six ways to turn with a verb apply to a verb, `twice`
and `thrice` to a phrase, `and` and `after` to two. So the derivation of "jump around left twice and turn left" is
and(twice(around left(jump)), turn left).

An **atom** is a rule. A **compound** is a connected part of a derivation of two or more rules, at most `depth` of them
from its top to any of its leaves; the two sides of `and` and `after` are told apart. A compound that nearly always
occurs within one and the same larger compound says little by itself, so each is weighted by 1 - max P(larger |
compound), over the larger compounds around it in the command; where it occurs twice, the larger weight counts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from kleene.errors import InputError
from kleene.programs.alta.library.scan_language import CONJUNCTIONS, DIRECTIONS, MODES, REPEATS, VERBS, Phrase, parse

DEPTH = 3
WAYS = (*DIRECTIONS, *(f"{mode} {direction}" for mode in MODES for direction in DIRECTIONS))
ATOMS = (*VERBS, *(f"turn {way}" for way in WAYS), *WAYS, *REPEATS, *CONJUNCTIONS)
Chain = tuple[str, ...]  # the rules of a phrase from the top, such as twice, around left, jump
Compound = tuple[str, Chain, Chain]  # a conjunction with what hangs on its sides, or "", the rules of one phrase, ()
REPEATED = {number: word for word, number in REPEATS.items()}


@dataclass(frozen=True, eq=False)
class CommandParts:
    """The atoms and weighted compounds of some commands.

    Entry i of `rows`, `columns` and `weights` says that the command `rows[i]` has the compound `columns[i]`.
    """

    commands: tuple[str, ...]
    compounds: tuple[Compound, ...]
    atoms: np.ndarray  # (commands, atoms): how often each rule is used, in the order of `ATOMS`
    rows: np.ndarray
    columns: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.commands)

    def lines(self, commands: Sequence[str]) -> np.ndarray:
        """The places of the commands among these; refuses others."""
        places = {command: place for place, command in enumerate(self.commands)}
        missing = next((command for command in commands if command not in places), None)
        if missing is not None:
            raise InputError(f"{missing!r} is not one of the {len(self):,} commands whose compounds were counted")
        return np.array([places[command] for command in commands], dtype=int)

    def atom_counts(self, often: np.ndarray) -> np.ndarray:
        """How often each atom is used, where each command is there so `often`."""
        return often @ self.atoms

    def compound_weights(self, often: np.ndarray) -> np.ndarray:
        """The weight of each compound, where each command is there so `often`."""
        return np.bincount(self.columns, self.weights * often[self.rows], len(self.compounds))


def command_parts(commands: Sequence[str], depth: int = DEPTH) -> CommandParts:
    """The atoms and compounds of the commands; the probabilities in the weights are those among these commands.

    >>> parts = command_parts(["walk left", "walk left twice", "jump"])
    >>> for row, column, weight in zip(parts.rows, parts.columns, parts.weights):
    ...     print(parts.commands[row], parts.compounds[column], weight)
    walk left ('', ('left', 'walk'), ()) 1.0
    walk left twice ('', ('twice', 'left'), ()) 0.0
    walk left twice ('', ('twice', 'left', 'walk'), ()) 1.0
    walk left twice ('', ('left', 'walk'), ()) 0.5
    """
    if depth < 2:
        raise InputError(f"depth is {depth}; a compound has at least 2 rules from its top to a leaf")
    if not commands:
        raise InputError("there are no commands; give at least one")
    found = [list(_occurrences(command, depth)) for command in commands]
    counts = Counter(compound for row in found for compound in {compound for compound, _ in row})
    numbers = {compound: number for number, compound in enumerate(counts)}
    entries = []
    for row, occurrences in enumerate(found):
        here: dict[Compound, float] = {}
        for compound, larger in occurrences:
            weight = 1 - max((counts[other] for other in larger), default=0) / counts[compound]
            here[compound] = max(weight, here.get(compound, 0.0))
        entries += [(row, numbers[compound], weight) for compound, weight in here.items()]
    rows, columns = (np.array([entry[i] for entry in entries], dtype=int) for i in (0, 1))
    atoms = np.array([[rules.count(atom) for atom in ATOMS] for rules in map(_rules, commands)], dtype=float)
    weights = np.array([entry[2] for entry in entries], dtype=float)
    return CommandParts(tuple(commands), tuple(counts), atoms, rows, columns, weights)


def _rules(command: str) -> list[str]:
    """All rules of the derivation of a command."""
    phrases, conjunction = parse(command)
    return [rule for phrase in phrases for rule in _chain(phrase)] + [conjunction] * bool(conjunction)


def _occurrences(command: str, depth: int) -> Iterator[tuple[Compound, list[Compound]]]:
    """Each compound of a command, with the compounds around it that are larger by one rule.

    Those that are larger by more rules are rarer, so they never decide a weight.
    """
    phrases, conjunction = parse(command)
    chains = [_chain(phrase) for phrase in phrases]
    for side, chain in enumerate(chains):
        joined = (conjunction, side) if conjunction else None
        yield from _in_phrase(chain, joined, depth)
    if conjunction:
        left, right = (_tops(chain, depth) for chain in chains)
        longest = [len(left) - 1, len(right) - 1]
        for i, above in enumerate(left):
            for j, below in enumerate(right):
                larger = [(conjunction, left[i + 1], below)] if i < longest[0] else []
                larger += [(conjunction, above, right[j + 1])] if j < longest[1] else []
                if i or j:
                    yield (conjunction, above, below), larger


@cache
def _in_phrase(chain: Chain, joined: tuple[str, int] | None, depth: int) -> list[tuple[Compound, list[Compound]]]:
    """The compounds of two or more rules of one phrase, which may be a side of a conjunction."""
    found = []
    for start in range(len(chain)):
        for end in range(start + 2, min(len(chain), start + depth) + 1):
            larger: list[Compound] = []
            if end - start < depth:
                larger += [("", chain[start - 1 : end], ())] if start else []
                larger += [("", chain[start : end + 1], ())] if end < len(chain) else []
                if joined and not start:
                    name, side = joined
                    larger.append((name, chain[:end], ()) if side == 0 else (name, (), chain[:end]))
            found.append((("", chain[start:end], ()), larger))
    return found


@cache
def _tops(chain: Chain, depth: int) -> list[Chain]:
    """The first rules of a phrase, none of them first: what can hang on a conjunction."""
    return [chain[:end] for end in range(min(len(chain), depth - 1) + 1)]


def _chain(phrase: Phrase) -> Chain:
    way = " ".join(part for part in (phrase.mode, phrase.direction) if part)
    below = (f"turn {way}",) if phrase.verb == "turn" else (way, phrase.verb)
    return tuple(rule for rule in (REPEATED.get(phrase.repeats, ""), *below) if rule)
