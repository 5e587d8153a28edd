"""The pictures of docs/results are those of the numbers in their JSON files."""

import importlib
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

RESULTS = Path(__file__).parents[2] / "docs" / "results"
NAMES = [
    "figure-4",
    "figure-6",
    "figure-9a-copy",
    "figure-10",
    "parity-end-to-end",
    "scan-end-to-end",
    "state-hints",
    "growth-h200",
    "hints-for-transformers",
    "interactions",
]


def words(path: Path) -> list[str]:
    return sorted(text.strip() for text in ElementTree.parse(path).getroot().itertext() if text.strip())


def test_pictures_show_what_their_files_hold(tmp_path):
    command = [sys.executable, str(RESULTS / "redraw.py"), *NAMES, "--folder", str(tmp_path)]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    assert sorted(file.stem for file in tmp_path.iterdir()) == sorted(NAMES)
    for name in NAMES:
        assert words(tmp_path / f"{name}.svg") == words(RESULTS / f"{name}.svg"), name


def test_the_tables_of_pages_are_those_of_the_files(monkeypatch):
    monkeypatch.syspath_prepend(RESULTS)
    tables = importlib.import_module("tables")
    pages = [(RESULTS / f"{name}.md").read_text() for name in ("interdependence", "partial-traces", "reproduced")]
    names = [found[1] for page in pages for found in tables.TABLE.findall(page)]
    assert sorted(names) == sorted(tables.TABLES)
    for page in pages:
        assert tables.filled(page) == page
        spoiled = tables.TABLE.sub(lambda found: f"{found[1]}| 1 |\n{found[3]}", page)
        assert tables.filled(spoiled) == page != spoiled
