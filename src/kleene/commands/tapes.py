"""Turing machines, and the networks that run them, on the command line."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kleene.commands.outcomes import Outcome
from kleene.commands.words import as_word

OPTIONS = ("max_steps", "construction", "dtype")
DEFAULTS = {"construction": "compact"}


def run(
    name: str, machine: Any, words: Sequence[str], *, compiled: bool, max_steps: int | None = None, **options: Any
) -> Outcome:
    """Run a Turing machine, the network compiled from it, or such a network from a file."""
    from kleene.programs.turing import TuringMachine

    if compiled and isinstance(machine, TuringMachine):
        from kleene.compiling import compile

        machine = compile(machine, **options)
    word = as_word(words, machine.input_alphabet)
    budget = {} if max_steps is None else {"max_steps": max_steps}
    started = time.perf_counter()
    done = machine.run(word, **budget)
    seconds = time.perf_counter() - started
    tape = done.tape if isinstance(done.tape, str) else list(done.tape)
    facts = {
        "program": name,
        "input": word if isinstance(word, str) else list(word),
        "output": done.verdict,
        "verdict": done.verdict,
        "steps": done.steps,
        "state": done.state,
        "head": done.head,
        "tape": tape,
        "compiled": compiled,
        "seconds": round(seconds, 6),
    }
    what = "network" if compiled else "machine"
    if compiled:
        facts["ticks"] = done.ticks
    closing = f"{what} took {done.steps} steps in {seconds * 1000:.1f} ms"
    closing += f", {done.ticks} ticks of the network" if compiled else ""
    if done.verdict == "running":
        closing += "; it has not halted: give more with --max-steps"
    shown = f"{done.verdict}  tape: {(tape if isinstance(tape, str) else ' '.join(tape)) or '(blank)'}"
    return Outcome(facts, shown, closing, lambda: "\n".join(done.lines(most=200)), lambda: _trace(done))


def _trace(done: Any) -> dict[str, Any]:
    return {"configurations": [asdict(configuration) for configuration in done.configurations]}


def size_facts(network: Any) -> dict[str, Any]:
    """How large a compiled network is, and whether its weights are exact."""
    return {"exact": network.rnn.is_exact, "activation": network.rnn.activation} | asdict(network.size)
