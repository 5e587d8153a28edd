"""Transformer programs: build and compile the library; interpret and run parity, addition and SUBLEQ.

Run with `kleene bench alta`. The plain way is measured in the same run: a dict-by-dict interpreter, and the network as
a dense Transformer with softmax attention and one hidden unit a rule.
"""

import random
from collections.abc import Iterator
from inspect import unwrap
from typing import Any

import kleene
from kleene.benchmarking import fresh_peak_memory_mb, measured, seconds
from kleene.programs import alta
from kleene.programs.alta.library import entries, get
from kleene.programs.alta.reference import reference_run

# Figures of ALTA's own code for the same jobs, measured on another machine (one thread): told, but in no ratio.
ELSEWHERE = {
    "parity_relative": {"interpret": 0.036, "network": 0.042},
    "addition": {"compile": 0.6, "interpret": 0.641, "network": 2.49},
    "subleq": {"compile": 3.8, "interpret": 0.009, "network": 0.609},
}
# The library when functions were traced on symbols: milliseconds to build, and hidden units. On 2 cores; in no ratio.
TRACED = {
    "parity_absolute": (2.6, 7), "parity_relative": (1.5, 7), "parity_sum_modulo": (1.5, 104),
    "parity_sum_modulo_steps": (2.0, 306), "addition": (10.2, 135), "sort": (10.8, 114), "subleq": (16.0, 489),
    "histogram": (1.1, 52), "double_histogram": (5.6, 186), "reverse": (3.3, 90), "most_frequent_sort": (13.2, 286),
    "shuffle_dyck_1": (2.7, 16), "shuffle_dyck_2": (4.2, 24), "fraction_previous": (17.4, 244),
    "induction_head": (3.4, 66), "scan": (40.6, 58), "scan_shift_reduce": (116.3, 236),
}  # fmt: skip
NO_PEER = "ALTA's code is no package"
PLAIN, DENSE = "plain Python, dict by dict", "a unit a rule, softmax"
SUBLEQ_ADD = [9, 11, 3, 11, 10, 6, 11, 11, -1, 5, 10, 0]


def measure(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every measurement as a row."""
    chance = random.Random(0)
    bits, digits, batch = (20, 20, 64) if quick else (40, 50, 256)
    inputs = {
        "parity_relative": [[2] + [chance.randrange(2) for _ in range(bits)] for _ in range(batch)],
        "addition": [_summands(chance, digits) for _ in range(batch)],
        "subleq": [get("subleq").read([str(x) for x in SUBLEQ_ADD])] * batch,
    }
    for name, sequences in inputs.items():
        yield from _program(name, sequences, quick)
    for size in (10, 120):
        yield from _products(size)
    yield from _library()
    yield from _many_combinations(100 if quick else 1000)


def _library() -> Iterator[dict[str, Any]]:
    """What asking the functions of every program takes, and the units that come of it."""
    total, units = 0.0, 0
    for name in entries():
        build = unwrap(get(name).build)  # without its cache
        program, taken = build(), seconds(build)
        traced_ms, traced_units = TRACED.get(name, (None, None))
        asked = program.enumeration.combinations if program.enumeration is not None else 0
        size = kleene.compile(program).size.hidden_units
        total, units = total + taken, units + size
        yield _row(f"{name}: combinations asked", asked, "combinations")
        yield _row(f"{name}: build", 1000 * taken, "ms") | _traced(traced_ms, "ms")
        yield _row(f"{name}: hidden units", size, "units") | _traced(traced_units, "units")
    yield _row("the library: build", 1000 * total, "ms") | _traced(sum(t for t, _ in TRACED.values()), "ms")
    yield _row("the library: hidden units", units, "units") | _traced(sum(u for _, u in TRACED.values()), "units")


def _traced(value: float | None, unit: str) -> dict[str, Any]:
    return {} if value is None else {"remark": f"traced on symbols: {value:g} {unit}", "traced": value}


def _many_combinations(size: int) -> Iterator[dict[str, Any]]:
    """A function whose two variables have a million combinations: what a combination costs."""

    def add(z):
        z["out"] = (z["a"] + z["b"]) % 7

    variables = {"a": alta.input_var(size), "b": alta.position_var(size), "out": alta.var(7)}
    build = lambda: alta.program_spec(variables, {}, add, "out", size, size)  # noqa: E731
    yield _row(f"(a + b) mod 7, {size} × {size}: build", seconds(build, repeats=1, warm_up=False), "s")


def _products(size: int, modulus: int = 997) -> Iterator[dict[str, Any]]:
    """A table of two variables written to one of a large range: what it costs must not follow the range."""

    def multiply(z):
        z["out"] = (z["a"] * z["b"]) % modulus

    variables = {"a": alta.input_var(size), "b": alta.position_var(size), "out": alta.var(modulus)}
    build = lambda: alta.program_spec(variables, {}, multiply, "out", size, size)  # noqa: E731
    name = f"(a × b) mod {modulus}, {size} × {size}"
    yield _row(f"{name}: build", seconds(build), "s")
    yield _row(f"{name}: compile", seconds(lambda: kleene.compile(build())), "s")


def _summands(chance: random.Random, digits: int) -> list[int]:
    low, high = 10 ** (digits - 1), 10**digits
    return get("addition").read([str(chance.randrange(low, high)) for _ in range(2)])


def _program(name: str, sequences: list[list[int]], quick: bool) -> Iterator[dict[str, Any]]:
    build, elsewhere, batch = unwrap(get(name).build), ELSEWHERE[name], len(sequences)
    program = build()
    yield _row(f"{name}: build and compile", seconds(lambda: kleene.compile(build())), "s", elsewhere.get("compile"))
    yield _row(f"{name}: build and compile, peak memory", fresh_peak_memory_mb(name), "MB")
    network = kleene.compile(program)
    yield _row(f"{name}: hidden units", network.size.hidden_units, "units")
    yield _row(f"{name}: transition rules, counted out", len(program.rules()), "rules")
    yield _row(f"{name}: layers", program.run(sequences[0]).steps, "layers")
    plain = seconds(lambda: reference_run(program, sequences[0]), repeats=1, warm_up=False)
    yield _row(f"{name}: interpret, plain Python, one sequence", plain, "s", elsewhere["interpret"])
    for size in (1, batch):
        part = sequences[:size]
        taken = seconds(lambda part=part: program.run_batch(part, record=False)) / size
        yield _row(f"{name}: interpret, batch {size}, a sequence", taken, "s", elsewhere["interpret"], plain, PLAIN)
    dense = kleene.compile(program, rules="paper")
    size = 1 if quick or name != "parity_relative" else batch
    part = sequences[:size]
    plain = seconds(lambda: dense.run_batch(part, record=False, attention="softmax", backend="numpy"), repeats=1) / size
    yield _row(
        f"{name}: dense network, a unit a rule, softmax, batch {size}, a sequence", plain, "s", elsewhere["network"]
    )
    for size in (1, batch):
        part = sequences[:size]
        taken = seconds(lambda part=part: network.run_batch(part, record=False)) / size
        yield _row(f"{name}: network, batch {size}, a sequence", taken, "s", elsewhere["network"], plain, DENSE)
    taken = seconds(lambda: network.run_batch(sequences, record=True), repeats=1) / batch
    yield _row(
        f"{name}: network with its whole trace, batch {batch}, a sequence",
        taken,
        "s",
        elsewhere["network"],
        plain,
        DENSE,
    )


def _row(
    name: str, value: float, unit: str, elsewhere: float | None = None, plain: float | None = None, plain_name: str = ""
) -> dict[str, Any]:
    told: dict[str, Any] = {} if elsewhere is None else {"elsewhere": elsewhere}
    remark = "" if elsewhere is None else f"ALTA's own code: {elsewhere:g} {unit}, on another machine"
    return measured(name, value, unit, peer=plain, peer_name=plain_name, remark=remark, **told)
