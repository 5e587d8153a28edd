"""SCAN whole: every command through interpreter and network. Run with `kleene bench scan` (`--quick`: every fiftieth).

On a GPU the network runs there, in float32 and in bfloat16, and on a CPU in float32: about a quarter of an hour on
2 cores. `cost` rows say how time grows with length, batch and layers; `--plot FILE` draws them.
"""

import dataclasses
import time
from collections.abc import Iterator
from typing import Any

import kleene
from kleene.benchmarking import fresh_peak_memory_mb, measured, seconds
from kleene.programs.alta.library import entries, get
from kleene.tasks import scan

# Figures of ALTA's own code and SCAN program, on another machine: CPU hours for all commands, seconds to compile. They
# are told, but in no ratio.
ELSEWHERE = {
    "interpret": 27 * 3600.0,
    "network": 1437 * 3600.0,
    "compile": 14.0,
    "hidden units": 70_792,
    "memory": 4_700.0,
}
NO_PEER = "ALTA's code is no package"
AIMS = {
    "scan": {"interpret": 10, "network": 60, "gpu": 5, "compile": 2, "hidden units": 200},
    "scan_shift_reduce": {"interpret": 60, "network": 3600, "gpu": 60, "compile": 10, "hidden units": 5000},
}


def measure(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every measurement as a row."""
    import jax

    place = jax.devices()[0].device_kind if jax.default_backend() != "cpu" else "CPU"
    commands = list(scan.commands())[:: 50 if quick else 1]
    expected = [scan.interpret(c) for c in commands]
    for name in (n for n in AIMS if n in entries()):
        yield from _program(name, commands, expected, place)
    yield from _growth(quick)


def _program(name: str, commands: list[str], expected: list[str], place: str) -> Iterator[dict[str, Any]]:
    entry, aims, gpu = get(name), AIMS[name], place != "CPU"
    program = entry.build()
    network = kleene.compile(program)
    yield _row(
        f"{name}: hidden units", network.size.hidden_units, "units", ELSEWHERE["hidden units"], aims["hidden units"]
    )
    yield _row(f"{name}: residual dimensions", network.size.residual_dims, "dims")
    taken = seconds(lambda: kleene.compile(entry.build()), repeats=2)
    yield _row(f"{name}: build and compile", taken, "s", ELSEWHERE["compile"], aims["compile"])
    yield _row(f"{name}: build and compile, peak memory", fresh_peak_memory_mb(name), "MB", ELSEWHERE["memory"])
    inputs = [entry.read([c]) for c in commands]
    if not gpu:
        started = time.perf_counter()
        batch = program.run_batch(inputs, record=False)
        yield _row(
            f"{name}: interpret {len(inputs):,} commands",
            time.perf_counter() - started,
            "s",
            ELSEWHERE["interpret"] * len(inputs) / 20910,
            aims["interpret"],
        )
        yield _row(f"{name}: right in the interpreter", _right(entry, inputs, batch.outputs, expected), "commands")
        yield _row(f"{name}: layers, most", int(batch.steps.max()), "layers")
        yield _row(f"{name}: layers, mean", float(batch.steps.mean()), "layers")
    for dtype in ("float32", "bfloat16") if gpu else ("float32",):
        try:
            network = kleene.compile(program, dtype=dtype)
        except kleene.KleeneError:
            continue  # the type cannot hold it, and says so
        network.run_batch(inputs[:64], record=False, backend="jax")
        for run in ("first", "again") if gpu else ("first",):
            started = time.perf_counter()
            batch = network.run_batch(inputs, record=False, backend="jax")
            taken = time.perf_counter() - started
            label = f"{name}: network, {len(inputs):,} commands, {place}, {dtype}, {run}"
            yield _row(label, taken, "s", ELSEWHERE["network"] * len(inputs) / 20910, aims["gpu" if gpu else "network"])
        yield _row(f"{name}: right in the network, {dtype}", _right(entry, inputs, batch.outputs, expected), "commands")


def _right(entry: Any, inputs: list, outputs: list, expected: list[str]) -> int:
    return sum(entry.show(x, y) == e for x, y, e in zip(inputs, outputs, expected))


def _growth(quick: bool) -> Iterator[dict[str, Any]]:
    """How the network's time grows with one of length, batch and layers, the others kept as they are."""
    entry = get("addition")
    program = dataclasses.replace(entry.build(), halt=None)  # so that it runs as many layers as it is told
    network = kleene.compile(program)

    def cost(against: str, size: int, digits: int = 20, batch: int = 32, layers: int = 24) -> dict[str, Any]:
        inputs = [entry.read(["7" * digits, "8" * digits])] * batch
        taken = seconds(lambda: network.run_batch(inputs, max_layers=layers, record=False, backend="jax"), repeats=2)
        name = f"cost: addition, {2 * digits + 3} positions, batch {batch}, {layers} layers"
        return _row(name, taken, "s") | {"against": against, "size": size}

    few = 3 if quick else 5
    for digits in (10, 20, 40, 80, 160)[:few]:
        yield cost("positions", 2 * digits + 3, digits=digits)
    for batch in (8, 32, 128, 512, 2048)[:few]:
        yield cost("batch", batch, batch=batch)
    for layers in (6, 12, 24, 48, 96)[:few]:
        yield cost("layers", layers, layers=layers)


def _row(
    name: str, value: float, unit: str, elsewhere: float | None = None, aim: float | None = None
) -> dict[str, Any]:
    told: dict[str, Any] = {}
    remarks = []
    if aim is not None:
        told |= {"aim": aim, "reached": value <= aim}
        remarks.append(f"aim {aim:g}: {'reached' if value <= aim else 'MISSED'}")
    if elsewhere is not None:
        told["elsewhere"] = elsewhere
        remarks.append(f"ALTA's own: {elsewhere:,.0f} {unit}, on another machine")
    return measured(name, value, unit, remark="; ".join(remarks), **told)
