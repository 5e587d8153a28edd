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
    typer.Argument(
        metavar="PROGRAM",
        help="A program or circuit of the library, dfa:REGEX, dfa:NAME, tm:NAME, tm:FILE.tm, circuit:FILE.nram, "
        "rnn:NAME, FILE.py:NAME, or a network in a .safetensors file.",
    ),
]
TransformerArgument = Annotated[
    str, typer.Argument(metavar="PROGRAM", help="A transformer program of the library, or FILE.py:NAME.")
]
SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM",
        help="A program or circuit of the library, dfa:REGEX, dfa:NAME, tm:NAME, circuit:FILE.nram or FILE.py:NAME.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs to read.")]
# None stands for a kind's own default, so that an option that means nothing to a kind can be refused.
DtypeOption = Annotated[
    str | None,
    typer.Option(
        help="Numbers of the network: float32 (Transformers' default), float64, bfloat16, or exact (the others')."
    ),
]
RulesOption = Annotated[
    str | None, typer.Option(help="Transformers: hidden units compact (few; the default) or paper (one a rule).")
]
ActivationOption = Annotated[
    str | None, typer.Option(help="Transformers: clipped (the default) or relu. Automata: relu (the default) or slu.")
]
FormOption = Annotated[
    str | None, typer.Option(help="Automata: live transitions only (the default), or the textbook's |Q||Σ|+1 units.")
]
ConstructionOption = Annotated[
    str | None, typer.Option(help="Turing machines: compact (the default), or merged, with the text's own timing.")
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
    """Show the programs of the libraries, with an input to try each on."""
    from kleene.commands.listing import listed

    found = listed()
    if as_json:
        return _print_json([{key: row[key] for key in ("name", "summary", "example")} for row in found])
    from rich.table import Table

    table = Table("program", "what it does", "try", box=None, header_style="bold")
    kind = found[0]["kind"]
    for row in found:
        if row["kind"] != kind:
            table.add_section()
            table.add_row()
            kind = row["kind"]
        words = " ".join(shlex.quote(w) for w in row["example"])
        table.add_row(row["name"], row["summary"], f"kleene run {row['name']} {words}")
    _console().print(table)


@app.command(context_settings={"ignore_unknown_options": True})  # so that -7 is a number, not an option
def run(
    program: ProgramArgument,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[INPUT]...", help="The input, as `kleene list` shows it: words, tokens or a memory."),
    ] = None,
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Run the compiled network instead of the program.")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show what was done at every step.")] = False,
    max_layers: Annotated[int | None, typer.Option(help="Transformers: layers to run at most.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Turing machines: steps to take at most (10,000).")] = None,
    steps: Annotated[int | None, typer.Option(help="Circuits: steps to take; as many as the circuit says.")] = None,
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    form: FormOption = None,
    construction: ConstructionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a program, or the network compiled from it, on an input."""
    from kleene.commands.subjects import run_named

    for word in words or ():
        if word.startswith("--"):
            raise typer.BadParameter(f"there is no option {word}; see kleene run --help")
    given = {"max_layers": max_layers, "max_steps": max_steps, "dtype": dtype, "rules": rules}
    given |= {"form": form, "construction": construction, "steps": steps}
    outcome = run_named(program, words or (), compiled=compiled, **given)
    if as_json:
        return _print_json(outcome.as_json(with_trace=trace))
    console = _console()
    if trace:
        console.print(outcome.table(), highlight=False, markup=False)
    console.print(outcome.shown, highlight=False, soft_wrap=True, markup=False)
    console.print(outcome.closing, style="dim")


@app.command("compile")
def compile_command(
    program: SourceArgument,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the network to this .safetensors file.")
    ] = None,
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    activation: ActivationOption = None,
    form: FormOption = None,
    construction: ConstructionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compile a program into the weights of a network: a Universal Transformer, a simple RNN or an NRAM."""
    from kleene.commands.subjects import compile_named

    options = {"dtype": dtype, "rules": rules, "activation": activation, "form": form, "construction": construction}
    network, measured = compile_named(program, **options)
    if output is not None:
        network.save(output)
        measured["file"] = output
    if as_json:
        return _print_json(measured)
    _print_facts(measured)


@app.command()
def check(
    program: Annotated[
        str | None, typer.Argument(metavar="[PROGRAM]", help="A program, as for `kleene compile`.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check every program of the libraries.")] = False,
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
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    activation: ActivationOption = None,
    form: FormOption = None,
    construction: ConstructionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that program, network and an independent reference have the same traces. Exit status 1 if not."""
    from kleene.commands.checks import check_named

    if (program is not None) + everything + (random_programs > 0) != 1:
        raise typer.BadParameter("give a PROGRAM to check, or --all, or --random N")
    if random_programs:
        return _check_random(random_programs, seed, workers, resume, as_json)
    options: dict[str, Any] = {"dtype": dtype, "rules": rules, "activation": activation}
    options |= {"form": form, "construction": construction}
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
            mark += f", {report.refused} refused by network or program" if report.refused else ""
            typer.echo(f"{report.program:26} {report.agree:5} of {report.of:5} {mark}  ({report.seconds:.1f} s)")
        typer.echo(f"{agree} of {of} inputs: program, network and reference have the same trace")
        if first:
            typer.echo(f"first disagreement: {first}", err=True)
    if agree != of:
        raise typer.Exit(FAILED)


def _check_random(programs: int, seed: int, workers: int | None, resume: str | None, as_json: bool) -> None:
    from kleene.commands.checks import fuzz_with_progress

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
    from kleene.commands.transformers import decode_named

    outcome = decode_named(program, words, compiled=compiled, tokens=tokens, cached=not uncached)
    if as_json:
        return _print_json(outcome)
    shown = outcome["output"]
    typer.echo(_words(shown) if isinstance(shown, list) else str(shown))


@app.command()
def certify(
    program: TransformerArgument,
    length: Annotated[int, typer.Option(help="The longest input that the certificate is to speak of.", min=1)] = 100,
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    activation: ActivationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say why the compiled network equals the program, up to a length. Exit status 1 if that cannot be said."""
    import kleene
    from kleene.programs.lookup import find_transformer

    options = {"dtype": dtype, "rules": rules, "activation": activation}
    given = {key: value for key, value in options.items() if value is not None}
    network = kleene.compile(find_transformer(program)[0], **given)
    certificate = kleene.certify(network, length=length)
    if as_json:
        _print_json(certificate.as_json())
    else:
        typer.echo(str(certificate))
    if not certificate:
        raise typer.Exit(FAILED)


@app.command(context_settings={"ignore_unknown_options": True})
def rules(
    program: TransformerArgument,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[INPUT]...", help="An input: count which rules fire.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Take a program apart: what each variable costs, when it is written, by which source line, and what fired."""
    from kleene.commands.transformers import read_tokens
    from kleene.explaining import anatomy
    from kleene.programs.lookup import find_transformer

    found, entry = find_transformer(program)
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
def extract(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A network in a .safetensors file, rnn:NAME, or a program to compile.")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the automaton to this .json, .dot, .gv or .svg file.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="reachable: follow every hidden vector (exact integer weights); lstar: ask any network.")
    ] = "reachable",
    minimise: Annotated[bool, typer.Option("--minimise", help="Make the automaton as small as can be.")] = False,
    max_states: Annotated[int | None, typer.Option(help="States at which to give up.", min=2)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the words that lstar tests with.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Turn a recurrent network back into the finite automaton that it is, or behaves like."""
    from kleene.commands.extracting import check_output, extract_named

    if output is not None:
        check_output(output)  # before what may take long
    shown = not as_json and sys.stderr.isatty()
    found = extract_named(file, method, minimise=minimise, max_states=max_states, seed=seed, progress=shown)
    if output is not None:
        found.save(output)
    if as_json:
        return _print_json(found.as_json())
    typer.echo(str(found))


@app.command()
def view(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM", help="dfa:REGEX, dfa:NAME, tm:NAME, FILE.py:NAME, or a network's file.")
    ],
    word: Annotated[str | None, typer.Argument(metavar="[WORD]", help="A word whose path is drawn bold.")] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="The .svg file to write.")] = None,
    dead: Annotated[bool, typer.Option("--dead/--no-dead", help="Draw states from which nothing is accepted.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Draw it even if it has too many states to be read.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Draw an automaton or a Turing machine as a state diagram in SVG: to a file, or to where the output is sent."""
    from kleene.commands.viewing import drawn

    picture, states = drawn(program, word, dead=dead, force=force)
    if output is None and not as_json and not sys.stdout.isatty():
        return typer.echo(picture)
    from kleene.files import write_atomically

    file = str(write_atomically(output or "diagram.svg", picture.encode()))
    if as_json:
        return _print_json({"file": file, "states": states})
    typer.echo(f"wrote {file}")


@app.command()
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
    seeds: Annotated[int, typer.Option(help="How many seeds for each setting.")] = 10,
    first_seed: Annotated[int, typer.Option(help="The first of the seeds.", min=0)] = 0,
    iterations: Annotated[int | None, typer.Option(help="Updates; the paper's number if not given.")] = None,
    test_every: Annotated[int | None, typer.Option(help="Updates between tests; a tenth of all.", min=1)] = None,
    stop_after: Annotated[
        int | None, typer.Option(help="Stop once all have generalised in so many tests in a row.", min=1)
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Examples in an update.", min=1)] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="A file to keep the learners in; the same command goes on from it.")
    ] = None,
    results: Annotated[str | None, typer.Option(help="A folder to keep the measurements in.")] = None,
    hidden: Annotated[int | None, typer.Option(help="Hidden units (rnn, lstm, nram).", min=1)] = None,
    model: Annotated[str | None, typer.Option(help="A file to keep the best run's machine in.")] = None,
    heads: Annotated[
        str | None, typer.Option(help="NTM: draw the heads of program and machines into this .svg, .png or .pdf.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Teach a machine a task, with any amount of hints, many seeds and settings at once."""
    from kleene.commands.teaching import teach_named

    report, stored = teach_named(
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
        lesson_options={k: v for k, v in {"batch": batch, "hidden": hidden}.items() if v is not None},
        seeds=seeds,
        first_seed=first_seed,
        iterations=iterations,
        test_every=test_every,
    )
    if as_json:
        return _print_json(report.as_json() | ({} if stored is None else {"file": str(stored)}))
    from kleene.commands.comparing import table_of

    _console().print(table_of([report.as_json()]))
    rate = f"{report.rate:,.0f}" if report.rate >= 10 else f"{report.rate:g}"
    typer.echo(f"{rate} seed·iterations a second" + ("" if stored is None else f"; kept in {stored}"))


@app.command()
def results(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Where `kleene teach --results` or `reproduce` kept them.")
    ] = "results",
    as_json: JsonOption = False,
) -> None:
    """List and compare what was taught."""
    from kleene.commands.comparing import stored, table_of

    found = stored(folder)
    if as_json:
        return _print_json([{key: value for key, value in row.items() if key != "rows"} for row in found])
    _console().print(table_of(found))


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="An experiment of a text; without one, they are listed.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="The text's own size; otherwise one for a CPU.")] = False,
    iterations: Annotated[int | None, typer.Option(help="Updates of each run; by default as the size says.")] = None,
    model: Annotated[
        str | None, typer.Option(help="A language model to look at instead of teaching one, for english.")
    ] = None,
    folder: Annotated[str, typer.Option(help="Where to put the .json and the picture.")] = "results",
    as_json: JsonOption = False,
) -> None:
    """Run an experiment of the texts again, and put our numbers beside theirs."""
    from kleene.commands.reproducing import listed, reproduce_named

    if name is None:
        names = listed()
        return _print_json(names) if as_json else typer.echo("\n".join(names))
    shown = not as_json and sys.stderr.isatty()
    content = reproduce_named(name, full=full, folder=folder, progress=shown, iterations=iterations, model=model)
    if as_json:
        return _print_json(content)
    from kleene.commands.comparing import table_of

    typer.echo(content["shows"])
    if content["settings"]:
        _console().print(table_of([content | {"lesson": content["name"]}]))
    for line in content.get("summary", ()):
        typer.echo(line)
    typer.echo(f"kept in {folder}/{content['name']}.json and .svg")


@app.command()
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
    layer: Annotated[int | None, typer.Option(help="Which layer, from 0; the top one if not given.")] = None,
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
    """Show which words of a sentence a network takes together, as a table and as a picture."""
    from kleene.commands.explaining import check_plot, explain_named

    check_plot(plot)
    asked = {"at": at, "step": step, "layer": layer, "focus": focus, "heads": heads, "conllu": conllu}
    found = explain_named(text, model=model, method=method, **asked)
    file = str(found.draw(plot))
    if as_json:
        return _print_json(found.as_json() | {"file": file})
    console = _console()
    for table in found.tables(console.width):
        console.print(table)
    typer.echo(f"wrote {file}")


@app.command()
def bench(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Which benchmark: alta, scan, automata, teach or interdependence.")
    ] = "alta",
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
        value = row["value"]
        shown = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}"
        table.add_row(row["name"], shown, row["unit"], row.get("remark", ""))
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
        typer.echo(f"{name:16} {value:,}" if type(value) is int else f"{name:16} {value}")


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
