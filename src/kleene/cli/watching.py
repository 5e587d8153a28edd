"""The command that writes a page which steps through a run: watch."""

import re
from typing import Annotated, Any

import typer

from kleene.cli.options import (
    MANY,
    CausalOption,
    DtypeOption,
    EditOption,
    InputsOption,
    JsonOption,
    MaxLengthOption,
    ProgramArgument,
    VocabOption,
    adoption,
)
from kleene.cli.printing import print_json
from kleene.errors import InputError

commands = typer.Typer()


@commands.command(context_settings={"ignore_unknown_options": True})  # so that -7 is a number, not an option
def watch(
    program: ProgramArgument,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INPUT]...",
            help="The input, as `kleene list` shows it: words, tokens or a memory. Without one, a transformer program "
            "runs on a random one of the inputs that it declares.",
        ),
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
    edit: EditOption = None,
    inputs: InputsOption = None,
    dtype: DtypeOption = None,
    vocab: VocabOption = None,
    max_length: MaxLengthOption = None,
    causal: CausalOption = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Serve the page here: it runs again when the file is saved, and takes inputs."),
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="The port of --live (default: one that is free).", min=1, max=65535)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a page that steps through a run.

    It is one file of HTML that needs no network: open it in a browser. With --live it is a page of a local server.
    """
    for word in words or ():
        if word.startswith("--"):
            raise typer.BadParameter(f"there is no option {word}; see kleene watch --help")
    options = {"compiled": compiled, "both": both, "channels": channels, "positions": positions, "steps": steps}
    options |= {"max_layers": max_layers, "max_steps": max_steps, "dtype": dtype, "edits": edit or [], "inputs": inputs}
    options |= adoption(vocab, max_length, causal)
    if live:
        return _live(program, words or [], port, options, output=output, as_json=as_json)
    if port is not None:
        raise InputError("--port is the port of a live page; add --live, or leave it out")
    import kleene

    page = kleene.watch(program, words or (), **options)
    path = page.save(output or file_name(program))
    if as_json:
        return print_json({"file": str(path), "bytes": len(page.html.encode())})
    typer.echo(f"wrote {path}: open it in a browser")


def _live(program: str, words: list[str], port: int | None, options: Any, *, output: Any, as_json: bool) -> None:
    """Serve a page until Ctrl-C, and say where."""
    from kleene.watching.live.following import serve_live

    if output is not None or as_json:
        raise InputError("--live serves a page and writes none; leave -o and --json out")
    serve_live(program, words, lambda url: typer.echo(f"live at {url}\nCtrl-C ends it"), port=port, **options)


def file_name(program: str) -> str:
    """The name of the page of a program.

    >>> file_name("dfa:(a|b)*abb"), file_name("examples/caesar.py:program")
    ('dfa_a_b_abb.html', 'caesar.py_program.html')
    """
    name = re.sub(r"[^\w.-]+", "_", program.rpartition("/")[2]).strip("._-")
    return f"{name or 'watch'}.html"
