"""Snapshots hold what a user gets, so annotations are not checked meanwhile; the other tests check them."""

from pathlib import Path

import pytest

from tests.snapshots.storing import summary
from tests.typechecking import paused


@pytest.fixture(autouse=True)
def as_a_user_runs_it():
    with paused():
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder that a command runs in, on a machine without published data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def pytest_terminal_summary(terminalreporter):
    """Say what was taken again and which known faults the snapshots hold; with workers, only `make snapshots` can."""
    for line in summary():
        terminalreporter.write_line(line)
