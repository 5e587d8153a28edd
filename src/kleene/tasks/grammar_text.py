"""Sentences of the built-in grammar as a text: what the small model of it that ships with Kleene was taught."""

from random import Random

from kleene.tasks.grammar import endless
from kleene.tasks.text import END, UNKNOWN
from kleene.tasks.treebanks import OPEN_CLASSES

UNKNOWN_SHARE = 0.03  # of words of open classes, so that the model reads an unknown word as one of these
CAPITAL_SHARE = 0.5  # of sentences, because people type both


def grammar_words(count: int, *, seed: int) -> list[str]:
    """Sentences of the grammar, each followed by `<eos>`, of at least `count` words.

    Some words are `<unk>`, and half of the sentences begin with a capital, so that the model knows both.

    >>> print(*grammar_words(20, seed=1)[-15:])
    Although Ada gave this <unk> some stone flags , the mouse will <unk> . <eos>
    """
    chance, found = Random(seed).random, []
    for sentence in endless(seed):
        hidden = [kind in OPEN_CLASSES and chance() < UNKNOWN_SHARE for kind in sentence.classes]
        words = [UNKNOWN if gone else word for word, gone in zip(sentence.words, hidden)]
        if chance() < CAPITAL_SHARE:
            words[0] = words[0][0].upper() + words[0][1:]
        found += [*words, END]
        if len(found) >= count:
            return found
    raise AssertionError("endless() ended")
