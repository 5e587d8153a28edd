"""Commands that show Kleene itself: bench (speed, memory and size) and demo (programs beside their networks)."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from kleene.cli.options import FAILED, INTERRUPTED, JsonOption
from kleene.cli.printing import new_console, print_json, progress_on_stderr, tell

commands = typer.Typer()


@commands.command()
def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="alta, automata, cold, interdependence, learnability, scan, sweep or teach; by default all of them.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller sizes: all benchmarks in some minutes on two cores.")
    ] = False,
    plot: Annotated[
        str | None, typer.Option(help="Draw how the cost grows with the size into this .svg, .png, .pdf or .html.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the table as a page, .html, or as .json."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure speed, memory and size, and print them as one table, peers' beside ours.

    A peer is measured in the same run, where it is installed; the ratio says how many times better ours is. Without
    --quick, SCAN alone takes about a quarter of an hour on two cores. A benchmark that fails is named, and the others
    go on; Ctrl-C leaves what was measured. Only benchmarks of Kleene's own checkout are run, from any folder.
    """
    from kleene import benchmarking
    from kleene.benched import bench as run_benchmarks
    from kleene.benched import check_table_file
    from kleene.pictures.figures import check_picture

    if plot is not None:
        check_picture(plot, "--plot")  # a bad name fails before the measurements begin
    if output is not None:
        check_table_file(output)
    files = benchmarking.chosen(names or [])
    with _rows_shown(len(files), not as_json and sys.stderr.isatty()) as watch:
        found = run_benchmarks(files, quick=quick, watch=watch, kept=output)
    if as_json:
        print_json(found.as_json())
    else:
        new_console().print(found.table())
    for name, why in found.failures.items():
        tell(f"kleene: the benchmark {name} failed: {why}")
    if found.stopped:
        tell("kleene: stopped; this was measured before")
    if plot is not None:  # last, because there may be nothing to draw
        from kleene.pictures.plots import cost_curves

        cost_curves(found.as_json(), plot, title=f"kleene bench {' '.join(files)}")
    if found.stopped or found.failures:
        raise typer.Exit(INTERRUPTED if found.stopped else FAILED)


@contextmanager
def _rows_shown(total: int, shown: bool) -> Iterator[Any]:
    """A function to call with a benchmark and each of its rows; a line on stderr follows it if `shown`."""
    from rich.progress import MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with progress_on_stderr(*columns, shown=shown) as bar:
        task = bar.add_task("benchmarks", total=total, completed=-1)

        def watch(name: str, row: Any) -> None:
            told = "" if row is None else f": {row['name']}, {row['value']:.4g} {row['unit']}"
            bar.update(task, advance=row is None, description=f"{name}{told}", refresh=True)

        yield watch


@commands.command()
def demo() -> None:
    """Show programs and their networks run side by side."""
    show_demo(new_console())


def show_demo(console: Any) -> None:
    """Compile programs of every kind, run program and network side by side, and print a certificate."""
    import kleene
    from kleene.programs.alta.library import get
    from kleene.programs.alta.library.scan_language import interpret
    from kleene.traces.tables import as_table

    console.rule("1. Parity: the program and the network compiled from it, on 1 0 1")
    entry = get("parity_relative")
    program = entry.build()
    started = time.perf_counter()
    network = kleene.compile(program)
    compiled_in = time.perf_counter() - started
    tokens = entry.read(["1", "0", "1"])
    left, right = program.run(tokens), network.run(tokens)
    console.print(as_table(left, right, title="START 1 0 1: every variable, layer by layer (undefined: ·)"))
    console.print(
        f"the two traces are {'equal' if left == right else 'DIFFERENT'}; compiled in {compiled_in * 1000:.0f} ms"
    )
    _print_size(console, network)

    console.rule("2. Addition: two numbers of 30 digits, added inside the network")
    entry = get("addition")
    started = time.perf_counter()
    program = entry.build()
    network = kleene.compile(program)
    compiled_in = time.perf_counter() - started
    a, b = 314159265358979323846264338327, 987654321098765432109876543219
    tokens = entry.read([str(a), str(b)])
    started = time.perf_counter()
    trace = network.run(tokens)
    ran_in = time.perf_counter() - started
    answer = entry.show(tokens, trace.output)
    console.print(
        f"  {a:>32,}\n+ {b:>32,}\n= {answer:>32,}   ({'right' if answer == a + b else 'WRONG'})", highlight=False
    )
    same = program.run(tokens) == trace
    console.print(
        f"{trace.steps} layers in {ran_in * 1000:.0f} ms; compiled in {compiled_in * 1000:.0f} ms; "
        f"trace {'equal to' if same else 'DIFFERENT FROM'} the program's"
    )
    _print_size(console, network)
    console.rule("3. SCAN: a command decoded inside the network, and why to believe it")
    entry = get("scan")
    program = entry.build()
    network = kleene.compile(program)
    command = "run around right thrice after jump around left thrice"
    tokens = entry.read([command])
    trace = network.run(tokens)
    actions = entry.show(tokens, trace.output)
    console.print(f"{command}\n→ {actions}", highlight=False)
    obeyed = actions == interpret(command)
    console.print(f"{trace.steps} layers; {'right' if obeyed else 'WRONG'}")
    _print_size(console, network)
    certificate = kleene.certify(network, length=100)
    console.print(str(certificate), highlight=False)
    alike = _recurrent(console)
    apart = _language_model(console)
    if answer != a + b or not same or left != right or not obeyed or not certificate or not alike or not apart:
        raise SystemExit(1)
    console.rule("Next")
    console.print(
        "kleene list · kleene run subleq 9 11 -1 0 0 0 0 0 0 7 0 0 --compiled --trace · kleene check --all\n"
        'kleene explain "The chimney sweep has sick lungs" --heads "3 3 4 0 6 4"\n'
        "kleene watch addition 789 456 --both · docs/tour.md: write a program of your own and watch it"
    )


def _recurrent(console: Any) -> bool:
    """Show an automaton and a Turing machine inside recurrent networks; returns whether both are right."""
    import kleene
    from kleene.programs.turing.library import get

    console.rule("4. A regular expression and a Turing machine, as recurrent networks with exact weights")
    even = kleene.DFA.from_regex("(0|10*1)*")
    network = kleene.compile(even)
    back = kleene.extract(network).minimise()
    console.print(
        f"(0|10*1)* → automaton of {len(even.states)} states → network of {network.size.hidden_units} units → "
        f"automaton of {len(back.states)} states, "
        f"{'the same language' if back.equivalent(even) else 'ANOTHER LANGUAGE'}",
        highlight=False,
    )
    machine = get("palindrome").build()
    turing = kleene.compile(machine)
    run, expected = turing.run("abba"), machine.run("abba")
    console.print("\n".join(run.lines(most=8)), highlight=False, markup=False)
    console.print(
        f"{run.verdict} after {run.steps} steps in a network of {turing.size.hidden_units} units; every configuration "
        f"{'equal to' if run == expected else 'DIFFERENT FROM'} the machine's\n",
        highlight=False,
    )
    return back.equivalent(even) and run == expected and run.verdict == "accept"


def _language_model(console: Any) -> bool:
    """Show what a subject contributes to a language model's choice of the verb; returns whether it is as expected."""
    import numpy as np

    from kleene.explaining import decompose_batch
    from kleene.machines.pretrained import grammar_model
    from kleene.tasks.lexicon import PEOPLE, nouns

    console.rule("5. A language model taken apart: which noun decides between 'laughs' and 'laugh'?")
    model, pairs = grammar_model(), [(noun.singular, noun.plural) for noun in nouns(PEOPLE) if not noun.after]
    sentences = [f"the {noun} near the houses".split() for pair in pairs for noun in pair]
    relevant = [found.logits[-1] for found in decompose_batch(model, sentences, [1] * len(sentences))]
    laughs, laugh = (model.vocabulary.index(form) for form in ("laughs", "laugh"))
    adds = np.array([logits[laughs] - logits[laugh] for logits in relevant]).reshape(-1, 2)
    singular, plural = pairs[0]
    console.print(
        f"the {singular} near the houses, or the {plural}: in a small LSTM, by contextual decomposition,\n"
        f"{singular!r} alone adds {adds[0, 0]:+.2f} to 'laughs' over 'laugh', {plural!r} {adds[0, 1]:+.2f}; "
        f"the singular adds more in {(adds[:, 0] > adds[:, 1]).sum()} of {len(pairs)} such pairs\n",
        highlight=False,
    )
    return bool((adds[:, 0] > adds[:, 1]).mean() > 0.9)


def _print_size(console: Any, network: Any) -> None:
    size = network.size
    console.print(
        f"network: {size.hidden_units} hidden units, {size.residual_dims} residual dimensions, {size.heads} heads, "
        f"{size.parameters:,} parameters ({size.nonzero:,} not zero)\n",
        highlight=False,
    )
