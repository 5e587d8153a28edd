"""Interchange interventions: the program's side against runs with edits, the network's against a compiled network."""

import itertools
import json
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene import Edit
from kleene.compiling.interchange.accuracy import interchange_accuracy, strictness
from kleene.compiling.interchange.alignment import Alignment, compiled_alignment, sites_of, taught_alignment
from kleene.compiling.interchange.counterfactuals import Site, counterfactuals
from kleene.compiling.interchange.pairs import held_out, site_pairs
from kleene.errors import InputError
from kleene.machines.transformer.plain import PlainTransformer
from kleene.programs.alta.library import entries, parity
from kleene.programs.rasp import RaspProgram, lib

WORDS = [list(word) for size in (1, 2, 3) for word in itertools.product("ab", repeat=size)]


@pytest.fixture(scope="module")
def histogram():
    program = RaspProgram(lib.make_hist(), "ab", 3)
    network = kleene.compile(program, layers="unrolled", max_length=3)
    return program, network, counterfactuals(program.lowered, WORDS, sites_of(network), layers=1)


@pytest.fixture(scope="module")
def compiled(histogram):
    _, network, _ = histogram
    model = PlainTransformer.from_unrolled(network)
    return model, compiled_alignment(network, model)


def test_an_entry_of_the_table_is_a_run_with_an_edit():
    program = parity.relative()
    words = [[2, *bits] for bits in itertools.product((0, 1), repeat=3)]
    network = kleene.compile(program, layers="unrolled", max_length=4)
    table = counterfactuals(program, words, sites_of(network), layers=3, halts=False)
    checked = 0
    for number, site in enumerate(table.sites):
        for base, other, position in itertools.product((1, 6), (2, 4), range(1, 4)):
            if table.codes[number, other, position] < 0:
                continue
            edit = Edit.from_run(site.name, program.run(words[other]), layer=site.layer, position=position)
            expected = program.run(words[base], edits=[edit]).output
            assert table.results(number, base, other, position).tolist() == expected
            checked += 1
    assert checked > 100


def test_sites_that_cannot_change_the_output_are_found(histogram):
    table = histogram[2]
    mattering = {str(site) for site, matters in zip(table.sites, table.matters) if matters}
    assert mattering == {
        "same_tok_key after layer 0", "same_tok_query after layer 0", "hist_count in layer 1", "hist after layer 1",
    }  # fmt: skip
    assert not table.varies[table.sites.index(Site("start", 0))]
    assert not table.varies[table.sites.index(Site("step", 0))]


def test_a_swap_that_ends_in_an_error_has_no_result():
    program = RaspProgram(lib.make_reverse(kleene.programs.rasp.tokens), "ab", 3)
    network = kleene.compile(program, layers="unrolled", max_length=3)
    table = counterfactuals(program.lowered, WORDS, sites_of(network), layers=2)
    number = table.sites.index(Site("select_query", 1))
    short, long = WORDS.index(["a"]), WORDS.index(["a", "b", "a"])
    assert (table.results(number, np.array([short]), np.array([long]), np.array([1])) == -1).all()
    drawn = site_pairs(table, number, 1000, np.random.default_rng(0))
    assert len(drawn)
    assert (table.results(number, drawn.base, drawn.other, drawn.position) >= 0).any(axis=1).all()


def test_tests_are_on_pairs_that_are_held_out(histogram):
    table = histogram[2]
    tests, training = (site_pairs(table, 1, 50, np.random.default_rng(0), tests=tests) for tests in (True, False))
    assert held_out(tests.base, tests.other).all()
    assert not held_out(training.base, training.other).any()


def test_a_compiled_network_is_right_under_every_swap(histogram, compiled):
    table = histogram[2]
    found = interchange_accuracy(*compiled, table, pairs=16)
    assert found.perfect
    assert len(found.counts) == 1 + len(table.sites)
    assert found.of(Site("hist", 1)).changed > 0
    assert strictness(*compiled, table, pairs=16).perfect
    assert "hist after layer 1" in str(found)
    assert json.dumps(found.as_json())


def test_a_rotated_network_is_right_in_the_rotated_blocks_and_wrong_in_the_old_ones(histogram, compiled):
    (model, alignment), table = compiled, histogram[2].only(histogram[2].matters)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(alignment.width, alignment.width)))[0]

    def turned(weights, axes):
        return jnp.asarray(np.einsum(axes, np.asarray(weights, np.float64), rotation), jnp.float32)

    reads = {"query": "lhwk,wv->lhvk", "key": "lhwk,wv->lhvk", "value": "lhwk,wv->lhvk", "mlp_in": "lwu,wv->lvu"}
    writes = {"tokens": "sw,wv->sv", "positions": "sw,wv->sv", "out": "lhkw,wv->lhkv", "mlp_out": "luw,wv->luv"}
    rest = {"mlp_constant": "lw,wv->lv", "readout": "sw,wv->sv"}
    for name, axes in (reads | writes | rest).items():
        model = eqx.tree_at(lambda m, n=name: getattr(m, n), model, turned(getattr(model, name), axes))
    assert interchange_accuracy(model, alignment.rotated(rotation), table, pairs=16).perfect
    assert not interchange_accuracy(model, alignment, table, pairs=16).perfect


def test_a_network_that_reads_what_it_should_not_is_not_strict(histogram, compiled):
    (model, alignment), table = compiled, histogram[2]
    free = model.layout.labels.index("position=3")  # which no layer clears
    assert alignment.free(0)[free]
    leaking = eqx.tree_at(lambda m: m.tokens, model, model.tokens.at[2, free].set(1.0))
    leaking = eqx.tree_at(lambda m: m.readout, leaking, leaking.readout.at[0, free].set(100.0))
    found = strictness(leaking, alignment, table, pairs=16)
    assert found.of("free dimensions after layer 0").right != 16
    assert found.of("all edges outside").right != 16


def test_the_circuit_of_a_network_to_be_taught_has_the_edges_of_the_program(histogram):
    _, network, table = histogram
    found = taught_alignment(network, table, block=3, free=2, spare=1)
    named = {(found.graph.destinations[d], found.graph.sources[s]) for d, s in np.argwhere(found.edges)}
    assert named == {("1.0.q", "tokens"), ("1.0.k", "tokens"), ("1.mlp", "1.0"), ("output", "1.mlp")}
    assert found.width == 3 * 3 + 2
    assert found.held == (("same_tok_key", "same_tok_query"), ("hist",))
    assert found.spare_heads().tolist() == [[False, True]]
    assert found.heads == {("hist_count", 1): (1, 0)}
    again = Alignment.from_json(json.loads(json.dumps(found.as_json())))
    assert again.as_json() == found.as_json()
    assert again.heads == found.heads


def test_what_does_not_fit_is_refused(histogram, compiled):
    _, network, table = histogram
    with pytest.raises(InputError, match="width"):
        interchange_accuracy(compiled[0], taught_alignment(network, table), table)
    with pytest.raises(InputError, match="no alignment"):
        Alignment.from_json({"name": "x"})
    with pytest.raises(InputError, match="is a number"):
        counterfactuals(replace(entries()["sort"].build(), output_name="odd"), [], [], layers=1)
