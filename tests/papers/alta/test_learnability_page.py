"""What docs/results/learnability.md says in words is true of the stored results; its numbers are written from them."""

from pathlib import Path

from kleene_papers.alta.simplicity import follow_fewest_rules
from kleene_papers.stored import stored

PAGE = Path(__file__).parents[3] / "docs" / "results" / "learnability.md"


def test_the_page_says_how_rules_and_layers_go_together():
    page, found = " ".join(PAGE.read_text().split()), stored("ours-simplicity-bias")
    assert f"rank correlation is {found['correlation']:.2f}" in page
    assert not any(family["same"] for family in found["families"])  # the page says so of all three
    for function, networks in follow_fewest_rules().items():
        assert f"of {networks['networks']} {function} networks {networks['learned']} learned" in page
        assert networks["as_fewest_rules"] == []  # the page says so of all four


def test_the_page_says_of_which_splits_which_parser_is_right():
    right = {(row["program"], row["split"]) for row in stored("alta-section-4")["scan"] if row["generalises"]}
    assert {split for program, split in right if program == "scan_shift_reduce"} == {"length", "mcd:1"}
    assert {split for program, split in right if program == "scan"} == {
        "simple",
        "addprim_turn_left",
        "template_around_right",
    }
