"""Commands that teach networks and measure what was taught: teach, results, reproduce."""

import sys
from typing import Annotated

import typer

from kleene.cli.options import MANY, VERY_MANY, JsonOption
from kleene.cli.printing import new_console, print_json

commands = typer.Typer()


@commands.command()
def teach(
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="copy, repeat_copy_twice, dyck_words, flip_3rd, repeat_flip_3d, reverse (NTM); swap, increment, "
            "permute, list_k, merge, permute_noise (NRAM); dfa:NAME or dfa:REGEX (rnn, lstm); text:FILE (lstm).",
        ),
    ],
    machine: Annotated[str | None, typer.Option(help="ntm, nram, rnn or lstm; by default the task's own.")] = None,
    hints: Annotated[str, typer.Option(help="Kinds of hints, with commas between; none, or all of them.")] = "none",
    density: Annotated[str, typer.Option(help="Share of examples that get hints; several with commas.")] = "1",
    strength: Annotated[str | None, typer.Option(help="λ, the weight of the hints; several with commas.")] = None,
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds for each setting; 10, or 1 for a text.", max=10_000)
    ] = None,
    first_seed: Annotated[int, typer.Option(help="The first of the seeds.", min=0, max=2**32 - 1)] = 0,
    iterations: Annotated[
        int | None, typer.Option(help="Updates; the paper's number if not given.", max=VERY_MANY)
    ] = None,
    test_every: Annotated[
        int | None, typer.Option(help="Updates between tests; a tenth of all.", min=1, max=VERY_MANY)
    ] = None,
    stop_after: Annotated[
        int | None, typer.Option(help="Stop once all have generalised in so many tests in a row.", min=1, max=VERY_MANY)
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Examples in an update.", min=1, max=MANY)] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="A file to keep the learners in; the same command goes on from it.")
    ] = None,
    results: Annotated[str | None, typer.Option(help="A folder to keep the measurements in.")] = None,
    hidden: Annotated[int | None, typer.Option(help="Hidden units (rnn, lstm, nram).", min=1, max=100_000)] = None,
    rate: Annotated[float | None, typer.Option(help="The learning rate; by default the task's own.")] = None,
    layers: Annotated[int | None, typer.Option(help="Layers of the LSTM (text).", min=1, max=100)] = None,
    dropout: Annotated[float | None, typer.Option(help="Share of units left out in an update (text).")] = None,
    vocabulary: Annotated[
        int | None, typer.Option(help="Know so many words at most, the most frequent ones (text).", min=2, max=10**7)
    ] = None,
    model: Annotated[str | None, typer.Option(help="A file to keep the best run's machine in.")] = None,
    heads: Annotated[
        str | None, typer.Option(help="NTM: draw the heads of program and machines into this .svg, .png or .pdf.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Teach a machine a task, with any amount of hints.

    Many seeds and settings are taught at once.
    """
    from kleene.stopping import stoppable

    lesson_options = {"batch": batch, "hidden": hidden, "learning_rate": rate}
    lesson_options |= {"layers": layers, "dropout": dropout, "vocabulary": vocabulary}
    with stoppable("stopped before anything was taught"):
        from kleene.commands.teaching import teach_named

        report, stored, failure = teach_named(
            task,
            machine=machine,
            hints=hints,
            densities=density,
            strengths=strength,
            checkpoint=checkpoint,
            results=results,
            model=model,
            heads=heads,
            stop_after=stop_after,
            progress=not as_json and sys.stderr.isatty(),
            lesson_options={name: value for name, value in lesson_options.items() if value is not None},
            seeds=seeds,
            first_seed=first_seed,
            iterations=iterations,
            test_every=test_every,
        )
    if as_json:
        print_json(report.as_json() | ({} if stored is None else {"file": str(stored)}))
    else:
        from kleene.commands.comparing import table_of

        new_console().print(table_of([report.as_json()]))
        speed = f"{report.rate:,.0f}" if report.rate >= 10 else f"{report.rate:g}"
        typer.echo(f"{speed} seed·iterations a second" + ("" if stored is None else f"; kept in {stored}"))
    if failure is not None:
        raise failure


@commands.command()
def results(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Where `kleene teach --results` or `reproduce` kept them.")
    ] = "results",
    as_json: JsonOption = False,
) -> None:
    """List and compare what was taught."""
    from kleene.commands.comparing import stored, table_of

    found, damaged = stored(folder)
    for told in damaged:
        typer.echo(f"kleene: passed over: {told}", err=True)
    if as_json:
        return print_json([{key: value for key, value in row.items() if key != "rows"} for row in found])
    new_console().print(table_of(found))


@commands.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="An experiment of a text; without one, they are listed.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="The text's own size; otherwise one for a CPU.")] = False,
    iterations: Annotated[
        int | None, typer.Option(help="Updates of each run; by default as the size says.", max=VERY_MANY)
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A language model to look at instead of teaching one, for english.")
    ] = None,
    folder: Annotated[str, typer.Option(help="Where to put the .json and the picture.")] = "results",
    as_json: JsonOption = False,
) -> None:
    """Run an experiment of the texts, our numbers beside theirs."""
    from kleene.commands.reproducing import listed, reproduce_named
    from kleene.stopping import stoppable

    if name is None:
        names = listed()
        return print_json(names) if as_json else typer.echo("\n".join(names))
    shown = not as_json and sys.stderr.isatty()
    with stoppable("stopped before anything was taught"):
        content = reproduce_named(name, full=full, folder=folder, progress=shown, iterations=iterations, model=model)
    if as_json:
        return print_json(content)
    from kleene.commands.comparing import table_of

    typer.echo(content["shows"])
    if content["settings"]:
        new_console().print(table_of([content | {"lesson": content["name"]}]))
    for line in content.get("summary", ()):
        typer.echo(line)
    typer.echo(f"kept in {folder}/{content['name']}.json and .svg")
