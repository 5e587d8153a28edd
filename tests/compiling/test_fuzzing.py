"""The fuzzer counts right, resumes where it was stopped, and makes a failure small."""

import json
import random

import pytest

from kleene.compiling.alta import fuzzing
from kleene.compiling.alta.certificates import certify
from kleene.compiling.alta.compiler import compile_program
from kleene.compiling.checking import check
from kleene.errors import ModelFileError
from kleene.programs.alta.random_programs import generate, random_inputs


def test_random_programs_agree_and_the_tally_adds_up():
    tally = fuzzing.fuzz(24, seed=5)
    assert (tally.done, tally.agree + tally.refused, tally.failures) == (24, 24, [])
    assert tally.inputs == 5 * tally.agree


def test_a_run_goes_on_where_it_was_stopped(tmp_path):
    file = str(tmp_path / "tally.json")
    fuzzing.fuzz(6, seed=3, resume=file)
    seen = []
    tally = fuzzing.fuzz(10, seed=3, resume=file, on_program=lambda t: seen.append(t.done))
    assert seen == [7, 8, 9, 10]
    assert tally.agree == fuzzing.fuzz(10, seed=3).agree
    assert json.loads((tmp_path / "tally.json").read_text())["done"] == 10


def test_several_workers_give_the_same_tally_as_one():
    alone, together = fuzzing.fuzz(40, seed=9), fuzzing.fuzz(40, seed=9, workers=2)
    alone.seconds = together.seconds = 0.0
    assert together == alone


def test_a_file_of_another_seed_or_another_kind_is_refused(tmp_path):
    file = tmp_path / "tally.json"
    fuzzing.fuzz(1, seed=3, resume=str(file))
    with pytest.raises(ModelFileError, match="is of seed 3"):
        fuzzing.fuzz(2, seed=4, resume=str(file))
    file.write_text("{}")
    with pytest.raises(ModelFileError, match="does not hold a tally"):
        fuzzing.fuzz(2, seed=3, resume=str(file))


def test_a_failure_is_reported_with_its_program_and_a_small_input(monkeypatch):
    right = fuzzing.compile_program
    broken = []

    def wrong(program, **way):
        network = right(program, **way)
        if not broken:
            import equinox as eqx

            broken.append(program)
            network = eqx.tree_at(lambda n: n.tokens, network, network.tokens[::-1].copy())
        return network

    monkeypatch.setattr(fuzzing, "compile_program", wrong)
    for seed in range(20):
        broken.clear()
        tally = fuzzing.fuzz(1, seed=seed)
        if tally.failures:
            break
    failure = tally.failures[0]
    assert "alta.program_spec" in failure["source"]
    assert 1 <= len(failure["input"]) <= 2
    assert "network" in failure["what"]


def test_certificates_of_random_programs_stand_and_the_tally_adds_up(tmp_path):
    file = str(tmp_path / "tally.json")
    tally = fuzzing.fuzz(10, seed=4, attack=True, resume=file)
    assert (tally.done, tally.agree + tally.refused, tally.failures) == (10, 10, [])
    assert tally.agree >= 8
    assert tally.inputs > 10 * tally.agree
    with pytest.raises(ModelFileError, match="holds a tally of attacks"):
        fuzzing.fuzz(12, seed=4, resume=file)


@pytest.mark.parametrize("number", [1_000_331_291])
def test_programs_that_once_failed_agree(number):
    program = generate(number).program
    inputs = random_inputs(random.Random(number), program, 5, 7)
    assert check(program, inputs=inputs).first_disagreement is None, generate(number).source


def test_a_mean_on_an_edge_that_has_no_certificate_counts_as_refused():
    """Program 244,001 of seed 1 reads a mean that lies on the edge of a strip, and plain ReLU sees it inside."""
    network = compile_program(generate(1_000_244_001).program, activation="relu")
    assert not certify(network, length=5)
    assert fuzzing._try(1, 243_994).failure is None
