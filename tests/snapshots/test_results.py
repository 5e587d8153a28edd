"""The numbers of the stored results as `kleene reproduce` shows them: all tables of every study."""

import pytest

from kleene_papers.registry import studies
from kleene_papers.stored import names, stored
from tests.snapshots.storing import compare, left_over

SHOWN = [name for name, study in studies().items() if {*names()}.issuperset(study.results)]


@pytest.mark.parametrize("name", SHOWN)
def test_results(name: str):
    study = studies()[name]
    tables = study.tables(*map(stored, study.results))
    compare(f"results/{name}", {table.title: [[*table.head], *table.as_json()["rows"]] for table in tables})


def test_results_have_no_snapshot_left_over():
    assert left_over("results", SHOWN) == []
