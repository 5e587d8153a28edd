"""The pages in docs/pages are those that Kleene writes today, and small."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "pages"


def renewed(page):
    spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.renewed(page)


@pytest.mark.parametrize("name", ["addition", "automaton", "turing-machine", "ntm", "circuit", "sentence"])
def test_a_page_of_the_docs_is_as_kleene_writes_it(name):
    page = FOLDER / f"{name}.html"
    assert page.read_text(encoding="utf-8") == renewed(page), "run `python docs/pages/make.py`"
    assert page.stat().st_size < 1_000_000
