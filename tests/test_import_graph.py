"""The script that draws the import graph, on a house of three small rooms."""

import pytest

from tests.import_graph import as_text, components, draw, read

FILES = {
    "__init__.py": "",
    "errors.py": "",
    "traces/__init__.py": "from kleene.traces.trace import Trace\n",
    "traces/trace.py": "from kleene.errors import Problem\n\n\ndef read():\n    from kleene.traces import storage\n",
    "traces/storage.py": "from kleene.traces.trace import Trace\n",
    "programs/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  from kleene.machines import RNN\n",
    "machines/__init__.py": "import numpy\nimport kleene.traces.trace\n",
}


@pytest.fixture
def house(tmp_path):
    for name, text in FILES.items():
        file = tmp_path / "kleene" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return read(tmp_path / "kleene")


def test_every_import_is_found_late_ones_and_those_for_types_included(house):
    found = {(i.importer, i.imported): (i.late, i.for_types) for i in house.imports}
    assert found == {
        ("traces", "traces.trace"): (False, False),
        ("traces.trace", "errors"): (False, False),
        ("traces.trace", "traces.storage"): (True, False),
        ("traces.storage", "traces.trace"): (False, False),
        ("programs", "machines"): (False, True),
        ("machines", "traces.trace"): (False, False),
    }


def test_cycles_and_imports_against_the_order_are_named(house):
    assert house.cycles() == [["traces.storage", "traces.trace"]]
    assert [(i.importer, i.imported) for i in house.against_order()] == [("programs", "machines")]
    assert "  programs → machines\n" in as_text(house)
    assert "  traces.storage ⇄ traces.trace" in as_text(house)


def test_the_picture_is_drawn(house, tmp_path):
    draw(house, str(tmp_path / "graph.svg"))
    assert "<svg" in (tmp_path / "graph.svg").read_text()


def test_components_are_those_that_reach_each_other():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert components(graph) == [["a", "b", "c"], ["d", "e"]]
