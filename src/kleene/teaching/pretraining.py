"""Training of the small language model that ships with Kleene: an LSTM on sentences of the built-in grammar.

`python -m kleene.teaching.pretraining FILE` makes it again, in two and a half minutes on two cores.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from kleene.tasks.grammar_text import grammar_words
from kleene.tasks.text import Corpus, Vocabulary
from kleene.teaching.language import corpus_lesson
from kleene.teaching.loop import teach, use_all_cores
from kleene.teaching.plan import Plan, Progress

WORDS, HELD_OUT = 1_000_000, 5_000
SEEDS = 4  # the one with the lowest perplexity on the held-out text is kept
OPTIONS = {"hidden": 48, "epochs": 6, "rate": 20.0, "steady": 3, "decay": 0.4, "batch": 20, "steps": 20}


def grammar_corpus(words: int = WORDS, held_out: int = HELD_OUT) -> Corpus:
    """The corpus of the model: the sentences that it learns from, and held-out ones."""
    train, tested = grammar_words(words, seed=0), grammar_words(held_out, seed=1)
    vocabulary = Vocabulary.of(train)
    return Corpus("grammar", vocabulary, vocabulary.encode(train), vocabulary.encode(tested))


def pretrain(path: Any, *, on_test: Callable[[Progress], None] | None = None) -> Path:
    """Teach the model, save it, and return the path."""
    lesson = corpus_lesson(grammar_corpus(), **OPTIONS)
    plan = Plan.grid(lesson, seeds=SEEDS, test_every=lesson.task.epoch)
    progress, learners = teach(plan, on_test=on_test)
    best = int(np.argmin(progress.tests[-1]["perplexity"]))
    return jax.tree.map(lambda leaf: leaf[best], learners.model).save(path)


def _print_test(now: Progress) -> None:
    shown = ", ".join(f"{perplexity:.2f}" for perplexity in now.tests[-1]["perplexity"])
    print(f"{now.iteration:,} updates in {now.seconds:.0f} s: perplexity {shown}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m kleene.teaching.pretraining FILE.safetensors")
    use_all_cores()
    pretrain(sys.argv[1], on_test=_print_test)
