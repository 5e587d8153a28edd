"""Running one of the listed commands as a user does, and what came of it as plain data."""

import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.command_line import Result
from tests.snapshots.normalising import normalised, text
from tests.snapshots.pages import written_file
from tests.snapshots.storing import FAULT


def outcome(command: Mapping[str, Any], folder: Path, run: Callable[..., Result]) -> dict[str, Any]:
    """The exit status, what was printed, and the files that are to be shown; the command runs in the folder."""
    for file, content in command.get("files", {}).items():
        (folder / file).write_text(content)
    for before in command.get("before", []):
        assert run(*shlex.split(before)).status == 0
    result = run(*shlex.split(command["run"]))
    assert "an error of Kleene's own" not in result.err
    answer = {"run": command["run"], "status": result.status}
    answer |= {FAULT: command[FAULT]} if FAULT in command else {}
    answer |= {"out": normalised(_parsed(result.out), folder)}
    answer |= {"err": text(result.err, folder)} if result.err else {}
    if "shows" in command:
        answer |= {"written": {file: written_file(folder / file) for file in command["shows"]}}
    return answer


def _parsed(out: str) -> Any:
    """What was printed: JSON where it is, else lines of text."""
    try:
        return json.loads(out)
    except ValueError:
        return [line.rstrip() for line in out.splitlines()]
