"""The programs and networks of the library, as `kleene list` has them."""

import json

from typer.testing import CliRunner

from kleene.cli import app


def examples() -> dict[str, list[str]]:
    """The example of every program and network of the library, by its name."""
    rows = json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)
    return {row["name"]: row["example"] for row in rows}


def file_name(name: str) -> str:
    """The name without what a file name should not have: "dfa:parity" as "dfa-parity"."""
    return name.replace(":", "-")
