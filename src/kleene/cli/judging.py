"""The command that judges explanations against known truths: judge."""

import sys
from dataclasses import replace
from typing import Annotated

import typer

from kleene.cli.options import LARGEST_SEED, MANY, JsonOption
from kleene.cli.printing import print_json

commands = typer.Typer()


@commands.command()
def judge(
    methods: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[METHOD]...",
            help="Measures of interaction, such as di_hidden, erasure or integrated_hessians, or FILE.py:NAME (which "
            "runs that file), a function of your own; by default all of Kleene's.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Four languages, two seeds: minutes on two cores.")] = False,
    words: Annotated[int | None, typer.Option(help="Words to judge on, for each language.", min=1, max=MANY)] = None,
    length: Annotated[
        int | None, typer.Option(help="Symbols of a word; from 17 on, some truths are estimated.", min=3, max=40)
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
    iterations: Annotated[int | None, typer.Option(help="Updates of each taught network.", min=1, max=MANY)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the words and the first of the networks.", max=LARGEST_SEED)] = 0,
    as_json: JsonOption = False,
) -> None:
    """Judge measures of how inputs interact against the true interactions, on compiled, hidden and taught networks.

    A method of your own takes a network and a list of words, and returns scores [word, i, j].
    """
    from kleene.stopping import stoppable

    with stoppable("stopped before anything was judged"):
        from kleene.experiments.judge import FULL, QUICK, chosen_measures
        from kleene.experiments.judge import judge as judged
        from kleene.experiments.judged_networks import checked_families
        from kleene.teaching.loop import use_all_cores

        measures = chosen_measures(methods or ())
        use_all_cores()
        given = {"words": words, "length": length, "seeds": seeds, "iterations": iterations, "hide": hide}
        size = replace(QUICK if quick else FULL, **{key: value for key, value in given.items() if value is not None})
        checked_families(size, families or ())
        shown = not as_json and sys.stderr.isatty()
        found = judged(
            measures if methods else (),
            size=size,
            seed=seed,
            families=families or (),
            on_network=_tell if shown else None,
        )
        if shown:
            _tell("")
    if as_json:
        return print_json(found.as_json())
    typer.echo(str(found))


def _tell(line: str) -> None:
    """Show a line on stderr in place of the one before."""
    typer.echo(f"\r\x1b[2K{line}", err=True, nl=False)
