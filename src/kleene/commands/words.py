"""Automata, and recurrent networks that accept words, on the command line."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kleene.commands.outcomes import Outcome
from kleene.traces.storage import as_json
from kleene.traces.tables import as_table

OPTIONS = ("form", "activation", "dtype")
DEFAULTS = {"form": "live"}


def run(name: str, subject: Any, words: Sequence[str], *, compiled: bool, **options: Any) -> Outcome:
    """Run an automaton, the network compiled from it, or a network that accepts words."""
    from kleene.programs.automata import DFA

    if compiled and isinstance(subject, DFA):
        from kleene.compiling import compile

        subject = compile(subject, **options)
    word = as_word(words, subject.alphabet)
    started = time.perf_counter()
    accepted = bool(subject.accepts(word))
    seconds = time.perf_counter() - started
    verdict = "accept" if accepted else "reject"
    facts = {
        "program": name,
        "input": word if isinstance(word, str) else list(word),
        "output": verdict,
        "verdict": verdict,
        "accepted": accepted,
        "steps": len(word),
        "compiled": compiled,
        "seconds": round(seconds, 6),
    }
    what = "network" if compiled else "automaton"
    closing = f"{what} read {len(word)} symbols in {seconds * 1000:.1f} ms"
    return Outcome(facts, verdict, closing, lambda: _table(subject, word), lambda: _trace(subject, word))


def as_word(words: Sequence[str], alphabet: Sequence[str]) -> str | list[str]:
    """The word that a person typed: one text, or symbols with spaces between them where they are longer.

    >>> as_word(["11", "0"], ("0", "1")), as_word(["one two"], ("one", "two"))
    ('110', ['one', 'two'])
    """
    if all(isinstance(symbol, str) and len(symbol) == 1 for symbol in alphabet):
        typed = "".join(words)
        return typed if " " in alphabet else typed.replace(" ", "")
    spelled = {str(symbol): symbol for symbol in alphabet}  # tokens of a language model may be numbers
    return [spelled.get(word, word) for word in " ".join(words).split()]


def size_facts(network: Any) -> dict[str, Any]:
    """How large a compiled network is, and whether its weights are exact."""
    return {"exact": network.is_exact, "activation": network.activation} | asdict(network.size)


def _table(subject: Any, word: Any) -> Any:
    return "\n".join(map(str, subject.outputs(word))) if _is_lstm(subject) else as_table(subject.run(word))


def _trace(subject: Any, word: Any) -> dict[str, Any]:
    if _is_lstm(subject):
        return {"outputs": subject.outputs(word).tolist()}
    return {"trace": as_json(subject.run(word))}


def _is_lstm(subject: Any) -> bool:
    """Whether the subject's outputs are shown instead of its trace, which has a distribution over all words."""
    return hasattr(subject, "vocabulary")
