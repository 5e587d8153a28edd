"""The command that writes a page which steps through a run: watch."""

import re
from typing import Annotated

import typer

from kleene.cli.options import MANY, DtypeOption, JsonOption, ProgramArgument
from kleene.cli.printing import print_json

commands = typer.Typer()


@commands.command(context_settings={"ignore_unknown_options": True})  # so that -7 is a number, not an option
def watch(
    program: ProgramArgument,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[INPUT]...", help="The input, as `kleene list` shows it: words, tokens or a memory."),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="The .html file to write (default: the program's name).")
    ] = None,
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Show the compiled network instead of the program.")
    ] = False,
    both: Annotated[bool, typer.Option("--both", help="Show the program and its network side by side.")] = False,
    channels: Annotated[
        str | None, typer.Option(help="Show only these channels: names or patterns, such as token,ptr_*.")
    ] = None,
    positions: Annotated[str | None, typer.Option(help="Show only these positions, such as 0-39.")] = None,
    steps: Annotated[str | None, typer.Option(help="Show only these steps or layers, such as 10-20.")] = None,
    max_layers: Annotated[
        int | None, typer.Option(help="Transformers: the greatest number of layers to run.", max=MANY)
    ] = None,
    max_steps: Annotated[
        int | None,
        typer.Option(
            help="Turing machines and circuits: how many steps to take.",
            min=0,
            max=10**12,
        ),
    ] = None,
    dtype: DtypeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a page that steps through a run.

    It is one file of HTML that needs no network: open it in a browser.
    """
    import kleene

    for word in words or ():
        if word.startswith("--"):
            raise typer.BadParameter(f"there is no option {word}; see kleene watch --help")
    page = kleene.watch(
        program, words or (), compiled=compiled, both=both, channels=channels, positions=positions, steps=steps,
        max_layers=max_layers, max_steps=max_steps, dtype=dtype,
    )  # fmt: skip
    path = page.save(output or file_name(program))
    if as_json:
        return print_json({"file": str(path), "bytes": len(page.html.encode())})
    typer.echo(f"wrote {path}: open it in a browser")


def file_name(program: str) -> str:
    """The name of the page of a program.

    >>> file_name("dfa:(a|b)*abb"), file_name("examples/caesar.py:program")
    ('dfa_a_b_abb.html', 'caesar.py_program.html')
    """
    name = re.sub(r"[^\w.-]+", "_", program.rpartition("/")[2]).strip("._-")
    return f"{name or 'watch'}.html"
