"""`kleene` on the command line: it parses words, calls one verb of the library and prints what comes back.

Heavy modules are imported inside the commands, so that `kleene --help` answers at once.
"""

import sys
from functools import cache
from typing import Annotated, Any

import typer

from kleene.cli import (
    checking,
    exercises,
    explaining,
    exporting,
    groundtruth,
    judging,
    learning,
    machine,
    programs,
    showing,
    sweeps,
    watching,
)
from kleene.cli.options import BAD_INPUT, INTERRUPTED
from kleene.cli.printing import OutputError, check_arguments, guarded_streams, tell
from kleene.errors import KleeneError

app = typer.Typer(
    name="kleene",
    help="A laboratory for neural computation: write an algorithm, compile it into exact network weights, "
    "and watch program and network run side by side.",
    epilog="Start with: kleene list\n\nkleene run addition 789 456 --compiled\n\nkleene explain "
    "'The chimney sweep has sick lungs'\n\nkleene teach copy --hints address --seeds 10 --iterations 1000\n\n"
    "FILE.py:NAME runs FILE.py as Python, as `python FILE.py` does. No other file is run: all others are only read.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (
    programs,
    explaining,
    exporting,
    watching,
    checking,
    learning,
    sweeps,
    judging,
    groundtruth,
    exercises,
    showing,
    machine,
):
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


@cache  # a process that runs several commands builds them once
def _command() -> Any:
    return typer.main.get_command(app)


def _leave() -> None:
    """End an interrupted process at once, because XLA's threads may still be at work."""
    from kleene.stopping import leave

    leave()


def main() -> None:
    """Run the command line; every error is one clear message on stderr and exit status 2."""
    debug = "--debug" in sys.argv
    try:
        with guarded_streams():
            check_arguments(sys.argv[1:])
            sys.argv[1:] = sweeps.spelled_out(sys.argv[1:])
            _command()(prog_name="kleene")
    except KleeneError as error:
        if debug:
            raise
        if not (isinstance(error, OutputError) and error.unread):
            tell(f"kleene: {error}")
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        _leave()
    except SystemExit as left:
        if left.code == INTERRUPTED:  # Typer's status after Ctrl-C
            _leave()
        raise
    except Exception as error:
        if debug:
            raise
        tell(f"kleene: {_message(error)}")
        sys.exit(BAD_INPUT)


def _message(error: Exception) -> str:
    """One message for an error that is not a `KleeneError`: too little memory, or a bug of ours."""
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        return f"there is not enough memory for this; use a smaller size ({error or 'it ran out'})"
    return (
        f"an error of Kleene's own, please report it ({type(error).__name__}: {error}). "
        f"Run again as `kleene --debug …` for the traceback."
    )
