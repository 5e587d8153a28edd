"""Training of the language models that ship with Kleene: an LSTM of the built-in grammar, and one of English.

`python -m kleene.teaching.pretraining grammar FILE` makes the first again, in two and a half minutes on two cores, and
`python -m kleene.teaching.pretraining english FILE` the second, which needs wikitext-2 in the data folder and a GPU.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kleene.machines.lstm.lstm import LSTM
from kleene.machines.lstm.packing import pack, unpack
from kleene.tasks.grammar_text import grammar_words
from kleene.tasks.text import UNKNOWN, Corpus, Vocabulary, wikitext_2
from kleene.teaching.language import corpus_lesson
from kleene.teaching.lesson import Setting
from kleene.teaching.loop import teach, use_all_cores
from kleene.teaching.plan import Learner, Plan, Progress

WORDS, HELD_OUT = 1_000_000, 5_000
SEEDS = 4  # the one with the lowest perplexity on the held-out text is kept
OPTIONS = {"hidden": 48, "epochs": 6, "rate": 20.0, "steady": 3, "decay": 0.4, "batch": 20, "steps": 20}

# English: as `kleene reproduce compose-figure-3 --run full`, with tied weights, fewer words and units, more dropout.
KNOWN_WORDS = 16_000
ENGLISH_SEEDS = 1
ENGLISH = {"hidden": 192, "layers": 1, "dropout": 0.25, "tied": True, "rate": 20.0, "steady": 11, "decay": 0.5}
ENGLISH |= {"epochs": 20, "batch": 40, "steps": 35}


def grammar_corpus(words: int = WORDS, held_out: int = HELD_OUT) -> Corpus:
    """The corpus of the model: the sentences that it learns from, and held-out ones."""
    train, tested = grammar_words(words, seed=0), grammar_words(held_out, seed=1)
    vocabulary = Vocabulary.of(train)
    return Corpus("grammar", vocabulary, vocabulary.encode(train), vocabulary.encode(tested))


def pretrain(path: Any, *, on_test: Callable[[Progress], None] | None = None) -> Path:
    """Teach the model of the grammar, save it, and return the path."""
    lesson = corpus_lesson(grammar_corpus(), **OPTIONS)
    plan = Plan.grid(lesson, seeds=SEEDS, test_every=lesson.task.epoch)
    progress, learners = teach(plan, on_test=on_test)
    best = int(np.argmin(progress.tests[-1]["perplexity"]))
    return jax.tree.map(lambda leaf: leaf[best], learners.model).save(path)


def pretrain_english(
    path: Any,
    corpus: Corpus | None = None,
    *,
    seeds: int = ENGLISH_SEEDS,
    seconds: float | None = None,
    checkpoint: Any = None,
    on_test: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Path:
    """Teach the model of English on wikitext-2, and return the path of the packed file.

    The file is written after each epoch whose best network is the best so far on the validation part, so that it is
    whole if training is stopped. `seconds` ends training after the epoch in which they are over; with a `checkpoint`
    training that was stopped goes on.
    """
    corpus = wikitext_2(size=KNOWN_WORDS) if corpus is None else corpus
    lesson = corpus_lesson(corpus, **(ENGLISH | options))
    plan, began = Plan.grid(lesson, seeds=seeds, test_every=lesson.task.epoch), time.monotonic()

    def keep_best(progress: Progress, learners: Learner) -> None:
        now = progress.tests[-1]["perplexity"]
        if np.nanmin(now) <= min(np.nanmin(test["perplexity"]) for test in progress.tests):
            best = int(np.nanargmin(now))
            pack(jax.tree.map(lambda leaf: np.asarray(leaf)[best], learners.model), path)

    def is_late(progress: Progress) -> bool:
        return seconds is not None and time.monotonic() - began > seconds

    teach(plan, checkpoint=checkpoint, enough=is_late, on_test=on_test, on_learners=keep_best)
    return Path(path)


def judged(model: LSTM, whole: Corpus, **options: Any) -> dict[str, float]:
    """The perplexity of a language model on held-out text, as it reads the text and in all words of the corpus.

    Models of different vocabularies cannot be compared by the former, because a word that a model does not know counts
    as `<unk>`, which is easy to predict. For `in_all_words`, the words that are `<unk>` to the model share its
    probability in proportion to their frequency in the training part. `options` are those of the lesson.
    """
    known = Vocabulary(tuple(map(str, model.vocabulary)))
    read = known.encode(whole.vocabulary.words)  # the model's id of each word
    corpus = Corpus(whole.name, known, read[whole.train], read[whole.held_out])
    sizes = {"hidden": int(model.decoder.shape[1]), "layers": len(model.layers)}
    lesson = corpus_lesson(corpus, **(sizes | options))
    tested = jax.jit(lesson.test)(model, jax.random.key(0), Setting.without_hints())
    perplexity = float(tested["perplexity"])
    return {
        "perplexity": round(perplexity, 2),
        "in_all_words": round(perplexity * _sharing_of_unknown(whole, read), 2),
        "unknown": round(float(np.mean(corpus.held_out == known.places[UNKNOWN])), 4),
    }


def _sharing_of_unknown(corpus: Corpus, read: np.ndarray) -> float:
    """The factor of a perplexity by which unknown words are told apart: the same for all models of one vocabulary."""
    counts = np.bincount(corpus.train, minlength=len(corpus.vocabulary)).astype(float)
    hidden = read == read[corpus.vocabulary.places[UNKNOWN]]
    shares = np.where(hidden, counts / counts[hidden].sum(), 1.0)
    met = corpus.held_out[1:]  # the first word is not predicted
    return float(np.exp(-np.log(shares[met]).mean()))


def _print_test(now: Progress) -> None:
    shown = ", ".join(f"{perplexity:.2f}" for perplexity in now.tests[-1]["perplexity"])
    print(f"{now.iteration:,} updates in {now.seconds:.0f} s: perplexity {shown}", flush=True)


def _pretrain_and_judge(asked: argparse.Namespace) -> None:
    """Teach the model of English, and print a line of JSON about the file."""
    options = {name: getattr(asked, name) for name in ENGLISH if getattr(asked, name, None) is not None}
    corpus = wikitext_2(size=asked.words)
    limits = {"seeds": asked.seeds, "seconds": asked.seconds, "checkpoint": asked.checkpoint}
    path = pretrain_english(asked.file, corpus, on_test=_print_test, **limits, **options)
    model = unpack(path)
    facts = {"file": path.name, "bytes": path.stat().st_size, "words": len(model.vocabulary)} | ENGLISH | options
    print(json.dumps(facts | {part: judged(model, wikitext_2(part)) for part in ("valid", "test")}), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m kleene.teaching.pretraining", description=__doc__)
    models = parser.add_subparsers(dest="model", required=True)
    models.add_parser("grammar").add_argument("file")
    english = models.add_parser("english")
    english.add_argument("file")
    english.add_argument("--words", type=int, default=KNOWN_WORDS, help="how many words it knows")
    english.add_argument("--seeds", type=int, default=ENGLISH_SEEDS)
    english.add_argument("--seconds", type=float, help="end training after the epoch in which they are over")
    english.add_argument("--checkpoint", help="a file from which training goes on after a stop")
    for name in ("hidden", "layers", "epochs", "steady", "batch", "dropout", "rate", "decay"):
        english.add_argument(f"--{name}", type=type(ENGLISH[name]))
    return parser.parse_args()


if __name__ == "__main__":
    chosen = _arguments()
    use_all_cores()
    if chosen.model == "grammar":
        pretrain(chosen.file, on_test=_print_test)
    else:
        _pretrain_and_judge(chosen)
