"""Certificates of unrolled networks: they hold for compiled weights, and for no others."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.alta import unrolled_certificates
from kleene.errors import CompileError, InputError
from kleene.programs.alta.library import entries, get, parity
from kleene.programs.alta.random_programs import generate

NAMES = ["length", "weights", "function", "held", "depth", "halting", "possible codes", "embeddings", "selection",
         "averages", "steps", "exclusive", "MLP", "undefined"]  # fmt: skip
DEEP = {"addition": 8, "sort": 6, "induction_head": 6, "scan": 8}


@pytest.mark.parametrize("name", [name for name in entries() if name not in ("scan_shift_reduce", "subleq")])
def test_every_program_of_the_library_is_certified(name):
    network = kleene.compile(get(name).build(), layers="unrolled", max_length=3, depth=DEEP.get(name))
    certificate = kleene.certify(network)
    assert certificate, str(certificate)
    assert [condition.name for condition in certificate.conditions] == NAMES


@settings(max_examples=30)
@given(seed=st.integers(0, 10**9), activation=st.sampled_from(["clipped", "relu"]), averaging=st.booleans())
def test_random_programs_are_certified(seed, activation, averaging):
    program = generate(seed, averaging=averaging).program
    length = min(4, program.position_range or 4)
    try:
        network = kleene.compile(program, layers="unrolled", max_length=length, activation=activation)
    except CompileError:
        return
    certificate = kleene.certify(network)
    shared = kleene.certify(kleene.compile(program, activation=activation), length=length)
    assert certificate.valid or not shared.valid, str(certificate)


def network():
    return kleene.compile(parity.relative(), layers="unrolled", max_length=5)


def test_a_certificate_says_what_is_held_and_how_deep_the_network_is():
    shown = str(kleene.certify(network()))
    assert "✓ depth: every input of up to 5 tokens that halts does so within 4 layers" in shown
    assert "✓ halting: no case changes a position whose 'done' is 1" in shown
    assert "✓ possible codes: each layer's cases agree with the program's on all" in shown


def test_changed_weights_are_not_certified():
    made = network()
    layer = replace(made.layers[1], mlp_bias=made.layers[1].mlp_bias + np.float32(0.5))
    changed = replace(made, layers=(made.layers[0], layer, *made.layers[2:]))
    found = kleene.certify(changed)
    assert not found
    assert found.first_failure.detail == "layers.1.mlp_bias is not as the compiler makes it"
    other = replace(made, layout=replace(made.layout, limit=7))
    assert kleene.certify(other).first_failure.detail == "the layout is not as the compiler makes it"


def test_a_layer_that_leaves_out_a_case_which_can_hold_is_found_out(monkeypatch):
    made, honest = network(), unrolled_certificates.unrolled

    def careless(program, **asked):
        plan = honest(program, **asked)
        first = plan.layers[0]
        fewer = replace(first, program=replace(first.program, updates={}))
        return replace(plan, layers=(fewer, *plan.layers[1:]))

    monkeypatch.setattr(unrolled_certificates, "unrolled", careless)
    found = kleene.certify(made)
    assert found.first_failure.name == "possible codes"
    assert "layer 1 does not write 'done' as the program does" in found.first_failure.detail


def test_a_longer_input_than_the_layers_are_for_is_not_certified():
    assert kleene.certify(network(), length=5)
    assert kleene.certify(network(), length=6).first_failure.name == "length"
    with pytest.raises(InputError, match="at least one token"):
        kleene.certify(network(), length=0)


def test_a_network_from_a_file_is_certified_with_its_program(tmp_path, run):
    file = network().save(tmp_path / "parity.safetensors")
    with pytest.raises(InputError, match="came from a file; give program="):
        kleene.certify(kleene.load(file))
    assert kleene.certify(kleene.load(file), program=parity.relative())
    assert "network equals program for every input up to length 5" in run("certify", str(file)).out
    assert run("rules", str(file)).status == 0
    refused = run("certify", "parity_relative", "--layers", "unrolled", "--max-length", "4", "--attack")
    assert "--attack is for a network whose layers are shared" in refused.err
