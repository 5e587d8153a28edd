"""Transformer programs on the command line."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kleene.commands.network_files import is_network_file, load_transformer
from kleene.commands.outcomes import Outcome
from kleene.commands.words import as_word
from kleene.errors import InputError, RunError
from kleene.notation.words import is_plain
from kleene.traces.storage import as_json
from kleene.traces.tables import as_table

OPTIONS = ("max_layers", "dtype", "rules", "activation")
DEFAULTS = {"dtype": "float32", "rules": "compact"}


def run(
    name: str, program: Any, entry: Any, words: Sequence[str], *, compiled: bool, max_layers: int | None = None,
    **options: Any,
) -> Outcome:  # fmt: skip
    """Run a transformer program, the network compiled from it, or a network from a file."""
    if max_layers is not None and max_layers < 0:
        raise InputError(f"max_layers is {max_layers}; it must be 0 or more")
    runner, edited = program, False
    if compiled and not isinstance(program, _network_class()):
        from kleene.compiling import compile

        runner = compile(program, **options)
    elif compiled:
        edited = runner.is_edited
    tokens = entry.read(words) if entry is not None else read_input(words, runner)
    started = time.perf_counter()
    try:
        trace = runner.run(tokens, max_layers=max_layers)
    except RunError as error:
        if edited:
            raise edited_error(name, runner, error) from error
        raise
    seconds = time.perf_counter() - started
    output = entry.show(tokens, trace.output) if entry is not None else trace.labelled_output
    facts = {
        "program": name,
        "input": tokens,
        "output": output,
        "output_tokens": trace.output,
        "steps": trace.steps,
        "halted": trace.halted,
        "compiled": compiled,
        "seconds": round(seconds, 6),
    } | ({"edited": True} if edited else {})
    shown = " ".join(str(v) for v in output) if isinstance(output, list) else str(output)
    what, state = "network" if compiled else "program", "halted" if trace.halted else "ran"
    closing = f"{what} {state} after {trace.steps} layers in {seconds * 1000:.0f} ms"
    closing += f"; its weights are not those that {runner.layout.name!r} was compiled to" if edited else ""
    return Outcome(facts, shown, closing, lambda: as_table(trace), lambda: {"trace": as_json(trace)})


def _network_class() -> Any:
    from kleene.machines import UniversalTransformer

    return UniversalTransformer


def edited_error(name: str, network: Any, error: RunError) -> RunError:
    """What is to be said where a network fails whose weights were changed: its program is not to blame."""
    happened = str(error).split(". ")[0].split("; ")[0]
    return RunError(
        f"the weights in {name!r} are not those that the program {network.layout.name!r} was compiled to, and the run "
        f"failed ({happened}). Compile the program again for a network that does what it does"
    )


def read_input(words: Sequence[str], subject: Any) -> list[int]:
    """The tokens that a person typed for a program or network of their own: symbols of its alphabet, or numbers."""
    described = subject.layout if isinstance(subject, _network_class()) else subject
    if described.alphabet is None:
        return read_tokens(words)
    return described.check_input(as_word(words, described.alphabet))


def read_tokens(words: Sequence[str]) -> list[int]:
    """Whole numbers, separated by spaces or commas."""
    tokens = []
    for word in " ".join(words).replace(",", " ").split():
        try:
            tokens.append(int(word))
        except ValueError:
            raise InputError(f"the input {word!r} is not a token; tokens are whole numbers, such as 1 0 1") from None
    return tokens


def size_facts(network: Any) -> dict[str, Any]:
    """How large a compiled network is."""
    return asdict(network.size)


def decode_named(
    name: str, words: Sequence[str], *, compiled: bool, tokens: int | None, cached: bool
) -> dict[str, Any]:
    """What a decoder of the library, a program from a file, or a network in one writes after a prompt."""
    from kleene.programs.alta.library.decoders import get_decoder
    from kleene.programs.lookup import find_transformer

    in_file = is_network_file(name)
    entry = None if ".py" in name or in_file else get_decoder(name)
    program = load_transformer(name) if in_file else find_transformer(name)[0] if entry is None else entry.build()
    prompt = read_input(words, program) if entry is None else entry.read(words)
    if compiled and not in_file:
        from kleene.compiling import compile

        program = compile(program)
    count = tokens if tokens is not None else (entry.tokens if entry is not None else 8)
    started = time.perf_counter()
    decoding = program.decode(prompt, tokens=count, cached=cached)
    seconds = time.perf_counter() - started
    shown = entry.show(decoding.tokens) if entry is not None else _labelled(program, decoding.tokens)
    return {
        "program": name,
        "prompt": prompt,
        "output": shown,
        "output_tokens": decoding.tokens,
        "layers": decoding.layers,
        "compiled": compiled or in_file,
        "cached": cached,
        "seconds": round(seconds, 6),
    }


def _labelled(subject: Any, tokens: list[int]) -> Any:
    """Written tokens in the labels of the output, where it has some."""
    described = subject.layout if isinstance(subject, _network_class()) else subject
    channel = next(c for c in described.channels if c.name == described.output_name)
    found = [channel.show(token) for token in tokens]
    if channel.labels is None:
        return tokens
    return "".join(found) if is_plain(channel.labels) else found
