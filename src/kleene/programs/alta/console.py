"""Transformer programs and their networks at the console: how tokens are typed, and how a run is shown."""

from collections.abc import Sequence
from typing import Any

from kleene.errors import InputError, RunError
from kleene.notation.console import Telling, typed_tokens, typed_word
from kleene.notation.edits import Edit
from kleene.notation.words import is_plain
from kleene.traces import Trace


def read(words: Sequence[str], subject: Any) -> list:
    """The tokens that a person typed: symbols of the alphabet, values of the vocabulary, or whole numbers."""
    described = getattr(subject, "layout", subject)  # a network is described by its layout
    if getattr(described, "vocabulary", None) is not None:
        return typed_tokens(words, described.vocabulary.values)
    if described.alphabet is None:
        return read_tokens(words)
    return described.check_input(typed_word(words, described.alphabet))


def read_tokens(words: Sequence[str]) -> list[int]:
    """Whole numbers, separated by spaces or commas.

    >>> read_tokens(["1", "0,1"])
    [1, 0, 1]
    """
    tokens = []
    for word in " ".join(words).replace(",", " ").split():
        try:
            tokens.append(int(word))
        except ValueError:
            raise InputError(f"the input {word!r} is not a token; tokens are whole numbers, such as 1 0 1") from None
    return tokens


def run(subject: Any, tokens: Any, *, name: str, max_layers: int | None = None, edits: Sequence[Edit] = ()) -> Trace:
    """The trace of a run. If a network with changed weights fails, the error names the weights, not the program."""
    try:
        return subject.run(tokens, max_layers=max_layers, **({"edits": edits} if edits else {}))
    except RunError as error:
        if not is_edited(subject):
            raise
        happened = str(error).split(". ")[0].split("; ")[0]
        raise RunError(
            f"the weights in {name!r} are not those that the program {subject.layout.name!r} was compiled to, and the "
            f"run failed ({happened}). Compile the program again for a network that does what it does"
        ) from error


def is_edited(subject: Any) -> bool:
    """Whether this is a network whose weights were changed after compiling."""
    return getattr(subject, "is_edited", False)


def is_unfinished(subject: Any, trace: Trace) -> bool:
    """Whether a program that halts, or its network, ran to a limit that was given before it had halted."""
    described = getattr(subject, "layout", subject)
    described = getattr(described, "program", described)  # unrolled layers are described with their program
    halts = described.halt is not None if hasattr(described, "halt") else getattr(described, "halts", False)
    return halts and not trace.halted


def telling(outcome: Any) -> Telling:
    """The output as the shelf's entry shows it, or in the labels of its channel; the number of layers."""
    trace, entry = outcome.trace, outcome.entry
    output = trace.labelled_output if entry is None else entry.show(outcome.input, trace.output)
    facts = {"output": output, "output_tokens": trace.output, "steps": trace.steps, "halted": trace.halted}
    answer = " ".join(map(str, output)) if isinstance(output, list) else str(output)
    deed, remark = f"{'halted after' if trace.halted else 'ran'} {trace.steps} layer{'s' * (trace.steps != 1)}", ""
    if is_unfinished(outcome.subject, trace):
        deed += " and had not halted"
    if is_edited(outcome.subject):
        facts["edited"] = True
        remark = f"; its weights are not those that {outcome.subject.layout.name!r} was compiled to"
    return Telling(facts, answer, deed, remark)


def labelled(subject: Any, tokens: list[int]) -> Any:
    """Written tokens in the labels of the output, where it has some."""
    described = getattr(subject, "layout", subject)
    channel = next(c for c in described.channels if c.name == described.output_name)
    if channel.labels is None:
        return tokens
    found = [channel.show(token) for token in tokens]
    return "".join(found) if is_plain(channel.labels) else found
