"""The verb `explain`: which words of a sentence interact in a network."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, UnknownWordsWarning
from kleene.explaining.words import baselines, decomposition, pairwise
from kleene.explaining.words.explained import Explained
from kleene.explaining.words.parts import Decomposable, decomposable
from kleene.explaining.words.sentences import read_sentences, spelled_tokens, vocabulary_of
from kleene.limits import read_count
from kleene.machines.pretrained import grammar_model
from kleene.machines.protocol import load
from kleene.machines.rnn.simple_rnn import SimpleRNN

METHODS = ("interdependence", "erasure", "gradient")
LIKELIEST = 8  # next words that are shown

Named = Callable[[str], str]


def explain(
    model: Any,
    sentence: Any,
    *,
    method: str = "interdependence",
    at: str | None = None,
    step: Any = None,
    layer: int | None = None,
    focus: str | Iterable[Any] | int | None = None,
    heads: Sequence[int] | None = None,
    most_words: int = 500,
    most_by_pair: int = 100,
    named: Named = "`{}`".format,
) -> Explained:
    """How much each pair of words of a sentence interacts in a network, and what the words in `focus` alone predict.

    `model` is a network that `decompose` takes, the file of one, or None for the small one that ships with Kleene.
    `focus` has words that occur once, or positions from 0. `heads` is the sentence's tree for the picture: each word's
    head from 1, and 0 for the root. A sentence of more than `most_words` words is refused; the limit is `most_by_pair`
    if each pair runs through the whole sentence. `named` spells the names of arguments in errors.

    >>> found = explain(None, "The chimney sweep has sick lungs")
    >>> found
    Explained('The chimney sweep has sick lungs', 'interdependence')
    >>> [found.words[place] for place in np.unravel_index(np.nanargmax(found.matrix), (6, 6))]
    ['has', 'sick']
    """
    _check_method(named, method, at=at, step=step, layer=layer)
    step = _step(named, step)
    network, name = _network(model)
    about = _checked(network, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownWordsWarning)  # one warning at the end instead
        tokens = spelled_tokens(about.alphabet, sentence)
        read_sentences(about, [tokens])  # refuses what cannot be read
        words = [str(token) for token in tokens]
        _check_heads(named, heads, len(words))
        fast = method == "interdependence" and step is None and about.branch_off
        _check_length(named, len(words), most_words if fast else most_by_pair, "" if fast else f"{most_words:,}")
        positions = None if focus is None else _positions(named, focus, words, about)
        found = Explained(
            words=words,
            unknown=vocabulary_of(about.alphabet).unknown(tokens),
            matrix=_matrix(network, tokens, method, at or "hidden", step, layer),
            facts={"model": name, "method": method, "at": at or "hidden", "step": step, "layer": layer},
            heads=None if heads is None else list(heads),
            focus=None if positions is None else _predicted(network, about, tokens, positions, step),
        )
    if found.warning:
        warnings.warn(found.warning, UnknownWordsWarning, stacklevel=2)
    return found


def _check_method(named: Named, method: str, **given: Any) -> None:
    if method not in METHODS:
        raise InputError(f"{named('method')} is {method!r}; there are {', '.join(METHODS)}")
    chosen = next((name for name, value in given.items() if value is not None), None)
    if method != "interdependence" and chosen:
        raise InputError(
            f"{named(chosen)} is for {named('method')} interdependence; {method} is taken at the top layer's hidden "
            f"state, when the later word has been read"
        )


def _check_heads(named: Named, heads: Sequence[int] | None, words: int) -> None:
    if heads is not None and len(heads) != words:
        raise InputError(
            f"{named('heads')} has {len(heads)} numbers, and the sentence has {words} words; give one each"
        )


def _check_length(named: Named, words: int, most: int, otherwise: str) -> None:
    """Refuse a sentence that would take very long."""
    if words > most:
        other = f"; an LSTM takes {otherwise} without {named('method')} and {named('step')}" if otherwise else ""
        raise InputError(
            f"the sentence has {words:,} words, and all its pairs can be shown for {most:,} at most{other}. Give one "
            f"sentence at a time, or ask kleene.explaining.interdependence about the `sets` that you want"
        )


def _network(model: Any) -> tuple[Any, str]:
    """The network, and its name: its file, its class, or "grammar" for the one that ships."""
    if model is None:
        return grammar_model(), "grammar"
    if isinstance(model, str | Path):
        return _floating(load(model)), str(model)
    return model, type(model).__name__


@singledispatch
def _floating(network: Any) -> Any:
    return network


@_floating.register
def _(network: SimpleRNN) -> SimpleRNN:
    return network.to_float() if network.is_exact else network


def _step(named: Named, step: Any) -> Any:
    """The step, which may have been typed: a number or "last"."""
    if not isinstance(step, str) or step == "last":
        return step
    place = read_count(step)
    if place is None:
        raise InputError(f"{named('step')} is {step!r}; give the number of a word, counted from 0, or last")
    return place


def _checked(network: Any, name: str) -> Decomposable:
    try:
        return decomposable(network)
    except InputError as error:
        if name == type(network).__name__:
            raise
        raise InputError(f"the network in {name!r} cannot be explained: {error}") from None


def _matrix(network: Any, tokens: list[Any], method: str, at: Any, step: Any, layer: int | None) -> np.ndarray:
    if method == "interdependence":
        return pairwise.interdependence(network, tokens, at=at, step=step, layer=layer)
    return (baselines.erasure if method == "erasure" else baselines.gradient_times_input)(network, tokens)


def _positions(named: Named, focus: Any, words: list[str], about: Decomposable) -> list[int]:
    """The positions that a focus names: numbers, or words that occur once."""
    given = focus.replace(",", " ").split() if isinstance(focus, str) else focus
    given = given if isinstance(given, Iterable) else [given]
    found = []
    for part in given:
        place = read_count(str(part))
        places = [place] if place is not None else [at for at, word in enumerate(words) if word == part]
        if len(places) > 1:
            raise InputError(
                f"{named('focus')} has the word {part!r}, which is at {places}; give the position that you mean"
            )
        if not places or places[0] >= len(words):
            raise InputError(
                f"{named('focus')} has {part!r} in it, and the sentence has {len(words)} words: give some of them, or "
                f"positions 0..{len(words) - 1}"
            )
        found += places
    if not found:
        raise InputError(f"{named('focus')} is empty; give words of the sentence, or their positions, counted from 0")
    if about.decoder_bias is None or len(about.decoder_bias) != len(about.alphabet):
        raise InputError(
            f"{named('focus')} asks for the next word, and this network is no language model; leave it out"
        )
    return sorted(set(found))


def _predicted(network: Any, about: Decomposable, tokens: list[Any], positions: list[int], step: Any) -> dict[str, Any]:
    """The next words that the words in focus make likeliest, and the parts of each one's logit."""
    after = len(tokens) - 1 if step in (None, "last") else step
    found = decomposition.decompose(network, tokens, positions)
    mine, rest, bias = found.logits[after], found.irrelevant_logits[after], np.asarray(about.decoder_bias)
    logits, by_focus = mine + rest + bias, found.probabilities[after]
    by_all = np.exp(logits - logits.max())
    columns = {"by_focus": by_focus, "by_all": by_all / by_all.sum(), "logit": logits}
    columns |= {"focus": mine, "rest": rest, "bias": bias}
    best = np.argsort(-by_focus, kind="stable")[:LIKELIEST]
    rows = [{"word": about.alphabet[i]} | {name: float(part[i]) for name, part in columns.items()} for i in best]
    return {"positions": positions, "step": after, "next": rows}
