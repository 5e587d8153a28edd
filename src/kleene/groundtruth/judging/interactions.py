"""Networks that compute a known language, and how scores of pairs of symbols compare with the true interactions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kleene.errors import InputError
from kleene.explaining.interactions.languages import language_interactions
from kleene.explaining.interactions.measures import ESTIMATED, AlphabetWord, first_output
from kleene.explaining.interactions.shapley import (
    MOST,
    game_of,
    interactions_of,
    sampled_interactions,
    value_table,
)
from kleene.explaining.interactions.structure import dependent_pairs
from kleene.groundtruth.judging.ranking import area_under_roc, partial_spearman, real_numbers, spearman
from kleene.groundtruth.judging.verdicts import INTERACTIONS, TRUTHS, JudgedKind
from kleene.programs.automata import DFA

CHECKED = 1 << 14  # random words on which a network has to be right where there are too many to try all


@dataclass(frozen=True)
class JudgedNetwork:
    """A network that computes the language of an automaton, and the words of one length to judge measures on.

    `family` is what networks are grouped by, such as "taught LSTM".
    """

    name: str
    family: str
    network: Any
    language: DFA
    words: tuple[AlphabetWord, ...]
    kind: ClassVar[JudgedKind] = INTERACTIONS
    samples: int = ESTIMATED  # coalitions from which the interactions of the output are estimated where words are long

    def __post_init__(self) -> None:
        lengths = {len(word) for word in self.words}
        if len(lengths) != 1 or min(lengths) < 3:
            raise InputError(f"the words of {self.name} have lengths {sorted(lengths)}; give words of one, 3 or more")
        if tuple(self.network.alphabet) != self.language.alphabet:
            raise InputError(f"{self.name} reads {self.network.alphabet}, and its language {self.language.alphabet}")

    @property
    def length(self) -> int:
        return len(self.words[0])

    @property
    def is_exact(self) -> bool:
        """Whether the network can be called on all words of this length, as exact truths about it need."""
        return len(self.language.alphabet) ** self.length <= MOST

    @property
    def group(self) -> DFA:
        return self.language

    def given(self) -> tuple[list[AlphabetWord]]:
        """What a measure is given beside the network."""
        return (list(self.words),)

    def checked(self, scores: Any) -> np.ndarray:
        """The scores [word, pair] of a measure; an `InputError` if there is not a number for every pair."""
        found, expected = real_numbers(scores), (len(self.words), self.length, self.length)
        if found.shape != expected:
            raise InputError(f"it returned an array of shape {found.shape}, and {expected} was expected: [word, i, j]")
        pairs = upper(found)
        if np.isnan(pairs).any():
            word = int(np.argwhere(np.isnan(pairs))[0][0])
            raise InputError(f"it returned NaN for two symbols of the word {' '.join(self.words[word])!r}")
        return pairs

    def why_not(self) -> str | None:
        """Why it is left out: of a network that is wrong on some words of this length its language says nothing."""
        return None if self.is_right() else f"is wrong on some words of {self.length} symbols"

    def is_right(self) -> bool:
        """Whether the network accepts the language's words of this length, and no others.

        If there are too many, it is called on `CHECKED` random words, and on those that differ from a judged word in at
        most two symbols.
        """
        if self.is_exact:
            mine, theirs = (self._table(one.accepts_batch) for one in (self.network, self.language))
            return bool((mine == theirs).all())
        symbols, chance = np.array(self.language.alphabet), np.random.default_rng(0)
        drawn = map(tuple, symbols[chance.integers(0, len(symbols), (CHECKED, self.length))].tolist())
        words = list(
            dict.fromkeys([*drawn, *(one for word in self.words for one in neighbours(word, symbols.tolist()))])
        )
        return bool((np.asarray(self.network.accepts_batch(words)) == self.language.accepts_batch(words)).all())

    def truth(self) -> "TrueInteractions":
        """The absolute true interactions of the language and of the network's output."""
        language = np.stack([language_interactions(self.language, word) for word in self.words])
        function, symbols = first_output(self.network), self.language.alphabet
        if self.is_exact:
            table = self._table(function)
            games = (game_of(table, [symbols.index(symbol) for symbol in word]) for word in self.words)
            output, unsure = np.stack([interactions_of(game) for game in games]), None
        else:
            found = [sampled_interactions(function, word, symbols, samples=self.samples) for word in self.words]
            output, errors = np.stack([one.values for one in found]), np.stack([one.errors for one in found])
            unsure = float((upper(np.abs(output)) <= 2 * upper(errors)).mean())
        places = np.arange(self.length)
        near = -np.abs(places[:, None] - places)[None]
        return TrueInteractions(
            {"language": upper(np.abs(language)), "output": upper(np.abs(output))},
            np.repeat(upper(near), len(self.words), axis=0),
            upper(np.stack([dependent_pairs(self.language, word) for word in self.words])),
            unsure,
        )

    def _table(self, function: Any) -> np.ndarray:
        return value_table(function, self.length, self.language.alphabet)


class TrueInteractions(NamedTuple):
    """Absolute true interactions [word, pair] by what the function is taken to be, and all that is compared with them.

    `structure` is whether the automaton's state depends on both symbols. `unsure` is the share of pairs whose estimate
    for the output is at most two standard errors; None if it is exact.
    """

    values: dict[str, np.ndarray]
    nearness: np.ndarray
    structure: np.ndarray
    unsure: float | None

    def about(self) -> dict[str, float]:
        return {} if self.unsure is None else {"unsure": self.unsure}

    def compared(self, scores: np.ndarray) -> tuple[dict[str, np.ndarray], list[float | None]]:
        """The numbers of each word by score, and the means that are stored."""
        known = [(truth, self.values[truth]) for truth in TRUTHS]
        found = {f"spearman_{truth}": spearman(values, scores) for truth, values in known}
        found |= {f"partial_{truth}": partial_spearman(values, scores, self.nearness) for truth, values in known}
        found |= {
            f"lead_{truth}": found[f"spearman_{truth}"] - spearman(values, self.nearness) for truth, values in known
        }
        found["structure"] = area_under_roc(self.structure, scores)
        return found, [_mean(found[score]) for score in INTERACTIONS.by_network]


def _mean(by_word: np.ndarray) -> float | None:
    known = by_word[~np.isnan(by_word)]
    return round(float(known.mean()), 3) if len(known) else None


def neighbours(word: AlphabetWord, alphabet: Sequence[str]) -> Iterator[AlphabetWord]:
    """The word, and all that differ from it in one or two symbols; some more than once."""
    for i, j in combinations(range(len(word)), 2):
        for a, b in product(alphabet, repeat=2):
            yield (*word[:i], a, *word[i + 1 : j], b, *word[j + 1 :])


def upper(matrices: np.ndarray) -> np.ndarray:
    """The entries with i < j of matrices [word, i, j]: [word, pair]."""
    above = np.triu_indices(matrices.shape[-1], 1)
    return matrices[:, above[0], above[1]]
