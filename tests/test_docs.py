"""Every example in the documentation is run: Python blocks as doctests or scripts, console blocks as commands.

A block of output after a script is what the script has to print. A block of TOML is the file that its first line names.
"""

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import shlex
import sys
from pathlib import Path

import pytest

import kleene
import kleene_papers
from kleene.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLACE = re.compile(r"`((?:src|papers|tests|docs|benchmarks)(?:/[\w.-]+)+)/?`")  # a path of the checkout, in prose
BLOCK = re.compile(r"^```(python|console|output|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_of_a_page_do_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    printed = ""
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "console":
            run_commands(text, monkeypatch)
        elif kind == "output":
            assert doctest.OutputChecker().check_output(text, printed, FLAGS), printed
        elif kind == "toml":
            Path(text.splitlines()[0].removeprefix("# ")).write_text(text)
        elif ">>>" in text:
            run_doctest(text, names, page.name)
        else:
            printed = run_script(text, names, tmp_path / "example.py")


def run_script(text: str, names: dict, path: Path) -> str:
    path.write_text(text)  # so that tracing finds the source
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(text, str(path), "exec"), names)
    return output.getvalue()


def run_doctest(text: str, names: dict, page: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, page, page, 0)
    output = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=output.write, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, output.getvalue()


def run_commands(text: str, monkeypatch) -> None:
    """Runs each `$ kleene …`: it prints what stands below it, and its exit status is 0 or what `$ echo $?` shows."""
    parts = [part.partition("\n")[::2] for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]
    for (command, expected), (following, shown) in zip(parts, [*parts[1:], ("", "")]):
        words = shlex.split(command)
        if words[0] != "kleene":
            continue
        monkeypatch.setattr(sys, "argv", words)
        output, problems = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(problems),
            pytest.raises(SystemExit) as left,
        ):
            main()
        printed = output.getvalue()
        assert doctest.OutputChecker().check_output(expected, printed, FLAGS), printed + problems.getvalue()
        status = int(shown) if following == "echo $?" else 0
        assert (left.value.code or 0) == status, f"{command}: exit status {left.value.code}\n{problems.getvalue()}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_files_and_pages_that_a_page_names_are_there(page):
    text = page.read_text()
    linked = [page.parent / link for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)]
    named = [ROOT / place for place in PLACE.findall(text)]
    assert [str(place) for place in (*linked, *named) if not place.exists()] == []


def test_the_architecture_draws_every_room_and_the_reference_lists_it():
    rooms = {folder.parent.name for folder in (ROOT / "src" / "kleene").glob("*/__init__.py")}
    drawing = (ROOT / "docs" / "architecture.md").read_text().partition("```text")[2].partition("```")[0]
    assert rooms <= set(re.findall(r"\w+", drawing))
    reference = (ROOT / "docs" / "api" / "rooms.md").read_text()
    assert rooms == set(re.findall(r"^::: kleene\.(\w+)$", reference, re.MULTILINE))


def test_the_reference_has_every_public_name():
    named = re.findall(r"^::: kleene\.(\w+)$", (ROOT / "docs" / "api" / "index.md").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(set(kleene.__all__) - {"__version__"})


def test_the_readmes_picture_is_drawn_from_a_run_and_is_small(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "pictures")
    drawn = importlib.import_module("parity").picture()
    assert drawn == (ROOT / "docs" / "pictures" / "parity.svg").read_text()
    assert len(drawn) < 60_000


MODULES = [
    found.name
    for package in (kleene, kleene_papers)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("name", ["kleene", "kleene_papers", *MODULES])
def test_the_examples_in_docstrings_do_what_they_say(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert not result.failed


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("$ kleene run adition 1\n", "exit status 2"),
        ("$ kleene run addition 1 2\n4\nprogram halted after ... layers\n", "3\n"),
        ("$ kleene run adition 1\n$ echo $?\n1\n", "exit status 2"),
        ("$ kleene run adition 1\n$ echo $?\n2\n", None),
        ("$ kleene run addition 1 2\n3\n...\n", None),
    ],
)
def test_a_command_of_a_page_must_print_and_end_as_it_says(text, fault, monkeypatch):
    if fault is None:
        run_commands(text, monkeypatch)
    else:
        with pytest.raises(AssertionError, match=fault):
            run_commands(text, monkeypatch)
