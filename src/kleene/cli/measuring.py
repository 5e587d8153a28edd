"""Commands that show Kleene itself: bench, demo."""

import sys
from typing import Annotated

import typer

from kleene.cli.options import JsonOption
from kleene.cli.printing import new_console, print_json

commands = typer.Typer()


@commands.command()
def bench(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Which benchmark: alta, scan, automata, teach, interdependence or cold."),
    ] = "alta",
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sizes, for a quick look.")] = False,
    plot: Annotated[
        str | None, typer.Option(help="Draw how the cost grows with the size into this .svg, .png or .pdf.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure speed, memory and size, and print them as a table.

    Only benchmarks of Kleene's own checkout are run, from any folder.
    """
    from kleene.benchmarking import run_benchmark
    from kleene.pictures.figures import check_picture

    if plot is not None:
        check_picture(plot, "--plot")  # before what takes long
    rows = run_benchmark(name, quick=quick, progress=not as_json and sys.stderr.isatty())
    if plot is not None:
        from kleene.pictures.plots import cost_curves

        cost_curves(rows, plot, title=f"kleene bench {name}")
    if as_json:
        return print_json(rows)
    from rich.table import Table

    table = Table("measurement", "value", "unit", "remark", box=None, header_style="bold")
    for row in rows:
        value = row["value"]
        shown = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}"
        table.add_row(row["name"], shown, row["unit"], row.get("remark", ""))
    new_console().print(table)


@commands.command()
def demo() -> None:
    """Show programs and their networks run side by side."""
    from kleene.cli.demo import demo as show

    show(new_console())
