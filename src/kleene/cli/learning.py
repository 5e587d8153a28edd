"""Commands that teach networks and measure what was taught: teach, results, reproduce."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from kleene.cli.lesson_options import LessonCommand, complete_task, given_options, listed_tasks
from kleene.cli.options import MANY, VERY_MANY, JsonOption
from kleene.cli.printing import new_console, print_json, progress_on_stderr, tell
from kleene.cli.sweeps import NOT_FINISHED
from kleene.errors import InputError, UnfinishedError

commands = typer.Typer()


@commands.command(cls=LessonCommand)
def teach(
    context: typer.Context,
    task: Annotated[
        str | None,
        typer.Argument(
            metavar="TASK",
            help="A task of the list below; without one, list all. FILE.py:NAME, which runs that file, is a lesson, "
            "task, circuit or program of your own.",
            autocompletion=complete_task,
        ),
    ] = None,
    machine: Annotated[str | None, typer.Option(help="The machine to teach, if not the task's first.")] = None,
    hints: Annotated[
        str | None,
        typer.Option(help="Kinds of hints with commas between; none, all, FILE.py:NAME (which runs it)."),
    ] = None,
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
    checkpoint: Annotated[
        str | None, typer.Option(help="A file to keep the learners in; the same command goes on from it.")
    ] = None,
    results: Annotated[str | None, typer.Option(help="A folder to keep the measurements in.")] = None,
    model: Annotated[str | None, typer.Option(help="A file to keep the best run's machine in.")] = None,
    heads: Annotated[
        str | None,
        typer.Option(help="Draw the heads of an NTM and of its program into this picture or .html."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Serve a page on which the curves grow; its address goes to stderr.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="The port of --watch (default: one that is free).", min=1, max=65535)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Teach a machine a task, with any amount of hints.

    Many seeds and settings are taught at once. Each task has its own options: kleene teach TASK --help.
    """
    from kleene.stopping import stoppable

    if task is None:
        return _print_tasks(as_json)
    if port is not None and not watch:
        raise InputError("--port is the port of the page; add --watch, or leave it out")
    with stoppable("stopped before anything was taught"):
        from kleene.teaching.loop import use_all_cores
        from kleene.teaching.reports import summary_of
        from kleene.teaching.teach import teach

        use_all_cores()
        page = _page(port) if watch else None
        with _bar(not as_json) as bar:
            taught = teach(
                task,
                machine=machine,
                hints=hints,
                density=_numbers("density", density),
                strength=None if strength is None else _numbers("strength", strength),
                seeds=seeds,
                first_seed=first_seed,
                iterations=iterations,
                test_every=test_every,
                stop_after=stop_after,
                checkpoint=checkpoint,
                results=results,
                model=model,
                heads=heads,
                on_plan=lambda plan: _begin(plan, page, bar),
                on_test=lambda now: bar.show(now.iteration, summary_of(now.tests[-1])),
                on_learners=None if page is None else page.tested,
                **given_options(context),
            )
        if page is not None:
            page.end(taught.report.progress, summary_of(taught.report.progress.tests[-1]))
    if as_json:
        print_json(taught.as_json())
    else:
        new_console().print(taught.report.table())
        typer.echo(taught.report.speed + ("" if taught.stored is None else f"; kept in {taught.stored}"))
    if taught.failure is not None:
        raise taught.failure


def _print_tasks(as_json: bool) -> None:
    """List the tasks of each machine."""
    from rich.table import Table

    from kleene.teaching.makers import tasks_by_machine

    if as_json:
        return print_json(tasks_by_machine())
    table = Table("machine", "tasks", box=None, header_style="bold")
    for machines, names in listed_tasks():
        table.add_row(machines, names)
    new_console().print(table)
    typer.echo("FILE.py:NAME is a lesson, task, circuit or program of your own. Options: kleene teach TASK --help")


def _page(port: int | None) -> Any:
    """The page of --watch, which is served once the plan is known."""
    from kleene.watching.live.lessons import TeachingWatch

    return TeachingWatch(lambda line: typer.echo(f"kleene: {line}", err=True), port=port)


def _begin(plan: Any, page: Any, bar: "_Bar") -> None:
    if page is not None:
        page.begin(plan)
    bar.begin(f"{plan.runs} runs: compiling", plan.iterations)


def _numbers(name: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--{name} is {text!r}; give a number, or several with commas, such as 1,0.1") from None


class _Bar:
    """A progress bar on stderr; nothing is drawn before `begin`."""

    def __init__(self, progress: Any) -> None:
        self.progress, self.task = progress, None

    def begin(self, description: str, total: float | None) -> None:
        self.task = self.progress.add_task(description, total=total)

    def show(self, completed: float, description: str) -> None:
        self.progress.update(self.task, completed=completed, description=description)


@contextmanager
def _bar(shown: bool) -> Iterator[_Bar]:
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    percent = TextColumn("{task.percentage:3.0f}%")
    columns = (TextColumn("{task.description}"), BarColumn(), percent, TimeRemainingColumn())
    with progress_on_stderr(*columns, shown=shown and sys.stderr.isatty()) as progress:
        yield _Bar(progress)


@commands.command()
def results(
    folder: Annotated[
        str,
        typer.Argument(metavar="FOLDER", help="Where `kleene teach --results`, `reproduce` or `sweep` kept them."),
    ] = "results",
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only runs with hints=address, density>=0.1, hints!=none, task=copy,reverse; repeatable."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Settings to merge runs by, with commas; by default only seeds are merged, with run nothing."
        ),
    ] = None,
    pivot: Annotated[str | None, typer.Option(metavar="ROWS,COLUMNS", help="A table of two settings.")] = None,
    value: Annotated[
        str | None, typer.Option(help="The measurement that --pivot or --plot shows; generalises by default.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: JsonOption = False,
    plot: Annotated[
        str | None,
        typer.Option(help="A .svg, .png, .pdf or .html file for curves, or with --pivot for a heat map."),
    ] = None,
) -> None:
    """List, filter, group and draw what was taught."""
    from kleene.pictures.figures import check_picture
    from kleene.sweeping.results import results

    if as_csv and as_json:
        raise InputError("--csv and --json both say what to print; give one of them")
    if by is not None and pivot is not None:
        raise InputError("--by and --pivot both say how to group runs; give one of them")
    if value is not None and pivot is None and plot is None:
        raise InputError("--value says what --pivot or --plot shows; give one of these, or leave --value out")
    if plot is not None:
        check_picture(plot, "--plot")
    found = results(folder)
    for problem in found.damaged:
        typer.echo(f"kleene: passed over: {problem}", err=True)
    if not (where or as_csv) and by is pivot is plot is None:
        return print_json(found.as_json()) if as_json else _print_listing(found, found.line)
    view: Any = found.view(where or (), by, pivot, value)
    for problem in set(found.runs.damaged) - set(found.damaged):
        typer.echo(f"kleene: passed over: {problem}", err=True)
    if plot is not None:
        view.draw(plot) if pivot is not None or value is None else view.draw(plot, value)
    if as_csv:
        typer.echo(view.csv(), nl=False)
    elif as_json:
        print_json(view.as_json())
    else:
        _print_listing(view, found.line)
        typer.echo("" if plot is None else f"drawn in {plot}\n", nl=False)


def _print_listing(listing: Any, *lines: str) -> None:
    """Print lines, those of the listing too, and its table."""
    for line in filter(None, (*lines, listing.heading)):
        typer.echo(line)
    for table in listing.tables():
        new_console().print(table)


@commands.command()
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A table or figure (traces-figure-9b), or a text: alta, notes, traces, compose, earlier, ours. "
            "Without a name, all texts are listed with our verdicts.",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option("--run", metavar="quick|full", help="Measure it anew: at a size for a CPU, or at the paper's."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Draw the stored picture: .svg, .png, .pdf or .html."),
    ] = None,
    folder: Annotated[str, typer.Option(help="Where --run puts the .json and the picture.")] = "results",
    iterations: Annotated[
        int | None, typer.Option(help="Updates of each run; by default as the size says.", max=VERY_MANY)
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A language model to look at instead of teaching one (compose-figure-3).")
    ] = None,
    networks: Annotated[
        int | None,
        typer.Option(
            help="How many networks of each kind (compose-figure-3), or of each corpus (compose-figure-7a).", max=MANY
        ),
    ] = None,
    corpora: Annotated[
        int | None,
        typer.Option(help="How many corpora for each condition (compose-figure-7a, compose-figure-11).", max=MANY),
    ] = None,
    first_seed: Annotated[
        int | None, typer.Option(help="The first of the seeds; 0 by default (traces-figure-9a …).", max=2**32 - 1)
    ] = None,
    piece: Annotated[
        str | None, typer.Option(metavar="i/n", help="Run only the i-th of n parts of the runs (as --first-seed).")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="Stop at a checkpoint after so many minutes; the same command goes on (as --first-seed)."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a table or figure of the papers, our numbers beside theirs, or measure it anew.

    The stored result comes at once: verdict, tables, where it comes from, and how to run it again with --run. The
    results are those of the package kleene-papers. Without a name, or with that of a text, list tables, figures and
    theorems. A verdict is holds, weaker, fails, untestable, or open: what shows it is here, but was not run at a size
    that says anything, or it depends on what the paper leaves out.
    The exit status is 3 if --piece or --minutes left runs for later.
    """
    from kleene.reproducing import papers

    asked = {"iterations": iterations, "model": model, "networks": networks, "corpora": corpora}
    asked |= {"first_seed": first_seed, "piece": piece, "minutes": minutes}
    given = {option: value for option, value in asked.items() if value is not None}
    if name is None or name in papers().texts():
        _refuse_without_a_result(name, given | {"run": size, "output": output})
        if as_json:
            return print_json(papers().records(name))
        return new_console().print(*papers().tables(name), sep="\n\n")
    if size is not None and output is not None:
        raise InputError("-o draws the stored picture, and --run puts a picture into --folder; give one of them")
    found = _measured(name, size, folder, given, not as_json)
    if output is not None:
        found.draw(output)
    if as_json:
        return print_json(found.as_json())
    typer.echo("\n".join(found.head()))
    for table in found.tables():
        new_console().print("", table)
    typer.echo("\n".join(["", *found.foot()]))
    if output is not None:
        typer.echo(f"drawn in {output}")


def _measured(name: str, size: str | None, folder: str, given: Mapping[str, Any], shown: bool) -> Any:
    """The stored result of that name, or with a size a new one."""
    from kleene.reproducing import reproduce
    from kleene.stopping import stoppable
    from kleene.teaching.loop import use_all_cores

    if size is None:
        return reproduce(name, **given)
    try:
        with stoppable("stopped before anything was taught"):
            use_all_cores()
            with _bar(shown) as bar:
                return reproduce(
                    name,
                    run=size,
                    folder=folder,
                    on_begin=lambda trial: bar.begin(f"{name}: compiling" if trial.plans else name, 1.0),
                    watch=lambda share, line: bar.show(share, f"{name}: {line}"),
                    **given,
                )
    except UnfinishedError as left:
        tell(str(left))
        raise typer.Exit(NOT_FINISHED) from left


def _refuse_without_a_result(text: str | None, asked: Mapping[str, Any]) -> None:
    for option, value in asked.items():
        if value is not None:
            typed = f"--{option.replace('_', '-')}"
            raise InputError(f"{typed} is for one table or figure: kleene reproduce {text or 'alta'}-… {typed} …")
