"""What a transformer program is compared with.

`inputs` and `judges` tell `kleene.check` what to run a program on and what to compare it with: an independent
interpreter, and a reference if there is one. `pair_of` finds the network and the program that certificates and checks
of weights compare: a network compiled now, or one in a file with its program.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kleene import naming
from kleene.compiling import compile
from kleene.compiling.alta.unrolled_certificates import options_of
from kleene.compiling.checking import REFERENCE, Ended, difference, output_difference
from kleene.errors import CompileError, InputError, RunError
from kleene.kinds import RASP, TRANSFORMERS, UNROLLED
from kleene.machines.transformer import UniversalTransformer
from kleene.machines.transformer.parameters import digest_of
from kleene.machines.transformer.unrolled import UnrolledTransformer
from kleene.notation.console import Entry
from kleene.programs.alta.inputs import some_inputs
from kleene.programs.alta.program import Program
from kleene.programs.alta.reference import reference_run
from kleene.traces.values import is_answer

Network = UniversalTransformer | UnrolledTransformer
Judge = Callable[[list[int], Ended], str | None]


def inputs(program: Program, entry: Entry | None, samples: int, max_length: int, seed: int) -> list[list[int]]:
    return some_inputs(program.words, samples, max_length, seed)


def judges(program: Program, entry: Entry | None, reference: Callable[[Any], Any] | None) -> dict[str, Judge]:
    """The interpreter that calls the MLP function itself, and the reference: the given one, or the entry's own."""
    reference = reference or (None if entry is None else entry.reference)

    def interpreter(tokens: list[int], mine: Ended) -> str | None:
        try:
            return difference(_by_reference(program, tokens), mine)
        except Exception as error:  # of the user's function, which did not raise when it was asked
            return f"the program's function raised {type(error).__name__}: {error}"

    def plain(tokens: list[int], mine: Ended) -> str | None:
        if isinstance(mine, RunError):
            return None
        assert reference is not None
        return output_difference(mine.output, _answer(reference, tokens), "the plain reference", is_answer)

    return {"independent interpreter": interpreter} | ({} if reference is None else {REFERENCE: plain})


def _by_reference(program: Program, tokens: list[int]) -> Ended:
    try:
        return reference_run(program, tokens)
    except RunError as error:
        return error


def _answer(reference: Callable[[Sequence[int]], Any], tokens: list[int]) -> list[Any]:
    """The answer of a reference, which a user may have written; its errors are reported as input errors."""
    try:
        return list(reference(list(tokens)))
    except Exception as error:
        called = getattr(reference, "__name__", "the reference")
        raise InputError(f"the reference {called}({tokens}) raised {type(error).__name__}: {error}") from error


class Pair(NamedTuple):
    """A network, the program that it is compared with, its entry if it is on the shelf, and both in words."""

    network: Network
    program: Program
    entry: Entry | None
    compared: str


def pair_of(
    name: str,
    against: str | None = None,
    options: Mapping[str, Any] | None = None,
    adoption: Mapping[str, Any] | None = None,
) -> Pair:
    """The network of a program, compiled now, or one in a file with the program that it is of.

    A file holds the name of its program. A program of the shelf is found by that name; any other is given as `against`.
    """
    given = {key: value for key, value in (options or {}).items() if value is not None}
    if not name.endswith(".safetensors"):
        if against is not None:
            raise InputError(f"--program is for a network in a file, and {name!r} is a program; leave it out")
        found, left = naming.taken(name, adoption or {})
        found = naming.of_kind(found, name, TRANSFORMERS)
        given |= {key: value for key, value in left.items() if value is not None}
        compared = f"the network that {found.subject.name!r} compiles to now"
        return Pair(compile(found.subject, **given), found.subject, found.entry, compared)
    if given:
        raise InputError(
            f"--{next(iter(given))} says how to compile a program, and {name!r} is a network; leave it out"
        )
    network = load_transformer(name)
    found, source = _program_of(name, network, against)
    return Pair(network, found.subject, found.entry, f"the network in {name!r} with {source}")


def load_transformer(path: str) -> Network:
    """The Transformer of a program in a file, with shared or unrolled layers; another network is refused."""
    found = naming.find(path)
    if found.kind not in (TRANSFORMERS, UNROLLED):
        raise InputError(
            f"{path!r} holds a {type(found.subject).__name__}; this command takes a transformer program or its network"
        )
    return found.subject


def _program_of(path: str, network: Network, against: str | None) -> tuple[naming.Found, str]:
    if against is not None:
        return naming.find_program(against, TRANSFORMERS), f"the program {against!r}"
    called, words = network.layout.name, network.layout.vocabulary
    if words is not None and called in _rasp_shelf():
        adoption = {"vocab": words.values, "max_length": words.longest}
        found, _ = naming.taken(f"rasp:{called}", adoption)
        source = f"the library's program 'rasp:{called}' for the network's vocabulary and length"
        return naming.of_kind(found, called, TRANSFORMERS), source
    assert TRANSFORMERS.shelf is not None
    if words is not None or called not in TRANSFORMERS.shelf():
        raise InputError(
            f"{path!r} holds the network of a program called {called!r}, which is not in the library: say where it is, "
            f"with --program FILE.py:NAME"
        )
    return naming.find(called), f"the library's program {called!r}, whose name the file has"


def _rasp_shelf() -> Mapping[str, Entry]:
    assert RASP.shelf is not None
    return RASP.shelf()


def check_weights(pair: Pair) -> None:
    """Refuse a network whose weights are not those that the program is compiled to."""
    network, mine = pair.network, digest_of(pair.network.arrays())
    options = {"dtype": network.dtype, "activation": network.activation}
    options = options_of(network) if isinstance(network, UnrolledTransformer) else options
    for rules in TRANSFORMERS.options["rules"]:
        try:
            made = compile(pair.program, **(options | {"rules": rules}))
        except CompileError:
            continue
        if digest_of(made.arrays()) == mine:
            return
    raise InputError(
        f"these do not belong together: {pair.compared}. Its weights are not those that the program is compiled to; "
        f"give the right program with --program, or compile it again"
    )
