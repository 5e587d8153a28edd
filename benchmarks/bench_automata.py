"""Automata and Turing machines as recurrent networks. Run with `kleene bench automata`.

A regular expression of 2,048 states goes to an automaton, to a network and back, and 10,000 words through both. Then
steps per second of a machine that runs to and fro, in the network with exact arithmetic and in a direct simulator.
"""

import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import kleene
from kleene.benchmarking import Row, measured, seconds
from kleene.programs.turing.library import get, ping_pong_word

REGEX = "(a|b)*a(a|b){10}"
WORDS, LENGTH = 10_000, 20
AIM = 200_000  # exact steps a second
DEVICE = "CPU"  # exact numbers are Python's and numpy's
NO_PEER = "a size, or a step that only Kleene takes"
PROTOTYPE = {10: 42_000, 100: 19_000, 1000: 21_000}  # steps a second of an event-driven prototype, another machine


def measure(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every measurement as a row."""
    yield from _regex()
    yield from _machines(quick)


def _regex() -> Iterator[dict[str, Any]]:
    dfa = kleene.DFA.from_regex(REGEX)
    network = kleene.compile(dfa)
    yield _row(f"{REGEX}: states", len(dfa.states), "states")
    yield _row(f"{REGEX}: hidden units", network.size.hidden_units, "units", f"{network.size.nonzero:,} weights not 0")
    yield _row(f"{REGEX}: regex to automaton", seconds(lambda: kleene.DFA.from_regex(REGEX), repeats=2), "s")
    yield _row(f"{REGEX}: automaton to network", seconds(lambda: kleene.compile(dfa), repeats=2), "s")
    yield _row(f"{REGEX}: network to automaton", seconds(lambda: kleene.extract(network), repeats=2), "s")
    chance = random.Random(0)
    words = ["".join(chance.choices("ab", k=LENGTH)) for _ in range(WORDS)]
    by_automaton = seconds(lambda: dfa.accepts_batch(words))
    by_network = seconds(lambda: network.accepts_batch(words))
    library, sample = dfa.to_automata(), words[:1000]
    by_peer = seconds(lambda: [library.accepts_input(word) for word in sample], repeats=2) * WORDS / len(sample)
    tracemalloc.start()
    agree = int((network.accepts_batch(words) == dfa.accepts_batch(words)).sum())
    memory = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    peer: Row = {"peer": WORDS / by_peer, "peer_name": "automata-lib, word by word on the automaton"}
    yield measured(f"network, {WORDS:,} words of {LENGTH} symbols", WORDS / by_network, "words/s", **peer)
    yield measured(f"automaton, {WORDS:,} words of {LENGTH} symbols", WORDS / by_automaton, "words/s", **peer)
    yield _row("words on which network and automaton agree", agree, "words")
    yield _row("memory of that run", memory, "MB")
    yield _row("peak memory, regex to network, a fresh process", _fresh_peak(), "MB", "Python and jax included")


def _fresh_peak() -> float:
    code = (
        f"import kleene, kleene.limits; kleene.compile(kleene.DFA.from_regex({REGEX!r}));"
        "print(kleene.limits.peak_memory_mb())"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def _machines(quick: bool) -> Iterator[dict[str, Any]]:
    machine = get("ping_pong").build()
    for construction in ("compact", "merged"):
        network = kleene.compile(machine, construction=construction)
        yield _row(f"ping-pong, {construction}: hidden units", network.size.hidden_units, "units")
        for tape in (10, 100, 1000):
            word = ping_pong_word(tape)
            network.run(word, max_steps=20 * tape, record=False)
            steps = (10_000 if quick else 200_000) // (1 if construction == "compact" else 10)
            exact, direct = _rate(network, word, steps), _rate(machine, word, steps)
            name = f"ping-pong, {construction}, tape {tape:,}: exact steps"
            row = measured(name, exact, "steps/s", peer=direct, peer_name="the machine simulated directly")
            row |= {"against": f"tape, {construction}", "size": tape}
            if construction == "compact":
                row |= {"aim": AIM, "reached": exact >= AIM, "prototype": PROTOTYPE[tape]}
                row["remark"] = f"aim {AIM:,}: {'reached' if exact >= AIM else 'MISSED'}"
            yield row
    network = kleene.compile(machine)
    word = ping_pong_word(100)
    started, steps = time.perf_counter(), 2_000 if quick else 50_000
    network.run(word, max_steps=steps, record=True)
    taken = time.perf_counter() - started
    yield _row("ping-pong, compact, tape 100: exact steps with every configuration kept", steps / taken, "steps/s")


def _rate(runner: Any, word: str, steps: int) -> float:
    return steps / seconds(lambda: runner.run(word, max_steps=steps, record=False), repeats=2, warm_up=False)


def _row(name: str, value: float, unit: str, remark: str = "") -> dict[str, Any]:
    return measured(name, value, unit, remark=remark)
