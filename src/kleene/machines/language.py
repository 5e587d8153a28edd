"""What language models share: a vocabulary, its place in a file, the trace of a sentence, and words at the console."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.notation.console import Telling, typed_word
from kleene.traces import Channel, Trace

Token = Hashable
LIKELIEST = 5  # how many next words are shown


def encoded(words: Sequence[Sequence[Token]], vocabulary: tuple[Token, ...]) -> list[np.ndarray]:
    """The indices of each word's tokens in the vocabulary."""
    places = {token: place for place, token in enumerate(vocabulary)}
    found = []
    for number, word in enumerate(words):
        try:
            found.append(np.array([places[token] for token in word], dtype=np.int32))
        except KeyError as error:
            at = next(i for i, token in enumerate(word) if token not in places)
            shown = ", ".join(map(repr, vocabulary[:20])) + (", …" if len(vocabulary) > 20 else "")
            raise InputError(
                f"token {at} of word {number} is {error.args[0]!r}, and the network's vocabulary is {shown}"
            ) from None
    return found


def vocabulary_header(vocabulary: tuple[Token, ...]) -> dict[str, Any]:
    """The vocabulary as an entry of a file's header."""
    if not all(type(token) in (str, int) for token in vocabulary):
        raise InputError("only a vocabulary of strings and whole numbers can be saved")
    return {"vocabulary": list(vocabulary)}


def read_vocabulary(header: dict[str, Any], symbols: int) -> tuple[Token, ...]:
    """The vocabulary in a file's header: `symbols` different tokens, strings or whole numbers."""
    tokens = header["vocabulary"]
    if not isinstance(tokens, list) or not tokens or not all(type(token) in (str, int) for token in tokens):
        raise ValueError("its vocabulary is not a list of tokens")
    if len(set(tokens)) != len(tokens):
        raise ValueError("its vocabulary has a token twice")
    if len(tokens) != symbols:
        raise ValueError(f"its vocabulary has {len(tokens)} tokens, and embedding {symbols} rows")
    return tuple(tokens)


def language_trace(
    vocabulary: tuple[Token, ...], tokens: np.ndarray, hidden: np.ndarray, logits: np.ndarray, threshold: float = 0.0
) -> Trace:
    """The trace of the run on one sentence: the `word` read, each layer's `hidden.0`, `hidden.1` …, and the answer.

    A model with an output for each token answers with a distribution over the `next` token. An acceptor, which has one
    output, reads a `symbol` and answers with `accepting`. `hidden` [step, layer, unit] and `logits` [step, output] may
    begin with the start state, before the first token; otherwise that entry is undefined.
    """
    begins = len(hidden) > len(tokens)
    layers, units, outputs = *hidden.shape[1:], logits.shape[1]
    names = tuple(map(str, vocabulary))
    answer = _answer(outputs, names, per_step=not begins)
    read = "symbol" if answer.name == "accepting" else "word"
    channels = [Channel(read, "category", len(vocabulary), labels=names, per_step=True)]
    channels += [Channel(f"hidden.{layer}", "vector", units, per_step=not begins) for layer in range(layers)]
    data = {read: np.append(np.int32(-1), tokens).astype(np.int32)}
    data |= {f"hidden.{layer}": _with_start(hidden[:, layer], begins) for layer in range(layers)}
    given = {"next": _softmax, "output": np.asarray, "accepting": lambda logits: logits[:, 0]}[answer.name]
    found = _with_start(given(logits.astype(np.float64)), begins)
    if answer.name == "accepting":
        found = np.where(np.isnan(found), -1, found > threshold).astype(np.int32)
    return Trace((*channels, answer), data | {answer.name: found}, answer.name, axes=("step",), source="network")


def _answer(outputs: int, names: tuple[str, ...], per_step: bool) -> Channel:
    if outputs == 1:
        return Channel("accepting", "category", 2, per_step=per_step)
    if outputs == len(names):
        return Channel("next", "distribution", outputs, labels=names, per_step=per_step)
    return Channel("output", "vector", outputs, per_step=per_step)


def _softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def _with_start(array: np.ndarray, begins: bool) -> np.ndarray:
    array = np.asarray(array, dtype=np.float64)
    return array if begins else np.concatenate([np.full_like(array[:1], np.nan, shape=(1, *array.shape[1:])), array])


def read_sentence(words: Sequence[str], model: Any) -> list[Any]:
    """The typed words as tokens of the vocabulary; `<unk>` replaces unknown ones if the model has it."""
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
