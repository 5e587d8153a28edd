"""The command that judges explanations against known truths: judge."""

import sys
from dataclasses import replace
from typing import Annotated, Any

import typer

from kleene.cli.groundtruth import complete_entry
from kleene.cli.options import LARGEST_SEED, MANY, JsonOption, complete_transformer
from kleene.cli.printing import print_json

commands = typer.Typer()


@commands.command()
def judge(
    methods: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METHOD]...",
            help="Measures of interaction, such as di_hidden or erasure, methods for circuits, such as acdc or eap, or "
            "FILE.py:NAME (which runs that file), a function of your own; by default all of Kleene's.",
        ),
    ] = None,
    of: Annotated[
        str | None, typer.Option(metavar="interactions|circuits", help="Judge all methods of one; by default of both.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Four languages, two seeds, eight small programs: minutes on two cores.")
    ] = False,
    words: Annotated[
        int | None,
        typer.Option(help="Words to judge on, for each language; pairs of inputs, for each program.", max=MANY),
    ] = None,
    length: Annotated[
        int | None,
        typer.Option(help="Symbols of a word; from 17 on, some interactions are estimated.", min=3, max=40),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Taught networks of each kind and language; 0 for compiled ones alone.", max=100)
    ] = None,
    hide: Annotated[
        int | None, typer.Option(help="Hidden networks of each compiled one; 0 for none.", min=0, max=100)
    ] = None,
    families: Annotated[
        list[str] | None,
        typer.Option("--family", metavar="NAME", help="Judge only on networks such as 'taught LSTM'; may be repeated."),
    ] = None,
    programs: Annotated[
        list[str] | None,
        typer.Option(
            "--program",
            metavar="NAME",
            help="Judge circuits on this transformer or RASP program; may be repeated.",
            autocompletion=complete_transformer,
        ),
    ] = None,
    networks: Annotated[
        list[str] | None,
        typer.Option(
            "--network",
            metavar="NAME",
            help="Judge on this network of `kleene groundtruth list`, such as rasp.hist.hidden, and on no family; it "
            "is built if it is not there; may be repeated.",
            autocompletion=complete_entry,
        ),
    ] = None,
    taught: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Judge circuits on the taught networks in this folder, in place of those that come with Kleene.",
        ),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Updates of each taught network.", min=1, max=MANY)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the words and the first of the networks.", max=LARGEST_SEED)] = 0,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the tables as a page, an .html file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge explanations against the truth: how inputs interact, and which circuits compute the output.

    A measure of interaction of your own takes a network and a list of words, and returns scores [word, i, j]. A method
    for circuits takes a network, inputs and as many other inputs, and returns scores [destinations, sources] or
    [sources].
    """
    from kleene.stopping import stoppable

    with stoppable("stopped before anything was judged"):
        from kleene.files import write_atomically
        from kleene.groundtruth.judging.judge import (
            FULL,
            FULL_CIRCUITS,
            QUICK,
            QUICK_CIRCUITS,
            meant_methods,
            wanted_families,
        )
        from kleene.groundtruth.judging.judge import judge as judged
        from kleene.groundtruth.judging.judged import check_page, saved_page
        from kleene.teaching.loop import use_all_cores

        chosen = meant_methods(methods or (), of)
        given = {"words": words, "length": length, "seeds": seeds, "iterations": iterations, "hide": hide}
        size = replace(QUICK if quick else FULL, **_given(given))
        asked = (
            {"words": words, "taught": taught, "programs": tuple(programs or ()) or None} if chosen["circuits"] else {}
        )
        circuits = replace(QUICK_CIRCUITS if quick else FULL_CIRCUITS, **_given(asked))
        wanted_families(families or (), {"interactions": size, "circuits": circuits}, chosen)
        if output is not None:
            check_page(output)
        use_all_cores()
        shown = not as_json and sys.stderr.isatty()
        every = chosen["interactions"] | chosen["circuits"]
        where = {"families": families or (), "networks": networks or (), "seed": seed}
        found = judged(every, size=size, circuits=circuits, **where, on_network=_tell if shown else None)
        if shown:
            _tell("")
        if output is not None:
            write_atomically(output, saved_page(found))
    if as_json:
        return print_json(found.as_json())
    typer.echo(str(found))


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _tell(line: str) -> None:
    """Show a line on stderr in place of the one before."""
    typer.echo(f"\r\x1b[2K{line}", err=True, nl=False)
