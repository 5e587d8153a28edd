"""The judge of interaction measures: each measure's scores beside the true interactions, network by network."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from kleene.errors import InputError
from kleene.explaining.interactions.failures import FAILURES, MethodFailures, real_numbers
from kleene.explaining.interactions.languages import language_interactions
from kleene.explaining.interactions.measures import ESTIMATED, AlphabetWord, Measure, NotDefinedError, first_output
from kleene.explaining.interactions.ranking import Interval, area_under_roc, interval, partial_spearman, spearman
from kleene.explaining.interactions.shapley import (
    MOST,
    game_of,
    interactions_of,
    sampled_interactions,
    value_table,
)
from kleene.explaining.interactions.structure import dependent_pairs
from kleene.explaining.interactions.verdicts import BY_NETWORK, BY_TRUTH, TRUTHS, InteractionVerdicts, MeasureVerdict
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

    def truths(self) -> "Truths":
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
        return Truths({"language": upper(np.abs(language)), "output": upper(np.abs(output))}, unsure)

    def _table(self, function: Any) -> np.ndarray:
        return value_table(function, self.length, self.language.alphabet)


class Truths(NamedTuple):
    """Absolute true interactions [word, pair] by what the function is taken to be.

    `unsure` is the share of pairs whose estimate for the output is at most two standard errors; None if it is exact.
    """

    values: dict[str, np.ndarray]
    unsure: float | None


def neighbours(word: AlphabetWord, alphabet: Sequence[str]) -> Iterator[AlphabetWord]:
    """The word, and all that differ from it in one or two symbols; some more than once."""
    for i, j in combinations(range(len(word)), 2):
        for a, b in product(alphabet, repeat=2):
            yield (*word[:i], a, *word[i + 1 : j], b, *word[j + 1 :])


def upper(matrices: np.ndarray) -> np.ndarray:
    """The entries with i < j of matrices [word, i, j]: [word, pair]."""
    above = np.triu_indices(matrices.shape[-1], 1)
    return matrices[:, above[0], above[1]]


def judge_interactions(
    networks: Sequence[JudgedNetwork],
    measures: Mapping[str, Measure],
    *,
    resamples: int = 1_000,
    on_network: Callable[[str], None] | None = None,
) -> InteractionVerdicts:
    """The verdicts on measures, family by family.

    A network that is not right on all words of its length is left out, because the language says nothing about it. A
    measure that fails, or returns another shape, NaN or complex numbers, is named with the network; the others go on.
    One that is not defined for a kind of network has no verdict there. On the first network of each family a measure is
    called twice, and the second call is timed.
    """
    judged: dict[tuple[str, str], list[dict[str, Any]]] = {}
    unsure: dict[str, list[float]] = {}
    languages = [one.language for one in networks]
    failures, left_out, undefined = MethodFailures(), [], {}
    for one in networks:
        if on_network is not None:
            on_network(f"{one.family}: {one.name}")
        if not one.is_right():
            left_out.append(f"{one.name} ({one.family}) is wrong on some words of {one.length} symbols")
            continue
        known = _Truth(one)
        if known.unsure is not None:
            unsure.setdefault(one.family, []).append(known.unsure)
        for name, measure in measures.items():
            found = judged.get((name, one.family), [])
            try:
                scores = checked_scores(measure(one.network, list(one.words)), one)
                seconds = found[0]["seconds"] if found else _seconds(measure, one)
            except NotDefinedError as error:
                undefined.setdefault(name, str(error))
                continue
            except FAILURES as error:
                failures.add(name, one.name, one.family, error)
                continue
            about = {"seconds": seconds, "name": one.name, "group": languages.index(one.language)}
            judged[name, one.family] = [*found, known.compared(scores) | about]
    families = list(dict.fromkeys(one.family for one in networks))
    verdicts = [
        _verdict(name, family, judged[name, family], resamples)
        for name in measures
        for family in families
        if (name, family) in judged
    ]
    nowhere = (name for name in undefined if not any(one.measure == name for one in verdicts))
    problems = [*failures.lines(), *(f"{name} on all networks: {undefined[name]}" for name in nowhere)]
    shares = {family: round(float(np.mean(some)), 4) for family, some in unsure.items()}
    return InteractionVerdicts(tuple(verdicts), tuple(problems), tuple(left_out), unsure=shares)


def checked_scores(given: Any, one: JudgedNetwork) -> np.ndarray:
    """The scores [word, pair] of a measure; an `InputError` if they are not numbers for every pair of every word."""
    scores, expected = real_numbers(given), (len(one.words), one.length, one.length)
    if scores.shape != expected:
        raise InputError(f"it returned an array of shape {scores.shape}, and {expected} was expected: [word, i, j]")
    pairs = upper(scores)
    if np.isnan(pairs).any():
        word = int(np.argwhere(np.isnan(pairs))[0][0])
        raise InputError(f"it returned NaN for two symbols of the word {' '.join(one.words[word])!r}")
    return pairs


class _Truth:
    """All that scores of one network are compared with."""

    def __init__(self, one: JudgedNetwork):
        places = np.arange(one.length)
        near = -np.abs(places[:, None] - places)[None]
        self.truths, self.unsure = one.truths()
        self.nearness = np.repeat(upper(near), len(one.words), axis=0)
        self.structure = upper(np.stack([dependent_pairs(one.language, word) for word in one.words]))

    def compared(self, scores: np.ndarray) -> dict[str, Any]:
        return {
            "spearman": {name: spearman(truth, scores) for name, truth in self.truths.items()},
            "partial": {name: partial_spearman(truth, scores, self.nearness) for name, truth in self.truths.items()},
            "lead": {name: spearman(t, scores) - spearman(t, self.nearness) for name, t in self.truths.items()},
            "structure": area_under_roc(self.structure, scores),
        }


def _verdict(measure: str, family: str, found: list[dict[str, Any]], resamples: int) -> MeasureVerdict:
    groups = [one["group"] for one in found]
    by_truth: dict[str, dict[str, Interval]] = {
        what: {truth: interval([one[what][truth] for one in found], groups, resamples=resamples) for truth in TRUTHS}
        for what in BY_TRUTH
    }
    structure = interval([one["structure"] for one in found], groups, resamples=resamples)
    means = {one["name"]: [_mean(one[what][truth]) for what in BY_NETWORK for truth in TRUTHS] for one in found}
    counts: dict[str, Any] = {"networks": len(found), "words": len(found[0]["structure"]), "by_network": means}
    counts |= {"structure": structure, "seconds": found[0]["seconds"]}
    return MeasureVerdict(measure, family, **by_truth, **counts)


def _mean(by_word: np.ndarray) -> float | None:
    known = by_word[~np.isnan(by_word)]
    return round(float(known.mean()), 3) if len(known) else None


def _seconds(measure: Measure, one: JudgedNetwork) -> float:
    """The time of a further call, in which nothing is compiled."""
    started = time.perf_counter()
    measure(one.network, list(one.words))
    return time.perf_counter() - started
