"""What docs/results shows is what its JSON files hold: tables of pages, numbers of claims, and pictures."""

import importlib
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from kleene.experiments.claims import claims

RESULTS = Path(__file__).parents[2] / "docs" / "results"
NAMES = [
    "figure-4",
    "figure-6",
    "figure-18",
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
    assert generate.write_texts(check=True) == []


def test_every_table_has_its_place_on_a_page_and_what_is_typed_over_is_found(generate):
    tables = generate.tables
    pages = {file: file.read_text() for file in generate.pages() if file != generate.judged.PAGE}
    names = [found[1] for page in pages.values() for found in tables.TABLE.findall(page)]
    assert set(names) == set(generate.TABLES)
    for page in pages.values():
        spoiled = tables.TABLE.sub(lambda found: f"{found[1]}| 1 |\n{found[3]}", page)
        assert tables.filled(spoiled, generate.TABLES) == page
        assert ("<!-- table: " in page) == (spoiled != page)


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
