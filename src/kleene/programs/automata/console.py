"""Automata, and recurrent networks that accept words, at the console."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kleene.notation.console import Telling, typed_word


def read(words: Sequence[str], subject: Any) -> str | list[str]:
    """The word that a person typed, over the subject's alphabet."""
    return typed_word(words, subject.alphabet)


def telling(outcome: Any) -> Telling:
    """Whether the word was accepted, and how long it is."""
    accepted = bool(outcome.trace.output)
    verdict = "accept" if accepted else "reject"
    facts = {"output": verdict, "verdict": verdict, "accepted": accepted, "steps": outcome.trace.steps}
    return Telling(facts, verdict, f"read {outcome.trace.steps} symbols")


def sizes(network: Any) -> dict[str, Any]:
    """How large a compiled network is, and whether its weights are exact."""
    return {"exact": network.is_exact, "activation": network.activation} | asdict(network.size)
