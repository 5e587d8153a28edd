"""Which words a network takes together, on the command line: the matrix, its picture, and what words in focus say."""

import warnings
from typing import Any

import numpy as np

from kleene.commands.explained import Explained
from kleene.commands.sentences import read_sentence
from kleene.counts import read_count
from kleene.errors import InputError, UnknownWordsWarning

METHODS = ("interdependence", "erasure", "gradient")
LIKELIEST = 8  # next words that are shown
MOST_WORDS = 500  # where pairs branch off single words: all of them take seconds
MOST_BY_PAIR = 100  # where each pair runs through the whole sentence: all of them take seconds


def explain_named(
    text: str | None,
    *,
    model: str | None,
    method: str,
    at: str | None,
    step: str | None,
    layer: int | None,
    focus: str | None,
    heads: str | None,
    conllu: str | None,
) -> Explained:
    """A text, or a sentence of a treebank file, explained by a network in a file, or by the one that ships."""
    _check_method(method, at=at, step=step, layer=layer)
    sentence, tree = read_sentence(text, heads=heads, conllu=conllu)
    network = _network(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownWordsWarning)  # `Explained.warning` says it once
        tokens, unknown = _tokens(network, sentence)
        words, when = [str(token) for token in tokens], _step(step)
        if tree is not None and len(tree) != len(words):
            raise InputError(f"--heads has {len(tree)} numbers, and the sentence has {len(words)} words; give one each")
        _check_length(network, len(words), method, when)
        positions = None if focus is None else _positions(focus, words)
        if positions is not None and len(getattr(network, "decoder_bias", ())) != len(network.alphabet):
            raise InputError("--focus asks for the next word, and this network is no language model; leave it out")
        return Explained(
            words=words,
            unknown=unknown,
            matrix=_matrix(network, tokens, method, at or "hidden", when, layer),
            facts={"model": model or "grammar", "method": method, "at": at or "hidden", "step": when, "layer": layer},
            heads=tree,
            focus=None if positions is None else _said_by(network, tokens, positions, when),
        )


def _check_method(method: str, **given: Any) -> None:
    if method not in METHODS:
        raise InputError(f"--method is {method!r}; there are {', '.join(METHODS)}")
    named = next((name for name, value in given.items() if value is not None), None)
    if method != "interdependence" and named:
        raise InputError(
            f"--{named} is for --method interdependence; {method} is taken at the top layer's hidden state, when the "
            f"later word has been read"
        )


def _check_length(network: Any, words: int, method: str, step: Any) -> None:
    """Refuse a sentence of so many words that it would take very long."""
    from kleene.explaining.words.pairwise import pairs_branch_off

    fast = method == "interdependence" and step is None and pairs_branch_off(network)
    most = MOST_WORDS if fast else MOST_BY_PAIR
    if words > most:
        other = "" if fast else f"; an LSTM takes {MOST_WORDS:,} without --method and --step"
        raise InputError(
            f"the sentence has {words:,} words, and all its pairs can be shown for {most:,} at most{other}. Give one "
            f"sentence at a time, or ask kleene.explaining.interdependence about the `sets` that you want"
        )


def _network(path: str | None) -> Any:
    from kleene.explaining.words.sentences import checked_model
    from kleene.machines.pretrained import grammar_model
    from kleene.machines.protocol import load
    from kleene.machines.rnn.simple_rnn import SimpleRNN

    network = grammar_model() if path is None else load(path)
    if isinstance(network, SimpleRNN) and network.is_exact:
        network = network.to_float()
    try:
        return checked_model(network)
    except InputError as error:
        raise InputError(f"the network in {path!r} cannot be explained: {error}") from None


def _tokens(network: Any, sentence: str | list[str]) -> tuple[list[Any], list[int]]:
    """The tokens of a sentence, and the places of those that the model reads as `<unk>`."""
    from kleene.explaining.words.sentences import known, read_sentences, words_of

    spelled = {str(token): token for token in network.alphabet}  # tokens may be numbers
    tokens = [spelled.get(str(word), word) for word in words_of(network, sentence)]
    read_sentences(network, [tokens])  # refuses what cannot be read
    return tokens, known(network).unknown(tokens)


def _matrix(network: Any, tokens: list[Any], method: str, at: Any, step: Any, layer: int | None) -> np.ndarray:
    if method == "interdependence":
        from kleene.explaining import interdependence

        return interdependence(network, tokens, at=at, step=step, layer=layer)
    from kleene.explaining.words.baselines import erasure, gradient_times_input

    return (erasure if method == "erasure" else gradient_times_input)(network, tokens)


def _step(step: str | None) -> Any:
    if step is None or step == "last":
        return step
    place = read_count(step)
    if place is not None:
        return place
    raise InputError(f"--step is {step!r}; give the number of a word, counted from 0, or last")


def _positions(focus: str, words: list[str]) -> list[int]:
    """The positions that a focus names: numbers, or words that occur once."""
    found = []
    for part in focus.replace(",", " ").split():
        places = [place for place, word in enumerate(words) if word == part]
        place = read_count(part)
        if place is not None:
            places = [place]
        if len(places) > 1:
            raise InputError(f"--focus has the word {part!r}, which is at {places}; give the position that you mean")
        if not places or places[0] >= len(words):
            raise InputError(
                f"--focus has {part!r} in it, and the sentence has {len(words)} words: give some of them, or "
                f"positions 0..{len(words) - 1}"
            )
        found += places
    if not found:
        raise InputError("--focus is empty; give words of the sentence, or their positions, counted from 0")
    return sorted(set(found))


def _said_by(network: Any, tokens: list[Any], positions: list[int], step: Any) -> dict[str, Any]:
    """The words that are likeliest to come next by the words in focus, and how each one's logit is made up."""
    from kleene.explaining import decompose

    after = len(tokens) - 1 if step in (None, "last") else step
    found = decompose(network, tokens, positions)
    mine, rest, bias = found.logits[after], found.irrelevant_logits[after], np.asarray(network.decoder_bias)
    logits, by_focus = mine + rest + bias, found.probabilities[after]
    by_all = np.exp(logits - logits.max())
    columns = {"by_focus": by_focus, "by_all": by_all / by_all.sum(), "logit": logits}
    columns |= {"focus": mine, "rest": rest, "bias": bias}
    best = np.argsort(-by_focus, kind="stable")[:LIKELIEST]
    rows = [{"word": network.alphabet[i]} | {name: float(part[i]) for name, part in columns.items()} for i in best]
    return {"positions": positions, "step": after, "next": rows}
