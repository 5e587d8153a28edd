"""The files that commands write for people: pages, diagrams, automata. They are listed in `pages.toml`."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import kleene
from tests.snapshots.commands import outcome
from tests.snapshots.pages import assets
from tests.snapshots.storing import compare, left_over

PAGES: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "pages.toml").read_text())


@pytest.mark.parametrize("name", PAGES)
def test_pages(name: str, folder: Path, run):
    compare(f"pages/{name}", outcome(PAGES[name], folder, run))


def test_pages_have_the_same_styles_and_scripts():
    pages = {"watch": kleene.watch("parity_relative", "101"), "view": kleene.view("addition")}
    compare("pages/assets", {name: assets(page.html) for name, page in pages.items()})


def test_pages_have_no_snapshot_left_over():
    assert left_over("pages", [*PAGES, "assets"]) == []
