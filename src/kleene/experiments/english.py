"""Interdependence and syntax in English: figures 3 and 4 of "LSTMs Compose (and Learn) Bottom-Up".

A language model learns a text, and then the interdependence of every two words of parsed sentences is measured, each
sentence read from an empty memory. An untrained network is measured too, because its interdependence also falls with
distance. Words keep their capitals; a word that the model does not know is `<unk>`.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kleene.data import data_file
from kleene.errors import InputError, UnknownWordsWarning
from kleene.experiments.experiment import Lessons, Size, Watch, described, keep
from kleene.experiments.word_pairs import AT_LEAST, CLASSES, WordPairs, pair_values
from kleene.explaining.words.pairwise import interdependence_batch
from kleene.machines.lstm.lstm import LSTM, Layer
from kleene.pictures.plots import Line, Panel, line_panels
from kleene.tasks import grammar
from kleene.tasks.text import END, Corpus, Vocabulary, words_of
from kleene.tasks.treebanks import Sentence, treebank
from kleene.teaching.language import WIDTH, corpus_lesson
from kleene.teaching.lesson import Lesson
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport
from kleene.teaching.task import Setting

FARTHEST = 15  # distances in the first figure
PAPER = {
    "distance": "interdependence falls with the distance of two words in the sentence",
    "syntax": "at each distance it broadly falls with their distance in the tree, more clearly for words far apart",
    "frequency": "the frequency of words shows no clear correlation with it",
}


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

    def run(self, folder: Any, *, on_test: Watch | None = None) -> dict[str, Any]:
        """The result. The folder holds it as `NAME.json` and `NAME.svg`, and the network as `NAME.safetensors`."""
        with Lessons(self.name, folder) as lessons:
            network, reports = self.model, []
            if network is None:
                report, learners = lessons.taught(self._plan, on_test)
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
