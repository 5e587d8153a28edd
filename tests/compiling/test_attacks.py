"""Attacks find what differs, say what they tried, and find nothing against certificates."""

import itertools
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.alta.attacks import hard_inputs
from kleene.compiling.alta.fuzzing import ATTACKED
from kleene.errors import CompileError
from kleene.programs.alta.library import get
from kleene.programs.alta.random_programs import generate
from tests.compiling.averaging import mean_program


def test_the_nastiest_means_come_first():
    first = next(x for kind, x in hard_inputs(mean_program([0, 0.1]), 130, random.Random(0)) if "means" in kind)
    assert (len(first), sum(first)) in {(2, 1), (64, 31), (64, 33), (128, 62), (128, 66)}


def test_inputs_are_of_every_kind_and_never_too_long():
    program = get("sort").build()
    drawn = list(itertools.islice(hard_inputs(program, 12, random.Random(0)), 200))
    assert {kind for kind, _ in drawn} == {"short", "long", "ties", "edges of offsets", "random"}
    assert {1, 2, 11, 12} <= {len(x) for _, x in drawn}
    assert max(len(x) for _, x in drawn) == 12


def test_a_difference_is_reported_with_its_input_and_all_answers():
    found = kleene.attack(kleene.compile(mean_program([0, 0.1])), length=130, inputs=400, seconds=600)
    content = json.loads(json.dumps(found.as_json()))
    assert content["stood"] is False
    assert set(content["first_difference"]["answers"]) == {
        "program", "original", "selecting network", "softmax network",
    }  # fmt: skip
    assert str(content["first_difference"]["input"]) in str(found)


def test_long_inputs_wait_until_short_ones_have_been_quick():
    program = get("parity_relative").build()
    found = kleene.attack(kleene.compile(program), seconds=1e-9, inputs=50)
    assert found.longest <= 16


@settings(max_examples=15)
@given(seed=st.integers(0, 10**9), way=st.sampled_from(ATTACKED))
def test_no_certificate_of_a_random_averaging_program_is_wrong(seed, way):
    generated = generate(seed, averaging=True)
    try:
        network = kleene.compile(generated.program, **way)
    except CompileError:
        return
    certificate = kleene.certify(network)
    if certificate:
        found = kleene.attack(network, certificate=certificate, inputs=16, longest=130, seed=seed, seconds=60)
        assert found, f"{found}\n{generated.source}"


@pytest.mark.slow
def test_ten_thousand_certificates_of_random_programs_stand():
    from kleene.compiling.alta.fuzzing import fuzz

    tally = fuzz(11_000, seed=12, workers=2, attack=True)
    assert tally.failures == []
    assert tally.agree >= 10_000
