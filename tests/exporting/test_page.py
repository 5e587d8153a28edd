"""The examples of docs/exporting.md that need PyTorch or TransformerLens; `tests/test_docs.py` runs the others."""

import re
from pathlib import Path

import pytest

import kleene
from kleene.programs.alta.library import parity
from tests.test_docs import run_doctest

PAGE = Path(__file__).parents[2] / "docs" / "exporting.md"
BLOCKS = re.findall(r"^```python (torch|transformer_lens)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("library", ["torch", "transformer_lens"])
def test_the_examples_that_need_a_library_do_what_the_page_says(library, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {library: pytest.importorskip(library), "kleene": kleene, "program": parity.relative()}
    for _, text in (block for block in BLOCKS if block[0] == library):
        run_doctest(text, names, PAGE.name)


def test_the_page_has_examples_for_torch():
    assert "torch" in {library for library, _ in BLOCKS}
