"""Transformer programs, and the networks compiled from them, as decoders that generate token by token."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kleene import naming
from kleene.compiling import compile
from kleene.errors import InputError
from kleene.kinds import TRANSFORMERS
from kleene.programs.alta.console import labelled
from kleene.programs.alta.library import get_decoder
from kleene.traces.markup import html_facts


@dataclass(frozen=True)
class Written:
    """What a decoder generated after a prompt; `tokens` are the tokens, and `output` is what people read."""

    name: str
    prompt: list[int]
    output: Any
    tokens: list[int]
    layers: list[int]
    compiled: bool
    cached: bool
    seconds: float

    def __str__(self) -> str:
        return " ".join(map(str, self.output)) if isinstance(self.output, list) else str(self.output)

    def _repr_html_(self) -> str:
        facts = self.as_json()
        return html_facts({name: facts[name] for name in ("program", "prompt", "output", "layers", "compiled")})

    def as_json(self) -> dict[str, Any]:
        facts = {"program": self.name, "prompt": self.prompt, "output": self.output, "output_tokens": self.tokens}
        facts |= {"layers": self.layers, "compiled": self.compiled, "cached": self.cached}
        return facts | {"seconds": round(self.seconds, 6)}


def decode(
    name: str, prompt: Sequence[str], *, compiled: bool = False, tokens: int | None = None, cached: bool = True
) -> Written:
    """What a decoder generates after a typed prompt; it is one of the shelf, or a program or network in a file.

    >>> print(decode("addition_decoded", ["789", "456"]))
    1245
    """
    entry = None if name.endswith(".safetensors") or ".py" in name else get_decoder(name)
    found = naming.find(name) if entry is None else naming.subject_of(entry.build())
    if found.kind is not TRANSFORMERS:
        raise InputError(
            f"{name!r} holds a {type(found.subject).__name__}; this command takes a transformer program or its network"
        )
    writer = compile(found.subject) if compiled and found.is_program else found.subject
    typed = found.kind.read(prompt, writer) if entry is None else entry.read(prompt)
    count = tokens if tokens is not None else (8 if entry is None else entry.tokens)
    started = time.perf_counter()
    decoding = writer.decode(typed, tokens=count, cached=cached)
    seconds = time.perf_counter() - started
    shown = labelled(writer, decoding.tokens) if entry is None else entry.show(decoding.tokens)
    is_network = not found.kind.is_program(writer)
    return Written(name, typed, shown, decoding.tokens, decoding.layers, is_network, cached, seconds)
