"""The verb `certify`: why a network equals its program."""

from typing import Any

from kleene import kinds
from kleene.errors import InputError


def certify(network: Any, *, length: int | None = None, program: Any = None) -> Any:
    """Why the network equals its program on every input of up to `length` tokens, or the first reason why it may not.

    The default `length` is the greatest possible. A network that was just compiled knows its program; one from a file
    needs `program`.

    >>> import kleene
    >>> from kleene.programs.alta.library import parity
    >>> certify(kleene.compile(parity.relative()), length=1000).valid
    True
    """
    kind = kinds.find(network)
    if kind is None or kind.certifier is None:
        raise InputError(
            f"a certificate is for the network of a transformer program, and this is a {type(network).__name__}; "
            f"kleene.check compares an automaton or a Turing machine with its network"
        )
    return kind.certifier(network, length=length, program=program)
