"""`kleene results` on a sweep's store and on files of `kleene teach --results`."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

import kleene
from kleene.sweeping.store import CellStore
from tests.command_line import assert_refused
from tests.runs.test_table import file_content
from tests.sweeping.rows import cell_row, small_sweep
from tests.teaching.test_teach import ROW

FAILED = {"settings": {"task": "copy"}, "reason": "no memory"}


@pytest.fixture
def sweep(tmp_path, monkeypatch) -> str:
    """The store of a sweep with twelve cells done, one that failed once and one that failed three times."""
    monkeypatch.chdir(tmp_path)
    writer = CellStore("sweep").writer()
    writer.append(small_sweep().values())
    writer.fail([FAILED | {"cell": "once"}] + [FAILED | {"cell": "thrice"}] * 3)
    writer.fail([FAILED | {"cell": next(iter(small_sweep()))}])  # and was done then
    return "sweep"


@pytest.fixture
def files(tmp_path, monkeypatch) -> str:
    """A folder with a file of `kleene teach --results`."""
    monkeypatch.chdir(tmp_path)
    Path("kept").mkdir()
    content = {"format": "kleene.results/1", "settings": [ROW]} | file_content(range(3))
    Path("kept/a.json").write_text(json.dumps(content))
    return "kept"


def test_a_sweep_is_shown_with_its_seeds_merged_and_how_far_it_is(run, sweep):
    lines = run("results", sweep).out.splitlines()
    assert lines[0] == "12 cells done, 1 failed, 1 set aside (thrice)"
    assert lines[1] == "task copy, iterations 200, test_every 100"
    assert [line.split()[:5] for line in lines[2:]] == [
        ["hints", "density", "strength", "runs", "generalise"],
        ["none", "·", "·", "4", "1"],
        ["address", "0.1", "0.3", "4", "2"],
        ["address", "1", "0.3", "4", "4"],
    ]
    found = run("results", sweep, "--json").json
    assert (found["done"], found["failed"], found["set_aside"]) == (12, ["once"], {"thrice": "no memory"})
    assert [group["generalised"] for group in found["groups"]] == [1, 2, 4]
    assert str(kleene.results(sweep)).splitlines()[0] == lines[0]
    assert repr(kleene.results(sweep)) == "<Results of a sweep: 12 cells done, 1 failed, 1 set aside (thrice)>"


def test_runs_are_filtered_grouped_and_pivoted(run, sweep):
    found = run("results", sweep, "--where", "hints=address", "--where", "density<1", "--by", "hints", "--json").json
    assert [(g["settings"], g["runs"], g["generalised"]) for g in found["groups"]] == [({"hints": "address"}, 4, 2)]
    found = run("results", sweep, "--pivot", "hints,density", "--value", "accuracy", "--json").json
    assert found["numbers"] == [[0.625, None, None], [None, 0.75, 1.0]]
    shown = run("results", sweep, "--pivot", "hints, density").out
    assert "share of runs that generalise by hints and density" in shown
    assert "2 of 4" in shown


def test_csv_is_for_other_programs(run, sweep):
    merged = list(csv.DictReader(io.StringIO(run("results", sweep, "--csv").out)))
    assert [(row["hints"], row["density"], row["generalised"]) for row in merged] == [
        ("none", "", "1"),
        ("address", "0.1", "2"),
        ("address", "1.0", "4"),
    ]
    runs = list(csv.DictReader(io.StringIO(run("results", sweep, "--by", "run", "--csv").out)))
    assert len(runs) == 12
    assert len(run("results", sweep, "--by", "run", "--json").json) == 12


def test_pictures_are_drawn_beside_the_table(run, sweep):
    assert run("results", sweep, "--plot", "curves.svg", "--value", "loss").out.endswith("drawn in curves.svg\n")
    assert Path("curves.svg").read_text().startswith("<?xml")
    assert run("results", sweep, "--pivot", "hints,density", "--value", "loss", "--plot", "map.png").status == 0
    assert Path("map.png").read_bytes()[1:4] == b"PNG"
    assert run("results", sweep, "--plot", "hits.svg", "--value", "first_hit").out.endswith("drawn in hits.svg\n")
    assert run("results", sweep, "--plot", "curves.html").out.endswith("drawn in curves.html\n")
    page = Path("curves.html").read_text()
    told = "hints none: iterations 200: 25 (% of runs that generalise, 95% interval)"
    assert told in re.findall("<title>(.*?)</title>", page)  # on hover
    assert "<td>address</td>" in page  # and the table
    assert run("results", sweep, "--plot", "curves.svg", "--csv").out.startswith("hints,density")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--where", "hnts=none"), "no setting 'hnts' in these results; did you mean hints"),
        (("--where", "hints=nune"), "no run has hints=nune; did you mean none"),
        (("--where", "hints=none", "--where", "density>0"), "no run is left after 'density>0'"),
        (("--by", "densty"), "did you mean density"),
        (("--by", ""), "no setting ''"),
        (("--csv", "--json"), "--csv and --json"),
        (("--by", "hints", "--pivot", "hints,density"), "--by and --pivot"),
        (("--pivot", "hints"), "two settings"),
        (("--pivot", "hints,task"), "task is copy in all runs"),
        (("--pivot", "hints,density", "--value", "acc"), "no measurement 'acc'"),
        (("--value", "loss"), "--value says what --pivot or --plot shows"),
        (("--plot", "curves.txt"), "pictures are written as"),
        (("--plot", "sweep/store.json/curves.svg"), "cannot be written"),
        (("--plot", "curves.svg", "--value", "seconds"), "no curve of 'seconds'"),
    ],
)
def test_what_cannot_be_meant_is_refused(run, sweep, words, told):
    assert_refused(run("results", sweep, *words), told)


def test_a_row_that_was_cut_short_is_said_to_be_so(run, sweep):
    rows = sorted(Path(sweep, "rows").glob("*.jsonl"))[-1]
    content = rows.read_bytes()
    rows.write_bytes(content[:-20])
    told = f"line {len(content.splitlines())} of {str(rows.resolve())!r} is cut short, and its cell counts as absent"
    assert run("results", sweep).err == f"kleene: passed over: {told}\n"


def test_damaged_rows_are_passed_over_and_named(run, sweep):
    short = cell_row({"seed": 9})
    short["tests"]["loss"].pop()
    CellStore(sweep).writer().append([short])
    found = run("results", sweep)
    told = f"cell {short['cell']} lacks some of its measurements (loss has 1 tests, and there were 2)"
    assert found.err == f"kleene: passed over: {told}\n"
    with open(next(Path(sweep, "rows").glob("*.jsonl")), "ab") as rows:
        rows.write(b'{"checksum": "bad", "cell": "x"}\n')
    found = run("results", sweep, "--json")
    assert found.err.count("kleene: passed over: ") == 2
    assert "checksum does not fit" in found.err
    assert [group["runs"] for group in found.json["groups"]] == [4, 4, 4]


def test_a_store_is_only_read(run, sweep):
    Path(sweep, "claims").rmdir()
    before = sorted(str(path) for path in Path(sweep).rglob("*"))
    assert run("results", sweep, "--by", "hints").status == 0
    assert sorted(str(path) for path in Path(sweep).rglob("*")) == before


def test_cells_of_experiments_are_shown_as_their_files_are(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = {"name": "figure-1", "paper": {}, "plans": [], "settings": [ROW | {"task": "copy"}]}
    rows = [
        {"cell": "a", "settings": {"experiment": "figure-1"}, "content": content},
        {"cell": "b", "settings": {"experiment": "figure-2"}, "content": {"name": "figure-2"}},
    ]
    CellStore("sweep").writer().append(rows)
    found = run("results", "sweep")
    assert "figure-1 none" in " ".join(found.out.split())
    assert "passed over: cell b lacks" in found.err
    assert [one["lesson"] for one in run("results", "sweep", "--json").json["experiments"]] == ["figure-1"]
    refused = run("results", "sweep", "--by", "task")
    assert (refused.status, refused.err.splitlines()[-1][:26]) == (2, "kleene: there are no runs ")


def test_a_sweep_that_has_just_begun_says_so(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CellStore("sweep")
    assert run("results", "sweep").out.strip() == "0 cells done, 0 failed, 0 set aside"
    assert run("results", "sweep", "--json").json["groups"] == []


def test_files_of_teach_are_listed_as_before_and_filtered_as_a_sweep_is(run, files):
    assert run("results", files).out.splitlines()[0].split() == [
        "lesson",
        "hints",
        "density",
        "λ",
        "generalise",
        "(95%)",
        "first",
        "right",
        "loss",
    ]
    assert [one["lesson"] for one in run("results", files, "--json").json] == ["x rnn"]
    found = run("results", files, "--where", "seed<2", "--json").json
    assert [(group["runs"], group["generalised"]) for group in found["groups"]] == [(2, 2)]
    assert repr(kleene.results(files)) == "<Results: 1 files, 0 damaged>"
    assert kleene.results(files).by().groups[0].first_hit == 10


def test_a_file_with_damaged_rows_is_named_when_its_runs_are_asked_for(run, files):
    content = {"format": "kleene.results/1", "settings": [ROW]} | file_content(range(3))
    del content["rows"][1]["seed"]
    Path(files, "b.json").write_text(json.dumps(content))
    assert run("results", files).err == ""
    asked = run("results", files, "--by", "hints", "--json")
    assert asked.err == "kleene: passed over: 'b.json' lacks some of its measurements ('seed')\n"
    assert asked.json["groups"][0]["runs"] == 3


def test_a_folder_of_sweeps_is_refused_and_one_is_named(run, sweep):
    assert_refused(run("results", "."), "has sweeps in it: name one, such as 'sweep'")
    assert_refused(run("results", "nowhere"), "no folder 'nowhere'")
    Path("empty").mkdir()
    assert_refused(run("results", "empty"), "no results in 'empty'")
