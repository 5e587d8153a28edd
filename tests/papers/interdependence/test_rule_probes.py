"""Each probe against a plain computation: sentence by sentence, or in numpy."""

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.explaining import decompose, interdependence
from kleene.machines.lstm.lstm import LSTM
from kleene.tasks.rules import RuleSettings, rule_corpus
from kleene_papers.interdependence.rule_probes import RuleProbes, windows

RULES, CONTEXT = 3, 4
SMALL: dict[str, Any] = {
    "rules": 10,
    "tokens": 400,
    "types": 9,
    "scaffolds": 3,
    "copies": 5,
    "test_tokens": 150,
    "test_rules": 8,
}
CORPORA = [rule_corpus(RuleSettings(length, **SMALL), seed=length) for length in (2, 3)]
WORDS = CORPORA[0].vocabulary
LONGEST = 3


@pytest.fixture(scope="module")
def network():
    made = LSTM.random(WORDS, 5, key=jax.random.key(3))
    return jax.tree.map(lambda leaf: 2 * leaf, made)  # far from linear


@pytest.fixture(scope="module")
def measured(network):
    """What the probes say of each corpus, from one program for both, as in a lesson."""
    probes = RuleProbes.of(CORPORA, RULES, CONTEXT)
    kinds = jnp.arange(len(CORPORA))
    found = jax.jit(jax.vmap(lambda kind: probes(network, jax.random.key(0), kind)))(kinds)
    return {name: np.asarray(values) for name, values in found.items()}


def sentences(text) -> list[list[str]]:
    """The tokens before each measured rule, the rule, and the token after it."""
    chosen = [at for at in text.opens if at >= CONTEXT and at + text.length + 2 < len(text.tokens)]
    chosen = [chosen[int(n)] for n in np.linspace(0, len(chosen) - 1, RULES)]
    return [[WORDS[token] for token in text.tokens[at - CONTEXT : at + text.length + 3]] for at in chosen]


def softmax(logits):
    return np.exp(logits) / np.exp(logits).sum()


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("domain", ["in", "out"])
def test_the_probability_of_omega_is_that_after_the_last_token_of_the_scaffold(network, measured, kind, domain):
    corpus = CORPORA[kind]
    expected = []
    for words in sentences(getattr(corpus, f"{domain}_domain")):
        assert (words[CONTEXT], words[-2]) == ("α", "ω")
        expected.append(softmax(network.outputs(words[:-2])[-1])[WORDS.index("ω")])
    assert measured[f"omega_{domain}"][kind] == pytest.approx(np.mean(expected), rel=1e-4)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("domain", ["in", "out"])
def test_contributions_are_those_that_decompose_finds(network, measured, kind, domain):
    corpus, length = CORPORA[kind], CORPORA[kind].settings.length
    open_at, read_at = CONTEXT, CONTEXT + length
    foci = [range(open_at, open_at + 1 + min(i, length)) for i in range(LONGEST + 1)]
    foci.append(range(open_at + 1, read_at + 1))
    expected = np.zeros(len(foci))
    for words in sentences(getattr(corpus, f"{domain}_domain")):
        for number, focus in enumerate(foci):
            found = decompose(network, words, focus)
            expected[number] += found.probabilities[read_at, WORDS.index("ω")] / RULES
    assert measured[f"omega_by_prefix_{domain}"][kind] == pytest.approx(expected[:-1], rel=1e-4)
    assert measured[f"omega_by_scaffold_{domain}"][kind] == pytest.approx(expected[-1], rel=1e-4)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize(("name", "at"), [("interdependence_in", "hidden"), ("interdependence_logits_in", "logits")])
def test_interdependence_is_that_of_the_open_symbol_and_the_whole_scaffold(network, measured, kind, name, at):
    corpus, scaffold = CORPORA[kind], range(CONTEXT + 1, CONTEXT + 1 + CORPORA[kind].settings.length)
    sets = [(CONTEXT,), scaffold]
    found = [interdependence(network, words, sets=sets, at=at) for words in sentences(corpus.in_domain)]
    assert measured[name][kind] == pytest.approx(np.mean([m[0, 1] for m in found]), rel=1e-3)


@pytest.mark.parametrize("kind", [0, 1])
def test_gradients_are_differences_of_the_error_when_a_hidden_state_is_nudged(network, measured, kind):
    length, small = CORPORA[kind].settings.length, 1e-5
    expected = np.zeros(length + 2)
    for words in sentences(CORPORA[kind].in_domain):
        for step in range(length + 2):
            nudges = small * np.eye(5)
            up, down = (
                [error(network, words, CONTEXT + step, sign * nudge) for nudge in nudges] for sign in (1.0, -1.0)
            )
            expected[step] += np.linalg.norm((np.array(up) - down) / (2 * small)) / RULES
    found = measured["gradient_in"][kind]
    assert found[: length + 2] == pytest.approx(expected, rel=1e-3)
    assert np.isnan(found[length + 2 :]).all()


def error(network: LSTM, words: list[str], nudged: int, nudge: np.ndarray) -> float:
    """-ln P of all tokens after α, in double precision, where the hidden state after one token is moved a little."""
    layer, codes = network.layers[0], [WORDS.index(word) for word in words]
    weights = [np.asarray(w, np.float64) for w in (layer.inputs, layer.recurrent, layer.bias)]
    hidden, cell, total = np.zeros(5), np.zeros(5), 0.0
    for number, (code, following) in enumerate(pairwise(codes)):
        gates = weights[0] @ np.asarray(network.embedding, np.float64)[code] + weights[1] @ hidden + weights[2]
        write, keep, candidate, read = np.split(gates, 4)
        cell = cell / (1 + np.exp(-keep)) + np.tanh(candidate) / (1 + np.exp(-write))
        hidden = np.tanh(cell) / (1 + np.exp(-read)) + (nudge if number == nudged else 0)
        if number >= CONTEXT:
            logits = np.asarray(network.decoder, np.float64) @ hidden + np.asarray(network.decoder_bias, np.float64)
            total -= np.log(softmax(logits)[following])
    return total


def test_more_rules_than_a_test_has_are_refused():
    with pytest.raises(InputError, match="9 rules are to be measured, and the test has"):
        windows(CORPORA[0].in_domain, 9, CONTEXT, LONGEST)
