"""Finding what a person named, and sending it to the module for its kind."""

import time
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from kleene.commands import circuits, tapes, transformers, words
from kleene.commands.outcomes import Outcome
from kleene.errors import InputError, did_you_mean
from kleene.memory import peak_memory_mb


def run_named(name: str, typed: Sequence[str], *, compiled: bool, **options: Any) -> Outcome:
    """Run what has that name: a program, the network compiled from it, or a network in a file."""
    subject, entry, network = find_subject(name)
    if hasattr(subject, "first_read"):
        raise InputError(f"{name!r} is a Neural Turing Machine; look at its runs with NTM.load(FILE).run(SYMBOLS)")
    module = module_of(subject)
    if network and module is transformers and not hasattr(subject, "layout"):
        raise InputError(f"{name!r} is a {type(subject).__name__}, which runs no program; try kleene explain --model")
    chosen = options_for(name, subject, options)
    _refuse_idle(name, chosen, compiled=compiled, network=network)
    if module is transformers:
        return transformers.run(name, subject, entry, typed, compiled=compiled or network, **chosen)
    return module.run(name, subject, typed, compiled=compiled or network, **chosen)


def find_subject(name: str) -> tuple[Any, Any, bool]:
    """The program or network, its library entry if it has one, and whether it is a network.

    A network is a .safetensors file, or `rnn:NAME` from the shelf of networks that count.
    """
    if name.endswith(".safetensors"):
        from kleene.machines.protocol import load

        return load(name), None, True
    if name.startswith("rnn:"):
        return _counter(name.removeprefix("rnn:")), None, True
    from kleene.commands.listing import COUNTERS
    from kleene.programs.lookup import find

    return (*find(name, others=[f"rnn:{counter}" for counter in COUNTERS]), False)


def _counter(name: str) -> Any:
    from kleene.machines.rnn.library import NETWORKS

    if name not in NETWORKS:
        raise InputError(f"no network {name!r} on the shelf; {did_you_mean(name, NETWORKS)}")
    return NETWORKS[name]()


def compile_named(name: str, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The network, and how large it is and what compiling it took."""
    import kleene.compiling.alta.compiler  # noqa: F401  what takes a second the first time is not compiling
    from kleene.compiling import compile

    started = time.perf_counter()
    subject, _, network = find_subject(name)
    if network:
        raise InputError(f"{name!r} is a network already; compile takes a program")
    module = module_of(subject)
    chosen = options_for(name, subject, options)
    network = compile(subject, **chosen)
    seconds = time.perf_counter() - started
    facts = {"program": name, **module.DEFAULTS, **chosen, **module.size_facts(network)}
    return network, facts | {"seconds": round(seconds, 4), "peak_memory_mb": peak_memory_mb()}


def module_of(subject: Any) -> ModuleType:
    if hasattr(subject, "build"):  # an entry of a library
        subject = subject.build()
    if (hasattr(subject, "reading") and hasattr(subject, "rnn")) or hasattr(subject, "tape_alphabet"):
        return tapes
    if hasattr(subject, "wiring"):
        return circuits
    return words if hasattr(subject, "accepts_batch") else transformers


def options_for(name: str, subject: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given; one that is for another kind of program is refused."""
    module = module_of(subject)
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if key not in module.OPTIONS:
            known = ", ".join(f"--{k.replace('_', '-')}" for k in module.OPTIONS)
            raise InputError(f"--{key.replace('_', '-')} has no meaning for {name!r}; there are {known}")
    return given


def _refuse_idle(name: str, chosen: dict[str, Any], *, compiled: bool, network: bool) -> None:
    """Refuse an option that says how to compile, where nothing is compiled."""
    idle = [key for key in chosen if key not in ("max_steps", "max_layers", "steps")]
    if idle and network:
        raise InputError(f"--{idle[0]} says how to compile a program, and {name!r} is a network already; leave it out")
    if idle and not compiled:
        raise InputError(f"--{idle[0]} says how to compile a program; add --compiled to run the network")
