"""A small sweep, and what it measures if nothing disturbs it."""

from pathlib import Path

import pytest

from kleene.sweeping.sweep import sweep
from tests.sweeping.disturbed import assert_tidy, measured

SMALL = """
[settings]
task = "dfa:tomita_1"
iterations = 600
test_every = 200
batch = 4

[grid]
hidden = [3, 4]
seeds = 6

[resources]
cpus = 0.5
"""


@pytest.fixture(scope="session")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("sweep") / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def undisturbed(file, tmp_path_factory) -> dict:
    store = tmp_path_factory.mktemp("undisturbed")
    swept = sweep(file, store=store)
    assert swept.finished
    assert_tidy(store)
    found = measured(store)
    assert len(found) == 12
    return found
