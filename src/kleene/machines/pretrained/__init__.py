"""Language models that ship with Kleene: a small one of the built-in grammar, and one of English."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import as_file, files

from kleene.machines.lstm.lstm import LSTM
from kleene.machines.lstm.packing import unpack

GRAMMAR, ENGLISH = "grammar.safetensors", "english.safetensors"


def grammar_model() -> LSTM:
    """A small LSTM language model of the built-in grammar, for examples; it knows about 590 English words.

    `kleene.teaching.pretraining` trained it.

    >>> model = grammar_model()
    >>> logits = dict(zip(model.vocabulary, model.outputs("the man near the houses".split())[-1]))
    >>> bool(logits["laughs"] > logits["laugh"])  # the subject is the man
    True
    """
    with as_file(files(__name__) / GRAMMAR) as path:
        return LSTM.load(path)


@cache
def english_model() -> LSTM:
    """An LSTM language model of English, which learned wikitext-2 and knows its most frequent words.

    `kleene.teaching.pretraining` trained it. Its file has 8 bits for each weight. Words keep their capitals, and
    punctuation marks are words.

    >>> model = english_model()
    >>> logits = dict(zip(model.vocabulary, model.outputs("He was one of the".split())[-1]))
    >>> bool(logits["most"] > logits["is"])
    True
    """
    with as_file(files(__name__) / ENGLISH) as path:
        return unpack(path)


SHIPPED: Mapping[str, Callable[[], LSTM]] = {"grammar": grammar_model, "english": english_model}
