"""Attacks find what differs, say what they tried, and find nothing against certificates."""

import itertools
import json
import random
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.alta.attacks import _blocks, hard_inputs
from kleene.compiling.alta.fuzzing import ATTACKED
from kleene.errors import CompileError, RunError
from kleene.programs import alta, rasp
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


def test_long_inputs_have_their_turn_after_short_ones_that_took_their_time():
    chosen = iter([("ties", [0] * 5)] * 12 + [("short", [0] * 67)] * 50)
    lengths = set()
    for block in _blocks(chosen, time.perf_counter(), seconds=1.0):
        lengths |= {len(sequence) for _, sequence in block}
        time.sleep(0.005 * len(block))
    assert lengths == {5, 67}


def test_a_function_that_answers_otherwise_than_it_did_is_found_by_its_original():
    inverts = {"now": True}

    def flip(z):
        z["bit"] = 1 - z["bit"] if inverts["now"] else z["bit"]

    program = alta.program_spec({"bit": alta.input_var(2)}, {}, flip, "bit", 2)
    network = kleene.compile(program)
    assert kleene.attack(network, length=5, inputs=20)
    inverts["now"] = False
    found = kleene.attack(network, length=5, inputs=20)
    assert kleene.certify(network, length=5)  # which is for the cases that the function had
    assert found.first_difference["execution"] == "original"
    first = found.first_difference["input"]
    assert found.first_difference["answers"]["original"] == first
    assert found.first_difference["answers"]["softmax network"] == [1 - bit for bit in first]
    assert f"program and original differ on {first}" in str(found)
    assert f"original answers {first}" in str(found)


def test_rasp_s_own_evaluation_is_run_and_a_difference_reported():
    program = rasp.RaspProgram(rasp.tokens + 1, (0, 1), 4).lowered
    network = kleene.compile(program)
    found = kleene.attack(network, inputs=30)
    assert found
    assert found.originals == found.inputs == 30
    wrong = kleene.attack(network, program=replace(program, original=lambda word: [0] * len(word)), inputs=30)
    assert wrong.first_difference["execution"] == "original"
    assert "but the original says [0" in wrong.first_difference["what"]
    raising = kleene.attack(network, program=replace(program, original=lambda word: 1 // 0), inputs=30)
    assert "the original raised ZeroDivisionError" in raising.first_difference["what"]


def test_an_original_without_a_value_is_not_compared():
    def refuses(word):
        raise RunError("no value")

    program = replace(rasp.RaspProgram(rasp.tokens + 1, (0, 1), 4).lowered, original=refuses)
    found = kleene.attack(kleene.compile(program), inputs=10)
    assert (bool(found), found.originals) == (True, 0)
    assert str(found).endswith("agree on all, and the original on the 0 on which it was run")


def test_an_attack_draws_the_declared_inputs():
    program = get("parity_sum_modulo").build()
    drawn = list(itertools.islice(hard_inputs(program, 30, random.Random(0)), 300))
    assert {kind for kind, _ in drawn} == {"near edges of means", "short", "long", "ties", "random"}
    assert all(word[0] == 2 and set(word[1:]) <= {0, 1} and len(word) <= 30 for _, word in drawn)
    few = list(itertools.islice(hard_inputs(program.taking("21*"), 30, random.Random(0)), 100))
    assert all(word[0] == 2 and set(word[1:]) <= {1} for _, word in few)


def test_inputs_that_are_all_long_are_attacked_too():
    found = kleene.attack(kleene.compile(get("scan").build()), inputs=10, seconds=60)
    assert {"short", "random"} <= set(found.tried)
    assert found.originals > 0


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
