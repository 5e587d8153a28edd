"""The protocol of machines, the table of all machines, and how they show themselves.

`run` and `run_batch` return traces, `save` and `load` use one file format, `size` counts the weights. `load` finds the
class of a file in the table, so a new machine is a module with its weights as fields and a line here.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from kleene.errors import ModelFileError
from kleene.machines.weights import declared
from kleene.tensors import open_tensors
from kleene.traces import Trace
from kleene.traces.markup import html_facts

# The class of each machine, by the kind in the header of its files.
MACHINES = {
    "universal transformer": "kleene.machines.transformer.universal_transformer:UniversalTransformer",
    "unrolled transformer": "kleene.machines.transformer.unrolled:UnrolledTransformer",
    "plain transformer": "kleene.machines.transformer.plain:PlainTransformer",
    "shared transformer": "kleene.machines.transformer.shared:SharedTransformer",
    "transformer with a learned mlp": "kleene.machines.transformer.learned_mlp:MLPTransformer",
    "encoder": "kleene.machines.transformer.encoder:EncoderTransformer",
    "encoder-decoder": "kleene.machines.transformer.encoder_decoder:EncoderDecoder",
    "simple rnn": "kleene.machines.rnn.simple_rnn:SimpleRNN",
    "turing rnn": "kleene.machines.turing_rnn.turing_rnn:TuringRNN",
    "lstm": "kleene.machines.lstm.lstm:LSTM",
    "transformer language model": "kleene.machines.transformer_lm:TransformerLM",
    "nram": "kleene.machines.nram:NRAM",
    "ntm": "kleene.machines.ntm.ntm:NTM",
    "neural gpu": "kleene.machines.neural_gpu:NeuralGPU",
}


@dataclass(frozen=True)
class Size:
    """How large a machine is: its hidden units, its weights, and how many of them are not 0."""

    hidden_units: int
    parameters: int
    nonzero: int


@runtime_checkable
class HasSize(Protocol):
    """A count of weights, whatever else it counts."""

    @property
    def parameters(self) -> int: ...

    @property
    def nonzero(self) -> int: ...


@runtime_checkable
class Machine(Protocol):
    """An object that has weights and runs. Each machine has its own options of `run` and `run_batch`, with defaults."""

    @property
    def run(self) -> Callable[..., Trace]:
        """The trace of the run on one input."""
        ...

    @property
    def run_batch(self) -> Callable[..., Sequence[Trace] | Any]:
        """The traces of the runs on many inputs, in the order of the inputs."""
        ...

    @property
    def size(self) -> HasSize:
        """The number of weights."""
        ...

    def save(self, path: Any) -> Path:
        """Save the machine and return the path."""
        ...

    @property
    def load(self) -> Callable[[Any], Any]:
        """The machine in a file that `save` wrote."""
        ...


class Shown:
    """A machine that shows itself: `repr` is one line, `str` and a notebook show a few, `as_json` is plain data."""

    size: Any

    def facts(self) -> dict[str, str]:
        """What the machine reads and answers, in a few words each."""
        raise NotImplementedError

    def parameter_count(self) -> int:
        """The number of weights, from their shapes alone."""
        return _count(self)

    def __repr__(self) -> str:
        shown = "; ".join(f"{verb} {what}" for verb, what in self.facts().items())
        return f"<{type(self).__name__} of {self.parameter_count():,} parameters: {shown}>"

    def __str__(self) -> str:
        counts = [f"{count:,} {name.replace('_', ' ')}" for name, count in asdict(self.size).items()]
        rows = self.facts() | {"size": ", ".join(counts)}
        return "\n".join([type(self).__name__, *(f"  {name:<8} {what}" for name, what in rows.items())])

    def _repr_html_(self) -> str:
        counts = {name.replace("_", " "): count for name, count in asdict(self.size).items()}
        return html_facts(self.facts() | counts, caption=type(self).__name__)

    def as_json(self) -> dict[str, Any]:
        """The machine's name, what it reads and answers, and its size; not its weights."""
        return {"machine": type(self).__name__} | self.facts() | {"size": asdict(self.size)}


def _count(module: Any) -> int:
    total = 0
    for entry in declared(type(module)):
        value = getattr(module, entry.name)
        if value is None:
            continue
        if entry.array is not None:
            total += prod(value.shape)
        else:
            total += sum(map(_count, value if entry.is_tuple else (value,)))
    return total


def shown_names(names: Sequence[Any], what: str, most: int = 8) -> str:
    """How many names there are, and the first of them.

    >>> shown_names("ab", "symbols")
    '2 symbols: a b'
    """
    first = " ".join(map(str, names[:most]))
    counted = what.removesuffix("s") if len(names) == 1 else what
    return f"{len(names):,} {counted}: {first}{' …' if len(names) > most else ''}"


def load(path: Any) -> Any:
    """The machine in a .safetensors file, of any kind. Opening a file never runs code.

    >>> import kleene, tempfile
    >>> file = kleene.compile(kleene.DFA.from_regex("(0|10*1)*")).save(tempfile.mkdtemp() + "/even.safetensors")
    >>> load(file).accepts("110")
    True
    """
    file = open_tensors(path)
    if file.kind not in MACHINES:
        raise ModelFileError(f"{str(path)!r} holds a {file.kind}, and not a network; there are {', '.join(MACHINES)}")
    module, name = MACHINES[file.kind].split(":")
    return getattr(import_module(module), name).load(file)
