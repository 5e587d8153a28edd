"""How commands print, and the bar that shows how far they are."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer


def new_console() -> Any:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120)


def print_json(content: Any) -> None:
    typer.echo(json.dumps(content, ensure_ascii=False, indent=None if isinstance(content, dict) else 1))


@contextmanager
def progress_bar(title: str, total: int, shown: bool) -> Iterator[tuple[Any, Any]]:
    """A bar on stderr and its task, which are silent unless `shown`."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not shown) as bar:
        yield bar, bar.add_task(title, total=total)


@contextmanager
def rounds_shown(shown: bool) -> Iterator[Any]:
    """A line on stderr that follows the rounds of L*; what it yields is called with each `LearningProgress`."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as bar:
        task = bar.add_task("asking the network", total=None)

        def watch(now: Any) -> None:
            asked = now.membership_queries + now.equivalence_queries
            bar.update(task, description=f"round {now.rounds}: {now.states} states, {asked:,} words asked")

        yield watch
