"""Any network that Kleene wrote, from its file."""

from importlib import import_module
from typing import Any

from kleene.errors import ModelFileError
from kleene.tensors import kind_of, read_arrays

KINDS = {
    "universal transformer": ("kleene.machines.universal_transformer", "UniversalTransformer"),
    "simple rnn": ("kleene.machines.rnn.simple_rnn", "SimpleRNN"),
    "turing rnn": ("kleene.machines.rnn.turing", "TuringRNN"),
    "lstm": ("kleene.machines.lstm", "LSTM"),
    "transformer language model": ("kleene.machines.transformer_lm", "TransformerLM"),
    "nram": ("kleene.machines.nram", "NRAM"),
    "ntm": ("kleene.machines.ntm", "NTM"),
}


def load(path: Any) -> Any:
    """The network in a .safetensors file, of whatever kind it is. Opening a file never runs code.

    >>> import kleene, tempfile
    >>> file = tempfile.mkdtemp() + "/even.safetensors"
    >>> kleene.compile(kleene.DFA.from_regex("(0|10*1)*")).save(file)
    >>> load(file).accepts("110")
    True
    """
    try:
        kind = kind_of(path)
    except ModelFileError as error:
        raise ModelFileError(_about_pytorch(path) or str(error)) from None
    if kind not in KINDS:
        raise ModelFileError(f"{str(path)!r} holds a {kind}, and not a network; there are {', '.join(KINDS)}")
    module, name = KINDS[kind]
    return getattr(import_module(module), name).load(path)


def _about_pytorch(path: Any) -> str:
    """What to do with a file of PyTorch's weights; nothing about other files."""
    try:
        names = read_arrays(path)
    except ModelFileError:
        return ""
    if not any(name.endswith("weight_ih_l0") for name in names):
        return ""
    return (
        f"{str(path)!r} has the weights of a PyTorch LSTM, without its words: turn it into a model of Kleene with "
        f"kleene.LSTM.from_torch({str(path)!r}, vocabulary=WORDS).save(FILE)"
    )
