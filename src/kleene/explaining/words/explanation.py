"""The verb `explain`: which words of a sentence interact in a network, and what some of them predict."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, UnknownWordsWarning
from kleene.explaining.words import baselines, decomposition, pairwise
from kleene.explaining.words.chosen import chosen_sets, chosen_words
from kleene.explaining.words.corpora import information
from kleene.explaining.words.explained import Explained
from kleene.explaining.words.parts import Decomposable, decomposable
from kleene.explaining.words.sentences import (
    Index,
    Sentence,
    read_sentences,
    spelled_tokens,
    vocabulary_of,
    without_warnings,
)
from kleene.explaining.words.sharing import PAPERS, Sharing, checked_sharing
from kleene.explaining.words.starts import Start
from kleene.limits import read_count
from kleene.machines.pretrained import SHIPPED
from kleene.machines.protocol import load
from kleene.machines.rnn.simple_rnn import SimpleRNN

METHODS = ("interdependence", "erasure", "gradient", "information")
LIKELIEST = 8  # next words that are shown
AT_THE_TOP = "taken at the top layer's hidden state when the later one has been read"
Named = Callable[[str], str]


def explain(
    model: Any,
    sentence: Any,
    *,
    method: str = "interdependence",
    corpus: Any = None,
    at: str | None = None,
    step: Any = None,
    layer: Index | None = None,
    focus: str | Iterable[Any] | int | None = None,
    sets: str | Iterable[Any] | None = None,
    sharing: Sharing | str | None = None,
    after: Sentence | None = None,
    start: Start = None,
    heads: Sequence[int] | None = None,
    most_words: int = 500,
    most_by_pair: int = 100,
    named: Named = "`{}`".format,
) -> Explained:
    """How much each pair of words of a sentence interacts in a network, and what the words in `focus` alone predict.

    `model` is a network that `decompose` takes, the file of one, or the name of one that ships with Kleene, "grammar"
    or "english". None is the one of these that knows more of the words, and "grammar" if both know all of them.
    `focus` has words or phrases that occur once, positions from 0, or spans such as "0-2"; `sets` has two or more such
    foci, which are compared instead of single words ("the chimney sweep; 4-5"). `sharing` is a `Sharing`, or its
    choices in words ("bias=shapley"). The method "information" is pointwise mutual information in the text `corpus`; of
    the network it takes only the words. The network begins in `start`, and where it is after reading `after`. `heads`
    is the sentence's tree for the picture: each word's head from 1, and 0 for the root.

    A sentence of more than `most_words` words is refused; the limit is `most_by_pair` if each pair runs through the
    whole sentence, and for sets. `named` spells the names of arguments in errors.

    >>> found = explain(None, "The chimney sweep has sick lungs")
    >>> found
    Explained('The chimney sweep has sick lungs', 'interdependence')
    >>> [found.words[place] for place in np.unravel_index(np.nanargmax(found.matrix), (6, 6))]
    ['has', 'sick']
    >>> print(explain(None, "The chimney sweep has sick lungs", sets="The chimney sweep; has; sick lungs"))
                        The chimney sweep has sick lungs
    0 The chimney sweep                 · .31        .20
    1 has                             .31   ·        .54
    2 sick lungs                      .20 .54          ·
    model: grammar
    """
    taken = {"at": at, "step": step, "layer": layer, "sets": sets}
    _check_method(named, method, **taken, sharing=sharing if focus is None else None)
    _check_corpus(named, method, corpus, after=after, start=start)
    step, shared = _step(named, step), _sharing(named, sharing)
    network, name = _shipped(sentence, after) if model is None else _network(model)
    about = _checked(network, name)
    with without_warnings():  # one warning at the end instead
        tokens = spelled_tokens(about.alphabet, sentence)
        read_sentences(about, [tokens])  # refuses what cannot be read
        words = [str(token) for token in tokens]
        _check_heads(named, heads, len(words))
        places = None if sets is None else chosen_sets(named("sets"), sets, words)
        fast = method == "information" or (
            method == "interdependence" and step is None and about.branch_off and shared.wakes_at_focus
        )
        if places is None:
            _check_length(named, len(words), most_words if fast else most_by_pair, "" if fast else f"{most_words:,}")
        else:
            _check_sets(named, len(words), len(places), most_words, most_by_pair)
        positions = None if focus is None else _positions(named, focus, words, about)
        before, start = _before(named, network, about, after, start)
        how = {"sharing": shared, "start": start}
        taken = {"at": at or "hidden", "step": step, "layer": layer}
        found = Explained(
            words=words,
            unknown=vocabulary_of(about.alphabet).unknown(tokens),
            matrix=information(about.alphabet, tokens, corpus, name == "grammar", named)
            if method == "information"
            else _matrix(network, tokens, method, taken | {"sets": places} | how),
            facts={"model": name, "method": method} | taken | _choices(shared, start, before),
            heads=None if heads is None else list(heads),
            focus=None if positions is None else _predicted(network, about, tokens, positions, step, how),
            sets=places,
            after=before,
        )
    if found.warning:
        warnings.warn(found.warning, UnknownWordsWarning, stacklevel=2)
    return found


def _choices(sharing: Sharing, start: Start, before: Any) -> dict[str, str]:
    """How the network was taken apart, where that is not as in the papers."""
    own = {} if start is None or before is not None else {"start": "given"}
    return own if sharing == PAPERS else own | {"sharing": str(sharing)}


def _check_method(named: Named, method: str, **given: Any) -> None:
    if method not in METHODS:
        raise InputError(f"{named('method')} is {method!r}; there are {', '.join(METHODS)}")
    chosen = next((name for name, value in given.items() if value is not None), None)
    if method != "interdependence" and chosen:
        raise InputError(
            f"{named(chosen)} is for {named('method')} interdependence; {method} is of two words, "
            + ("counted in a text" if method == "information" else AT_THE_TOP)
        )


def _check_corpus(named: Named, method: str, corpus: Any, **before: Any) -> None:
    given = next((name for name, value in before.items() if value is not None), None)
    if method == "information" and given:
        raise InputError(f"{named(given)} says where the network begins; information is counted in a text, without it")
    if corpus is not None and method != "information":
        raise InputError(f"{named('corpus')} is for {named('method')} information, which counts words in it")


def _check_heads(named: Named, heads: Sequence[int] | None, words: int) -> None:
    if heads is not None and len(heads) != words:
        raise InputError(
            f"{named('heads')} has {len(heads)} numbers, and the sentence has {words} words; give one each"
        )


def _check_length(named: Named, words: int, most: int, otherwise: str) -> None:
    """Refuse a sentence that would take very long."""
    if words > most:
        options = ", ".join(map(named, ("method", "step", "sharing")))
        other = f"; an LSTM takes {otherwise} with the defaults of {options}" if otherwise else ""
        raise InputError(
            f"the sentence has {words:,} words, and all its pairs can be shown for {most:,} at most{other}. Give one "
            f"sentence at a time, or say which words you want to compare with {named('sets')}"
        )


def _check_sets(named: Named, words: int, sets: int, most_words: int, most_sets: int) -> None:
    """Refuse what would take very long: each pair of sets runs through the whole sentence."""
    if words > most_words or sets > most_sets:
        raise InputError(
            f"the sentence has {words:,} words, and {named('sets')} has {sets:,} sets; there may be {most_words:,} "
            f"words and {most_sets:,} sets"
        )


def _sharing(named: Named, sharing: Sharing | str | None) -> Sharing:
    """The choices of a decomposition, which may have been typed."""
    if isinstance(sharing, str):
        return Sharing.read(sharing, named("sharing"))
    return PAPERS if sharing is None else checked_sharing(sharing)


def _before(
    named: Named, network: Any, about: Decomposable, after: Sentence | None, start: Start
) -> tuple[dict[str, Any] | None, Start]:
    """The words of the text that was read before, with the places of unknown ones, and the state after it."""
    if after is None:
        return None, start
    tokens = spelled_tokens(about.alphabet, after)
    if not tokens:
        raise InputError(f"{named('after')} is empty; give a text of one word or more, or leave it out")
    try:
        state = decomposition.state_after(network, tokens, start=start)
    except InputError as error:
        raise InputError(f"{named('after')} cannot be read: {error}") from None
    unknown = vocabulary_of(about.alphabet).unknown(tokens)
    return {"words": [str(token) for token in tokens], "unknown": unknown}, state


def _network(model: Any) -> tuple[Any, str]:
    """The network, and its name: that of one that ships, its file, or its class."""
    if isinstance(model, str) and model in SHIPPED:
        return SHIPPED[model](), model
    if isinstance(model, str | Path):
        return _floating(load(model)), str(model)
    return model, type(model).__name__


def _shipped(sentence: Any, after: Any) -> tuple[Any, str]:
    """The model that ships with Kleene and knows more of the words, with its name; a later one must know more."""
    best: tuple[int, Any, str] | None = None
    for name, make in SHIPPED.items():
        network = make()
        missing = _missing(network.vocabulary, sentence) + (0 if after is None else _missing(network.vocabulary, after))
        if best is None or missing < best[0]:
            best = missing, network, name
        if not missing:
            break
    assert best is not None
    return best[1], best[2]


def _missing(vocabulary: tuple[Any, ...], sentence: Any) -> int:
    """How many words of a sentence are not in a vocabulary."""
    return len(vocabulary_of(vocabulary).unknown(spelled_tokens(vocabulary, sentence)))


@singledispatch
def _floating(network: Any) -> Any:
    return network


@_floating.register
def _(network: SimpleRNN) -> SimpleRNN:
    return network.to_float(np.float64) if network.is_exact else network


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


def _matrix(network: Any, tokens: list[Any], method: str, asked: dict[str, Any]) -> np.ndarray:
    if method == "interdependence":
        return pairwise.interdependence(network, tokens, **asked)
    measure = baselines.erasure if method == "erasure" else baselines.gradient_times_input
    return measure(network, tokens, start=asked["start"])


def _positions(named: Named, focus: Any, words: list[str], about: Decomposable) -> list[int]:
    """The positions that a focus names; refused if the network predicts no next word."""
    found = chosen_words(named("focus"), focus, words)
    if about.decoder_bias is None or len(about.decoder_bias) != len(about.alphabet):
        raise InputError(
            f"{named('focus')} asks for the next word, and this network is no language model; leave it out"
        )
    return found


def _predicted(
    network: Any, about: Decomposable, tokens: list[Any], positions: list[int], step: Any, how: dict[str, Any]
) -> dict[str, Any]:
    """The next words that the words in focus make likeliest, and the parts of each one's logit."""
    after = len(tokens) - 1 if step in (None, "last") else step
    found = decomposition.decompose(network, tokens, positions, **how)
    mine, rest, bias = found.logits[after], found.irrelevant_logits[after], np.asarray(about.decoder_bias)
    logits, by_focus = mine + rest + bias, found.probabilities[after]
    by_all = np.exp(logits - logits.max())
    columns = {"by_focus": by_focus, "by_all": by_all / by_all.sum(), "logit": logits}
    columns |= {"focus": mine, "rest": rest, "bias": bias}
    best = np.argsort(-by_focus, kind="stable")[:LIKELIEST]
    rows = [{"word": about.alphabet[i]} | {name: float(part[i]) for name, part in columns.items()} for i in best]
    return {"positions": positions, "step": after, "next": rows}
