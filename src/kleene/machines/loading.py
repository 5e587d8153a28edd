"""Any network that Kleene wrote, from its file."""

from importlib import import_module
from typing import Any

from kleene.errors import ModelFileError
from kleene.tensors import open_tensors

KINDS = {
    "universal transformer": ("kleene.machines.transformer.universal_transformer", "UniversalTransformer"),
    "simple rnn": ("kleene.machines.rnn.simple_rnn", "SimpleRNN"),
    "turing rnn": ("kleene.machines.turing_rnn.turing_rnn", "TuringRNN"),
    "lstm": ("kleene.machines.lstm.lstm", "LSTM"),
    "transformer language model": ("kleene.machines.transformer_lm.transformer_lm", "TransformerLM"),
    "nram": ("kleene.machines.nram.nram", "NRAM"),
    "ntm": ("kleene.machines.ntm.ntm", "NTM"),
}


def load(path: Any) -> Any:
    """The network in a .safetensors file, of whatever kind it is. Opening a file never runs code.

    >>> import kleene, tempfile
    >>> file = tempfile.mkdtemp() + "/even.safetensors"
    >>> kleene.compile(kleene.DFA.from_regex("(0|10*1)*")).save(file)
    >>> load(file).accepts("110")
    True
    """
    file = open_tensors(path)
    if file.kind not in KINDS:
        raise ModelFileError(f"{str(path)!r} holds a {file.kind}, and not a network; there are {', '.join(KINDS)}")
    module, name = KINDS[file.kind]
    return getattr(import_module(module), name).load(file)
