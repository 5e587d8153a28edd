"""Networks that ship with Kleene."""

from importlib.resources import as_file, files

from kleene.machines.lstm.lstm import LSTM

GRAMMAR = "grammar.safetensors"


def grammar_model() -> LSTM:
    """A small LSTM language model of the built-in grammar, to try things with; it knows some 590 English words.

    `kleene.teaching.pretraining` says how it was taught.

    >>> model = grammar_model()
    >>> logits = dict(zip(model.vocabulary, model.outputs("the man near the houses".split())[-1]))
    >>> bool(logits["laughs"] > logits["laugh"])  # it is the man who does
    True
    """
    with as_file(files(__name__) / GRAMMAR) as path:
        return LSTM.load(path)
