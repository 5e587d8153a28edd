"""Tables of runs: filtered, merged, pivoted, as CSV and JSON, and drawn."""

import csv
import io
import json
import math
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.notation.shares import interval
from kleene.runs.groups import curve
from kleene.runs.table import Runs
from tests.sweeping.rows import by_cell, cell_row, small_sweep


@pytest.fixture
def table() -> Runs:
    return Runs.of_rows(small_sweep())


@pytest.fixture
def letters_as_text(monkeypatch):
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")


def words(path) -> list[str]:
    return [text.strip() for text in ET.parse(path).getroot().itertext() if text.strip()]


def test_a_run_has_its_settings_and_the_measurements_of_its_last_test():
    row = cell_row({"hints": "none", "seed": 3}, (False, True, True), (0.5, 0.75, 1.0), (3.0, 2.0, 1.0), peak=[1, 4, 2])
    (run,) = Runs.of_rows(by_cell(row)).runs
    assert run.get("hints") == "none"
    assert run.get("seed") == 3
    expected = {"generalises": True, "accuracy": 1.0, "loss": 1.0, "peak": 2.0, "diverged": False, "first_hit": 200}
    assert expected.items() <= run.last.items()
    assert run.last["training_accuracy"] == 0.125
    assert run.curve["iteration"] == (100, 200, 300)
    assert run.curve["accuracy"] == (0.5, 0.75, 1.0)
    assert run.curve["peak"] == (1, 4, 2)


def test_null_is_nan_infinities_are_words_and_such_runs_diverged():
    lost = [cell_row({"seed": n}, (False,), (None,), (loss,)) for n, loss in enumerate((None, "Infinity", 0.5))]
    runs = Runs.of_rows(by_cell(*lost)).runs
    assert [run.last["diverged"] for run in runs] == [True, True, False]
    assert math.isnan(runs[0].last["loss"])
    assert runs[1].last["loss"] == math.inf
    assert math.isnan(runs[2].last["accuracy"])
    stopped = cell_row({}, (True,), (1.0,), (0.5,), alive=(False,))
    assert Runs.of_rows(by_cell(stopped)).runs[0].last["diverged"]


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("hints=address", 8),
        ("hints!=none", 8),
        ("hints=none,address", 12),
        ("density>=0.1", 8),
        ("density>0.1", 4),
        ("density<1", 4),
        ("density<=1e0", 8),
        ("density=0.10", 4),
        ("density!=1", 8),  # runs without a density have none that is 1
        ("seed=0,3", 6),
        ("generalises=true", 7),
        ("loss < 0.3", 6),
        (" hints = address", 8),
    ],
)
def test_conditions_keep_the_runs_that_they_mean(table, condition, count):
    assert len(table.where(condition)) == count


def test_several_conditions_all_hold(table):
    kept = table.where("hints=address", "density<1", "seed<2")
    assert [(run.get("density"), run.get("seed")) for run in kept.runs] == [(0.1, 0), (0.1, 1)]


def test_a_value_with_a_comma_in_it_is_one_value():
    rows = by_cell(*(cell_row({"task": task}) for task in ("dfa:a{1,2}", "dfa:b", "dfa:a{1")))
    table = Runs.of_rows(rows)
    assert [run.get("task") for run in table.where("task=dfa:a{1,2}").runs] == ["dfa:a{1,2}"]
    assert len(table.where("task=dfa:b,dfa:a{1")) == 2


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        (["hint=address"], "no setting 'hint' in these results; did you mean hints"),
        (["hints=adress"], "no run has hints=adress; did you mean address"),
        (["hints=address,read"], "no run has hints=read"),
        (["density=0.2"], "no run has density=0.2; there are 0.1, 1"),
        (["density>=much"], "'much', which is no number"),
        (["density>=nan"], "'nan', which is no number"),
        (["hints>=1"], "compares hints as a number"),
        (["address"], "'address' is no condition"),
        (["hints="], "no run has hints="),
        (["seed<9", "hints=none", "density>0.5", "seed=0"], "after 'density>0.5': of the 4 before it, density is (not"),
        (["density>1"], "no run is left after 'density>1': of the 12 before it, density is (not set), 0.1, 1"),
    ],
)
def test_conditions_that_cannot_be_meant_are_refused(table, conditions, told):
    with pytest.raises(InputError) as refusal:
        table.where(*conditions)
    assert told in str(refusal.value)


def test_seeds_of_the_same_setting_are_merged_with_their_interval(table):
    merged = table.by()
    assert merged.by == ("hints", "density", "strength")
    assert merged.fixed == {"task": "copy", "iterations": 200, "test_every": 100}
    assert [tuple(group.settings.values()) for group in merged.groups] == [
        ("none", None, None),
        ("address", 0.1, 0.3),
        ("address", 1.0, 0.3),
    ]
    assert [group.count("generalises") for group in merged.groups] == [1, 2, 4]
    assert [group.interval for group in merged.groups] == [interval(1, 4), interval(2, 4), interval(4, 4)]
    assert [group.first_hit for group in merged.groups] == [None, None, 200]
    loss = merged.groups[0].means["loss"]
    assert (loss.mean, loss.runs) == (0.3125, 4)
    assert loss.spread == pytest.approx(0.125 * math.sqrt(5 / 3))
    assert merged.groups[0].means["accuracy"].mean == 0.625


def test_runs_are_merged_by_the_settings_that_are_named(table):
    merged = table.by(settings="hints")
    assert [(g.settings, len(g.runs), g.count("generalises")) for g in merged.groups] == [
        ({"hints": "none"}, 4, 1),
        ({"hints": "address"}, 8, 6),
    ]
    assert len(table.by(settings=["seed"]).groups) == 4
    assert len(table.by(settings="hints,hints").by) == 1
    with pytest.raises(InputError, match="no setting 'hins' in these results; did you mean hints"):
        table.by(settings="hins")


def test_a_diverged_run_counts_but_has_no_loss():
    rows = by_cell(
        cell_row({"seed": 0}, (True,), (1.0,), (2.0,)),
        cell_row({"seed": 1}, (False,), (0.5,), (None,), alive=(False,)),
    )
    (group,) = Runs.of_rows(rows).by().groups
    assert group.count("diverged") == 1
    assert (group.means["loss"].mean, group.means["loss"].spread, group.means["loss"].runs) == (2.0, None, 1)
    assert group.means["accuracy"].mean == 0.75


def test_the_mean_of_equal_numbers_is_that_number():
    rows = by_cell(*(cell_row({"seed": n}, (True,), (0.1,), (0.9,)) for n in range(3)))
    (group,) = Runs.of_rows(rows).by().groups
    assert (group.means["loss"].mean, group.means["loss"].spread) == (0.9, 0.0)


@pytest.mark.parametrize("huge", [1e308, 1e200])
def test_huge_numbers_are_merged_too(huge):
    rows = by_cell(*(cell_row({"seed": n}, (True,), (0.1,), (n * huge,)) for n in range(2)))
    (group,) = Runs.of_rows(rows).by().groups
    assert group.means["loss"].mean == huge / 2
    assert group.means["loss"].spread == pytest.approx(huge / math.sqrt(2))


@pytest.mark.parametrize(("name", "old"), [("program", "abc"), ("versions", {"kleene": "0.0.9"})])
def test_a_cell_that_other_code_taught_is_not_merged_with_the_new_one(name, old):
    new = [cell_row({"seed": n}) | {"program": "new"} for n in range(3)]
    before = [cell_row({"seed": n}, (False, False)) | {"cell": f"old {n}", "program": "new", name: old} for n in (0, 1)]
    table = Runs.of_rows(by_cell(*before, *new))
    assert len(table) == 5
    assert table.by().by == ("details",)
    assert sorted((len(g.runs), g.count("generalises")) for g in table.by().groups) == [(2, 0), (3, 3)]
    assert Runs.of_rows(by_cell(*new)).by().by == ()


def test_a_row_that_lacks_measurements_is_passed_over_and_named():
    good, short, empty, odd = (cell_row({"seed": n}) for n in range(4))
    short["tests"]["loss"].pop()
    empty["tests"] = {"iteration": []}
    odd["tests"]["loss"] = ["many", 1]
    del (gone := cell_row({"seed": 5}))["tests"]
    table = Runs.of_rows(by_cell(good, short, empty, odd, gone))
    assert [run.get("seed") for run in table.runs] == [0]
    assert len(table.damaged) == 4
    assert all("lacks some of its measurements" in message and "cell " in message for message in table.damaged)
    assert "loss has 1 tests, and there were 2" in table.damaged[0]


def test_cells_of_experiments_are_not_runs():
    assert len(Runs.of_rows({"a": {"cell": "a", "settings": {"experiment": "figure-1"}, "content": {}}})) == 0


CHOICES = {
    "hints": st.sampled_from(["none", "read", "address"]),
    "density": st.sampled_from([0.1, 0.5, 1.0]),
    "seed": st.integers(0, 5),
}
ROWS = st.lists(
    st.tuples(st.fixed_dictionaries(CHOICES), st.booleans(), st.floats(-1e6, 1e6)),
    min_size=2,
    max_size=12,
    unique_by=lambda row: tuple(row[0].values()),
)


@given(ROWS, st.sampled_from(["hints", "density", "seed"]), st.data())
def test_merging_a_table_that_was_split_and_joined_gives_the_same(rows, name, data):
    made = by_cell(*(cell_row(settings, (ends,), (0.5,), (loss,)) for settings, ends, loss in rows))
    table = Runs.of_rows(made)
    value = data.draw(st.sampled_from(table.values(name)))
    kept, others = table.where(f"{name}={value}"), None
    if len(kept) < len(table):
        others = table.where(f"{name}!={value}")
        assert len(kept) + len(others) == len(table)
    joined = kept if others is None else others + kept
    assert json.dumps(joined.by().as_json()) == json.dumps(table.by().as_json())
    assert joined.by().csv() == table.by().csv()
    assert len(table + table) == len(table)


def test_a_pivot_has_a_measurement_by_two_settings(table):
    pivot = table.pivot("hints", "density")
    assert pivot.row_values == ["none", "address"]
    assert pivot.column_values == [None, 0.1, 1.0]
    assert pivot.numbers == [[0.25, None, None], [None, 0.5, 1.0]]
    assert pivot.merged_over == {}
    shown = str(pivot)
    assert "2 of 4" in shown
    assert "(not set)" in shown
    assert pivot.as_json()["runs"] == [[4, 0, 0], [0, 4, 4]]
    assert pivot.csv() == "hints,(not set),0.1,1\nnone,0.25,,\naddress,,0.5,1.0\n"
    assert table.pivot("hints", "density", "loss").numbers[0] == [0.3125, None, None]
    assert table.pivot("hints", "density", "first_hit").numbers == [[None, None, None], [None, None, 200]]


def test_a_pivot_says_what_else_it_merged(table):
    pivot = table.pivot("hints", "seed", "accuracy")
    assert pivot.merged_over == {"density": 2}
    assert pivot.heading == "mean accuracy by hints and seed; merged over density (2 values)"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("task", "hints"), "task is copy in all runs; there are density, strength"),
        (("hints", "hints"), "both 'hints'"),
        (("hints", "densty"), "did you mean density"),
        (("hints", "density", "acuracy"), "no measurement 'acuracy' in these results; did you mean accuracy"),
    ],
)
def test_pivots_that_show_nothing_are_refused(table, asked, told):
    with pytest.raises(InputError, match=told.replace("(", r"\(")):
        table.pivot(*asked)


def test_csv_and_json_have_every_number(table):
    lines = list(csv.DictReader(io.StringIO(table.by().csv())))
    assert lines[0]["hints"] == "none"
    assert lines[0]["density"] == ""
    assert (lines[0]["runs"], lines[0]["generalised"]) == ("4", "1")
    assert float(lines[0]["low"]) == interval(1, 4)[0]
    assert float(lines[0]["loss"]) == 0.3125
    runs = list(csv.DictReader(io.StringIO(table.csv())))
    assert len(runs) == 12
    assert runs[0]["generalises"] == "true"
    content = json.loads(json.dumps(table.by().as_json(), allow_nan=False))
    assert content["groups"][2]["interval"] == list(interval(4, 4))
    assert json.loads(json.dumps(table.as_json(), allow_nan=False))[0]["curve"]["iteration"] == [100, 200]


def test_tables_show_themselves(table):
    assert repr(table) == "<Runs: 12 runs, hints, density, strength, seed differ>"
    assert repr(table.by()) == "<GroupedRuns: 12 runs in 3 groups by hints, density, strength>"
    assert repr(table.pivot("hints", "seed")) == "<Pivot: generalises by hints and seed, 2 × 4>"
    assert "4 (51–100%)" in str(table.by())
    assert str(table.by()).startswith("task copy, iterations 200, test_every 100\n")
    assert "<td>4 (51–100%)</td>" in table.by()._repr_html_()
    odd = Runs.of_rows(by_cell(*(cell_row({"task": task}) for task in ("dfa:[ab]", "<b>"))))
    assert "dfa:[ab]" in str(odd.by())
    assert "&lt;b&gt;" in odd.by()._repr_html_()


def test_a_curve_has_the_share_and_its_interval_or_percentiles_at_each_test(table):
    group = table.where("hints=none").by().groups[0]
    across, middle, low, high = curve(group, "generalises")
    assert (across, middle) == ([100, 200], [0, 25])
    assert (low[1], high[1]) == tuple(100 * bound for bound in interval(1, 4))
    across, middle, low, high = curve(group, "loss")
    assert middle == [1.0, 0.3125]
    assert (low[1], high[1]) == (pytest.approx(0.1625), pytest.approx(0.4625))


@pytest.mark.usefixtures("letters_as_text")
def test_curves_are_drawn_with_a_line_for_each_group(table, tmp_path):
    drawn = words(table.draw(tmp_path / "curves.svg"))
    assert {"hints none", "hints address, density 0.1, strength 0.3", "iterations", "task copy"} <= set(drawn)
    assert "% of runs that generalise, 95% interval" in drawn
    drawn = words(table.by("hints").draw(tmp_path / "curves.svg", "loss"))
    assert {"hints none", "hints address", "loss: median, 10th–90th percentile"} <= set(drawn)
    with pytest.raises(InputError, match="did you mean loss"):
        table.draw(tmp_path / "curves.svg", "los")


@pytest.mark.usefixtures("letters_as_text")
def test_a_heat_map_has_the_numbers_and_leaves_missing_cells_empty(table, tmp_path):
    drawn = words(table.pivot("hints", "density").draw(tmp_path / "map.svg"))
    assert {"25", "50", "100", "none", "address", "0.1", "hints", "density"} <= set(drawn)
    assert "nan" not in drawn
    losses = words(table.pivot("hints", "density", "loss").draw(tmp_path / "map.svg"))
    assert losses.count("0.312") == 3


@pytest.mark.usefixtures("letters_as_text")
def test_first_hits_are_drawn_with_the_runs_that_had_none(table, tmp_path):
    drawn = words(table.by("hints,density").draw(tmp_path / "hits.svg", "first_hit"))
    assert {"hints none", "hints address", "0.1", "density", "median not reached within 200", "task copy"} <= set(drawn)
    assert "first hit" in words(table.where("density=1").draw(tmp_path / "hits.svg", "first_hit"))
    language = cell_row({"task": "text"})
    del language["tests"]["generalises"]
    with pytest.raises(InputError, match="no test of them says whether a run generalises"):
        Runs.of_rows(by_cell(language)).draw(tmp_path / "hits.svg", "first_hit")


def test_pandas_gets_the_rows_or_is_asked_for(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pandas, which is not installed: pip install pandas"):
        table.to_pandas()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda rows, columns: (rows, columns)))
    rows, columns = table.to_pandas()
    assert [dict(zip(columns, row)) for row in rows] == table.flat()
    assert len(table.by().to_pandas()[0]) == 3


def test_too_many_lines_for_one_picture_are_refused(tmp_path):
    many = Runs.of_rows(by_cell(*(cell_row({"strength": n / 8}) for n in range(17))))
    with pytest.raises(InputError, match="17 lines are too many"):
        many.draw(tmp_path / "curves.svg")


def file_content(seeds, generalises=True, language="ab", **facts):
    """What `kleene teach --results` keeps, of two tests."""
    rows = [
        {"iteration": n, "seed": seed, "kind": "none", "density": 0.0, "strength": 0.0, "accuracy_at_1": 0.5}
        | {"accuracy_at_2": 1.0, "generalises": generalises, "loss": 0.5, "accuracy": 0.25, "alive": True}
        for n in (10, 20)
        for seed in seeds
    ]
    plan = {
        "lesson": {"name": "x", "hidden": 4, "language": list(language)} | facts,
        "iterations": 20,
        "test_every": 10,
    }
    return {"lesson": "x rnn", "plan": plan, "seconds": 3.0, "rows": rows}


def test_files_of_teach_are_the_same_kind_of_table():
    table = Runs.of_files({"a.json": file_content(range(3)), "b.json": file_content(range(2), hidden=8)})
    assert table.by().by == ("hidden",)
    assert [len(group.runs) for group in table.by().groups] == [3, 2]
    assert table.runs[0].last["accuracy"] == 0.75
    assert table.runs[0].last["first_hit"] == 10
    assert table.fixed["task"] == "x rnn"


def test_a_run_that_two_files_have_counts_once():
    table = Runs.of_files({"a.json": file_content(range(3)), "b.json": file_content(range(5))})
    (group,) = table.by().groups
    assert len(group.runs) == 5


def test_lessons_that_differ_only_in_their_details_are_not_merged():
    table = Runs.of_files({"a.json": file_content(range(3)), "b.json": file_content(range(3), language="ba")})
    assert table.by().by == ("details",)
    apart = Runs.of_files({"a.json": file_content([0]), "b.json": file_content([0], language="ba", hidden=8)})
    assert apart.by().by == ("hidden",)


def test_a_file_whose_rows_are_damaged_is_passed_over_and_named():
    bad = file_content(range(3))
    del bad["rows"][2]["kind"]
    table = Runs.of_files({"a.json": file_content([7]), "b.json": bad})
    assert [run.get("seed") for run in table.runs] == [7]
    assert table.damaged == ("'b.json' lacks some of its measurements ('kind')",)


def test_an_empty_table_has_nothing_to_merge():
    with pytest.raises(InputError, match="no runs here"):
        Runs.of_rows({}).by()
