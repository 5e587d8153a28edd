import json
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest

from kleene_papers.catalog import CATALOG, NOT_MEASURED, Listed, listed
from kleene_papers.claims import Verdict, claims
from kleene_papers.reproduce import experiment, experiments

ROOT = Path(__file__).parents[2]


def test_every_experiment_has_a_line_in_the_catalog_and_no_line_is_left_over():
    assert set(CATALOG) == set(experiments())


def test_an_experiment_without_a_line_is_listed_all_the_same():
    assert listed("ours").as_json() == {
        "name": "ours", "shows": "not described", "quick": NOT_MEASURED, "full": NOT_MEASURED,
    }  # fmt: skip


def test_the_command_line_lists_all_claims_with_verdicts_and_times(run):
    found = json.loads(run("reproduce", "--json").out)
    assert [row["name"] for row in found] == list(claims())
    assert len(found) >= 46
    assert all(row["shows"] and row["why"] and row["run"] and row["verdict"] in get_args(Verdict) for row in found)
    rules = next(row for row in found if row["experiment"] == "rules")
    assert (rules["quick"], rules["full"]) == ("34 s", "473 s beside rule-frequency and english")
    assert (rules["cpu"], rules["gpu"]) == ("34 s (quick)", "473 s beside rule-frequency and english")
    keys = {"cpu", "gpu", "paper", "ours"}
    assert all(keys <= row.keys() and all(row[key] is None or row[key] for key in keys) for row in found)
    printed = run("reproduce").out
    names = (*(row["name"] for row in found), *experiments())
    assert all(words in printed for words in ("verdict", "473 s", NOT_MEASURED, *names))


def test_times_on_a_cpu_and_on_a_gpu_are_told_apart():
    assert (listed("ntm-copy").cpu, listed("ntm-copy").gpu) == ("143 s (quick)", "370 s beside figure 9b")
    both = Listed("both", "a test", quick="11 s", full="53 s on 2 cores")
    assert (both.cpu, both.gpu) == ("11 s (quick), 53 s (full)", None)
    assert (listed("ours").cpu, listed("ours").gpu) == (None, None)
    assert (claims()["alta-figure-2"].cpu, claims()["alta-figure-2"].gpu) == ("1 s", None)


def test_commands_and_pages_have_times():
    timed = [claim for claim in claims().values() if claim.time]
    assert [claim.name for claim in claims().values() if claim.command and not claim.time] == []
    assert len(timed) >= 20
    pages = [claim.command for claim in timed if not (claim.command or "").startswith("kleene ")]
    assert all((ROOT / (page or "none")).is_file() for page in pages)
    assert all(re.fullmatch(r"under 1 s|\d+ s", claim.time or "") for claim in timed)


def test_papers_numbers_stand_beside_ours(run):
    row = next(row for row in json.loads(run("reproduce", "--json").out) if row["name"] == "alta-table-6")
    stored = json.loads((ROOT / "docs/results/scan-end-to-end.json").read_text())["cells"]
    assert all(f"{cell['cell']} {cell['paper']}%" in row["paper"] for cell in stored)
    assert all(f"{cell['cell']} {cell['ours']:.1f}%" in row["ours"] for cell in stored)
    assert sum(claim.ours is not None for claim in claims().values()) >= 35


def test_every_verdict_is_explained_in_help_and_on_the_page(run):
    page, told = (ROOT / "docs/results/reproduced.md").read_text(), run("reproduce", "--help").out
    assert all(f"- **{word}**: " in page and word in told for word in get_args(Verdict))


def test_claims_name_experiments_commands_and_pages_that_there_are():
    pages = {f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md")}
    for claim in claims().values():
        assert bool(claim.experiment) != bool(claim.command), claim.name
        assert not claim.experiment or claim.experiment in CATALOG, claim.name
        assert not claim.command or claim.command in pages or claim.command.startswith("kleene "), claim.name


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


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("figure-4", "alta-figure-4 or traces-figure-4 or compose-figure-4 or earlier-figure-4"),
        ("figure-9b", "traces-figure-9b"),
        ("table-2", "alta-table-2"),
        ("states", "ours-states"),
        ("traces-figur-9b", "traces-figure-9b"),
        ("compose-figure7a", "compose-figure-7a"),
        ("ntm-copi", "ntm-copy"),
    ],
)
def test_a_short_or_misspelled_name_finds_what_it_may_mean(run, name, meant):
    refused = run("reproduce", name)
    assert refused.status == 2
    assert refused.err.startswith(f"kleene: no experiment {name!r}; did you mean {meant}")


def test_a_claim_without_an_experiment_says_what_shows_it(run):
    found = run("reproduce", "alta-figure-3")
    assert found.status == 2
    assert "this shows it: kleene run parity_absolute 1 0 1 --trace" in found.err
    assert experiment("alta-figure-4").name == experiment("parity-trace-supervision").name
