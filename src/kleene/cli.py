"""`kleene` on the command line: a thin door to the library.

Everything heavy is imported inside the commands, so that `kleene --help` answers at once.
"""

import json
import shlex
import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from kleene.errors import KleeneError

app = typer.Typer(
    name="kleene",
    help="A laboratory for neural computation: write an algorithm, compile it into exact network weights, "
    "and watch program and network run side by side.",
    epilog="Start with: kleene list · kleene run addition 789 456 --compiled · "
    "kleene run parity_relative 1 0 1 --trace",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

FAILED, BAD_INPUT = 1, 2

ProgramArgument = Annotated[
    str,
    typer.Argument(metavar="PROGRAM", help="A program of the library, FILE.py:NAME, or a compiled .safetensors file."),
]
SourceArgument = Annotated[str, typer.Argument(metavar="PROGRAM", help="A program of the library, or FILE.py:NAME.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs to read.")]
DtypeOption = Annotated[str, typer.Option(help="Number type of the network: float32, float64 or bfloat16.")]
RulesOption = Annotated[str, typer.Option(help="Hidden units: compact (few) or paper (one a transition rule).")]
ActivationOption = Annotated[
    str, typer.Option(help="Activation: clipped, or relu (two plain units for each clipped one).")
]


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    if version:
        from kleene import __version__

        typer.echo(f"kleene {__version__}")
        raise typer.Exit()


@app.command("list")
def list_programs(as_json: JsonOption = False) -> None:
    """Show the programs of the library, with an input to try each on."""
    from kleene.programs.alta.library import entries

    found = [{"name": e.name, "summary": e.summary, "example": list(e.example)} for e in entries().values()]
    if as_json:
        return _print_json(found)
    from rich.table import Table

    table = Table("program", "what it does", "try", box=None, header_style="bold")
    for row in found:
        words = " ".join(shlex.quote(w) for w in row["example"])
        table.add_row(row["name"], row["summary"], f"kleene run {row['name']} {words}")
    _console().print(table)


@app.command(context_settings={"ignore_unknown_options": True})  # so that -7 is a number, not an option
def run(
    program: ProgramArgument,
    words: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="The input, as `kleene list` shows it, or tokens.")
    ],
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Run the compiled network instead of the program.")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show every variable at every layer and position.")] = False,
    max_layers: Annotated[int | None, typer.Option(help="Layers to run at most.")] = None,
    dtype: DtypeOption = "float32",
    rules: RulesOption = "compact",
    as_json: JsonOption = False,
) -> None:
    """Run a program, or the network compiled from it, on an input."""
    from kleene.running import run_named

    for word in words:
        if word.startswith("--"):
            raise typer.BadParameter(f"there is no option {word}; see kleene run --help")
    outcome = run_named(program, words, compiled=compiled, max_layers=max_layers, dtype=dtype, rules=rules)
    if as_json:
        return _print_json(outcome.as_json(with_trace=trace))
    console = _console()
    if trace:
        from kleene.traces.tables import as_table

        console.print(as_table(outcome.trace))
    shown = outcome.output
    console.print(_words(shown) if isinstance(shown, list) else str(shown), highlight=False, soft_wrap=True)
    what = "network" if outcome.compiled else "program"
    state = "halted" if outcome.trace.halted else "ran"
    console.print(f"{what} {state} after {outcome.trace.steps} layers in {outcome.seconds * 1000:.0f} ms", style="dim")


@app.command("compile")
def compile_command(
    program: SourceArgument,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the network to this .safetensors file.")
    ] = None,
    dtype: DtypeOption = "float32",
    rules: RulesOption = "compact",
    activation: ActivationOption = "clipped",
    as_json: JsonOption = False,
) -> None:
    """Compile a program into the weights of a Universal Transformer."""
    from kleene.running import compile_named

    network, measured = compile_named(program, dtype=dtype, rules=rules, activation=activation)
    if output is not None:
        network.save(output)
        measured["file"] = output
    if as_json:
        return _print_json(measured)
    _print_facts(measured)


@app.command()
def check(
    program: Annotated[
        str | None, typer.Argument(metavar="[PROGRAM]", help="A program of the library, or FILE.py:NAME.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check every program of the library.")] = False,
    samples: Annotated[int, typer.Option(help="How many short and how many random inputs to try.", min=1)] = 50,
    max_length: Annotated[int, typer.Option(help="Size of the random inputs at most.", min=1)] = 10,
    random_programs: Annotated[int, typer.Option("--random", help="Check so many random programs instead.", min=0)] = 0,
    resume: Annotated[
        str | None, typer.Option(help="With --random: a file to keep the tally in, and to go on from.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="With --random: processes to share the work; all cores, if there is much.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random inputs, or of the random programs.")] = 0,
    dtype: DtypeOption = "float32",
    rules: RulesOption = "compact",
    activation: ActivationOption = "clipped",
    as_json: JsonOption = False,
) -> None:
    """Check that program, network and an independent reference have the same traces. Exit status 1 if not."""
    from kleene.running import check_named

    if (program is not None) + everything + (random_programs > 0) != 1:
        raise typer.BadParameter("give a PROGRAM to check, or --all, or --random N")
    if random_programs:
        return _check_random(random_programs, seed, workers, resume, as_json)
    options: dict[str, Any] = {"dtype": dtype, "rules": rules, "activation": activation}
    reports = check_named(
        program,
        samples=samples,
        max_length=max_length,
        seed=seed,
        progress=not as_json and sys.stderr.isatty(),
        **options,
    )
    agree, of = sum(r.agree for r in reports), sum(r.of for r in reports)
    first = next((r.first_disagreement for r in reports if r.first_disagreement), None)
    if as_json:
        programs = [r.as_json() for r in reports]
        _print_json({"agree": agree, "of": of, "first_disagreement": first, "programs": programs})
    else:
        for report in reports:
            mark = "agree" if report else "DISAGREE"
            typer.echo(f"{report.program:26} {report.agree:5} of {report.of:5} {mark}  ({report.seconds:.1f} s)")
        typer.echo(f"{agree} of {of} inputs: program, network and reference have the same trace")
        if first:
            typer.echo(f"first disagreement: {first}", err=True)
    if agree != of:
        raise typer.Exit(FAILED)


def _check_random(programs: int, seed: int, workers: int | None, resume: str | None, as_json: bool) -> None:
    from kleene.running import fuzz_with_progress

    tally = fuzz_with_progress(programs, seed, workers, resume, progress=not as_json and sys.stderr.isatty())
    compared = tally.done - tally.refused
    if as_json:
        first = tally.failures[0]["what"] if tally.failures else None
        _print_json({"agree": tally.agree, "of": compared, "first_disagreement": first} | asdict(tally))
    else:
        typer.echo(
            f"{tally.agree:,} of {compared:,} random programs agree on {tally.inputs:,} inputs (seed {tally.seed}; "
            f"{tally.refused:,} refused for their number type) in {tally.seconds:,.0f} s"
        )
        for failure in tally.failures[:3]:
            typer.echo(
                f"program {failure['program']}, {failure['way']}, input {failure['input']}: {failure['what']}", err=True
            )
            typer.echo(failure["source"], err=True)
    if tally.failures:
        raise typer.Exit(FAILED)


@app.command(context_settings={"ignore_unknown_options": True})
def decode(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM", help="addition_decoded, induction_decoded, or FILE.py:NAME.")
    ],
    words: Annotated[list[str], typer.Argument(metavar="INPUT...", help="What the prompt is made of, or its tokens.")],
    compiled: Annotated[bool, typer.Option("--compiled", help="Decode with the compiled network.")] = False,
    tokens: Annotated[int | None, typer.Option(help="How many tokens to write.", min=0)] = None,
    uncached: Annotated[bool, typer.Option("--uncached", help="Compute everything anew for every token.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a program as a decoder: it writes tokens one after the other, each seen by the next."""
    from kleene.running import decode_named

    outcome = decode_named(program, words, compiled=compiled, tokens=tokens, cached=not uncached)
    if as_json:
        return _print_json(outcome)
    shown = outcome["output"]
    typer.echo(_words(shown) if isinstance(shown, list) else str(shown))


@app.command()
def certify(
    program: SourceArgument,
    length: Annotated[int, typer.Option(help="The longest input that the certificate is to speak of.", min=1)] = 100,
    dtype: DtypeOption = "float32",
    rules: RulesOption = "compact",
    activation: ActivationOption = "clipped",
    as_json: JsonOption = False,
) -> None:
    """Say why the compiled network equals the program, up to a length. Exit status 1 if that cannot be said."""
    import kleene
    from kleene.programs.lookup import find

    network = kleene.compile(find(program)[0], dtype=dtype, rules=rules, activation=activation)
    certificate = kleene.certify(network, length=length)
    if as_json:
        _print_json(certificate.as_json())
    else:
        typer.echo(str(certificate))
    if not certificate:
        raise typer.Exit(FAILED)


@app.command(context_settings={"ignore_unknown_options": True})
def rules(
    program: SourceArgument,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[INPUT]...", help="An input: count which rules fire.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Take a program apart: what each variable costs, when it is written, by which source line, and what fired."""
    from kleene.explaining import anatomy
    from kleene.programs.lookup import find
    from kleene.running import read_tokens

    found, entry = find(program)
    inputs = [entry.read(words) if entry is not None else read_tokens(words)] if words else []
    taken = anatomy(found, inputs)
    if as_json:
        return _print_json(taken.as_json())
    from rich.table import Table

    costs = Table("variable", "residual dims", "hidden units", "the paper's rules", box=None, header_style="bold")
    for cost in taken.costs:
        costs.add_row(cost.variable, *(f"{n:,}" for n in (cost.residual_dims, cost.hidden_units, cost.rules)))
    cases = Table("line", "writes", "where", *(["fired"] if inputs else []), box=None, header_style="bold")
    for c in taken.cases:
        cases.add_row(str(c.line), c.writes, c.where, *([f"{c.fired:,}"] if inputs else []))
    console = _console()
    console.print(costs)
    console.print()
    console.print(cases)


@app.command()
def bench(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which benchmark: alta, scan or automata.")] = "alta",
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sizes, for a look.")] = False,
    plot: Annotated[
        str | None, typer.Option(help="Draw how cost grows with size into this .svg, .png or .pdf.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure speed, memory and size, and print them as a table."""
    from kleene.benchmarking import run_benchmark

    rows = run_benchmark(name, quick=quick, progress=not as_json and sys.stderr.isatty())
    if plot is not None:
        from kleene.pictures.curves import cost_curves

        cost_curves(rows, plot, title=f"kleene bench {name}")
    if as_json:
        return _print_json(rows)
    from rich.table import Table

    table = Table("measurement", "value", "unit", "remark", box=None, header_style="bold")
    for row in rows:
        table.add_row(row["name"], f"{row['value']:,.4g}", row["unit"], row.get("remark", ""))
    _console().print(table)


@app.command()
def demo() -> None:
    """Compile parity and addition, and watch program and network run side by side."""
    from kleene.demo import demo as show

    show(_console())


def _console() -> Any:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 120)


def _print_json(content: Any) -> None:
    typer.echo(json.dumps(content, ensure_ascii=False, indent=None if isinstance(content, dict) else 1))


def _print_facts(facts: dict[str, Any]) -> None:
    for name, value in facts.items():
        typer.echo(f"{name:16} {value:,}" if isinstance(value, int) else f"{name:16} {value}")


def _words(values: Any) -> str:
    return " ".join(str(v) for v in values)


def main() -> None:
    """Run the command line; every error is one clear message on stderr and exit status 2."""
    debug = "--debug" in sys.argv
    try:
        app(prog_name="kleene")
    except KleeneError as error:
        if debug:
            raise
        typer.echo(f"kleene: {error}", err=True)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        typer.echo(
            f"kleene: an error of Kleene's own, please report it ({type(error).__name__}: {error}). "
            f"Run again as `kleene --debug …` for the traceback.",
            err=True,
        )
        sys.exit(BAD_INPUT)
