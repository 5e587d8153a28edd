"""Interventions from the command line."""

import pytest


def test_an_edit_changes_what_follows_in_program_and_network_alike(run):
    plain = run("run", "parity_relative", "10110", "--json").json
    outputs = []
    for compiled in ((), ("--compiled",)):
        found = run("run", "parity_relative", "10110", "--edit", "parity@3,3=1", *compiled, "--json").json
        assert found["edits"] == ["parity@3,3=1"]
        outputs.append(found["output"])
    assert outputs[0] == outputs[1] != plain["output"]


def test_an_edit_takes_its_value_from_a_run_on_another_input(run):
    status, out, err = run("run", "parity_relative", "0000", "--edit", "parity@2,2=from:1000", "--compiled")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "0 1 1 1"


def test_several_edits_are_made_in_their_order(run):
    edits = ("--edit", "parity@1,1=0", "--edit", "parity@1,1=1")
    assert run("run", "parity_relative", "0", *edits).out.splitlines()[0] == "1"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("pariti@3,5=1", "did you mean parity"),
        ("parity@3,5=2", "takes an integer in 0..1"),
        ("parity@9,5=1", "ended after layer 5"),
        ("parity@3,9=1", "input 0 has 6 positions"),
        ("parity=1@2", "takes an integer"),
        ("parity@3,5", "not of the form NAME@LAYER,POSITION=VALUE"),
        ("parity@x,5=1", "a layer or a position is a number"),
    ],
)
def test_an_edit_that_cannot_be_made_is_one_line_on_stderr(run, edit, said):
    for compiled in ((), ("--compiled",)):
        status, out, err = run("run", "parity_relative", "10110", "--edit", edit, *compiled)
        assert (status, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "edit"),
    [
        (("dfa:(a|b)*abb", "abb"), "state@2=q3"),
        (("tm:copy", "abb"), "tape@2,1=a"),
        (("tm:copy", "abb"), "state@2=from:b"),
        (("increment", "3 1 2 0"), "r0@1=2"),
    ],
)
def test_every_kind_of_program_takes_edits_as_its_network_does(run, words, edit):
    ours, theirs = (run("run", *words, "--edit", edit, *way, "--json").json for way in ((), ("--compiled",)))
    assert ours["output"] == theirs["output"]
    assert run("run", *words, "--json").json != ours


def test_a_machine_whose_runs_take_no_edits_says_so(run, tmp_path):
    import jax

    from kleene.machines.ntm.ntm import NTM

    file = NTM.random(1, width=1, hidden=(1, 1), key=jax.random.key(0)).save(tmp_path / "ntm.safetensors")
    status, _, err = run("run", str(file), "1", "--edit", "state@1=0")
    assert status == 2
    assert "is a Neural Turing Machine, whose runs take no edits" in err
