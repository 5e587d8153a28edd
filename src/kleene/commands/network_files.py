"""Transformers in files, and the programs that they were compiled from."""

from typing import Any, NamedTuple

from kleene.errors import CompileError, InputError


class Found(NamedTuple):
    """A network, the program that it is compared with, its library entry if it has one, and what was compared."""

    network: Any
    program: Any
    entry: Any
    compared: str


def is_network_file(name: str) -> bool:
    return name.endswith(".safetensors")


def load_transformer(path: str) -> Any:
    """The Universal Transformer in a file; another network is refused."""
    from kleene.machines import UniversalTransformer
    from kleene.machines.protocol import load

    network = load(path)
    if not isinstance(network, UniversalTransformer):
        raise InputError(
            f"{path!r} holds a {type(network).__name__}; this command takes a transformer program or its network"
        )
    return network


def network_and_program(name: str, against: str | None, options: dict[str, Any]) -> Found:
    """The network to certify: that of a program, compiled now, or one in a file with the program that it is of.

    A file says the name of its program. One of the library is found by it; any other has to be given as `against`.
    """
    from kleene.compiling import compile
    from kleene.programs.lookup import find_transformer

    given = {key: value for key, value in options.items() if value is not None}
    if not is_network_file(name):
        if against is not None:
            raise InputError(f"--program is for a network in a file, and {name!r} is a program; leave it out")
        program, entry = find_transformer(name)
        return Found(compile(program, **given), program, entry, f"the network that {program.name!r} compiles to now")
    if given:
        raise InputError(
            f"--{next(iter(given))} says how to compile a program, and {name!r} is a network; leave it out"
        )
    network = load_transformer(name)
    program, entry, source = _program_of(name, network, against)
    return Found(network, program, entry, f"the network in {name!r} with {source}")


def _program_of(path: str, network: Any, against: str | None) -> tuple[Any, Any, str]:
    from kleene.programs.alta.library import entries
    from kleene.programs.lookup import find_transformer

    if against is not None:
        program, entry = find_transformer(against)
        return program, entry, f"the program {against!r}"
    called = network.layout.name
    if called not in entries():
        raise InputError(
            f"{path!r} holds the network of a program called {called!r}, which is not in the library: say where it is, "
            f"with --program FILE.py:NAME"
        )
    return entries()[called].build(), entries()[called], f"the library's program {called!r}, whose name the file has"


def check_weights(found: Found) -> None:
    """Refuse a network whose weights are not those that the program is compiled to."""
    from kleene.compiling import compile
    from kleene.machines.transformer.parameters import digest_of

    network, mine = found.network, digest_of(found.network.arrays())
    ways = [{"dtype": network.dtype, "activation": network.activation, "rules": r} for r in ("compact", "paper")]
    for options in ways:
        try:
            if digest_of(compile(found.program, **options).arrays()) == mine:
                return
        except CompileError:
            continue
    raise InputError(
        f"these do not belong together: {found.compared}. Its weights are not those that the program is compiled to; "
        f"give the right program with --program, or compile it again"
    )
