"""The length up to which floating networks are exact: proven, near the true one, and a refusal past it."""

from dataclasses import replace
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene import Edit
from kleene.errors import CompileError, EditError, InputError, OutgrownError
from kleene.explaining import interdependence_batch
from kleene.explaining.interactions.measures import di_hidden, erasure
from kleene.machines.ncm import Recurrent
from kleene.machines.rnn import library
from kleene.machines.rnn.exact_floats import longest_exact
from kleene.machines.rnn.pytorch import rnn_parts
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.exact import ExactMatrix
from tests.machines.rnn.networks import SMALL, networks

DYADIC = st.sampled_from((*SMALL, *(Fraction(n, d) for d in (2, 4, 8) for n in (1, -1, 3, -5))))
TRUE = {  # the longest words that float32 has exactly: 24 bits of a unary stack, and counts up to 2^24
    "majority_relu": 2**24,
    "majority_slu": 24,
    "a_n_b_n": 2**24,
    "dyck1": 2**24,
}


def rounds(network, floating, word):
    """Whether a hidden vector or an output of the floating network differs from the exact one."""
    same = (floating.hidden(word).astype(object) == network.hidden(word)).all()
    return not (same and (floating.outputs(word).astype(object) == network.outputs(word)).all())


def unary(weight, activation="relu"):
    """One unit that starts at 1 and is multiplied by the weight at each symbol."""
    one, zero = ExactMatrix.identity(1), ExactMatrix.zeros(1)
    recurrent = ExactMatrix.from_rows([[weight]])
    return SimpleRNN(recurrent, zero, zero, one, one, zero, activation=activation, alphabet=("a",))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@given(network=networks(DYADIC, DYADIC, sizes=(3, 2, 1)), most=st.sampled_from((1, 1 << 14)), data=st.data())
@settings(max_examples=60)
def test_up_to_the_longest_word_a_floating_network_equals_exact_arithmetic(dtype, network, most, data):
    floating = network.to_float(dtype)
    longest = longest_exact(floating, most)
    length = 12 if longest is None else min(longest, 12)
    if length < 0:
        return
    word = "".join(data.draw(st.lists(st.sampled_from("ab"), min_size=length, max_size=length)))
    free = network.to_float(dtype, round=True)  # has the same weights, and refuses nothing
    assert not rounds(network, free, word)
    assert free.accepts(word) == network.accepts(word)
    assert longest_exact(floating, 1 << 14) is None or floating.longest_exact() is None or longest is not None


@given(network=networks(DYADIC, DYADIC, sizes=(2, 2, 1)))
@settings(max_examples=40)
def test_listing_more_vectors_only_lengthens_the_words(network):
    floating = network.to_float(np.float32)
    few, many = longest_exact(floating, 1), longest_exact(floating, 1 << 16)
    assert many is None or (few is not None and few <= many)


@pytest.mark.parametrize("name", TRUE)
def test_the_longest_word_is_at_least_a_third_of_the_true_one(name):
    longest = library.NETWORKS[name]().to_float(np.float32).longest_exact()
    assert longest is not None
    assert TRUE[name] / 3.01 < longest <= TRUE[name]


@pytest.mark.parametrize(("dtype", "longest"), [(np.float16, 11), (np.float32, 24), (np.float64, 52)])
def test_majority_with_slu_units_is_exact_to_its_longest_word_and_rounded_soon_after(dtype, longest):
    network = library.majority_slu()
    assert network.to_float(dtype).longest_exact() == longest
    free = network.to_float(dtype, round=True)
    assert not rounds(network, free, "1" * longest)
    assert rounds(network, free, "1" * (longest + 2))
    assert free.accepts("1" * 40 + "0" * 40) is (dtype != np.float64)  # the fault that the bound is for


def test_counting_in_floats_is_exact_next_to_the_bound():
    network = library.majority_relu().to_float(np.float16)
    longest = network.longest_exact()
    assert longest is not None
    assert 2000 < longest <= 2048
    assert network.outputs("1" * longest)[-1].tolist() == [1]
    assert network.hidden("1" * longest)[-1, 0] == longest


@pytest.mark.parametrize("activation", ["relu", "slu"])
@pytest.mark.parametrize("form", ["live", "textbook"])
def test_a_compiled_automaton_is_exact_for_every_word_in_floats(form, activation):
    dfa = kleene.DFA.from_regex("(a|b)*abb(a|b)(a|b)(a|b)")
    assert kleene.compile(dfa, form=form, activation=activation, dtype="float32").longest_exact() is None


def test_growth_that_repeats_is_not_stepped_through_and_other_growth_is():
    assert unary(1).to_float(np.float32).longest_exact() is None
    assert unary(2).to_float(np.float32).longest_exact() in (126, 127)  # powers of 2, until the type ends
    assert unary(Fraction(1, 2)).to_float(np.float32).longest_exact() == 126
    assert unary(3).to_float(np.float32).longest_exact() == 15  # 3^15 < 2^24 < 3^16
    assert unary(3, "slu").to_float(np.float32).longest_exact() is None
    swapped = SimpleRNN(  # two counters that change places
        ExactMatrix.from_rows([[0, 1], [1, 0]]), ExactMatrix.from_rows([[1], [0]]), ExactMatrix.zeros(2),
        ExactMatrix.zeros(2), ExactMatrix.from_rows([[1, 0]]), ExactMatrix.zeros(1), activation="relu", alphabet=("a",),
    )  # fmt: skip
    longest = swapped.to_float(np.float32).longest_exact()
    assert longest is not None
    assert 2**24 < longest <= 2**25


def test_a_network_that_may_round_and_exact_weights_have_no_refusals():
    exact = library.majority_slu()
    assert exact.longest_exact() is None
    free = exact.to_float(round=True)
    assert free.longest_exact() == 24
    assert free.outputs("1" * 30).shape == (31, 1)
    assert SimpleRNN.random("ab", 3, key=jax.random.key(0)).longest_exact() == -1  # tanh rounds


LONG = "1" * 25
WAYS = {
    "hidden": lambda network, path: network.hidden(LONG),
    "outputs": lambda network, path: network.outputs(LONG),
    "outputs_batch": lambda network, path: network.outputs_batch(["1", LONG]),
    "accepts": lambda network, path: network.accepts(LONG),
    "accepts_batch": lambda network, path: network.accepts_batch(["1", LONG]),
    "run": lambda network, path: network.run(LONG),
    "run_batch": lambda network, path: network.run_batch(["1", LONG]),
    "an intervention": lambda network, path: network.run(LONG, edits=[Edit("hidden", value=[0.5] + [0] * 5, step=1)]),
    "watch": lambda network, path: kleene.watch(network, LONG),
    "kleene.run": lambda network, path: kleene.run(network, LONG),
    "a saved file": lambda network, path: SimpleRNN.load(network.save(path / "m.safetensors")).accepts(LONG),
    "its name": lambda network, path: kleene.run(str(network.save(path / "m.safetensors")), LONG),
    "a copy with other fields": lambda network, path: SimpleRNN(
        **network.weights(), **(network.description() | {"summary": "a copy"})
    ).accepts(LONG),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_running_refuses_a_word_past_the_longest(way, tmp_path):
    network = library.majority_slu().to_float("float32")
    with pytest.raises(OutgrownError, match=r"a word of 2[45] symbols .* float32.* up to 2[34] symbols; .*round=True"):
        WAYS[way](network, tmp_path)


def test_an_edit_to_a_vector_that_sums_cannot_hold_is_refused():
    network = library.majority_slu().to_float("float32")
    with pytest.raises(OutgrownError, match="exact for"):
        network.run("1111", edits=[Edit("hidden", value=[float(np.float32(0.1))] * 6, step=1)])
    with pytest.raises(EditError, match="numbers that float32 would round"):
        network.run("1111", edits=[Edit("hidden", value=[0.1] * 6, step=4)])
    assert network.run("1111", edits=[Edit("hidden", value=[0.5] + [0] * 5, step=1)]).output == 1


def test_the_steps_of_a_machine_which_have_no_bound_are_taken_only_if_rounding_is_accepted():
    exact = library.majority_slu()
    with pytest.raises(InputError, match="round=True"):
        Recurrent(exact.to_float())
    assert Recurrent(exact.to_float(round=True)).start().state.shape == (6,)
    one_hot = kleene.compile(kleene.DFA.from_regex("(a|b)*b"), dtype="float32")
    assert Recurrent(one_hot).start().state.shape == (one_hot.hidden_units,)


@pytest.mark.parametrize("explain", [interdependence_batch, erasure, di_hidden])
def test_explanations_of_a_word_past_the_longest_are_refused(explain):
    network = library.majority_slu().to_float("float32")
    explain(network, [tuple("10" * 12)])
    with pytest.raises(InputError, match=r"has 26 tokens, and the float32 numbers .* up to 24: .*round=True"):
        explain(network, [tuple("10" * 13)])


@pytest.mark.parametrize("dtype", ["int32", "complex64", "longdouble", jnp.bfloat16, "exact", None])
def test_other_types_than_those_whose_rounding_is_known_are_refused(dtype):
    with pytest.raises(CompileError, match="float16, float32 or float64, not"):
        library.majority_relu().to_float(dtype)


def test_a_network_that_would_round_every_word_is_not_exported():
    network = replace(unary(1), start=ExactMatrix.column([2**24 - 1]), readout=ExactMatrix.column([3]))
    with pytest.raises(InputError, match="round it on every word"):
        rnn_parts(network)
    assert rnn_parts(network.to_float(round=True)).config["longest"] is None


def test_a_threshold_that_is_no_float_is_compared_as_it_is():
    third = Fraction(1, 3)
    above = Fraction(float(np.float32(1 / 3)))  # the nearest float, which is larger
    network = replace(unary(1), start=ExactMatrix.column([above]), threshold=third)
    assert network.accepts("a")
    assert network.to_float(np.float32).accepts("a")
    assert network.to_float(np.float32).run("a")["accepting"].tolist() == [1, 1]


def test_the_exported_network_has_the_same_bound(tmp_path):
    network = library.majority_relu()
    longest = network.to_float(np.float32).longest_exact()
    assert rnn_parts(network).config["longest"] == rnn_parts(network.to_float(np.float32)).config["longest"] == longest
    assert rnn_parts(network.to_float(round=True)).config["longest"] is None
    kleene.export(network, "torch", tmp_path / "made")
    assert f"exact for words of up to {longest} symbols" in (tmp_path / "made" / "README.md").read_text()


def test_the_exported_network_refuses_a_longer_word():
    pytest.importorskip("torch")
    model = unary(3).to_torch()
    assert model.accepts("a" * 15)
    with pytest.raises(ValueError, match="a word of 16 symbols is too long"):
        model.accepts("a" * 16)


def test_examples_of_an_export_are_no_longer_than_the_bound(tmp_path):
    made = kleene.export(unary(Fraction(3 * 2**20 + 1, 2**20)), "torch", tmp_path / "made")
    assert [entered for entered, _ in made.examples] == [["a"]]
