"""What docs/results shows is what its JSON files hold: tables of pages, numbers of claims, and pictures."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import kleene
import kleene_papers
from kleene.benched import Benched
from kleene.benchmarking import benchmarks, measured
from kleene_papers.claims import claims

RESULTS = Path(__file__).parents[2] / "docs" / "results"
SHOWN = re.compile(r"(<!-- table: (.*?) -->\n)(.*?)<!-- end -->", re.DOTALL)
BENCHMARKS = [
    file
    for ending in ("2-cores", "h200")
    for file in sorted(RESULTS.glob(f"*-{ending}.json"))
    if file.name != "sweeps-h200.json"  # sweeps of a script, timed
]
WHOLE = "bench-2-cores"  # of all benchmarks in one run; every other file is of one
NAMES = [
    "figure-4",
    "figure-6",
    "figure-18",
    "dyck-readings",
    "tape-decoders",
    "figure-9a-copy",
    "figure-10",
    "parity-end-to-end",
    "scan-end-to-end",
    "state-hints",
    "growth-h200",
    "hints-for-transformers",
    "interactions",
    "circuits",
]


@pytest.fixture
def generate(monkeypatch):
    monkeypatch.syspath_prepend(RESULTS)
    return importlib.import_module("generate")


def test_pictures_show_what_their_files_hold():
    wanted = [word for name in NAMES for word in ("--picture", name)]
    command = [sys.executable, str(RESULTS / "generate.py"), "--check", *wanted]
    done = subprocess.run(command, timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_picture_of_other_numbers_is_named(generate, monkeypatch, tmp_path):
    monkeypatch.setattr(generate, "HERE", tmp_path)
    (drawn,) = generate.draw(["growth-h200"], tmp_path)
    assert generate.different_pictures(["growth-h200"]) == []
    drawn.write_text(drawn.read_text().replace("H200", "H100"))
    assert generate.different_pictures(["growth-h200"]) == [drawn]


def test_pages_and_numbers_are_those_of_the_files(generate):
    assert generate.write_texts(check=True) == ([], [])


def test_every_table_has_its_place_on_a_page_and_what_is_typed_over_is_found(generate):
    tables = generate.tables
    pages = {file: file.read_text() for file in generate.pages() if file != generate.judged.PAGE}
    names = [found[1] for page in pages.values() for found in tables.TABLE.findall(page)]
    assert set(names) == set(generate.TABLES)
    for page in pages.values():
        here = [found[1] for found in tables.TABLE.findall(page)]
        assert len(here) == len(set(here))
    for page in pages.values():
        spoiled = tables.TABLE.sub(lambda found: f"{found[1]}| 1 |\n{found[3]}", page)
        assert tables.filled(spoiled, generate.TABLES) == page
        assert ("<!-- table: " in page) == (spoiled != page)


@pytest.mark.parametrize("file", BENCHMARKS, ids=lambda file: file.stem)
def test_a_stored_benchmark_has_the_form_that_kleene_bench_writes(file, tmp_path):
    names = {"what": "name", "ours": "value"}
    records, rows = json.loads(file.read_text()), {}
    for record in records:
        row = {names.get(key, key): value for key, value in record.items() if value is not None and key != "ratio"}
        rows.setdefault(row.pop("benchmark"), []).append(measured(**row))
    known = set(benchmarks(Path(kleene.__file__)))
    assert set(rows) <= known
    assert len(rows) == (len(known) if file.stem == WHOLE else 1)
    written = json.loads(Benched(rows, {}).save(tmp_path / "again.json").read_text())
    assert [approx(record) for record in written] == records


def test_a_new_way_of_teaching_comes_into_the_table_of_speed_with_its_file(generate, monkeypatch, tmp_path):
    monkeypatch.setattr(generate.tables, "HERE", tmp_path)
    found = [
        measured("copy, 1,000 seeds, fused: compile", 31.0, "s"),
        measured("copy, 1,000 seeds, gpu, fused", 512_345.0, "seed·iterations/s", aim=500_000, reached=True),
    ]
    Benched({"teach": found}, {}).save(tmp_path / "teach-h200.json")
    (*_, line) = generate.TABLES["speed of teaching"]().splitlines()
    assert line == "| copy, 1,000 seeds, fused | one H200 | 512,000 | 31 s |  | 500,000: reached |"


def approx(record):
    return {key: pytest.approx(value) if key == "ratio" else value for key, value in record.items()}


def test_new_files_of_the_full_size_give_its_tables_claims_and_pictures_with_one_command(tmp_path):
    """The files of the quick size, which have several networks and corpora, in place of those of the full size."""
    folder, names = tmp_path / "docs" / "results", ("english", "rules", "rule-frequency")
    shutil.copytree(RESULTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    numbers = tmp_path / "papers" / "src" / "kleene_papers" / "numbers.toml"
    numbers.parent.mkdir(parents=True)
    numbers.write_text("")
    shutil.copy(Path(kleene_papers.__file__).parent / "claims.toml", numbers.parent)
    shutil.copytree(RESULTS.parent / "texts", tmp_path / "docs" / "texts")
    for name in names:
        shutil.copy(RESULTS / f"{name}-quick.json", folder / f"{name}.json")
        (folder / f"{name}.svg").unlink()
    pictures = [word for name in names for word in ("--picture", name)]
    for asked in (["--only", "texts"], pictures):
        done = subprocess.run([sys.executable, str(folder / "generate.py"), *asked], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    found = {name: table for _, name, table in SHOWN.findall((folder / "interdependence.md").read_text())}
    for quick in (name for name in found if ", quick" in name):
        full = quick.replace("English, quick", "English, full").replace(", quick", "")
        assert found[full] == found[quick]
    several = json.loads((RESULTS / "english-quick.json").read_text())["networks"]
    assert ("; two networks" if several == 2 else f"; intervals over {several} networks") in numbers.read_text()
    assert all((folder / f"{name}.svg").stat().st_size for name in names)


def test_figure_4_counts_the_kinds_of_hints_that_do_better_than_none(generate):
    runs = {"none": 3, "read": 5, "write": 3, "value": 0, "corner": 9}
    rows = [{"hints": kind, "generalised": count} for kind, count in runs.items()]
    assert generate.tables.against_none(rows) == [2, 1, 1]


def test_the_plan_of_figure_9_has_the_rates_of_the_benchmark(generate, monkeypatch, tmp_path):
    monkeypatch.setattr(generate.tables, "HERE", tmp_path)
    found = [
        measured(f"{task}, the grid of figure {figure}, {runs} runs, gpu", rate, "seed·iterations/s")
        for task, figure, runs, rate in (
            ("copy", "9a", 960, 100_000.0),
            ("repeat_copy_twice", "9b", 720, 76_000.0),
            ("dyck_words", "9c", 480, 52_000.0),
            ("flip_3rd", "9d", 960, 10_000.0),
        )
    ]
    Benched({"teach": found}, {}).save(tmp_path / "teach-h200.json")
    _, _, copied, *_, flipped, repeated = generate.TABLES["figure 9 in pieces"]().splitlines()
    command = "`kleene reproduce ntm-copy --full --first-seed 1000 --minutes 28`"
    assert copied == f"| 9a | 1,000 | 100,000 | 17 min | 1 | {command} |"
    assert flipped.startswith("| 9d | 1,000 | 10,000 | 2.8 h | 10 |")
    assert "--piece i/10`" in flipped
    assert repeated.startswith("| 9e | 1,000 | 10,000 |")


def test_the_time_of_a_run_in_a_sentence_is_that_of_its_file(generate):
    seconds = json.loads((RESULTS / "figure-4.json").read_text())["seconds"]
    typed = "with all hints; <!-- time: figure-4 -->7 s<!-- end --> on one H200"
    assert generate.tables.filled(typed, {}) == typed.replace("7 s", f"{seconds:,.0f} s")
    marked = [name for file in RESULTS.glob("*.md") for _, name, _ in generate.tables.TIME.findall(file.read_text())]
    assert len(marked) == len(set(marked)) > 5


def test_a_number_that_is_typed_over_in_a_sentence_is_written_again(generate):
    for file, found in generate.SENTENCES.items():
        page = file.read_text()
        for one in found:
            (place,) = one.pattern.finditer(page)
            spoiled = f"{page[: place.start(1)]}987654{page[place.end(1) :]}"
            assert one.filled(spoiled) == page


def test_a_sentence_that_its_page_has_not_or_twice_is_named_and_the_others_are_filled(generate):
    sentence, filled = generate.sentences.Sentence, generate.sentences.filled
    one, other = sentence("{} of {} runs", lambda: ["3", "4"]), sentence("after {} updates", lambda: ["5,000"])
    assert filled("Here 1 of\n20 runs failed.", [one]) == ("Here 3 of\n4 runs failed.", [])
    for runs, times in (("no run", 0), ("1 of 2 runs and 3 of 4 runs", 2)):
        page, (problem,) = filled(f"{runs} after 7 updates", [one, other])
        assert page == f"{runs} after 5,000 updates"
        assert "'{} of {} runs'" in problem
        assert f"{times} times in its page" in problem
    short, missing = sentence("{} of {} runs", lambda: ["3"]), sentence("{} of {} runs", lambda: {}["none"])
    page, problems = filled("1 of 2 runs", [short, missing])
    assert page == "1 of 2 runs"
    assert "2 gaps and 1 numbers" in problems[0]
    assert "KeyError" in problems[1]


def test_numbers_are_of_claims_and_have_ours(generate):
    known = generate.numbers_of_claims.NUMBERS
    assert set(known) <= set(claims())
    assert all(claims()[name].ours for name in known)


def test_the_numbers_of_a_figure_are_those_of_the_experiment_that_its_claim_names(generate):
    numbers_of = generate.numbers_of_claims.NUMBERS
    shown = {name: numbers_of[name] for name in claims() if name.startswith("traces-figure-1") and name in numbers_of}
    assert {"traces-figure-13", "traces-figure-17"} <= shown.keys()
    for name, numbers in shown.items():
        experiment = claims()[name].experiment
        if isinstance(numbers, partial) and experiment.startswith("nram-"):
            task, variant = (*numbers.args, "-stated")[:2]
            assert experiment == f"nram-{task}{variant}"


def test_the_readme_says_how_many_machines_learned_copy():
    readme = " ".join((RESULTS.parents[1] / "README.md").read_text().split())
    content = json.loads((RESULTS / "copy-500.json").read_text())
    passed = {row["hints"]: f"{row['generalised']} of {row['seeds']}" for row in content["settings"]}
    assert f"After {content['iterations']} updates {passed['address']} NTMs pass" in readme
    assert f"with address hints, and {passed['none']} without" in readme
