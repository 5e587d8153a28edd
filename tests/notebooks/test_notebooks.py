"""The notebooks of docs/notebooks are kept without outputs; every cell runs, and so do the solutions of exercises."""

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
SOLUTION = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

_spec = importlib.util.spec_from_file_location("clean", DOCS / "notebooks" / "clean.py")
cleaning = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cleaning)


def prose(path: Path) -> list[str]:
    return [
        "".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "markdown"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    assert path.read_text() == cleaning.clean(path.read_text(), path.stem), "run python docs/notebooks/clean.py"


def test_outputs_counters_and_metadata_are_taken_out():
    run = {"cell_type": "code", "metadata": {"tags": ["x"]}, "execution_count": 3, "outputs": [{}], "source": "1 + 1\n"}
    cells = json.loads(cleaning.clean(json.dumps({"cells": [run], "metadata": {"a": 1}}), "sum"))["cells"]
    kept = {"cell_type": "code", "id": "sum-01", "metadata": {}, "execution_count": None, "outputs": []}
    assert cells == [{**kept, "source": ["1 + 1"]}]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_begins_with_a_question_and_ends_with_an_exercise_and_pages(path):
    first, *_, exercise, solution, last = prose(path)
    assert re.search(r"^# .*\n\n\*\*[^*]+\?\*\*", first), "a title, then the question in bold letters"
    assert exercise.startswith("## Exercise")
    assert SOLUTION.search(solution), "the solution is a block of Python, so that it is run"
    assert last.startswith("## Where to go on")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_links_to_is_there(path):
    links = [link for text in prose(path) for link in LINK.findall(text)]
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_page_of_the_notebooks_lists_each_of_them():
    assert re.findall(r"\(notebooks/([^)]+\.ipynb)\)", (DOCS / "notebooks.md").read_text()) == [
        p.name for p in NOTEBOOKS
    ]
    assert len(NOTEBOOKS) == 8


@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_and_solutions_of_a_notebook_run(path, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    notebook.cells = [part for cell in notebook.cells for part in with_solutions(cell, nbformat)]
    settings = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}  # as for a reader
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=settings)


def with_solutions(cell, nbformat) -> list:
    """The cell, and as cells of code the blocks of Python in its text."""
    solutions = SOLUTION.findall(cell.source) if cell.cell_type == "markdown" else []
    return [cell, *map(nbformat.v4.new_code_cell, solutions)]
