"""`kleene watch`: it writes one page, says where, and replaces nothing that is not a page."""

from pathlib import Path

import pytest

from kleene.watching.page import document_in
from tests.command_line import assert_refused


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_watch_writes_a_page_of_the_programs_name(run):
    assert run("watch", "parity_relative", "10110").out == "wrote parity_relative.html: open it in a browser\n"
    content = document_in(Path("parity_relative.html").read_text())
    assert (content["title"], content["input"], content["answer"]) == ("parity_relative", "10110", "1 1 0 1 1")
    assert [found["source"] for found in content["runs"]] == ["program"]
    assert run("watch", "parity_relative", "1").status == 0  # a page replaces a page


def test_watch_shows_the_network_or_both(run):
    for option, sources in (("--compiled", ["network"]), ("--both", ["program", "network"])):
        assert run("watch", "addition", "7", "8", option, "-o", "sum.html", "--json").json["file"] == "sum.html"
        assert [found["source"] for found in document_in(Path("sum.html").read_text())["runs"]] == sources


def test_watch_keeps_files_of_others(run):
    Path("parity_relative.html").write_text("mine")
    assert_refused(run("watch", "parity_relative", "1"), "is no page of kleene watch", "-o")
    assert Path("parity_relative.html").read_text() == "mine"


def test_watch_shows_a_part_of_a_run(run):
    words = ("watch", "addition", "78", "45", "-o", "sum.html")
    assert run(*words, "--channels", "token,ptr_*", "--positions", "1-3", "--steps", "2-").status == 0
    content = document_in(Path("sum.html").read_text())
    assert (content["first"], content["positions"]) == (2, ["7", "8", "+"])
    assert_refused(run(*words, "--steps", "70-"), "the last step of the run is 5")


INPUTS_FILE = """
from kleene.programs import alta

def flip(z):
    z["bit"] = 1 - z["bit"]

program = alta.program_spec({"bit": alta.input_var(2)}, {}, flip, "bit", 2, alphabet="ox", inputs="xxo*")
others = "oo"
"""


def test_without_an_input_a_program_runs_on_its_example_or_on_one_that_it_declares(run):
    Path("own.py").write_text(INPUTS_FILE)
    assert run("watch", "addition", "-o", "a.html").status == 0
    assert document_in(Path("a.html").read_text())["answer"] == "1245"
    assert run("watch", "own.py:program", "-o", "a.html").status == 0
    content = document_in(Path("a.html").read_text())
    assert (content["input"], content["answer"]) == ("x x o o o", "ooxxx")
    assert run("watch", "own.py:program", "--inputs", "own.py:others", "-o", "a.html").status == 0
    assert document_in(Path("a.html").read_text())["answer"] == "xx"
    assert_refused(run("watch", "dfa:a*", "--inputs", "own.py:others"), "--inputs is for these; type an input")


def test_options_of_a_live_page_are_for_live_pages(run):
    assert_refused(run("watch", "parity_relative", "1", "--port", "8000"), "add --live")
    assert_refused(run("watch", "parity_relative", "1", "--live", "-o", "page.html"), "leave -o and --json out")
    assert_refused(run("watch", "parity_relative", "1", "--live", "--json"), "leave -o and --json out")
    assert_refused(run("teach", "copy", "--port", "8000"), "add --watch")
    assert not list(Path().iterdir())
