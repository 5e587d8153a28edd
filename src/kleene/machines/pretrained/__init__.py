"""Networks that ship with Kleene."""

from importlib.resources import as_file, files

from kleene.machines.lstm.lstm import LSTM

GRAMMAR = "grammar.safetensors"


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
