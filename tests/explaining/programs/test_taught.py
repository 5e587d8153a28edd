"""What a taught machine does, beside the program and its minimal version: in the report, its JSON and its picture."""

from dataclasses import replace

import jax
import pytest

import kleene
from kleene.cli import learnability
from kleene.errors import InputError
from kleene.explaining import learnable
from kleene.explaining.programs import taught as module
from kleene.explaining.programs.taught import TaughtOutputs, taught_outputs
from kleene.machines.transformer.learned_mlp import LearnedMLP, MLPTransformer, kept_width
from kleene.machines.transformer.shared import SharedTransformer
from kleene.programs.alta.library import parity
from tests.explaining.programs.test_minimal import bits

TESTS = bits(6, 2)


def learned(program):
    """A network with random weights, as if it had been taught."""
    compiled = kleene.compile(program)
    mlp = LearnedMLP.random(len(compiled.mlp_in), kept_width(compiled.layout), depth=1, units=4, key=jax.random.key(0))
    return MLPTransformer.of(compiled, mlp, layers=-1 if program.halt else 1, grows=bool(program.halt))


def shared(**changes):
    sizes = {"width": 4, "heads": 2, "units": 4} | changes
    return SharedTransformer.random(3, {"parity": 2, "done": 2}, **sizes, key=jax.random.key(0))


@pytest.fixture(scope="module")
def report():
    program = parity.relative()
    found = learnable(program, bits(3, 2), TESTS)
    right = [out if word.count(1) % 3 else [1 - out[0], *out[1:]] for word, out in zip(TESTS, found.expected)]
    return replace(found, taught=TaughtOutputs("by hand", list(range(len(TESTS))), right))


def test_a_report_counts_where_the_taught_machine_agrees(report):
    agree = [bool(word.count(1) % 3) for word in TESTS]
    assert report.taught_agree == agree
    assert f"taught, by hand: it agrees with the program on {sum(agree)} of {len(TESTS)} test inputs\n" in str(report)
    assert "agreement of the taught by number of ones: 0: 0%, 1..2: 100%, 3: 0%, 4..5: 100%, 6: 0%" in str(report)
    told = report.as_json()["taught"]
    assert (told["what"], told["agree"], told["test"]) == ("by hand", sum(agree), len(TESTS))
    assert told["by_ones"]["3"][0] == 0 < told["by_ones"]["3"][1]
    assert "taught" not in replace(report, taught=None).as_json()


def test_the_picture_has_three_lines(report, tmp_path):
    drawn = replace(report, right=[True] * len(TESTS)).draw(tmp_path / "all.svg").read_text()
    for name in ("program: as the reference", "minimal version: as the program", "taught: as the program"):
        assert name in drawn


@pytest.mark.parametrize("machine", [learned(parity.relative()), shared()], ids=["mlp", "shared"])
def test_outputs_are_those_of_the_machines_runs(machine, monkeypatch):
    found = taught_outputs(machine, parity.relative(), TESTS, "random")
    assert found.outputs == [machine.run(word).output for word in TESTS]
    monkeypatch.setattr(module, "MOST", 5)
    some = taught_outputs(machine, parity.relative(), TESTS, "random")
    assert len(some.rows) == 5
    assert some.outputs == [found.outputs[row] for row in some.rows]


@pytest.mark.parametrize(
    ("machine", "told"),
    [
        (learned(parity.sum_modulo(3)), "the network was taught parity_sum_modulo; give one that was"),
        (SharedTransformer.random(3, {"parity": 2}, width=4, heads=2, units=4, key=jax.random.key(0)),
         "was taught another program"),
        (SharedTransformer.random(2, {"parity": 2, "done": 2}, width=4, heads=2, units=4, key=jax.random.key(0)),
         "was taught another program"),
        (kleene.compile(parity.relative()), "a UniversalTransformer is no network that was taught"),
    ],
)  # fmt: skip
def test_a_machine_that_was_not_taught_the_program_is_refused(machine, told):
    with pytest.raises(InputError, match=told):
        taught_outputs(machine, parity.relative(), TESTS, "other")


def test_the_command_teaches_or_takes_a_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learnability, "TEACHING", {"iterations": 3, "depth": 1, "hidden": 4, "rate": 1e-3})
    monkeypatch.setattr(learnability, "MOST_WORDS", 5)
    asked = ("explain", "parity_sum_modulo", "--train", "length<=3", "--test", "length<=4", "--json")
    told = run(*asked, "--teach", "-o", "found.svg").json
    assert told["taught"]["what"] == "the MLP alone by trace supervision, 3 updates, on 5 of the training inputs"
    assert told["taught"]["test"] == told["test"]
    assert "taught: as the program" in (tmp_path / "found.svg").read_text()
    learned(parity.sum_modulo(4)).save("sum.safetensors")
    assert run(*asked, "--taught", "sum.safetensors").json["taught"]["what"] == "the network in 'sum.safetensors'"


def test_the_command_refuses_a_file_of_another_program_and_two_machines(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    learned(parity.sum_modulo(4)).save("sum.safetensors")
    asked = ("explain", "parity_relative", "--train", "length<=3", "--test", "length<=4", "--taught", "sum.safetensors")
    status, out, err = run(*asked)
    assert (status, out) == (2, "")
    assert "the network was taught parity_sum_modulo; give one that was taught parity_relative" in err
    assert "give one of them" in run(*asked, "--teach").err
    assert "missing.safetensors" in run(*asked[:-1], "missing.safetensors").err
