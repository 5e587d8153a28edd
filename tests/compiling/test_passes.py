"""Compiling is a chain of passes: each can be run by itself, looked at, and gives the same again."""

import numpy as np
import pytest

from kleene.compiling.alta.compiler import compile_program, passes
from kleene.compiling.alta.features import expand
from kleene.compiling.alta.hidden import compact_mlp, whole_mlp
from kleene.compiling.alta.stream import attention_heads, embeddings, residual_stream
from kleene.compiling.alta.units import Effect, compact_units
from kleene.machines.transformer.universal_transformer import digest_of
from kleene.programs.alta.library import get
from kleene.programs.alta.random_programs import generate

NAMES = ("parity_relative", "addition", "sort", "scan", "fraction_previous", "double_histogram")


@pytest.mark.parametrize("name", NAMES)
def test_the_passes_run_one_by_one_make_the_compiled_network(name):
    program = get(name).build()
    stream = residual_stream(program, np.dtype("float64"))
    units = compact_units(program)
    features = expand(stream, units.bits, relu=True)
    mlp = whole_mlp(compact_mlp(stream, features, units), stream, features, relu=True)
    network = compile_program(program, dtype="float64", activation="relu")
    assert np.array_equal(network.tokens, embeddings(stream).tokens)
    assert np.array_equal(network.query, attention_heads(stream).query)
    assert np.array_equal(network.mlp_in, mlp.inputs)
    assert np.array_equal(network.mlp_out, mlp.outputs)
    assert network.layout.width == stream.width
    assert network.layout.number_steps == features.number_steps


def test_a_pass_gives_the_same_again_and_leaves_what_it_read_as_it_was():
    for seed in range(30):
        program = generate(seed).program
        first, second = passes(program), passes(program)
        assert first.units == second.units
        assert digest_of(first.network.arrays()) == digest_of(second.network.arrays())
        again = expand(first.stream, first.units.bits, relu=False)
        assert again.columns == first.features.columns
        assert again.bits == first.features.bits


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rules", ["compact", "paper"])
def test_every_pass_shows_itself_in_one_short_line(name, rules):
    made = passes(get(name).build(), rules=rules) if name != "scan" else passes(get(name).build())
    for shown in str(made).splitlines():
        assert len(shown) < 100
        assert "<" in shown
    assert len(repr(made)) < 100


def test_a_unit_is_printed_as_what_it_asks_and_what_it_adds():
    units = passes(get("parity_relative").build()).units.units
    assert str(units[-1]) == "done: -1 on 0, +1 on 1 where done in [0] and done_left in [1]"


@pytest.mark.parametrize(
    ("effect", "new", "change"),
    [
        (Effect(leaves=2), 3, {2: -1, 3: 1}),
        (Effect(leaves=2), 2, {}),
        (Effect(leaves=2), None, {}),
        (Effect(), 3, {3: 1}),
        (Effect(leaves=2, writes=False), 2, {2: -1}),
        (Effect(leaves=2, writes=False), None, {}),
    ],
)
def test_an_effect_says_what_is_added_where_a_code_is_written(effect, new, change):
    assert effect.change(new) == change
