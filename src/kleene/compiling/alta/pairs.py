"""A network and the program that it is compared with: compiled now, or a network in a file with its program."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kleene import naming
from kleene.compiling import compile
from kleene.errors import CompileError, InputError
from kleene.kinds import TRANSFORMERS
from kleene.machines.transformer import UniversalTransformer
from kleene.machines.transformer.parameters import digest_of
from kleene.notation.console import Entry
from kleene.programs.alta.program import Program


class Pair(NamedTuple):
    """A network, the program that it is compared with, its entry if it is from the shelf, and both in words."""

    network: UniversalTransformer
    program: Program
    entry: Entry | None
    compared: str


def pair_of(name: str, against: str | None = None, options: Mapping[str, Any] | None = None) -> Pair:
    """The network of a program, compiled now, or one in a file with the program that it is of.

    A file says the name of its program. One of the shelf is found by it; any other has to be given as `against`.
    """
    given = {key: value for key, value in (options or {}).items() if value is not None}
    if not name.endswith(".safetensors"):
        if against is not None:
            raise InputError(f"--program is for a network in a file, and {name!r} is a program; leave it out")
        found = naming.find_program(name, TRANSFORMERS)
        compared = f"the network that {found.subject.name!r} compiles to now"
        return Pair(compile(found.subject, **given), found.subject, found.entry, compared)
    if given:
        raise InputError(
            f"--{next(iter(given))} says how to compile a program, and {name!r} is a network; leave it out"
        )
    network = load_transformer(name)
    found, source = _program_of(name, network, against)
    return Pair(network, found.subject, found.entry, f"the network in {name!r} with {source}")


def load_transformer(path: str) -> UniversalTransformer:
    """The Universal Transformer in a file; another network is refused."""
    found = naming.find(path)
    if found.kind is not TRANSFORMERS:
        raise InputError(
            f"{path!r} holds a {type(found.subject).__name__}; this command takes a transformer program or its network"
        )
    return found.subject


def _program_of(path: str, network: UniversalTransformer, against: str | None) -> tuple[naming.Found, str]:
    if against is not None:
        return naming.find_program(against, TRANSFORMERS), f"the program {against!r}"
    called = network.layout.name
    assert TRANSFORMERS.shelf is not None
    if called not in TRANSFORMERS.shelf():
        raise InputError(
            f"{path!r} holds the network of a program called {called!r}, which is not in the library: say where it is, "
            f"with --program FILE.py:NAME"
        )
    return naming.find(called), f"the library's program {called!r}, whose name the file has"


def check_weights(pair: Pair) -> None:
    """Refuse a network whose weights are not those that the program is compiled to."""
    network, mine = pair.network, digest_of(pair.network.arrays())
    for rules in TRANSFORMERS.options["rules"]:
        try:
            made = compile(pair.program, dtype=network.dtype, activation=network.activation, rules=rules)
        except CompileError:
            continue
        if digest_of(made.arrays()) == mine:
            return
    raise InputError(
        f"these do not belong together: {pair.compared}. Its weights are not those that the program is compiled to; "
        f"give the right program with --program, or compile it again"
    )
