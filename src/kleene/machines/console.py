"""Machines without a program at the console: language models and Neural Turing Machines."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.notation.console import Telling, typed_word

LIKELIEST = 5  # next words that are shown


def read_sentence(words: Sequence[str], model: Any) -> list[Any]:
    """The words that a person typed, as tokens of the vocabulary; `<unk>` stands for others if the model has it."""
    known = set(model.vocabulary)
    typed = typed_word(words, model.vocabulary)
    return [word if word in known or "<unk>" not in known else "<unk>" for word in typed]


def tell_next(outcome: Any) -> Telling:
    """The likeliest next words of a language model, or the verdict of an acceptor."""
    trace = outcome.trace
    if trace.output_name == "accepting":
        return _verdict(trace)
    chances = np.asarray(trace[trace.output_name][-1], dtype=np.float64)
    channel = trace.channel(trace.output_name)
    names = channel.labels or tuple(map(str, range(len(chances))))
    best = np.argsort(-chances, kind="stable")[:LIKELIEST]
    found = {names[place]: round(float(chances[place]), 6) for place in best}
    answer = "  ".join(f"{word} {chance:.3f}" for word, chance in found.items())
    facts = {"output": next(iter(found)), "next": found, "steps": trace.steps}
    return Telling(facts, answer, f"read {trace.steps} words")


def _verdict(trace: Any) -> Telling:
    accepted = bool(trace.output)
    verdict = "accept" if accepted else "reject"
    facts = {"output": verdict, "verdict": verdict, "accepted": accepted, "steps": trace.steps}
    return Telling(facts, verdict, f"read {trace.steps} symbols")


def read_symbols(words: Sequence[str], machine: Any) -> list[int]:
    """The numbers of symbols that a person typed for a Neural Turing Machine."""
    typed = " ".join(words).replace(",", " ").split()
    if not typed or not all(word.isdecimal() for word in typed):
        known = machine.input_weights.shape[1] - 1
        raise InputError(f"the input is {' '.join(words)!r}; give numbers of symbols from 0 to {known}, such as 0 1 1")
    return [int(word) for word in typed]


def tell_symbols(outcome: Any) -> Telling:
    """The likeliest output symbol of each step."""
    trace = outcome.trace
    output = np.argmax(trace["output"][1:], axis=-1).tolist()
    facts = {"output": output, "steps": trace.steps}
    return Telling(facts, " ".join(map(str, output)), f"took {trace.steps} steps")
