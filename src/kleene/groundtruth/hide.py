"""The verb `hide`: the same network, with the algorithm out of sight."""

from inspect import signature
from typing import Any

from kleene import kinds, naming
from kleene.compiling import compile
from kleene.errors import InputError, RunError
from kleene.groundtruth.hidden import Hidden
from kleene.machines.transformer.plain import PlainTransformer
from kleene.naming import Found

SAMPLES = 100  # the shortest inputs of a program, and as many random ones


def hide(subject: Any, **options: Any) -> Hidden:
    """The same network in another basis, with a map between the two and what was lost.

    `subject` is a network, a program, or the name of one: "rasp:reverse", "dfa:parity". A program is compiled first,
    with those of the options that `kleene.compile` takes; a Transformer needs a `max_length` and is made plain.

    - A Transformer is turned: options `rotate`, `rescale`, `noise`, `width` and `steps` (superposition), `decoys`,
      `scores`, `words`; see `kleene.groundtruth.transformers`.
    - A `SimpleRNN` or an `LSTM` gets other units: options `copies`, `decoys`, `rescale`, `rotate`, `noise`, `gates`;
      see `kleene.groundtruth.recurrent`.

    All take a `seed`.

    >>> import kleene
    >>> hidden = kleene.hide("rasp:reverse", max_length=4, decoys=1)
    >>> hidden.network.run("abcd").output
    ['d', 'c', 'b', 'a']
    >>> hidden.network.size.nonzero / hidden.network.size.parameters > 0.95
    True
    """
    found, options = naming.taken(subject, options)
    making = {name: value for name, value in options.items() if found.is_program and name in found.kind.options}
    hiding = {name: value for name, value in options.items() if name not in making}
    network, words = _network(found, making)
    kind = kinds.of(network)
    if kind.hider is None:
        raise InputError(f"{_a(kind.name)} cannot be hidden; a Transformer, a simple RNN or an LSTM can")
    known = list(signature(kinds.resolved(kind.hider.reference)).parameters)[1:]
    for name in hiding:
        if name not in known:
            raise InputError(f"{_a(kind.name)} has no option {name!r} of hiding; its options are {', '.join(known)}")
    if words and "words" in known:
        hiding = {"words": words} | hiding
    return kind.hider(network, **hiding)


def plain_network(subject: Any, **options: Any) -> PlainTransformer:
    """The plain Transformer of an unrolled one, of a transformer program, or of a RASP program."""
    found, options = naming.taken(subject, options)
    network, _ = _network(found, options)
    if not isinstance(network, PlainTransformer):
        raise InputError(f"{_a(kinds.of(network).name)} has no form as a plain Transformer")
    return network


def valid_inputs(found: Found, network: PlainTransformer, samples: int = SAMPLES, seed: int = 0) -> list[Any]:
    """Inputs on which a program has a result and that its network takes: short ones, and as many random ones."""
    assert found.kind.inputs is not None
    longest = network.layout.positions - network.layout.prefix
    fitting = []
    for word in found.kind.inputs(found.subject, found.entry, samples, longest, seed):
        try:
            network.layout.check_input(word)
            found.subject.run(word)
        except (InputError, RunError):
            continue
        if len(word):
            fitting.append(word)
    return fitting


def _network(found: Found, making: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The network to hide, and inputs of its program if it has one."""
    if not found.is_program:
        network = found.subject
        return (network if kinds.of(network) is not kinds.UNROLLED else PlainTransformer.from_unrolled(network)), []
    if "layers" not in found.kind.options:
        return compile(found.subject, **making), []
    made = PlainTransformer.from_unrolled(compile(found.subject, **(making | {"layers": "unrolled"})))
    return made, valid_inputs(found, made)


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiouL" else f"a {noun}"
