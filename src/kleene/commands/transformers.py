"""Transformer programs on the command line."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kleene.commands.outcomes import Outcome
from kleene.errors import InputError
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
    runner = program
    if compiled and not isinstance(program, _network_class()):
        from kleene.compiling import compile

        runner = compile(program, **options)
    tokens = entry.read(words) if entry is not None else read_tokens(words)
    started = time.perf_counter()
    trace = runner.run(tokens, max_layers=max_layers)
    seconds = time.perf_counter() - started
    output = entry.show(tokens, trace.output) if entry is not None else trace.output
    facts = {
        "program": name,
        "input": tokens,
        "output": output,
        "output_tokens": trace.output,
        "steps": trace.steps,
        "halted": trace.halted,
        "compiled": compiled,
        "seconds": round(seconds, 6),
    }
    shown = " ".join(str(v) for v in output) if isinstance(output, list) else str(output)
    what, state = "network" if compiled else "program", "halted" if trace.halted else "ran"
    closing = f"{what} {state} after {trace.steps} layers in {seconds * 1000:.0f} ms"
    return Outcome(facts, shown, closing, lambda: as_table(trace), lambda: {"trace": as_json(trace)})


def _network_class() -> Any:
    from kleene.machines import UniversalTransformer

    return UniversalTransformer


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
    """What a decoder of the library, or a program from a file, writes after a prompt."""
    from kleene.programs.alta.library.decoders import get_decoder
    from kleene.programs.lookup import find_transformer

    entry = None if ".py" in name else get_decoder(name)
    program = find_transformer(name)[0] if entry is None else entry.build()
    prompt = read_tokens(words) if entry is None else entry.read(words)
    if compiled:
        from kleene.compiling import compile

        program = compile(program)
    count = tokens if tokens is not None else (entry.tokens if entry is not None else 8)
    started = time.perf_counter()
    decoding = program.decode(prompt, tokens=count, cached=cached)
    seconds = time.perf_counter() - started
    shown = entry.show(decoding.tokens) if entry is not None else decoding.tokens
    return {
        "program": name,
        "prompt": prompt,
        "output": shown,
        "output_tokens": decoding.tokens,
        "layers": decoding.layers,
        "compiled": compiled,
        "cached": cached,
        "seconds": round(seconds, 6),
    }
