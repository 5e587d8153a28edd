"""The tables of docs/results/learnability.md are those of the files that the experiments kept."""

import json
from pathlib import Path
from typing import Any

import pytest

RESULTS = Path(__file__).parents[2] / "docs" / "results"
TRAINED = {"parity": "up to 20 bits", "addition": "up to 3 digits"}
TESTED = {"parity": "up to 40 bits", "addition": "up to 50 digits"}


def program_rows(content: dict[str, Any]) -> list[str]:
    """The rows about programs whose inputs are ranges of lengths."""
    rows = []
    for row in content["programs"]:
        kind = row["program"].split("_")[0]
        paper = "" if row["paper_rules"] is None else f"{row['paper_rules']:,}"
        cells = (f"`{row['program']}`", f"{TRAINED[kind]}: {row['train']:,}", f"{row['minimal_rules']:,}", paper,
                 f"{row['rules']:,}", f"{TESTED[kind]}: {row['test']:,}", _share(row))  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def split_rows(content: dict[str, Any]) -> list[str]:
    """A row for each split of SCAN, with both programs."""
    rows = []
    for split in dict.fromkeys(row["split"] for row in content["scan"]):
        found = {row["program"]: row for row in content["scan"] if row["split"] == split}
        far = found["scan"]["divergences"]
        cells = [f"`{split}`", f"{found['scan']['train']:,}", f"{far['atom']:.3f}", f"{far['compound']:.3f}"]
        for program in ("scan", "scan_shift_reduce"):
            row = found.get(program)
            cells += ["", ""] if row is None else [f"{row['minimal_rules']:,}", _share(row)]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def simplicity_rows(content: dict[str, Any]) -> list[str]:
    """A row for each program of the library."""
    rows = []
    for row in content["programs"]:
        layers = ", ".join(f"{count} at {length}" for length, count in row["layers"].items())
        cells = (f"`{row['program']}`", f"{row['rules']:,}", f"{row['minimal_rules']:,}", f"{row['longest']}", layers)
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _share(row: dict[str, Any]) -> str:
    return "all" if row["generalises"] else f"{row['agree']:,} of {row['test']:,}"


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("minimal-programs", program_rows),
        ("minimal-programs", split_rows),
        ("simplicity-bias", simplicity_rows),
    ],
)
def test_the_page_has_the_numbers_of_the_files(name, rows):
    page = (RESULTS / "learnability.md").read_text()
    expected = rows(json.loads((RESULTS / f"{name}.json").read_text()))
    assert expected
    assert [row for row in expected if row not in page] == []


def test_the_page_says_how_rules_and_layers_go_together():
    page = (RESULTS / "learnability.md").read_text()
    found = json.loads((RESULTS / "simplicity-bias.json").read_text())
    assert f"rank correlation is {found['correlation']:.2f}" in page
    assert not any(family["same"] for family in found["families"])  # the page says so of all three
    for function, networks in found["end_to_end"].items():
        assert f"of {networks['networks']} {function} networks {networks['learned']} learned" in page
        assert networks["as_fewest_rules"] == []  # the page says so of all four
