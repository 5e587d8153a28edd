"""How `kleene reproduce` finds the papers' experiments, and what is said where they are missing or do not fit."""

from importlib.metadata import EntryPoint

import pytest

import kleene
from kleene import reproducing
from kleene.errors import InputError

SWEEP = {"verb": "reproduce", "settings": {"experiment": "ours-states-tomita_3-rnn", "iterations": 2}}
HOW = f"pip install kleene-papers=={kleene.__version__}"


@pytest.fixture
def found(monkeypatch):
    """A function that lets these entry points be the installed ones."""
    return lambda *entries: monkeypatch.setattr(reproducing, "entry_points", lambda **_: entries)


@pytest.mark.parametrize("words", [(), ("--json",), ("rules",)], ids=" ".join)
def test_without_the_package_the_command_says_how_to_install_it(run, found, words):
    found()
    refused = run("reproduce", *words)
    assert (refused.status, refused.out) == (2, "")
    assert "kleene-papers, which is not installed" in refused.err
    assert HOW in refused.err


def test_without_the_package_the_verb_and_a_sweep_refuse_before_anything_is_kept(found, tmp_path):
    found()
    with pytest.raises(InputError, match=HOW):
        kleene.reproduce("rules", folder=tmp_path / "r")
    with pytest.raises(InputError, match=HOW):
        kleene.sweep(SWEEP, store=tmp_path / "s")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["kleene.no_such_module", "kleene.errors:NoSuchName"])
def test_a_package_that_does_not_fit_is_named_with_the_one_that_does(found, value):
    found(EntryPoint(reproducing.NAME, value, reproducing.GROUP))
    with pytest.raises(InputError, match=f"kleene-papers does not fit this Kleene .*: {HOW}"):
        reproducing.papers()
