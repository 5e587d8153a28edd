"""The commands of the collection of networks whose algorithm is known: list, build, show."""

from typing import Annotated

import typer

from kleene.cli.options import LARGEST_SEED, JsonOption
from kleene.cli.printing import print_json, print_table

commands = typer.Typer()
groundtruth = typer.Typer(
    help="Networks whose algorithm is known: compiled, hidden and taught, each with its true circuit.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="kleene groundtruth build rasp.reverse\n\nkleene groundtruth show rasp.reverse.hidden",
)
commands.add_typer(groundtruth, name="groundtruth")


def complete_entry(incomplete: str) -> list[str]:
    """The programs and entries of the collection that begin with `incomplete`."""
    from kleene.groundtruth.catalog import names, programs

    return [name for name in (*programs(), *names()) if name.startswith(incomplete)]


NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A program of `kleene groundtruth list`, or one of its forms, such as rasp.reverse.hidden.",
        autocompletion=complete_entry,
    ),
]
FolderOption = Annotated[
    str | None, typer.Option(help="The folder of the collection (default: groundtruth in Kleene's cache folder).")
]


@groundtruth.command("list")
def list_entries(folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """List the programs of the collection, the forms that each has, and which of them are built."""
    from kleene.groundtruth.catalog import programs
    from kleene.groundtruth.places import is_built

    rows = []
    for name, known in programs().items():
        built = [form for form in known.forms if is_built(f"{name}.{form}", folder)]
        rows.append({"name": name, "family": known.family, "computes": known.summary, "forms": list(known.forms)})
        rows[-1]["built"] = built
    if as_json:
        return print_json(rows)
    marked = [" ".join(form + "*" * (form in row["built"]) for form in row["forms"]) for row in rows]
    shown = [[row["name"], row["computes"], forms] for row, forms in zip(rows, marked)]
    print_table(["program", "what it computes", "forms (* is built)"], shown)


@groundtruth.command()
def build(
    name: NameArgument,
    again: Annotated[bool, typer.Option("--again", help="Build anew what is there.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of hiding and teaching.", min=0, max=LARGEST_SEED)] = 0,
    folder: FolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build a program's networks with their true circuits: compiled and hidden, or the form that NAME ends with.

    A taught form may take minutes. What is there already is checked, and not built again.
    """
    from kleene.stopping import stoppable

    with stoppable("stopped before the entry was built"):
        from kleene.groundtruth.collection import build as built
        from kleene.teaching.loop import use_all_cores

        use_all_cores()
        found = built(name, folder=folder, again=again, seed=seed)
    if as_json:
        return print_json([entry.as_json() for entry in found])
    typer.echo("\n\n".join(str(entry) for entry in found))


@groundtruth.command()
def show(name: NameArgument, folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """Check an entry that was built, and show what it is: its card, and with --json its true circuit, too."""
    from kleene.groundtruth.collection import load

    entry = load(name, folder=folder)
    if as_json:
        return print_json(entry.as_json() | {"circuit": entry.circuit.as_json()})
    typer.echo(str(entry))
