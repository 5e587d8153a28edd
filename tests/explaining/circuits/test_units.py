"""Units one by one: changes are those computed by hand, and decoys of hidden networks move nothing."""

import itertools
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.explaining.circuits.truth import true_units
from kleene.explaining.circuits.units import unit_ablation, unit_patching
from kleene.groundtruth.judging.ranking import area_under_roc
from kleene.programs.alta.library import parity
from kleene.programs.automata.library import get
from tests.explaining.circuits.samples import compiled, drawn

AUTOMATON = get("tomita_4").build()
INPUTS, OTHERS = drawn("abc", 24)
EVERY = [list(word) for size in (1, 2, 3, 4) for word in itertools.product("abc", repeat=size)]
BOTH = pytest.mark.parametrize("method", [unit_ablation, unit_patching])


@cache
def hidden(name):
    return kleene.hide(f"rasp:{name}", vocab="abc", max_length=4, decoys=1)


@BOTH
def test_the_output_moves_as_far_as_by_hand_in_a_network_of_one_layer(method):
    network, _ = compiled("shift")
    words, others = ([word for word in EVERY if len(word) == 3][at::5] for at in (0, 3))
    words = words[: len(others)]
    held, stream = (np.concatenate(parts) for parts in zip(_by_hand(network, words), _by_hand(network, others)))
    count = len(words)
    put = held[count:] if method is unit_patching else np.broadcast_to(held.mean(axis=0), held[:count].shape)
    moved = method(network, words, others)
    assert moved.max() > 0.01
    for unit in range(held.shape[-1]):
        change = (put - held[:count])[..., unit, None] * np.asarray(network.mlp_out)[0, unit]
        before, after = (
            jax.nn.log_softmax(jnp.asarray(one @ np.asarray(network.readout).T))
            for one in (stream[:count], stream[:count] + change)
        )
        lost = (jnp.exp(before) * (before - after)).sum(axis=-1)[:, network.layout.prefix :]
        assert moved[0, unit] == pytest.approx(float(lost.mean()), abs=1e-6)


def _by_hand(network, words):
    tokens, lengths = network.encode(words)
    written = np.asarray(jax.vmap(network.written)(jnp.asarray(tokens), jnp.asarray(lengths)))
    read = written[:, :-1].sum(axis=1)
    held = np.maximum(read @ np.asarray(network.mlp_in)[0] + np.asarray(network.mlp_bias)[0], 0)
    return held, written.sum(axis=1)


@BOTH
def test_hidden_states_of_a_simple_rnn_are_changed_at_every_step(method):
    network = kleene.compile(AUTOMATON, dtype="float64")
    words, others = ["0100", "1000", "0010"], ["1111", "0001", "1010"]
    weights = {name: np.asarray(weight) for name, weight in network.weights().items()}

    def states(word, change=lambda step, state: state):
        found = [weights["start"]]
        for step, symbol in enumerate(word):
            code = network.alphabet.index(symbol)
            state = weights["recurrent"] @ found[-1] + weights["inputs"][:, code] + weights["bias"]
            found.append(change(step, np.maximum(state, 0)))
        return np.stack(found[1:])

    mine, theirs = (np.stack([states(word) for word in some]) for some in (words, others))
    put = (
        theirs if method is unit_patching else np.broadcast_to(np.concatenate([mine, theirs]).mean(axis=0), mine.shape)
    )
    moved = method(network, words, others)
    assert moved.shape == (1, mine.shape[-1])
    readout = np.asarray(network.readout, float)[0]
    for unit in range(mine.shape[-1]):
        is_unit = np.arange(mine.shape[-1]) == unit
        after = [
            states(word, lambda step, state, values=values, unit=is_unit: np.where(unit, values[step], state))[-1]
            for word, values in zip(words, put)
        ]
        assert moved[0, unit] == pytest.approx(np.abs((np.stack(after) - mine[:, -1]) @ readout).mean())


@BOTH
@pytest.mark.parametrize("name", ["shift", "hist", "reverse"])
def test_decoys_of_a_hidden_network_move_nothing(name, method):
    network, units = hidden(name).network, hidden(name).map.units
    moved = method(network, INPUTS, OTHERS)
    assert moved.shape == units.shape
    assert np.abs(moved[units < 0]).max() < 1e-6
    assert moved[units >= 0].max() > 1e-2


@BOTH
def test_the_true_units_of_a_hidden_network_are_told_from_decoys_and_from_units_that_nothing_reads(method):
    live = true_units(hidden("shift").network, EVERY)
    assert 0 < live.sum() < (hidden("shift").map.units >= 0).sum()
    moved = method(hidden("shift").network, INPUTS, OTHERS)
    assert area_under_roc(live.ravel(), moved.ravel()) == 1


@pytest.mark.parametrize("name", ["shift", "hist", "reverse"])
def test_the_true_units_are_the_same_in_another_basis(name):
    found, units = hidden(name), hidden(name).map.units
    old, new = (true_units(network, EVERY) for network in (found.original, found.network))
    expected = np.where(units < 0, False, np.take_along_axis(old, np.maximum(units, 0), axis=1))
    assert (new == expected).all()


@BOTH
@pytest.mark.parametrize("machine", ["rnn", "lstm"])
def test_decoys_of_a_recurrent_network_move_nothing_if_they_have_no_copies(machine, method):
    made = kleene.hide("dfa:tomita_4", machine=machine, copies=1, decoys=4)
    words, others = drawn("01", 24, longest=6)
    moved = method(made.network, words, others)
    live = made.map.sources < made.map.units
    assert moved[0, ~live].max() == 0
    assert area_under_roc(live, moved[0]) == 1


def test_nothing_moves_if_the_other_input_is_the_same():
    assert np.abs(unit_patching(compiled("hist")[0], INPUTS, INPUTS)).max() < 1e-6


def test_words_of_unequal_length_move_as_each_does_alone():
    lstm = kleene.compile(AUTOMATON, machine="lstm")
    pairs = (("01", "101"), ("0100", "10111"))
    alone = [unit_patching(lstm, [word], [other]) for word, other in pairs]
    assert unit_patching(lstm, *map(list, zip(*pairs))) == pytest.approx(np.mean(alone, axis=0), abs=1e-6)
    assert unit_patching(lstm, ["01"], ["10111"]) == pytest.approx(unit_patching(lstm, ["01"], ["10"]))


@pytest.mark.parametrize(
    ("inputs", "others", "words"),
    [
        ([], [], "0 inputs and 0 others; give as many of both"),
        (["a"], ["a", "b"], "1 inputs and 2 others"),
        (["a", "ab"], ["a", "b"], "input 1 has 2 tokens, and the other input 1"),
        (["", "ab"], ["a", "b"], "input 0 has 0 tokens"),
        (["x"], ["a"], "x"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(inputs, others, words):
    with pytest.raises(InputError, match=words):
        unit_ablation(compiled("hist")[0], inputs, others)


def test_a_network_whose_units_are_not_known_is_refused():
    with pytest.raises(InputError, match="a UniversalTransformer has no units here; a PlainTransformer, an LSTM and a"):
        unit_ablation(kleene.compile(parity.relative()), ["1"], ["0"])
