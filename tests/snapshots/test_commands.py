"""What the commands print as JSON. They are listed in `commands.toml`."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.snapshots.commands import outcome
from tests.snapshots.storing import compare, left_over

COMMANDS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "commands.toml").read_text())


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name: str, folder: Path, run):
    compare(f"commands/{name}", outcome(COMMANDS[name], folder, run))


def test_commands_have_no_snapshot_left_over():
    assert left_over("commands", list(COMMANDS)) == []
