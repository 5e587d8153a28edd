"""Interdependence and syntax in English: figures 3 and 4 of "LSTMs Compose (and Learn) Bottom-Up".

A language model learns a text, and then the interdependence of every two words of parsed sentences is measured, each
sentence read from an empty memory; the figures are means over many pairs. An untrained network is measured too, because
its interdependence also falls with distance. Words keep their capitals; a word that the model does not know is `<unk>`.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from kleene.data import data_file
from kleene.errors import InputError, UnknownWordsWarning
from kleene.experiments.experiment import Lessons, Size, Watch, described, keep
from kleene.explaining.words.pairwise import interdependence_batch
from kleene.machines.lstm.lstm import LSTM, Layer
from kleene.pictures.plots import Line, Panel, line_panels
from kleene.tasks import grammar
from kleene.tasks.text import END, Corpus, Vocabulary, words_of
from kleene.tasks.treebanks import CLOSED_CLASSES, OPEN_CLASSES, Sentence, tree_distances, treebank
from kleene.teaching.language import WIDTH, corpus_lesson
from kleene.teaching.lesson import Lesson, Setting
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport

FARTHEST = 15  # distances in the first figure
PAPER = {
    "distance": "interdependence falls with the distance of two words in the sentence",
    "syntax": "at each distance it broadly falls with their distance in the tree, more clearly for words far apart",
    "frequency": "the frequency of words shows no clear correlation with it",
}
CLASSES = ("open", "closed", "mixed")  # both words open, both closed, one of each
AT_LEAST = 100  # cases to a mean, as in Saphra & Lopez 2020
Z = 1.96  # standard errors in a 95% interval
Whole = Int[np.ndarray, " pairs"]
Real = Float[np.ndarray, " pairs"]


@dataclass(frozen=True)
class English:
    """A corpus to learn, parsed sentences, and how the network is taught; or a `model` that was taught before."""

    name: str
    shows: str
    corpus: Corpus
    sentences: tuple[Sentence, ...] = field(repr=False)
    training: dict[str, Any]
    iterations: int | None = None
    model: LSTM | None = None
    paper: dict[str, Any] = field(default_factory=lambda: PAPER)
    panels: int = 8  # of the second figure, one for each distance
    at_least: int = AT_LEAST  # pairs to a mean

    @cached_property
    def lesson(self) -> Lesson:
        sizes = {} if self.model is None else {"hidden": _width(self.model), "layers": len(self.model.layers)}
        return corpus_lesson(self.corpus, **(self.training | sizes))

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plan that teaches the network; none where a model is given."""
        return () if self.model is not None else (self._plan,)

    @cached_property
    def _plan(self) -> Plan:
        """The plan with one seed and a test after each epoch."""
        total = self.iterations or self.lesson.iterations
        return Plan.grid(self.lesson, seeds=1, iterations=total, test_every=min(self.lesson.task.epoch, total))

    def run(self, folder: Any, *, watch: Watch | None = None) -> dict[str, Any]:
        """The result. The folder holds it as `NAME.json` and `NAME.svg`, and the network as `NAME.safetensors`."""
        with Lessons(self, folder, watch) as lessons:
            network, reports = self.model, []
            if network is None:
                report, learners = lessons.taught(self._plan)
                network, reports = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)[0]), learners.model), [report]
                network.save(lessons.folder / f"{self.name}.safetensors")
            content = described(self, reports) | self._facts(network, reports) | self._measured(network)
            content["summary"] = summary(content)
            keep(content, lessons.folder)
            draw(content, lessons.folder / f"{self.name}.svg", self.panels)
        return content

    def _facts(self, network: LSTM, reports: list[TeachingReport]) -> dict[str, Any]:
        if reports:
            tested: Any = reports[0].progress.tests[-1]
        else:
            tested = jax.jit(self.lesson.test)(network, jax.random.key(0), Setting.without_hints())
        known = set(network.vocabulary)
        words = [word for sentence in self.sentences for word in sentence.words]
        return {
            "hidden": _width(network),
            "layers": len(network.layers),
            "perplexity": round(float(np.ravel(tested["perplexity"])[0]), 2),
            "held_out_words": len(self.corpus.held_out),
            "sentences": len(self.sentences),
            "unknown_words": round(float(np.mean([word not in known for word in words])), 4),
        }

    def _measured(self, network: LSTM) -> dict[str, Any]:
        """Means and trends of the interdependence of all pairs, in this network and in an untrained one."""
        counted = Counter(np.asarray(self.corpus.train).tolist())
        counts = {word: counted[place] for place, word in enumerate(self.corpus.vocabulary)}
        pairs, found = WordPairs.of(self.sentences, counts), {}
        panels, least = self.panels, self.at_least
        for name, model in (("trained", network), ("untrained", untrained(network))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnknownWordsWarning)  # `unknown_words` says how many there are
                matrices = interdependence_batch(model, [sentence.words for sentence in self.sentences])
            values = pair_values(self.sentences, matrices)
            found[name] = {
                "distance": pairs.means(values, "distance", longest=FARTHEST, at_least=least),
                "syntax": pairs.means(values, "distance", "classes", "edges", longest=panels, at_least=least),
                "syntax_trends": pairs.trends(values, "edges", panels, least),
                "frequency_trends": pairs.trends(values, "frequency", panels, least),
            }
        return {"pairs": len(pairs)} | found


def untrained(network: LSTM, seed: int = 0) -> LSTM:
    """A network of the same shape with random weights, drawn as a language lesson draws them."""
    keys = iter(jax.random.split(jax.random.key(seed), 2 + 3 * len(network.layers)))

    def drawn(weights: Any, width: float) -> Any:
        return jax.random.uniform(next(keys), np.shape(weights), minval=-width, maxval=width)

    around = _width(network) ** -0.5
    layers = [Layer(*(drawn(w, around) for w in (one.inputs, one.recurrent, one.bias))) for one in network.layers]
    return LSTM(
        embedding=drawn(network.embedding, WIDTH),
        layers=tuple(layers),
        start=jax.tree.map(jnp.zeros_like, network.start),
        decoder=drawn(network.decoder, WIDTH),
        decoder_bias=jnp.zeros_like(network.decoder_bias),
        vocabulary=network.vocabulary,
    )


def _width(network: LSTM) -> int:
    return int(network.decoder.shape[1])


def summary(content: dict[str, Any]) -> list[str]:
    """The result in a few lines."""
    lines = [
        f"perplexity {content['perplexity']:,} on {content['held_out_words']:,} held-out words; "
        f"{content['pairs']:,} pairs of {content['sentences']:,} sentences, {content['unknown_words']:.1%} unknown"
    ]
    for name in ("trained", "untrained"):
        rows = content[name]["distance"]
        means = ", ".join(f"{row['mean']:.3f} at {row['distance']}" for row in rows if row["distance"] in (1, 2, 4, 8))
        falling = [row["correlation"] for row in content[name]["syntax_trends"] if row["correlation"] is not None]
        frequent = [row["correlation"] for row in content[name]["frequency_trends"] if row["correlation"] is not None]
        lines.append(
            f"{name}: mean interdependence {means}; rank correlation with edges below 0 in "
            f"{sum(rho < 0 for rho in falling)} of {len(falling)} strata (mean {_mean(falling)}), with frequency "
            f"{_mean(frequent)} in the mean"
        )
    return lines


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.3f}" if values else "–"


def draw(content: dict[str, Any], path: Path, count: int = 8) -> Path:
    """Draw mean interdependence against distance, then against edges with a panel for each distance."""
    lines = {
        name: _line(content[name]["distance"], "distance", 0, dashed=name == "untrained")
        for name in ("trained", "untrained")
    }
    panels = {"all pairs": Panel(lines, "words apart", "mean DI", marks="o")}
    for distance in range(1, count + 1):
        lines = dict(_syntax_lines(content, distance))
        if lines:
            panels[f"{distance} apart"] = Panel(lines, "edges in the tree", "mean DI", marks="o")
    return line_panels(panels, path, title=content["shows"])


def _syntax_lines(content: dict[str, Any], distance: int) -> Iterable[tuple[str, Line]]:
    for name in ("trained", "untrained"):
        for colour, classes in enumerate(CLASSES[:2], start=1):
            rows = [r for r in content[name]["syntax"] if (r["distance"], r["classes"]) == (distance, classes)]
            if rows:
                yield f"{classes}, {name}", _line(rows, "edges", colour, dashed=name == "untrained")


def _line(rows: list[dict[str, Any]], across: str, colour: int, dashed: bool) -> Line:
    columns = ([row[key] for row in rows] for key in (across, "mean", "low", "high"))
    return Line(*columns, colour=colour, dashed=dashed)


def on_treebank(size: Size = "quick", iterations: int | None = None, model: LSTM | None = None) -> English:
    """The experiment with a model of wikitext-2 and the sentences of English-EWT, both from the data folder.

    Full size is all of both and 400 units. The paper gives neither the rate nor the number of epochs. Ours are those of
    PyTorch's word_language_model, a rate of 20 with clipping at 0.25 and batches of 20, for 12 epochs with a dropout of
    0.2; the rate is halved before each epoch from the seventh on. The quick size is the first 200,000 words, a
    vocabulary of 5,000, 100 units, 3 epochs, and the test part of EWT.
    """
    whole = size == "full" or model is not None
    known = None if model is None else words_known(model)
    corpus = wikitext(None, None, known) if whole else wikitext(200_000, 5_000)
    training: dict[str, Any] = {"rate": 20.0, "dropout": 0.2, "decay": 0.5}
    training |= {"hidden": 400, "epochs": 12, "steady": 6} if whole else {"hidden": 100, "epochs": 3, "steady": 2}
    sentences = tuple(treebank("ud-ewt", "all" if size == "full" else "test"))
    title = "interdependence of words of English-EWT in a model of wikitext-2"
    return English("english", title, corpus, sentences, training, iterations, model)


def wikitext(words: int | None, size: int | None, vocabulary: Vocabulary | None = None) -> Corpus:
    """The first words of wikitext-2, and a tenth as many held out; the vocabulary is theirs, or the one given."""
    train = list(words_of(data_file("wikitext-2", "train.txt")))[:words]
    held_out = list(words_of(data_file("wikitext-2", "valid.txt")))[: None if words is None else words // 10]
    known = Vocabulary.of(train, size=size) if vocabulary is None else vocabulary
    return Corpus("wikitext-2", known, known.encode(train), known.encode(held_out))


def on_grammar(size: Size = "quick", iterations: int | None = None, model: LSTM | None = None) -> English:
    """The experiment with sentences of the built-in grammar. It needs no data, and its result is not about English.

    The model learns 200,000 words and is measured on 500 other sentences; full size is a million and 5,000.
    """
    words, looked_at = (200_000, 500) if size == "quick" else (1_000_000, 5_000)
    parts = [_lines(grammar.text(count, seed=seed)) for count, seed in ((words, 1), (words // 20, 2))]
    known = Vocabulary.of(parts[0]) if model is None else words_known(model)
    corpus = Corpus("grammar", known, *(known.encode(part) for part in parts))
    training: dict[str, Any] = {"hidden": 64, "rate": 10.0, "epochs": 6, "steady": 4, "decay": 0.5}
    sentences = tuple(grammar.sentences(looked_at, seed=3))
    title = "interdependence of words in a model of the built-in grammar"
    return English("english-grammar", title, corpus, sentences, training, iterations, model)


def words_known(model: LSTM) -> Vocabulary:
    """The vocabulary of a model whose tokens are words."""
    words = tuple(str(token) for token in model.vocabulary)
    if words != model.vocabulary or len(model.decoder_bias) != len(words):
        raise InputError(
            f"the model has {len(model.decoder_bias)} outputs, and {len(words)} tokens, such as {words[0]!r}; a "
            f"language model with words for tokens is needed, such as `kleene teach text:FILE --model FILE` makes"
        )
    return Vocabulary(words)


def _lines(text: str) -> list[str]:
    return [word for line in text.splitlines() for word in (*line.split(), END)]


def experiments(
    size: Size = "quick", iterations: int | None = None, model: LSTM | None = None
) -> dict[str, Callable[[], English]]:
    """A function without arguments for each experiment, by name."""
    return {
        "english": lambda: on_treebank(size, iterations, model),
        "english-grammar": lambda: on_grammar(size, iterations, model),
    }


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Every two words of some sentences, without punctuation, symbols and X.

    `distance` is the difference of their positions in the sentence, `edges` their distance in the tree, `classes` an
    index into `CLASSES`, and `frequency` the mean of ln(1 + count) of the two words.
    """

    distance: Whole
    edges: Whole
    classes: Whole
    frequency: Real

    @classmethod
    def of(cls, sentences: Sequence[Sentence], counts: Mapping[str, int]) -> "WordPairs":
        rows = [_pairs(sentence, counts) for sentence in sentences]
        return cls(*(np.concatenate(column) for column in zip(*rows)))

    def __len__(self) -> int:
        return len(self.distance)

    def means(
        self, values: Real, *by: str, longest: int | None = None, at_least: int = AT_LEAST
    ) -> list[dict[str, Any]]:
        """The mean and 95% interval of the values, for each combination of columns that `at_least` pairs have, sorted.

        The interval assumes independent pairs. Those of one sentence are not, so it is too narrow.
        """
        chosen = np.ones(len(self), bool) if longest is None else self.distance <= longest
        keys = np.stack([getattr(self, column)[chosen] for column in by], axis=1)
        groups, places, cases = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        chosen_values, places = values[chosen].astype(np.float64), places.reshape(-1)
        mean = np.bincount(places, chosen_values) / cases
        spread = np.sqrt(np.bincount(places, (chosen_values - mean[places]) ** 2) / np.maximum(cases - 1, 1))
        half = Z * spread / np.sqrt(cases)
        rows = zip(groups.tolist(), mean.tolist(), half.tolist(), cases.tolist())
        return [
            _named(dict(zip(by, group))) | {"mean": m, "low": m - h, "high": m + h, "cases": n}
            for group, m, h, n in rows
            if n >= at_least
        ]

    def trends(self, values: Real, column: str, longest: int, at_least: int = AT_LEAST) -> list[dict[str, Any]]:
        """The rank correlation of the values with a column, for each distance and each class."""
        found = []
        for distance in range(1, longest + 1):
            for code, name in enumerate(CLASSES):
                chosen = (self.distance == distance) & (self.classes == code)
                cases = int(chosen.sum())
                if cases >= at_least:
                    rho = rank_correlation(getattr(self, column)[chosen], values[chosen])
                    found.append({"distance": distance, "classes": name, "correlation": rho, "cases": cases})
        return found


def pair_values(sentences: Sequence[Sentence], matrices: Sequence[np.ndarray]) -> Real:
    """The entries of a symmetric matrix over each sentence's words, in the order of `WordPairs`."""
    found = []
    for sentence, matrix in zip(sentences, matrices):
        left, right = _places(sentence)
        found.append(matrix[left, right])
    return np.concatenate(found)


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float | None:
    """Spearman's rank correlation; None where one of the two does not vary.

    >>> rank_correlation(np.array([1, 2, 3, 3]), np.array([9.0, 4.0, 1.0, 1.0]))
    -1.0
    """
    from scipy.stats import spearmanr  # slow to import

    if min(np.ptp(side) for side in (one, other)) == 0:
        return None
    found: Any = spearmanr(one, other)
    return round(float(found.statistic), 4)


def _pairs(sentence: Sentence, counts: Mapping[str, int]) -> tuple[np.ndarray, ...]:
    left, right = _places(sentence)
    is_open = np.array([one in OPEN_CLASSES for one in sentence.classes])
    logs = np.log1p([counts.get(word, 0) for word in sentence.words])
    classes = np.where(is_open[left] != is_open[right], 2, np.where(is_open[left], 0, 1))
    return right - left, tree_distances(sentence)[left, right], classes, (logs[left] + logs[right]) / 2


def _places(sentence: Sentence) -> tuple[np.ndarray, np.ndarray]:
    """The two words of each pair that counts, the earlier first."""
    words = np.flatnonzero([one in OPEN_CLASSES | CLOSED_CLASSES for one in sentence.classes])
    left, right = np.triu_indices(len(words), 1)
    return words[left], words[right]


def _named(row: dict[str, int]) -> dict[str, Any]:
    return row | ({"classes": CLASSES[row["classes"]]} if "classes" in row else {})
