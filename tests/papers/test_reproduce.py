"""`kleene reproduce`: stored results at once, new runs on request, and names that are looked up kindly."""

import json
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest

import kleene
from kleene_papers.claims import TEXTS, Verdict, claims
from kleene_papers.registry import studies
from kleene_papers.stored import names, stored
from kleene_papers.study import NOT_MEASURED, Study

ROOT = Path(__file__).parents[2]


def test_without_a_name_all_claims_are_listed_with_verdicts_and_times(run):
    found = json.loads(run("reproduce", "--json").out)
    assert [row["name"] for row in found] == list(claims())
    assert len(found) >= 97
    assert all(row["shows"] and row["why"] and row["run"] and row["verdict"] in get_args(Verdict) for row in found)
    rules = next(row for row in found if row["name"] == "compose-figure-7a")
    assert (rules["quick"], rules["gpu"]) == ("34 s", rules["full"])
    assert rules["cpu"].startswith("34 s (quick)")
    printed = run("reproduce").out
    assert all(name in printed for name in (*claims(), "traces-figure-9c-after", NOT_MEASURED))


@pytest.mark.parametrize("text", TEXTS)
def test_the_name_of_a_text_lists_it_alone(run, text):
    found = json.loads(run("reproduce", text, "--json").out)
    assert found
    assert all(row["name"].startswith(f"{text}-") for row in found)


@pytest.mark.parametrize("name", [*studies()])
def test_every_study_with_stored_results_has_tables_and_says_how_to_run_it(name):
    study = studies()[name]
    if not {*names()}.issuperset(study.results):
        assert study.make is not None
        return
    shown = kleene.reproduce(name)
    assert all(table.rows for table in shown.tables())
    assert shown.tables()
    assert [one["name"] for one in shown.as_json()["results"]] == [*study.results]
    assert study.make is None or f"again: kleene reproduce {name} --run full" in str(shown)


@pytest.mark.parametrize("name", [name for name in names() if stored(name).study not in ("", name)])
def test_other_stored_runs_of_a_study_are_shown_with_its_tables(name):
    assert kleene.reproduce(name).tables()


def test_a_result_is_shown_with_its_verdict_the_papers_numbers_and_where_it_comes_from(run):
    printed = run("reproduce", "traces-figure-9b").out
    of = stored("traces-figure-9b")
    assert "verdict: open." in printed
    assert "paper" in printed
    assert f"full size, one NVIDIA H200, seeds 1000 to 1039, 413 s, {of.provenance.date}" in printed
    assert "again: kleene reproduce traces-figure-9b --run full (413 s beside figures 9a and 9c)" in printed


def test_a_stored_picture_is_drawn_and_a_whole_result_is_written_as_a_page(run, folder):
    assert run("reproduce", "traces-figure-4", "-o", "four.svg").out.endswith("drawn in four.svg\n")
    assert "<svg" in Path("four.svg").read_text()
    run("reproduce", "traces-figure-4", "-o", "four.html")
    assert "points above none" in Path("four.html").read_text()
    assert "pictures are written as" in run("reproduce", "traces-figure-4", "-o", "four.doc").err


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_run_is_kept_and_says_where_it_comes_from(run, folder):
    done = run("reproduce", "ours-states-tomita_3-rnn", "--run", "quick", "--iterations", "2", "--json")
    found = json.loads(done.out)
    assert found["name"] == "ours-states-tomita_3-rnn"
    assert found["provenance"]["command"] == "kleene reproduce ours-states-tomita_3-rnn --run quick --iterations 2"
    kept = json.loads((folder / "results" / "ours-states-tomita_3-rnn.json").read_text())
    assert kept.pop("checksum").startswith("kleene-sha256:")
    assert kept == found
    assert (folder / "results" / "ours-states-tomita_3-rnn.svg").is_file()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("figure-4", "alta-figure-4 or traces-figure-4 or compose-figure-4 or earlier-figure-4"),
        ("figure-9b", "traces-figure-9b"),
        ("table-2", "alta-table-2"),
        ("states", "ours-states"),
        ("traces-figur-9b", "traces-figure-9b"),
        ("compose-figure7a", "compose-figure-7a"),
    ],
)
def test_a_short_or_misspelled_name_finds_what_it_may_mean(run, name, meant):
    refused = run("reproduce", name)
    assert refused.status == 2
    assert refused.err.startswith(f"kleene: no result {name!r}; did you mean {meant}")


@pytest.mark.parametrize("study", [one for one in studies().values() if one.formerly], ids=lambda one: one.formerly)
def test_an_old_name_is_refused_with_the_new_one(run, study: Study):
    refused = run("reproduce", study.formerly)
    assert refused.status == 2
    assert f"is called {study.name} now" in refused.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("alta-table-2 --iterations 5", "--iterations is for a new run: kleene reproduce alta-table-2 --run quick"),
        ("alta-section-4 --run quick --iterations 5", "alta-section-4 takes no --iterations"),
        ("compose-figure-3 --run quick --first-seed 5", "compose-figure-3 takes no --first-seed"),
        ("traces-figure-9a --run quick --networks 2", "--networks is for "),
        ("traces-figure-9a --run quick --minutes -1", "minutes is -1.0; give a number above 0"),
        ("traces-figure-9a --run quick --iterations 0", "iterations is 0; give 1 or more"),
        ("traces-figure-9a --run huge", "run is 'huge'; give quick"),
        ("traces-figure-10 --run quick", "traces-figure-10 is not run itself"),
        ("alta-figure-2 --run quick", "this shows it: kleene check parity_absolute"),
        ("compose-figure-3 --run quick --model missing.safetensors", "there is no file"),
        ("traces-figure-4 --run quick -o four.svg", "-o draws the stored picture"),
        ("alta-figure-2 -o two.svg", "alta-figure-2 has no picture"),
    ],
)
def test_what_has_no_meaning_is_refused_in_words(run, words, told):
    refused = run("reproduce", *words.split())
    assert (refused.status, refused.out) == (2, "")
    assert told in refused.err


def test_times_on_a_cpu_and_on_a_gpu_are_told_apart():
    def tables(result):
        return []

    both = Study("both", "a test", tables, quick="11 s", full="53 s on 2 cores")
    assert (both.cpu, both.gpu) == ("11 s (quick), 53 s (full)", None)
    assert (Study("none", "a test", tables).cpu, Study("none", "a test", tables).gpu) == (None, None)
    assert (studies()["traces-figure-9a"].cpu, claims()["alta-figure-2"].cpu) == ("143 s (quick)", "1 s")


def test_claims_name_studies_commands_and_pages_that_there_are():
    pages = {f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md")}
    for claim in claims().values():
        assert claim.study or claim.command, claim.name
        assert not claim.study or claim.study in studies(), claim.name
        assert not claim.command or claim.command in pages or claim.command.startswith("kleene "), claim.name
        assert not claim.command or re.fullmatch(r"under 1 s|\d+ s", claim.time or ""), claim.name


def commands():
    """The commands that run, check, compile or extract, each once; a check on a few inputs."""
    found = dict.fromkeys(claim.command for claim in claims().values() if claim.command.startswith("kleene "))
    for command in found:
        words = shlex.split(command)[1:]
        if words[0] in ("run", "check", "compile", "extract"):
            yield [*words, *(("--samples", "3") if words[0] == "check" else ())]


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_a_command_that_shows_a_claim_works(run, words):
    assert run(*words).status == 0


def test_every_verdict_is_explained_in_help_and_on_the_page(run):
    page, told = (ROOT / "docs/results/reproduced.md").read_text(), run("reproduce", "--help").out
    assert all(f"- **{word}**: " in page and word in told for word in get_args(Verdict))


def test_the_readme_says_how_many_machines_learned_copy():
    readme = " ".join((ROOT / "README.md").read_text().split())
    content = stored("ours-copy-500")
    passed = {row["hints"]: f"{row['generalised']} of {row['seeds']}" for row in content.rows}
    assert f"After {content['iterations']} updates {passed['address']} NTMs pass" in readme
    assert f"with address hints, and {passed['none']} without" in readme
