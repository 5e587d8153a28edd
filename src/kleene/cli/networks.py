"""Commands that look into networks and machines: extract, view, explain."""

import sys
from typing import Annotated

import typer

from kleene.cli.options import FAILED, LARGEST_SEED, MANY, JsonOption
from kleene.cli.printing import new_console, print_json, rounds_shown

commands = typer.Typer()


@commands.command()
def extract(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A network in a .safetensors file, rnn:NAME, or a program to compile.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the automaton to this .json, .dot or .gv file, or draw it: .svg, .png or .pdf.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="reachable: follow every hidden vector (exact integer weights); lstar: ask any network.")
    ] = "reachable",
    minimise: Annotated[bool, typer.Option("--minimise", help="Make the automaton as small as can be.")] = False,
    max_states: Annotated[int | None, typer.Option(help="States at which to give up.", min=2, max=100_000_000)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the words that lstar tests with.", min=0, max=LARGEST_SEED)] = 0,
    as_json: JsonOption = False,
) -> None:
    """Turn a recurrent network back into a finite automaton.

    Either the automaton that it is, or one that behaves like it.
    """
    from kleene.explaining.automata.extraction import extraction

    with rounds_shown(not as_json and sys.stderr.isatty()) as progress:
        asked = {"minimise": minimise, "max_states": max_states, "seed": seed, "output": output, "progress": progress}
        found = extraction(file, method, **asked)
    if as_json:
        print_json(found.as_json())
    else:
        typer.echo(str(found))
    if found.note:
        typer.echo(f"kleene: {found.note}", err=True)
        raise typer.Exit(FAILED)


@commands.command()
def view(
    program: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM", help="dfa:REGEX, dfa:NAME, tm:NAME, FILE.py:NAME (which runs it), or a network's file."
        ),
    ],
    word: Annotated[str | None, typer.Argument(metavar="[WORD]", help="A word whose path is drawn bold.")] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="The .svg, .png or .pdf file to write.")] = None,
    dead: Annotated[bool, typer.Option("--dead/--no-dead", help="Draw states from which nothing is accepted.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Draw it even if it has too many states to be read.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Draw an automaton or a Turing machine as a diagram.

    It goes to a file, or as SVG to where the output is sent.
    """
    from kleene.viewing import view as picture_of

    printed = output is None and not as_json and not sys.stdout.isatty()
    picture = picture_of(program, word, None if printed else output or "diagram.svg", dead=dead, force=force)
    if printed:
        return typer.echo(picture.svg)
    if as_json:
        return print_json(picture.as_json())
    typer.echo(f"wrote {picture.path}")


@commands.command()
def explain(
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="A sentence; its words have spaces between them.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="An LSTM, a simple RNN or a TransformerLM in a file; one ships with Kleene.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="interdependence, or a plainer measure beside it: erasure or gradient.")
    ] = "interdependence",
    at: Annotated[str | None, typer.Option(help="Where it is taken: hidden (the default) or logits.")] = None,
    step: Annotated[
        str | None, typer.Option(help="After which word, from 0, or last; the later of each two if not given.")
    ] = None,
    layer: Annotated[
        int | None, typer.Option(help="Which layer, from 0; the top one if not given.", min=0, max=MANY)
    ] = None,
    focus: Annotated[
        str | None, typer.Option(help="Words or positions from 0: show what would come next by these alone.")
    ] = None,
    heads: Annotated[
        str | None, typer.Option(help="The sentence's tree: each word's head, from 1, and 0 for the root.")
    ] = None,
    conllu: Annotated[
        str | None, typer.Option(metavar="FILE[:N]", help="Take the Nth sentence and its tree from a CoNLL-U file.")
    ] = None,
    plot: Annotated[str, typer.Option(help="The .svg, .png or .pdf file to draw it into.")] = "interdependence.svg",
    as_json: JsonOption = False,
) -> None:
    """Show which words of a sentence a network takes together.

    Prints a table and draws a picture.
    """
    from kleene.explaining.words.explanation import explain as explain_sentence
    from kleene.explaining.words.sentences import typed_sentence
    from kleene.pictures.figures import check_picture

    check_picture(plot, "--plot")
    sentence, tree = typed_sentence(text, heads=heads, conllu=conllu)
    asked = {"at": at, "step": step, "layer": layer, "focus": focus, "heads": tree, "named": "--{}".format}
    found = explain_sentence(model, sentence, method=method, **asked)
    file = str(found.draw(plot))
    if as_json:
        return print_json(found.as_json() | {"file": file})
    new_console().print(found)
    typer.echo(f"wrote {file}")
