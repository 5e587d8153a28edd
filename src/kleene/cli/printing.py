"""How commands print."""

import json
import sys
from typing import Any

import typer


def new_console() -> Any:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120)


def print_json(content: Any) -> None:
    typer.echo(json.dumps(content, ensure_ascii=False, indent=None if isinstance(content, dict) else 1))
