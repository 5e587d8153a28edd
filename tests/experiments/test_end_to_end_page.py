"""The tables of docs/results/end-to-end.md for the paper's networks are those of the files."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "docs" / "results"
MEASURES = ("accuracy_within", "accuracy_beyond", "accuracy_many_ones")


def named(title: str) -> list[str]:
    return title.replace(" layers", "").replace(" weights", "").split(", ")


def parity_row(row: dict[str, Any], training: float) -> str:
    numbers = [f"{row[name]['ours']:.1f}% | {row[name]['paper']}%" for name in MEASURES]
    return _line(*named(row["row"]), f"{row['updates']:,}", f"{100 * training:.1f}%", *numbers)


def scan_row(cell: dict[str, Any]) -> str:
    _, weights, positions, layers = named(cell["cell"])
    shares = (f"{cell['training_match']:.0f}%", f"{cell['ours']:.1f}%", f"{cell['paper']}%")
    return _line(layers, weights, positions, f"{cell['updates']:,}", *shares)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def test_the_page_has_the_numbers_of_the_files():
    page = (RESULTS / "end-to-end.md").read_text()
    parity, scan = (json.loads((RESULTS / f"{name}-end-to-end.json").read_text()) for name in ("parity", "scan"))
    training = {title: tests["accuracy"][-1] for title, tests in parity["history"].items()}
    rows = [parity_row(row, training[row["row"]]) for row in parity["rows"]]
    rows += [scan_row(cell) for cell in scan["cells"]]
    assert len(rows) == 7
    assert [row for row in rows if row not in page] == []
