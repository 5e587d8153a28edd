"""Turing machines, and the networks that run them, at the console."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kleene.notation.console import Telling, typed_word


def read(words: Sequence[str], subject: Any) -> str | list[str]:
    """The word that a person typed, over the input alphabet."""
    return typed_word(words, subject.input_alphabet)


def telling(outcome: Any) -> Telling:
    """The verdict and the tape that was left."""
    done = outcome.trace
    tape = done.tape if isinstance(done.tape, str) else list(done.tape)
    facts = {"output": done.verdict, "verdict": done.verdict, "steps": done.steps, "state": done.state}
    facts |= {"head": done.head, "tape": tape} | ({"ticks": done.ticks} if outcome.compiled else {})
    remark = f", {done.ticks} ticks of the network" if outcome.compiled else ""
    remark += "; it has not halted: give more with --max-steps" if done.verdict == "running" else ""
    left = (tape if isinstance(tape, str) else " ".join(tape)) or "(blank)"
    return Telling(
        facts,
        f"{done.verdict}  tape: {left}",
        f"took {done.steps} steps",
        remark,
        table=lambda: "\n".join(done.lines(most=200)),
        stored=lambda: {"configurations": [asdict(configuration) for configuration in done.configurations]},
    )


def sizes(network: Any) -> dict[str, Any]:
    """How large a compiled network is, and whether its weights are exact."""
    return {"exact": network.rnn.is_exact, "activation": network.rnn.activation} | asdict(network.size)
