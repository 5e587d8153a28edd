"""What the commands print as JSON. They are listed in `commands.toml`."""

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.snapshots.normalising import normalised, text
from tests.snapshots.storing import compare, left_over

COMMANDS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "commands.toml").read_text())


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder that the command runs in, on a machine without published data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name: str, folder: Path, run):
    command = COMMANDS[name]
    for file, content in command.get("files", {}).items():
        (folder / file).write_text(content)
    for before in command.get("before", []):
        assert run(*shlex.split(before)).status == 0
    result = run(*shlex.split(command["run"]))
    assert "an error of Kleene's own" not in result.err
    answer = {"run": command["run"], "status": result.status}
    answer |= {"fault": command["fault"]} if "fault" in command else {}
    answer |= {"out": normalised(_parsed(result.out), folder)}
    answer |= {"err": text(result.err, folder)} if result.err else {}
    compare(f"commands/{name}", answer)


def test_commands_have_no_snapshot_left_over():
    assert left_over("commands", list(COMMANDS)) == []


def _parsed(out: str) -> Any:
    """What was printed: JSON where it is, else lines of text."""
    try:
        return json.loads(out)
    except ValueError:
        return [line.rstrip() for line in out.splitlines()]
