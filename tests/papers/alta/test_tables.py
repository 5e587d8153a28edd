"""What is shown of the stored results: tables with the paper's numbers beside ours, and no study without them."""

import pytest

from kleene_papers.alta.parity_end_to_end import TABLE_3
from kleene_papers.alta.scan_end_to_end import CELLS
from kleene_papers.alta.studies import STUDIES
from kleene_papers.alta.trace_supervision import rows
from kleene_papers.stored import names, stored

SHOWN = {study.name: study for study in STUDIES}
RUNS = [name for name in names() if name in SHOWN or stored(name).study in SHOWN]


def tables_of(name):
    return SHOWN[stored(name).study or name].tables(stored(name))


@pytest.mark.parametrize("name", RUNS)
def test_every_stored_run_has_tables_with_titles_of_their_own(name):
    found = tables_of(name)
    assert all(table.rows for table in found)
    assert len({table.title for table in found} - {""}) == len(found)


def test_every_study_has_a_stored_result():
    assert {*SHOWN} <= {*RUNS}


def test_rule_counts_of_alta_stand_beside_ours():
    programs, splits = tables_of("alta-section-4")
    found = {row[0]: row for row in programs.rows}
    assert {name: row[2:4] for name, row in found.items() if row[3]} == {
        "`parity_relative`": ["7", "7"],
        "`parity_sum_modulo`": ["31", "31"],
        "`addition`": ["884", "884"],
    }
    assert [row[0] for row in splits.rows if row[-1] == "all"] == ["`length`", "`mcd:1`"]


def test_table_2_has_the_papers_numbers():
    (table,) = tables_of("alta-table-2")
    assert {row[0]: row[-1] for row in table.rows} == {
        one.title: ", ".join(map(str, one.paper)) for one in rows().values()
    }


@pytest.mark.parametrize("name", ["alta-table-3", "alta-table-3-quick"])
def test_table_3_has_the_papers_numbers(name):
    table, _ = tables_of(name)
    paper = [at for at, head in enumerate(table.head) if head == "paper"]
    assert len(paper) == 3
    for row in table.rows:
        layers, shared, positions = int(row[0].split()[-1]), row[1] == "shared", row[2]
        numbers = next(numbers for variant, numbers in TABLE_3.items() if variant == (layers, shared, positions))
        assert [row[at] for at in paper] == [f"{number}%" for number in numbers]


def test_table_6_has_the_papers_numbers():
    (table,) = tables_of("alta-table-6")
    for split, layers, weights, positions, *_, paper in table.rows:
        found = next(of for cell, of in CELLS.items() if cell == (split, weights == "shared", positions, int(layers)))
        assert paper == f"{found}%"
