"""Patches and ablations inside compiled Transformers."""

import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.machines.transformer.patching import Patch, ablate
from kleene.notation.edits import Edit
from kleene.programs.alta.library import get, parity

WORD = [2, 1, 0, 1]


@pytest.fixture(scope="module")
def network():
    return kleene.compile(parity.relative())


def test_a_patch_of_a_variables_dimensions_is_an_edit_of_the_variable(network):
    start = network.layout.segment("parity").start
    patched = network.run(WORD, edits=[Patch(dimension=(start, start + 1), layer=2, position=2, value=[1, 0])])
    edited = network.run(WORD, edits=[Edit("parity", layer=2, position=2, value=0)])
    assert patched == edited
    assert patched != network.run(WORD)


def test_a_patch_of_a_heads_output_is_an_edit_of_it(network):
    for head in ("parity_left", network.layout.heads.index("parity_left")):
        patched = network.run(WORD, edits=[Patch(head=head, layer=3, position=3, value=[1, 0])])
        assert patched == network.run(WORD, edits=[Edit("parity_left", layer=3, position=3, value=0)])


def test_a_patched_pattern_reads_where_it_points(network):
    patched = network.run(WORD, edits=[Patch(pattern="parity_left", layer=2, position=2, value=[1, 0, 0, 0])])
    assert patched["parity_left"][2, 2] == patched["parity"][1, 0] == 0
    assert patched.attention["parity_left"][1, 2].tolist() == [1, 0, 0, 0]
    own = network.run(WORD)
    same = [Patch(pattern=head, layer=n + 1, value=own.attention[head][n])
            for head in network.layout.heads for n in range(own.steps)]  # fmt: skip
    assert network.run(WORD, edits=same) == own


def test_an_ablated_head_reads_nothing_and_its_reader_goes_without(network):
    trace = network.run(WORD, edits=[ablate(head="parity_left")])
    assert (trace["parity_left"] == -1).all()
    assert trace.output == [0, 1, 0, 1]  # nothing is carried along
    assert (trace["done_left"] == network.run(WORD)["done_left"]).all()


def test_a_run_that_no_longer_halts_ends_at_its_limit(network):
    trace = network.run(WORD, edits=[ablate(head="done_left")], max_layers=7)
    assert (trace.halted, trace.steps) == (False, 7)


def test_every_unit_matters_in_some_run_and_an_ablated_one_is_zero(network):
    plain = network.run_batch([WORD, [2, 0, 0], [2, 1, 1, 1]])
    units = len(network.mlp_out)
    changed = [
        network.run_batch([WORD, [2, 0, 0], [2, 1, 1, 1]], edits=[ablate(unit=unit)], max_layers=6) != plain
        for unit in range(units)
    ]
    assert all(changed)
    assert network.run(WORD, edits=[Patch(unit=0, layer=1, position=0, value=0.0)]) == network.run(WORD)


def test_the_mean_is_over_the_positions_of_the_batch():
    network = kleene.compile(get("histogram").build())
    words = [[8, 0, 1, 0], [8, 2, 2]]
    plain = network.run_batch(words)
    head = network.layout.heads[0]
    read = np.concatenate([trace[head][1] for trace in plain])
    averaged = network.run_batch(words, edits=[ablate(head=head, mean=True)])
    for trace in averaged:
        assert np.allclose(trace[head][1], read.mean(), atol=1e-6)


def test_patches_of_single_inputs_and_edits_beside_them(network):
    words = [WORD, WORD]
    each = [[ablate(head="parity_left")], [Edit("parity", layer=1, position=1, value=0)]]
    first, second = network.run_batch(words, edits=each)
    assert first == network.run(WORD, edits=each[0])
    assert second == network.run(WORD, edits=each[1])
    both = network.run(WORD, edits=[each[0][0], each[1][0]])
    assert both["parity"][1, 1] == 0
    assert (both["parity_left"] == -1).all()
    assert network.run_batch(words, edits=each, record=False).outputs == [first.output, second.output]


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (lambda: Patch(head="parity_lef"), "no head 'parity_lef'; did you mean parity_left"),
        (lambda: Patch(head=9), "no head 9"),
        (lambda: Patch(pattern="done_left", value=[1, 0]), "does not fit; there it takes a number, 4 of them"),
        (lambda: Patch(head="done_left", value="much"), "does not fit"),
        (lambda: Patch(dimension=99), "the dimension 99 is not there; there are 0 to 7"),
        (lambda: Patch(unit=[0, 77]), "is not there; there are 0 to 6"),
        (lambda: Patch(dimension=0, layer=9), "is for layer 9, and the run ended after layer 3"),
        (lambda: Patch(dimension=0, position=4), "is for position 4, and the input has 4"),
        (lambda: Patch(unit=0, layer=0), "is for the start; layers are counted from 1"),
        (lambda: Patch(), "this one names none"),
        (lambda: Patch(unit=1, dimension=1), "this one names dimension and unit"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(network, patch, said):
    with pytest.raises(InputError, match=said):
        network.run(WORD, edits=[patch()])


def test_a_program_has_nothing_to_patch():
    with pytest.raises(InputError, match="an edit is Patch"):
        parity.relative().run_batch([WORD], edits=[[ablate(unit=0)]])


@pytest.fixture(scope="module")
def unrolled():
    return kleene.compile(parity.relative(), layers="unrolled", max_length=5)


def test_an_unrolled_network_is_ablated_as_the_shared_one_is(network, unrolled):
    for patch in (ablate(head="parity_left"), ablate(head="parity_left", layer=2), ablate(head="done_left", layer=1)):
        ours = network.run(WORD, edits=[patch], max_layers=4)
        theirs = unrolled.run(WORD, edits=[patch])
        assert theirs.output == ours.output
    words = [WORD, [2, 1], [2, 1, 1, 1, 0]]
    each = [[ablate(head="parity_left")], [], [ablate(head="parity_left", layer=3)]]
    for word, edits, trace in zip(words, each, unrolled.run_batch(words, edits=each)):
        assert trace == unrolled.run(word, edits=edits)


def test_a_patched_pattern_of_an_unrolled_network_is_in_its_trace(unrolled):
    edits = [Patch(pattern="parity_left", layer=2, position=2, value=[1, 0, 0, 0])]
    assert unrolled.run(WORD, edits=edits).attention["parity_left"][1, 2].tolist() == [1, 0, 0, 0]
    plain = unrolled.run(WORD).attention["parity_left"]
    assert plain[1, 2].tolist() == [0, 1, 0, 0]
    nothing = unrolled.run(WORD, edits=[ablate(dimension=0, position=())]).attention["parity_left"]
    assert np.allclose(nothing, plain, equal_nan=True)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Edit("parity", layer=1, value=1), "need not be exact there; give it to the program"),
        (ablate(head="parity_lef"), "no layer has a head 'parity_lef'; did you mean parity_left"),
        (ablate(unit=0, layer=9), "is for layer 9, and there are 4"),
        (ablate(unit=99), "the unit 99 is not there"),
        (ablate(dimension=0, position=7), "is for position 7, and the input has 4"),
    ],
)
def test_what_an_unrolled_network_cannot_take_is_refused(unrolled, edit, said):
    with pytest.raises(InputError, match=said):
        unrolled.run(WORD, edits=[edit])
