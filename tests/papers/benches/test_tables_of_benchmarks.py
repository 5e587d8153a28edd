"""The tables of stored runs of `kleene bench`, and how a new run is stored."""

import json
from pathlib import Path

import pytest

import kleene
from kleene.benched import Benched
from kleene.benchmarking import benchmarks, measured
from kleene.errors import InputError
from kleene_papers.benches.__main__ import main, result_of
from kleene_papers.benches.rows import beside, number, tables
from kleene_papers.benches.studies import BENCHES, STUDIES, bench, bench_times
from kleene_papers.registry import studies
from kleene_papers.report import words
from kleene_papers.stored import Result, names, stored

RUNS = [f"bench-{name}-{machine}" for name, (machines, _) in BENCHES.items() for machine in machines]


def run_of(folder, **benchmarks):
    """The result that rows of benchmarks become."""
    rows = json.loads(Benched(benchmarks, {}).save(folder / "rows.json").read_text())
    return Result("bench-made", "bench-made", "made up", rows=rows)


def cells(table, first):
    """The cells of the line that begins so, by column."""
    return next(dict(zip(table.head, row)) for row in table.rows if row[0] == first)


def test_every_stored_benchmark_has_a_study():
    assert {name for name in names() if name.startswith("bench-")} == {*RUNS, "bench-sweep-h200"}
    assert {name for study in STUDIES for name in study.results} <= {*names()}


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_tables_of_a_study_are_not_empty_and_have_titles(study):
    found = study.tables(*map(stored, study.results))
    titles = [table.title for table in found]
    assert all(titles)
    assert len({*titles}) == len(titles)
    assert all(table.rows for table in found)


@pytest.mark.parametrize("name", RUNS)
def test_every_row_of_a_benchmark_is_in_its_tables(name):
    found = stored(name)
    told = " ".join(str(cell) for table in tables(found) for row in table.rows for cell in row)
    for row in found.rows:
        assert bench(name, row["what"]) in told
        assert row["peer_name"] is None or row["peer_name"] in " ".join([told, *(t.head[0] for t in tables(found))])


@pytest.mark.parametrize("name", RUNS)
def test_a_stored_benchmark_has_the_form_that_kleene_bench_writes(name, tmp_path):
    renamed, records, rows = {"what": "name", "ours": "value"}, stored(name).rows, {}
    for record in records:
        row = {renamed.get(key, key): value for key, value in record.items() if value is not None and key != "ratio"}
        rows.setdefault(row.pop("benchmark"), []).append(measured(**row))
    known = set(benchmarks(Path(kleene.__file__)))
    assert set(rows) <= known
    assert len(rows) == (len(known) if name == "bench-all-2-cores" else 1)
    written = json.loads(Benched(rows, {}).save(tmp_path / "again.json").read_text())
    assert [approx(record) for record in written] == records


def approx(record):
    return {key: pytest.approx(value) if key == "ratio" else value for key, value in record.items()}


def test_a_new_way_of_teaching_comes_into_the_table_with_its_rows(tmp_path):
    found = [
        measured("copy, 1,000 seeds, fused: compile", 31.0, "s"),
        measured("copy, 1,000 seeds, fused, gpu", 512_345.0, "seed·iterations/s", remark="aim 500,000: reached"),
    ]
    (table,) = tables(run_of(tmp_path, teach=found))
    assert table.head == ["", "ours", "compiling", "remark"]
    assert table.rows == [["copy, 1,000 seeds, fused", "512,000 seed·iterations/s", "31 s", "aim 500,000: reached"]]


def test_a_run_of_several_benchmarks_also_has_what_ran_beside_others(tmp_path):
    alone = measured("states", 7, "states")
    peered = measured("words", 3000.0, "words/s", peer=100.0, peer_name="a library")
    first, *others = tables(run_of(tmp_path, automata=[alone, peered], made=[alone]))
    assert first.rows == [["words", "3,000 words/s", "100 words/s (a library)", "30×"]]
    assert [table.title for table in others] == ["regular expression", "made"]


def test_the_network_of_addition_is_compared_with_a_dense_one_of_the_same_run():
    (table,) = tables(stored("bench-alta-2-cores"))
    line = "network, batch 256, a sequence"
    times = bench_times("bench-alta-2-cores", f"addition: {line}")
    assert cells(table, line)["addition"] == f"{bench('bench-alta-2-cores', f'addition: {line}')} ({times})"
    assert "'a unit a rule, softmax'" in table.head[0]


def test_an_aim_stands_beside_what_was_reached():
    table = tables(stored("bench-scan-h200"))[0]
    assert cells(table, "network, 20,910 commands, NVIDIA H200, float32, first")["scan"].endswith("(aim 5: missed)")


def test_figures_from_another_machine_are_in_no_table():
    told = " ".join(str(cell) for name in RUNS for t in tables(stored(name)) for row in t.rows for cell in row)
    assert "another machine" not in told
    assert any("another machine" in row["remark"] for row in stored("bench-alta-2-cores").rows)


def test_numbers_have_three_digits_and_counts_all():
    assert [number(value) for value in (0.041_96, 41.96, 1234.5, 128_345.2)] == ["0.042", "42", "1,230", "128,000"]
    table = beside("", [{"what": "made", "unit": "units", "ours": 70_792, "peer": None, "ratio": None, "remark": ""}])
    assert table.rows == [["made", "70,792 units"]]


def test_what_a_sweep_costs_has_a_table_for_packs_store_and_workers():
    store, workers, packs = tables(stored("bench-sweep-2-cores"))
    assert (store.title, workers.title, packs.title) == ("store", "workers", "packs")
    assert cells(store, "10,000 cells: naming cells")["remark"] == "0.0792 ms each"
    assert cells(workers, "128 cells of 8 programs, 1 worker")["remark"] == "18.5 s"


def test_growth_names_the_machine_in_its_picture(tmp_path):
    study = studies()["bench-scan-h200"]
    drawn = study.draw(stored("bench-scan-h200"), tmp_path / "growth.svg")
    assert "addition in the network, one H200" in " ".join(words(drawn))


def test_rows_that_kleene_bench_wrote_become_a_result(tmp_path, capsys):
    rows = Benched({"teach": [measured("copy, 1 seed, cpu", 9.0, "seed·iterations/s")]}, {}).save(tmp_path / "r.json")
    asked = [str(rows), "bench-teach-2-cores", "--machine", "2 cores", "--folder", str(tmp_path)]
    assert main(asked) == 0
    found = Result.load(capsys.readouterr().out.strip())
    assert (found.provenance.command, found.provenance.machine) == ("kleene bench teach", "2 cores")
    assert found.rows == json.loads(rows.read_text())
    assert tables(found)[0].rows == [["copy, 1 seed", "9 seed·iterations/s"]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON"),
        ("{}", "holds no rows of `kleene bench`"),
        ('[{"what": "words"}]', "holds no rows of `kleene bench`"),
    ],
)
def test_a_file_without_rows_is_refused(tmp_path, text, why, capsys):
    (tmp_path / "rows.json").write_text(text)
    assert main([str(tmp_path / "rows.json"), "bench-teach-2-cores"]) == 1
    assert why in capsys.readouterr().err


def test_rows_of_a_benchmark_that_failed_are_refused(tmp_path):
    file = Benched({"teach": []}, {"teach": "no memory"}).save(tmp_path / "rows.json")
    with pytest.raises(InputError, match="the benchmark teach failed"):
        result_of(file, "bench-teach-2-cores")


def test_a_result_without_a_study_is_refused(tmp_path):
    with pytest.raises(InputError, match="add it to BENCHES"):
        result_of(tmp_path / "rows.json", "bench-teach-3-cores")
