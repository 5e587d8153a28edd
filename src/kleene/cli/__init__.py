"""`kleene` on the command line: a thin door to the library.

Everything heavy is imported inside the commands, so that `kleene --help` answers at once.
"""

import sys
from typing import Annotated

import typer

from kleene.cli import checking, learning, measuring, networks, programs
from kleene.cli.options import BAD_INPUT
from kleene.errors import KleeneError

app = typer.Typer(
    name="kleene",
    help="A laboratory for neural computation: write an algorithm, compile it into exact network weights, "
    "and watch program and network run side by side.",
    epilog="Start with: kleene list\n\nkleene run addition 789 456 --compiled\n\nkleene explain "
    "'The chimney sweep has sick lungs'\n\nkleene teach copy --hints address --seeds 10 --iterations 1000",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (programs, checking, networks, learning, measuring):
    app.add_typer(module.commands)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    if version:
        from kleene import __version__

        typer.echo(f"kleene {__version__}")
        raise typer.Exit()


def main() -> None:
    """Run the command line; every error is one clear message on stderr and exit status 2."""
    debug = "--debug" in sys.argv
    try:
        app(prog_name="kleene")
    except KleeneError as error:
        if debug:
            raise
        typer.echo(f"kleene: {error}", err=True)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        typer.echo(
            f"kleene: an error of Kleene's own, please report it ({type(error).__name__}: {error}). "
            f"Run again as `kleene --debug …` for the traceback.",
            err=True,
        )
        sys.exit(BAD_INPUT)
