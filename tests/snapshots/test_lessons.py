"""What short training runs measure, for every lesson. They are listed in `lessons.toml`."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.snapshots.comparing import TRAINED
from tests.snapshots.lessons import defaults, measured
from tests.snapshots.storing import compare, left_over

LESSONS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "lessons.toml").read_text())


@pytest.mark.parametrize("name", LESSONS)
def test_lessons(name: str, folder: Path):
    compare(f"lessons/{name}", measured(LESSONS[name], folder), tolerance=TRAINED)


def test_lessons_have_the_same_defaults():
    compare("lessons/defaults", dict(defaults(listed) for listed in LESSONS.values() if "files" not in listed))


def test_lessons_have_no_snapshot_left_over():
    assert left_over("lessons", [*LESSONS, "defaults"]) == []
