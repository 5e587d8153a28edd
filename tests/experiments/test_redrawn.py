"""The pictures of docs/results are those of the numbers in their JSON files."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

RESULTS = Path(__file__).parents[2] / "docs" / "results"
NAMES = [
    "figure-4",
    "figure-9a-copy",
    "parity-end-to-end",
    "scan-end-to-end",
    "state-hints",
    "growth-h200",
    "hints-for-transformers",
]


def words(path: Path) -> list[str]:
    return sorted(text.strip() for text in ElementTree.parse(path).getroot().itertext() if text.strip())


def test_pictures_show_what_their_files_hold(tmp_path):
    command = [sys.executable, str(RESULTS / "redraw.py"), *NAMES, "--folder", str(tmp_path)]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    assert sorted(file.stem for file in tmp_path.iterdir()) == sorted(NAMES)
    for name in NAMES:
        assert words(tmp_path / f"{name}.svg") == words(RESULTS / f"{name}.svg"), name
