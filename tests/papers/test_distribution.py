"""The package kleene-papers: its version, what it needs, and the entry point by which Kleene finds it."""

import tomllib
from inspect import signature
from pathlib import Path

import kleene
import kleene_papers
from kleene import reproducing
from kleene_papers import reproduce

PAPERS = Path(__file__).parents[2] / "papers"
PROJECT = tomllib.loads((PAPERS / "pyproject.toml").read_text())["project"]


def test_both_packages_have_one_version():
    assert kleene_papers.__version__ == kleene.__version__
    assert PROJECT["dependencies"] == [f"kleene=={kleene.__version__}", "jinja2>=3.1"]


def test_kleene_finds_the_experiments_by_the_entry_point_of_the_project():
    assert PROJECT["entry-points"][reproducing.GROUP] == {reproducing.NAME: reproduce.__name__}
    assert reproducing.papers() is reproduce
    assert isinstance(reproduce, reproducing.Papers)


def test_the_verb_hands_on_every_option():
    shown, taken = (signature(verb).parameters for verb in (reproducing.reproduce, reproduce.reproduce))
    assert {name: option.default for name, option in shown.items()} == {n: o.default for n, o in taken.items()}


def test_the_licence_is_kleenes():
    assert (PAPERS / "LICENSE").read_bytes() == (PAPERS.parent / "LICENSE").read_bytes()
