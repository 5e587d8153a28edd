"""The stored verdicts of the judge: tables, pictures, the page to look at, and joining runs on single families."""

import json
from itertools import product
from pathlib import Path

import pytest

from kleene.errors import InputError
from kleene.groundtruth.judging.judged import Judged
from kleene_papers.judged.studies import STUDIES
from kleene_papers.judged.verdicts import main, page_to_look_at, verdict
from kleene_papers.report import DOCS, PICTURES, page, words
from kleene_papers.stored import Result, stored

STUDY = {study.name: study for study in STUDIES}
NAMES = ("ours-interactions", "ours-circuits")
DI = ("di_hidden", "di_logits", "di_when_read", "di_shared")
WITH_HINTS = ("RNN, 25% of the states", "RNN, states hints", "LSTM, 25% of the states", "LSTM, states hints")


def tables_of(name, result=None):
    return {table.title: table for table in STUDY[name].tables(result or stored(name))}


def cells(table):
    return {row[0]: dict(zip(table.head[1:], row[1:])) for row in table.rows}


def means(table):
    """The cells without their intervals, which are resampled where runs are joined."""
    return [[cell.split(" [")[0] for cell in row] for row in table.rows]


def test_tables_have_the_numbers_of_the_verdicts():
    found = tables_of("ours-interactions")
    assert len(found) == 9
    partial = cells(found["given the distance, own output"])
    assert partial["di_hidden"] == {"taught RNN": ".09 [-.03, .18]", "taught LSTM": ".02 [.00, .05]"}
    assert partial["erasure"] == {"taught RNN": ".36 [.25, .48]", "taught LSTM": ".31 [.19, .44]"}
    hints = cells(found["change by hints"])
    assert "nearness" not in hints
    assert hints["di_hidden"]["LSTM, 25% of the states − taught LSTM"] == ".05 [.02, .08]"
    found = tables_of("ours-circuits")
    assert cells(found["area under ROC, edges"])["eap"]["compiled"] == ".78 [.71, .84]"
    assert "linear_probe" not in cells(found["area under ROC, edges"])  # it says nothing of edges
    assert cells(found["right answers"])["the true circuit"]["taught"] == "1.0 [1.0, 1.0]"
    assert cells(found["agreement of families"])["compiled"]["taught"] == "0.41"


def test_given_the_distance_interdependence_says_almost_nothing_and_erasure_does():
    for family in ("taught RNN", "taught LSTM"):
        for truth in ("output", "language"):
            for measure in DI:
                mean, low, high = verdict("ours-interactions", measure, family)[f"partial_{truth}"]
                assert abs(mean) < 0.1
                assert low < 0 < high
            mean, low, _ = verdict("ours-interactions", "erasure", family)[f"partial_{truth}"]
            assert mean > 0.25
            assert low > 0.15


def test_nearness_leads_interdependence_on_all_taught_networks():
    rows = [
        verdict("ours-interactions", measure, family)
        for measure in DI
        for family in ("taught RNN", "taught LSTM", *WITH_HINTS)
    ]
    assert all(row[f"lead_{truth}"][2] < 0 for row in rows for truth in ("output", "language"))


def test_the_page_to_look_at_is_the_one_on_disk():
    assert page("results/judged.html") == page_to_look_at() == (DOCS / "results/judged.html").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_pictures_show_what_the_results_hold(name, tmp_path):
    assert words(STUDY[name].draw(stored(name), tmp_path / "it.svg")) == words(PICTURES / f"{name}.svg")


@pytest.mark.parametrize("name", NAMES)
def test_joining_runs_on_single_families_gives_back_the_whole(name, tmp_path):
    whole = Judged.from_json(stored(name).found)
    for number, family in enumerate(whole.families):
        (tmp_path / f"{number}.json").write_text(json.dumps(whole.only([family]).as_json()))
    main([str(tmp_path / f"{number}.json") for number in range(len(whole.families))], tmp_path)
    again = Result.load(tmp_path / f"{name}.json")
    assert again.provenance.command == f"kleene judge --of {name.removeprefix('ours-')}"
    assert {title: means(table) for title, table in tables_of(name, again).items()} == {
        title: means(table) for title, table in tables_of(name).items()
    }


def test_tables_of_a_run_on_one_family_have_what_there_is(tmp_path):
    part = Judged.from_json(stored("ours-interactions").found).only(["taught LSTM"])
    (tmp_path / "part.json").write_text(json.dumps(part.as_json()))
    main([str(tmp_path / "part.json")], tmp_path)
    found = tables_of("ours-interactions", Result.load(tmp_path / "ours-interactions.json"))
    assert found["rank correlation, language"].head == ["measure", "taught LSTM"]
    assert found["change by hints"].head == ["measure"]


def test_what_cannot_be_joined_is_named(tmp_path):
    part = Judged.from_json(stored("ours-interactions").found).only(["taught LSTM"])
    twice = tmp_path / "part.json"
    twice.write_text(json.dumps(part.as_json()))
    with pytest.raises(InputError, match="a family was judged in two of these runs"):
        main([str(twice), str(twice)], tmp_path)
    twice.write_text("{}")
    with pytest.raises(InputError, match=r"part\.json' does not hold what `kleene judge --json` prints"):
        main([str(twice)], tmp_path)
    with pytest.raises(SystemExit, match="give the files to join"):
        main([])
    assert [path.name for path in Path(tmp_path).iterdir()] == ["part.json"]


def test_what_the_page_of_results_says_in_words_holds_for_the_stored_numbers():
    found = Judged.from_json(stored("ours-interactions").found)
    taught, truths = ("taught RNN", "taught LSTM"), ("language", "output")
    means = []
    for family, truth in product(taught, truths):
        for name in ("di_hidden", "di_logits", "di_when_read", "di_shared"):
            assert found.of(name, family)[f"lead_{truth}"].high < 0
            given_distance = found.of(name, family)[f"partial_{truth}"]
            means.append(round(given_distance.mean, 2))
            assert given_distance.low < 0 < given_distance.high
        for name in ("erasure", "erasure_mean", "erasure_hidden", "integrated_hessians", "gradient_input"):
            assert found.of(name, family)[f"partial_{truth}"].low > 0
            assert found.of(name, family)[f"lead_{truth}"].low < 0
        most = max(
            (one for one in found.verdicts if one.method != "shapley"), key=lambda one: one[f"partial_{truth}"].mean
        )
        assert most.method == "resampling"
        assert found.of("resampling", family)[f"lead_{truth}"].low < 0
    assert (min(means), max(means)) == (-0.03, 0.09)
    assert all(found.of("shapley", family)["spearman_language"].high < 1 for family in taught)
    assert found.left_out == ()
    assert [found.of("shapley", family).networks for family in taught] == [35, 35]
    assert all(found.of(name, "compiled RNN")["spearman_language"].mean == 0 for name in ("di_hidden", "di_when_read"))
    for family, of in (("hidden RNN", "compiled RNN"), ("hidden taught RNN", "taught RNN")):
        for name in ("di_hidden", "di_logits", "erasure_hidden"):
            assert abs(found.change(name, family, of, "spearman_language").mean) < 0.01


def test_what_the_page_says_of_hints_holds_for_the_stored_numbers():
    found = Judged.from_json(stored("ours-interactions").found)
    hinted = [f"{machine}, {kind}" for machine in ("RNN", "LSTM") for kind in ("states hints", "25% of the states")]
    for family, truth in product(("taught RNN", "taught LSTM", *hinted), ("language", "output")):
        for name in ("di_hidden", "di_logits", "di_when_read", "di_shared"):
            assert found.of(name, family)[f"lead_{truth}"].high < 0
    for family in hinted:
        given_distance = found.of("di_hidden", family)["partial_output"]
        assert (given_distance.low > 0) == ("LSTM" in family)
        if "LSTM" in family:
            assert round(given_distance.mean, 2) == 0.07
            assert found.of("erasure", family)["partial_output"].mean > 4.5 * given_distance.mean


def test_what_the_page_says_of_circuits_holds_for_the_stored_numbers():
    found = Judged.from_json(stored("ours-circuits").found)
    families = ("compiled", "hidden", "softened", "taught", "taught, strict hints")
    assert found.families == families
    for family in families:
        assert found.kept[family].mean == 1
        for name in ("edge_patching", "acdc"):
            assert round(found.of(name, family)["edges_roc"].mean, 2) >= 0.96
            assert round(found.of(name, family)["faithfulness"].mean, 2) >= 0.99
        assert 0.55 <= found.of("linear_probe", family)["nodes_roc"].mean <= 0.78
    eap = [round(found.of("eap", family)["edges_roc"].mean, 2) for family in ("compiled", "hidden", "taught")]
    assert eap == [0.78, 0.90, 0.96]
    norm = [round(found.of("written_norm", family)["nodes_roc"].mean, 2) for family in ("compiled", "hidden", "taught")]
    assert norm == [0.97, 0.55, 0.68]
    assert round(found.agreement("compiled", "taught", "nodes_roc"), 2) == 0.41
