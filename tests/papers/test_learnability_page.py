"""What docs/results/learnability.md says about its tables is true of the files; test_redrawn.py holds the tables."""

import json
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def test_the_page_says_how_rules_and_layers_go_together():
    page = (RESULTS / "learnability.md").read_text()
    found = json.loads((RESULTS / "simplicity-bias.json").read_text())
    assert f"rank correlation is {found['correlation']:.2f}" in page
    assert not any(family["same"] for family in found["families"])  # the page says so of all three
    for function, networks in found["end_to_end"].items():
        assert f"of {networks['networks']} {function} networks {networks['learned']} learned" in page
        assert networks["as_fewest_rules"] == []  # the page says so of all four
