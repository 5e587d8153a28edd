"""All benchmarks in one table, on benchmarks that were made up for it."""

import json

import pytest

from kleene.benched import Benched, bench
from kleene.benchmarking import measured, missing

FIRST = """
from kleene.benchmarking import measured

DEVICE = "CPU"
NO_PEER = "nobody else <does> this"

def measure(quick):
    print("not a row")
    yield measured("parsing", 2.0, "s", peer=6.0, peer_name="plain Python", aim=1)
    yield measured("words", 300.0 if quick else 3000.0, "words/s", peer=100.0, peer_name="a library")
    yield measured("memory", 12, "MB", remark="in all")
    yield measured("states", 7, "states")
    yield measured("training", 5.0, "updates/s", no_peer="torch is not installed")
"""
BROKEN = """
from kleene.benchmarking import measured

DEVICE = "CPU"

def measure(quick):
    yield measured("before", 1.0, "s")
    raise ValueError("the data is gone")
"""


@pytest.fixture
def files(tmp_path):
    found = {"broken": tmp_path / "bench_broken.py", "first": tmp_path / "bench_first.py"}
    for file, text in zip(found.values(), (BROKEN, FIRST)):
        file.write_text(text)
    return found


def test_a_benchmark_that_fails_keeps_its_rows_and_the_others_go_on(files):
    found = bench(files, quick=True)
    assert found.failures == {"broken": "ValueError: the data is gone"}
    told = [(record["benchmark"], record["what"], record["ours"], record["ratio"]) for record in found.as_json()]
    assert told == [
        ("broken", "before", 1.0, None),
        ("broken", "failed", None, None),
        ("first", "parsing", 2.0, 3.0),
        ("first", "words", 300.0, 3.0),
        ("first", "memory", 12, None),
        ("first", "states", 7, None),
        ("first", "training", 5.0, None),
    ]


@pytest.mark.parametrize("printed", [b"warning: slow", b"3", b"\xff"])
def test_a_line_that_is_no_row_fails_its_benchmark_and_the_others_go_on(files, printed):
    files["broken"].write_text(f"import os\n{FIRST}    os.write(1, {printed + bytes([10])!r})\n")
    found = bench(files)
    assert found.failures.keys() == {"broken"}
    assert f"it printed {printed.decode(errors='replace')!r}, and a row is" in found.failures["broken"]
    assert len(found.rows["first"]) == len(found.rows["broken"]) == 5


def test_every_record_has_the_same_keys_and_says_why_it_has_no_peer(files):
    found = bench({"first": files["first"]})
    keys = {"benchmark", "what", "ours", "unit", "peer", "peer_name", "ratio", "device"}
    assert all(keys <= record.keys() for record in found.as_json())
    assert found.as_json()[0]["aim"] == 1
    assert [record["no_peer"] for record in found.as_json()] == [
        None, None, "nobody else <does> this", "nobody else <does> this", "torch is not installed",
    ]  # fmt: skip
    assert found.table().rows == [
        ("first", "parsing", "2 s", "6 s (plain Python)", "3.0×", "CPU", ""),
        ("first", "words", "3,000 words/s", "100 words/s (a library)", "30.0×", "CPU", ""),
        ("first", "memory", "12 MB", "–", "–", "CPU", "in all; no peer: nobody else <does> this"),
        ("first", "states", "7 states", "–", "–", "CPU", ""),
        ("first", "training", "5 updates/s", "–", "–", "CPU", "no peer: torch is not installed"),
    ]


def test_a_table_is_kept_as_a_page_or_as_records_after_every_benchmark(files, tmp_path):
    kept, page = tmp_path / "kept.json", tmp_path / "page.html"
    sizes = []

    def watch(name, row):
        if row is None:
            sizes.append(len(json.loads(kept.read_text())) if kept.exists() else 0)

    found = bench(files, watch=watch, kept=kept)
    assert sizes == [0, 2]
    assert json.loads(kept.read_text()) == found.as_json()
    found.save(page)
    assert "nobody else &lt;does&gt; this" in page.read_text()
    assert found._repr_html_() in page.read_text()


def test_an_interrupted_run_has_what_was_measured(files):
    def watch(name, row):
        if row is not None and row["name"] == "words":
            raise KeyboardInterrupt

    found = bench({"first": files["first"], "broken": files["broken"]}, watch=watch)
    assert found.stopped
    assert [record["what"] for record in found.as_json()] == ["parsing", "words"]
    assert "broken" not in found.rows


def test_a_missing_package_is_named_with_the_extra_that_installs_it():
    assert missing("numpy") == ""
    assert missing("no_such_package", "torch") == "no_such_package is not installed; pip install kleene[torch]"
    assert missing("no_such_package").endswith("pip install no_such_package")


def test_rates_are_better_when_they_are_larger():
    assert measured("a", 4.0, "words/s", peer=2.0, peer_name="b")["ratio"] == 2.0
    assert measured("a", 4.0, "s", peer=2.0, peer_name="b")["ratio"] == 0.5
    assert "ratio" not in measured("a", 4.0, "s")


def test_nothing_measured_is_still_a_table():
    assert repr(Benched({}, {})) == "<Benched: 0 records of nothing>"
    assert Benched({}, {}).table().rows == []
