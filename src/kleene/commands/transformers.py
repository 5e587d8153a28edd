"""Running, compiling and checking what a person named on the command line."""

import os
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.programs.lookup import find
from kleene.traces import Trace
from kleene.traces.storage import as_json


@dataclass(frozen=True)
class Outcome:
    """A run: the trace, and the output as a person reads it."""

    program: str
    input: list[int]
    output: Any
    trace: Trace
    compiled: bool
    seconds: float

    def as_json(self, *, with_trace: bool = False) -> dict[str, Any]:
        facts = {
            "program": self.program,
            "input": self.input,
            "output": self.output,
            "output_tokens": self.trace.output,
            "steps": self.trace.steps,
            "halted": self.trace.halted,
            "compiled": self.compiled,
            "seconds": round(self.seconds, 6),
        }
        return facts | ({"trace": as_json(self.trace)} if with_trace else {})


def run_named(
    name: str, words: Sequence[str], *, compiled: bool, max_layers: int | None, dtype: str, rules: str
) -> Outcome:
    """Run the program of that name, the network compiled from it, or a network in a file."""
    if max_layers is not None and max_layers < 0:
        raise InputError(f"max_layers is {max_layers}; it must be 0 or more")
    if name.endswith(".safetensors"):
        from kleene.machines import UniversalTransformer

        runner, entry, compiled = UniversalTransformer.load(name), None, True
    else:
        runner, entry = find(name)
        if compiled:
            from kleene.compiling import compile

            runner = compile(runner, dtype=dtype, rules=rules)
    tokens = entry.read(words) if entry is not None else read_tokens(words)
    started = time.perf_counter()
    trace = runner.run(tokens, max_layers=max_layers)
    seconds = time.perf_counter() - started
    shown = entry.show(tokens, trace.output) if entry is not None else trace.output
    return Outcome(name, tokens, shown, trace, compiled, seconds)


def read_tokens(words: Sequence[str]) -> list[int]:
    """Whole numbers, separated by spaces or commas."""
    tokens = []
    for word in " ".join(words).replace(",", " ").split():
        try:
            tokens.append(int(word))
        except ValueError:
            raise InputError(f"the input {word!r} is not a token; tokens are whole numbers, such as 1 0 1") from None
    return tokens


def compile_named(name: str, *, dtype: str, rules: str, activation: str) -> tuple[Any, dict[str, Any]]:
    """The network, and how large it is and what compiling it took."""
    import kleene.compiling.transformer  # noqa: F401  what takes a second the first time is not compiling
    from kleene.compiling import compile

    started = time.perf_counter()
    program, _ = find(name)
    network = compile(program, dtype=dtype, rules=rules, activation=activation)
    seconds = time.perf_counter() - started
    facts = {"program": name, "dtype": dtype, "rules": rules} | asdict(network.size)
    return network, facts | {"seconds": round(seconds, 4), "peak_memory_mb": peak_memory_mb()}


def peak_memory_mb() -> float:
    """The most memory that this process has held so far."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux counts what the parent held into ru_maxrss
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return round(int(line.split()[1]) / 1024, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def check_named(
    name: str | None, *, samples: int, max_length: int, seed: int, progress: bool, **options: Any
) -> list[Any]:
    """The reports for one program, or for the whole library."""
    from rich.console import Console
    from rich.progress import Progress

    from kleene.compiling.checking import check
    from kleene.programs.alta.library import entries

    if name is not None:
        program, entry = find(name)
        chosen = [entry or program]
    else:
        chosen = list(entries().values())
    reports = []
    with Progress(console=Console(stderr=True), transient=True, disable=not progress) as bar:
        task = bar.add_task("checking", total=len(chosen) * 2 * samples)
        for one in chosen:
            bar.update(task, description=one.name)
            reports.append(
                check(
                    one,
                    samples=samples,
                    max_length=max_length,
                    seed=seed,
                    on_input=lambda: bar.advance(task),
                    **options,
                )
            )
    return reports


def fuzz_with_progress(programs: int, seed: int, workers: int | None, resume: str | None, *, progress: bool) -> Any:
    """The tally of so many random programs; on all cores, unless told otherwise, when there are many."""
    from rich.console import Console
    from rich.progress import Progress

    from kleene.compiling.fuzzing import fuzz

    with Progress(console=Console(stderr=True), transient=True, disable=not progress) as bar:
        task = bar.add_task("random programs", total=programs)

        def show(tally: Any) -> None:
            told = f"{tally.agree:,} agree, {len(tally.failures)} fail"
            bar.update(task, completed=tally.done, description=told)

        chosen = workers or ((os.cpu_count() or 1) if programs > 500 else 1)
        return fuzz(programs, seed=seed, workers=chosen, resume=resume, on_program=show)


def decode_named(
    name: str, words: Sequence[str], *, compiled: bool, tokens: int | None, cached: bool
) -> dict[str, Any]:
    """What a decoder of the library, or a program from a file, writes after a prompt."""
    from kleene.programs.alta.library.decoders import get_decoder
    from kleene.programs.lookup import from_file

    entry = None if ".py" in name else get_decoder(name)
    program = from_file(name) if entry is None else entry.build()
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
