"""Decoding: program and network, with and without a cache, write the same."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.errors import HaltError, InputError, UndefinedAttentionError
from kleene.programs import alta
from kleene.programs.alta.library import addition_decoded, decoders, get, get_decoder, parity
from kleene.programs.alta.random_programs import generate, random_inputs


def four_ways(program, prompt, **options):
    """Every way of decoding: the results, or the errors that they ended with."""
    network, found = kleene.compile(program), []
    for runner in (program, network):
        for cached in (True, False):
            try:
                found.append(runner.decode(prompt, cached=cached, **options))
            except (UndefinedAttentionError, HaltError) as error:
                found.append(type(error))
    return found


@pytest.mark.parametrize("name", decoders())
def test_the_decoders_of_the_library_write_the_same_in_all_four_ways(name):
    entry = get_decoder(name)
    results = four_ways(entry.build(), entry.read(list(entry.example)), tokens=6)
    assert all(r == results[0] for r in results)


NETWORK = kleene.compile(addition_decoded.build(digits=6))


@settings(max_examples=30)
@given(a=st.integers(0, 999_999), b=st.integers(0, 999_999))
def test_the_digits_of_a_sum_are_written_out_by_the_network(a, b):
    assert addition_decoded.number(NETWORK.decode(addition_decoded.prompt(a, b, 6), tokens=7).tokens) == a + b


def test_a_sum_takes_one_layer_a_digit():
    written = addition_decoded.build(digits=4).decode(addition_decoded.prompt(9999, 1, 4), tokens=5)
    assert written.tokens == [0, 0, 0, 0, 1]
    assert set(written.layers) == {1}


def test_an_induction_head_goes_on_as_the_text_went_on():
    entry = get_decoder("induction_decoded")
    assert entry.show(entry.build().decode(entry.read(["abcdab"]), tokens=6).tokens) == "cdabcd"


def test_later_positions_take_more_layers_where_they_wait_for_earlier_ones():
    assert parity.relative().decode([2, 1, 1, 0], tokens=0).layers == [0, 1, 2, 3]


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_random_programs_decode_the_same_in_all_four_ways(seed):
    generated = generate(seed)
    prompt = random_inputs(random.Random(seed), generated.program, 1, 5)[0]
    results = four_ways(generated.program, prompt, tokens=0)
    assert all(r == results[0] for r in results), generated.source


def test_nothing_to_the_right_is_seen():
    program = alta.program_spec(
        {"token": alta.input_var(3), "same": alta.var(1), "right": alta.var(3)},
        {"next": alta.v_relative("token", 1), "only": alta.qkv("same", "same", "token")},
        lambda z: z.update({"right": z["only"]}),
        "right",
        3,
    )
    assert program.decode([2], tokens=1).tokens == [2]
    for outcome in four_ways(program, [2, 1], tokens=1):  # the second position sees two that match, itself among them
        assert outcome is UndefinedAttentionError


def test_a_stop_token_ends_the_text():
    entry = get_decoder("induction_decoded")
    assert entry.build().decode(entry.read(["abcab"]), tokens=9, stop=0).tokens == [2, 0]


def test_bad_prompts_are_refused():
    program = get("parity_relative").build()
    for prompt in ([], [7], [-1]):
        with pytest.raises(InputError):
            program.decode(prompt, tokens=1)
    with pytest.raises(InputError, match="tokens is -1"):
        program.decode([2], tokens=-1)
    with pytest.raises(InputError, match="up to 20 digits"):
        addition_decoded.prompt(10**20, 1)
    with pytest.raises(InputError, match="at most"):
        addition_decoded.build(digits=2).decode(addition_decoded.prompt(1, 1, 2), tokens=50)
