"""Commands about this machine: doctor (what is there and what is missing), and data (published data sets)."""

import sys
from typing import Annotated

import typer

from kleene.cli.options import FAILED, JsonOption
from kleene.cli.printing import bytes_shown, print_json

commands = typer.Typer()
data = typer.Typer(
    help="Published data sets: what is here, and how to get the rest.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="kleene data list\n\nkleene data get scan",
)
commands.add_typer(data, name="data")


@commands.command()
def doctor(as_json: JsonOption = False) -> None:
    """Look at this machine: versions, device, folders, data; and say what to do.

    Each line is ok, missing (Kleene does without), differs (data that is not as published) or broken. The exit status
    is 1 if something is broken.
    """
    from kleene.doctor import examine

    found = examine()
    if as_json:
        print_json(found.as_json())
    else:
        typer.echo(str(found))
    if not found.is_sound:
        raise typer.Exit(FAILED)


@data.command("list")
def list_data(as_json: JsonOption = False) -> None:
    """List the published data sets with their licences, and what of them is here."""
    from kleene.data.folders import holdings

    found = holdings()
    if as_json:
        return print_json([one.as_json() for one in found])
    for one in found:
        typer.echo(str(one))


def complete_data(incomplete: str) -> list[str]:
    """The data sets whose names begin with `incomplete`."""
    from kleene.data.catalog import DATA_SETS

    return [name for name in DATA_SETS if name.startswith(incomplete)]


@data.command("get")
def get_data(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A data set of `kleene data list`.", autocompletion=complete_data)
    ],
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="URL|FOLDER", help="A mirror or folder with the files, by their names."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fetch what is missing of a data set.

    It goes into $KLEENE_DATA, or else into Kleene's cache folder. Checksums are verified, and files that are there are
    never overwritten.
    """
    from kleene.data.getting import get

    with bytes_shown(not as_json and sys.stderr.isatty()) as progress:
        done = get(name, source=source, progress=progress)
    if as_json:
        return print_json(done.as_json())
    typer.echo(str(done))
