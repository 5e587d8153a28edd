"""Interdependence and syntax in English: figures 3 and 4 of "LSTMs Compose (and Learn) Bottom-Up".

They are figures 8 and 9 of "Word Interdependence Exposes How LSTMs Compose Representations", which takes the measure at
the logits; both are measured here. Several language models learn a text, and then every two words of parsed sentences
are measured, each sentence read from an empty memory; the figures are means over many pairs. Controls are measured too:
untrained networks, because their interdependence also falls with distance, trained ones with permuted weights, and
shuffled sentences. Words keep their capitals; a word that the model does not know is `<unk>`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kleene.data import data_file
from kleene.errors import InputError
from kleene.machines.lstm.lstm import LSTM
from kleene.tasks import grammar
from kleene.tasks.text import END, Corpus, Vocabulary, words_of
from kleene.tasks.treebanks import Sentence, treebank
from kleene.teaching.language import corpus_lesson
from kleene.teaching.lesson import Lesson, Setting
from kleene.teaching.plan import Learner, Plan
from kleene.teaching.reports import TeachingReport
from kleene_papers.interdependence import english_numbers, english_tables
from kleene_papers.interdependence.controls import permuted, shuffled, untrained
from kleene_papers.interdependence.english_report import draw, summary
from kleene_papers.interdependence.pair_measures import INFORMATION, INTERDEPENDENCE, MEASURES, PairCells, information
from kleene_papers.interdependence.resampling import DRAWS, SentenceDraws
from kleene_papers.interdependence.word_pairs import AT_LEAST, Values, WordPairs
from kleene_papers.study import NOT_MEASURED, Size, Study, Trained, Trial

FARTHEST = 15  # distances in the first figure
NETWORKS: dict[Size, int] = {"quick": 2, "full": 5}  # of each kind
PAPER = {
    "distance": "interdependence falls with the distance of two words in the sentence",
    "syntax": "at each distance it broadly falls with their distance in the tree, more clearly for words far apart",
    "frequency": "the frequency of words shows no clear correlation with it",
}


@dataclass(frozen=True)
class English:
    """A corpus to learn, parsed sentences, and how networks are taught; or a `model` that was taught before.

    There are `networks` trained ones, or the model alone, `networks` untrained ones and as many with permuted weights.
    """

    name: str
    corpus: Corpus
    sentences: tuple[Sentence, ...] = field(repr=False)
    training: dict[str, Any]
    iterations: int | None = None
    model: LSTM | None = None
    panels: int = 8  # distances at which trees are looked at
    at_least: int = AT_LEAST  # pairs to a mean
    networks: int = 2
    draws: int = DRAWS  # of sentences, for intervals

    def __post_init__(self) -> None:
        if self.networks < 1:
            raise InputError(f"networks is {self.networks}; give 1 or more")

    @cached_property
    def lesson(self) -> Lesson:
        sizes = {} if self.model is None else {"hidden": _width(self.model), "layers": len(self.model.layers)}
        return corpus_lesson(self.corpus, **(self.training | sizes))

    def trial(self) -> Trial:
        """What is run: a plan that teaches the networks, unless a model is given, and the measurements of all."""
        plans = () if self.model is not None else (self._plan,)
        return Trial(plans, PAPER, measure=self.measure, each=self._networks)

    @property
    def _plan(self) -> Plan:
        """The plan with a seed for each network and a test after each epoch."""
        total, every = self.iterations or self.lesson.iterations, self.lesson.task.epoch
        return Plan.grid(self.lesson, seeds=self.networks, iterations=total, test_every=min(every, total))

    def _networks(self, number: int, report: TeachingReport, learners: Learner) -> list[LSTM]:
        """The networks that a plan taught, each by itself."""
        return [_network(learners.model, one) for one in range(self.networks)]

    def measure(self, taught: Trained) -> dict[str, Any]:
        """What was found in all networks. The first one that was taught is saved as `NAME.safetensors`.

        Measuring that was stopped continues with the next network, because values of pairs are kept in the folder.
        """
        trained = [self.model] if self.model is not None else taught.each[0]
        if self.model is None:
            trained[0].save(taught.folder / f"{self.name}.safetensors")
        cells = PairCells(taught.folder / f".{self.name}-pairs")
        found = self._facts(trained, taught.reports) | self._measured(trained, cells, taught)
        cells.remove()
        return found | {"summary": summary(found)}

    def _facts(self, trained: list[LSTM], reports: Sequence[TeachingReport]) -> dict[str, Any]:
        network = trained[0]
        if reports:
            tested: Any = reports[0].progress.tests[-1]
        else:
            tested = jax.jit(self.lesson.test)(network, jax.random.key(0), Setting.without_hints())
        known, perplexities = set(network.vocabulary), np.ravel(tested["perplexity"])
        words = [word for sentence in self.sentences for word in sentence.words]
        return {
            "hidden": _width(network),
            "layers": len(network.layers),
            "networks": len(trained),
            "control_networks": self.networks,
            "perplexity": round(float(perplexities.mean()), 2),
            "perplexities": [round(float(one), 2) for one in perplexities],
            "held_out_words": len(self.corpus.held_out),
            "sentences": len(self.sentences),
            "unknown_words": round(float(np.mean([word not in known for word in words])), 4),
        }

    def _measured(self, trained: list[LSTM], cells: PairCells, taught: Trained) -> dict[str, Any]:
        """Means and trends of every measure in every kind of network.

        Statistics of one measure are taken on a thread of their own while the next is measured.
        """
        words, counted = self.corpus.vocabulary.words, Counter(np.asarray(self.corpus.train).tolist())
        counts = {word: counted[place] for place, word in enumerate(words)}
        draws = SentenceDraws.of(len(self.sentences), self.draws)
        taken: dict[str, dict[str, Future[dict[str, Any]]]] = {name: {} for name in (*MEASURES, INFORMATION)}
        with ThreadPoolExecutor(1) as pool:
            for group, networks, sentences in self._groups(trained):
                pairs = WordPairs.of(sentences, counts, FARTHEST)
                for number, measure in enumerate(MEASURES):
                    values = []
                    for which, network in enumerate(networks):
                        told = f"{measure} in {group} network {which + 1} of {len(networks)}"
                        taught.tell(number / len(MEASURES), told)
                        name = f"{group}-{measure}-{which}"
                        values.append(cells.values(name, measure, network, sentences, FARTHEST))
                    by_edges = measure in INTERDEPENDENCE and group in ("trained", "untrained")
                    given = pairs, np.stack(values), draws, by_edges
                    taken[measure][group] = pool.submit(self._statistics, *given)
            pairs = WordPairs.of(self.sentences, counts, FARTHEST)
            values = information(self.corpus, self.sentences, FARTHEST)[None]
            taken[INFORMATION]["text"] = pool.submit(self._statistics, pairs, values, draws)
            found = {
                measure: {group: one.result() for group, one in groups.items()} for measure, groups in taken.items()
            }
        return {"pairs": len(pairs), "farthest": FARTHEST, "draws": self.draws, "measures": found}

    def _groups(self, trained: list[LSTM]) -> Iterator[tuple[str, list[LSTM], tuple[Sentence, ...]]]:
        """The kinds of networks, and the sentences that each reads. All networks read the same shuffled sentences."""
        seeds, chance = range(self.networks), np.random.default_rng(0)
        yield "trained", trained, self.sentences
        yield "untrained", [untrained(trained[0], seed) for seed in seeds], self.sentences
        yield "permuted", [permuted(trained[seed % len(trained)], seed) for seed in seeds], self.sentences
        yield "shuffled", trained, tuple(shuffled(sentence, chance) for sentence in self.sentences)

    def _statistics(
        self, pairs: WordPairs, values: Values, draws: SentenceDraws, by_edges: bool = False
    ) -> dict[str, Any]:
        panels, least = self.panels, self.at_least
        found = {
            "distance": pairs.means(values, draws, "distance", longest=FARTHEST, at_least=least),
            "syntax_trends": pairs.trends(values, draws, "edges", panels, least),
            "syntax_trends_given_place": pairs.trends(values, draws, "edges", panels, least, given="place"),
            "frequency_trends": pairs.trends(values, draws, "frequency", panels, least),
        }
        return found | ({"syntax": self._by_edges(pairs, values, draws)} if by_edges else {})

    def _by_edges(self, pairs: WordPairs, values: Values, draws: SentenceDraws) -> list[dict[str, Any]]:
        columns = "distance", "classes", "edges"
        return pairs.means(values, draws, *columns, longest=self.panels, at_least=self.at_least)


def _network(networks: LSTM, number: int) -> LSTM:
    """One of several networks whose weights are stacked."""
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)[number]), networks)


def _width(network: LSTM) -> int:
    return int(network.decoder.shape[1])


def on_treebank(
    size: Size = "quick", iterations: int | None = None, model: LSTM | None = None, networks: int | None = None
) -> English:
    """English with a model of wikitext-2 and the sentences of English-EWT, both from the data folder.

    Full size is all of both, 400 units and five networks of each kind. The paper gives neither the rate nor the number
    of epochs. Ours are those of PyTorch's word_language_model, a rate of 20 with clipping at 0.25 and batches of 20,
    for 12 epochs with a dropout of 0.2; the rate is halved before each epoch from the seventh on. The quick size is the
    first 200,000 words, a vocabulary of 5,000, 100 units, 3 epochs, two networks of each kind, and the test part of
    EWT.
    """
    whole = size == "full" or model is not None
    known = None if model is None else words_known(model)
    corpus = wikitext(None, None, known) if whole else wikitext(200_000, 5_000)
    training: dict[str, Any] = {"rate": 20.0, "dropout": 0.2, "decay": 0.5}
    training |= {"hidden": 400, "epochs": 12, "steady": 6} if whole else {"hidden": 100, "epochs": 3, "steady": 2}
    sentences = tuple(treebank("ud-ewt", "all" if size == "full" else "test"))
    many = NETWORKS[size] if networks is None else networks
    return English("compose-figure-3", corpus, sentences, training, iterations, model, networks=many)


def wikitext(words: int | None, size: int | None, vocabulary: Vocabulary | None = None) -> Corpus:
    """The first words of wikitext-2, and a tenth as many held out; the vocabulary is theirs, or the one given."""
    train = list(words_of(data_file("wikitext-2", "train.txt")))[:words]
    held_out = list(words_of(data_file("wikitext-2", "valid.txt")))[: None if words is None else words // 10]
    known = Vocabulary.of(train, size=size) if vocabulary is None else vocabulary
    return Corpus("wikitext-2", known, known.encode(train), known.encode(held_out))


def on_grammar(
    size: Size = "quick", iterations: int | None = None, model: LSTM | None = None, networks: int | None = None
) -> English:
    """The same with sentences of the built-in grammar. It needs no data, and its result is not about English.

    The model learns 200,000 words and is measured on 500 other sentences; full size is a million and 5,000.
    """
    words, looked_at = (200_000, 500) if size == "quick" else (1_000_000, 5_000)
    parts = [_lines(grammar.text(count, seed=seed)) for count, seed in ((words, 1), (words // 20, 2))]
    known = Vocabulary.of(parts[0]) if model is None else words_known(model)
    corpus = Corpus("grammar", known, *(known.encode(part) for part in parts))
    training: dict[str, Any] = {"hidden": 64, "rate": 10.0, "epochs": 6, "steady": 4, "decay": 0.5}
    sentences = tuple(grammar.sentences(looked_at, seed=3))
    many = NETWORKS[size] if networks is None else networks
    return English("ours-english-grammar", corpus, sentences, training, iterations, model, networks=many)


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


def _study(of: Callable[..., English], name: str, shows: str, formerly: str, quick: str, full: str) -> Study:
    return Study(
        name,
        shows,
        english_tables.tables,
        draw,
        lambda size, **given: of(size, **given).trial(),
        takes=("iterations", "model", "networks"),
        quick=quick,
        full=full,
        formerly=formerly,
    )


STUDIES = (
    _study(
        on_treebank,
        "compose-figure-3",
        "interdependence of two words of English by their distance in the sentence and in the tree",
        "english",
        "231 s",
        "1,120 s beside traces-figure-9d and traces-figure-9e",
    ),
    _study(
        on_grammar,
        "ours-english-grammar",
        "interdependence of two words of the built-in grammar, which needs no data",
        "english-grammar",
        "62 s",
        NOT_MEASURED,
    ),
    Study(
        "ours-english-model",
        "the English language model that ships, beside the other candidates and a model of full size",
        english_tables.models,
        of=("ours-english-model", "compose-figure-3"),
    ),
)
WORDS = english_numbers.WORDS
