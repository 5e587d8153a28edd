"""The command `kleene sweep`: it starts a sweep, shows how far it is, and prints what became of it."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from kleene.cli.options import MANY, JsonOption
from kleene.cli.printing import print_json, tell

commands = typer.Typer()

SET_ASIDE, NOT_FINISHED = 1, 3  # exit statuses
LOCAL = "local"
LINE_EVERY = 60.0  # seconds between two lines where there is no terminal


def spelled_out(words: Sequence[str]) -> list[str]:
    """The words of a command line, with the address `local` after a --ray that has none.

    >>> spelled_out(["sweep", "copy.toml", "--ray", "--json"])
    ['sweep', 'copy.toml', '--ray', 'local', '--json']
    """
    found: list[str] = []
    for word, following in zip(words, [*words[1:], "--"]):
        found.append(word)
        if word == "--ray" and (following.startswith("-") or following.endswith(".toml")) and words[0] == "sweep":
            found.append(LOCAL)
    return found


@commands.command()
def sweep(
    file: Annotated[
        str, typer.Argument(metavar="FILE.toml", help="The sweep: its settings, grid, list of cells or random draws.")
    ],
    store: Annotated[
        str | None, typer.Option(help="The folder of the results; by default the file's, or results/NAME.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes of this machine to run in.", min=1, max=MANY)] = 1,
    ray: Annotated[
        str | None,
        typer.Option("--ray", metavar="[ADDRESS]", help="Run on a Ray cluster: a new one here, or that at HOST:PORT."),
    ] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="i/n", help="Run only the i-th of n parts, as one of a job array.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Stop at a checkpoint after so many minutes; the same command goes on.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try cells again that were set aside.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Measure, and say what would run, how long and in how much memory.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Teach many settings and seeds, on one machine or many.

    The same command goes on where it was stopped, however that was, and runs nothing twice. Exit status 1 if cells
    failed three times and were set aside, 3 if --minutes ended before the sweep.
    """
    from kleene.stopping import stoppable

    with stoppable("stopped before anything was run"):
        from kleene.sweeping.sweep import plan_sweep, sweep

        where: dict[str, Any] = {"store": store, "workers": workers, "ray": ray or False, "shard": shard}
        if dry_run:
            plan = plan_sweep(file, **where)
            return print_json(plan.as_json()) if as_json else typer.echo(str(plan))
        with _shown(not as_json) as show:
            swept = sweep(
                file, **where, minutes=minutes, retry=retry, on_plan=lambda plan: tell(str(plan)), on_status=show
            )
    if as_json:
        print_json(swept.as_json())
    else:
        typer.echo(str(swept))
        if swept.done:
            typer.echo(f"`kleene results {swept.store}` shows them")
    if swept.aside or not swept.finished:
        raise typer.Exit(NOT_FINISHED if not swept.finished else SET_ASIDE)


@contextmanager
def _shown(shown: bool) -> Iterator[Callable[[Any], None] | None]:
    """A function that shows the status of a sweep: a table that is redrawn, or a line a minute without a terminal."""
    if not shown or not sys.stderr.isatty():
        yield _lines() if shown else None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:
        yield lambda status: live.update(_table(status), refresh=True)


def _lines() -> Callable[[Any], None]:
    last = time.monotonic()

    def show(status: Any) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY:
            last = time.monotonic()
            tell("kleene: " + ", ".join(f"{name} {value}" for name, value in _facts(status).items()))

    return show


def _facts(status: Any) -> dict[str, str]:
    from kleene.sweeping.sweep import in_words

    left = "unknown" if status.seconds_left is None else in_words(max(0.0, status.seconds_left))
    found = {"done": f"{status.done:,} of {status.cells:,}", "running": f"{status.running:,}"}
    found |= {"failed": f"{status.failed:,}", "set aside": f"{status.aside:,}"}
    return found | {"iterations": f"{status.share:.0%}", "time left": left}


def _table(status: Any) -> Any:
    from kleene.traces.markup import Table  # imports numpy

    return Table.of_records([_facts(status)])
