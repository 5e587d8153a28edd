"""How Kleene is cited: CITATION.cff and .zenodo.json have what their readers need, and say the same."""

import json
import tomllib
from pathlib import Path

import pytest

import kleene

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
yaml = pytest.importorskip("yaml")  # comes with ray
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
ZENODO = json.loads((ROOT / ".zenodo.json").read_text())


def test_the_citation_has_what_its_format_asks_for():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "abstract", "keywords", "type"} <= CITATION.keys()
    people = [one for entry in [CITATION, *CITATION["references"]] for one in entry["authors"]]
    assert all("name" in one or {"family-names", "given-names"} <= one.keys() for one in people)


def test_the_version_and_licence_are_those_of_the_package():
    for said in (CITATION, ZENODO):
        assert str(said["version"]) == kleene.__version__
        assert said["license"] == PROJECT["license"]
        assert said["title"] == "Kleene"


def test_both_files_say_the_same():
    assert " ".join(CITATION["abstract"].split()) == ZENODO["description"]
    assert CITATION["keywords"] == ZENODO["keywords"]
    assert CITATION["type"] == ZENODO["upload_type"]
    assert [one["name"] for one in CITATION["authors"]] == [one["name"] for one in ZENODO["creators"]]


def test_the_five_texts_are_named_as_on_their_pages():
    titles = [text["title"] for text in CITATION["references"]]
    pages = " ".join(" ".join(page.read_text().split()) for page in (ROOT / "docs" / "texts").glob("*.md"))
    assert len(titles) == len({*titles}) == 5
    assert all(title in pages for title in titles)


def test_related_works_are_texts_that_the_citation_names():
    known = {text.get("url") for text in CITATION["references"]}
    assert {one["identifier"] for one in ZENODO["related_identifiers"]} <= known
