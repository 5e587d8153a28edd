import json

from kleene.experiments.catalog import CATALOG, NOT_MEASURED, listed
from kleene.experiments.reproduce import experiments


def test_every_experiment_has_a_line_in_the_catalog_and_no_line_is_left_over():
    assert set(CATALOG) == set(experiments())


def test_an_experiment_without_a_line_is_listed_all_the_same():
    assert listed("ours").as_json() == {
        "name": "ours", "shows": "not described", "quick": NOT_MEASURED, "full": NOT_MEASURED,
    }  # fmt: skip


def test_the_command_line_lists_what_each_experiment_shows_and_how_long_it_takes(run):
    found = json.loads(run("reproduce", "--json").out)
    assert [row["name"] for row in found] == list(experiments())
    rules = next(row for row in found if row["name"] == "rules")
    assert (rules["quick"], rules["full"]) == ("70 s", "431 s")
    assert all(set(row) == {"name", "shows", "quick", "full"} and all(row.values()) for row in found)
    printed = run("reproduce").out
    assert all(words in printed for words in ("shows", "431 s", NOT_MEASURED, *(row["name"] for row in found)))
