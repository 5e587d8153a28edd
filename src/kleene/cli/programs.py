"""Commands on programs and networks: list, run, compile, decode, rules, extract, view, explain."""

import shlex
import sys
from typing import Annotated, Any

import typer

from kleene.cli.learnability import (
    ComparedOption,
    ConstraintsOption,
    DataSeedOption,
    SamplesOption,
    SplitOption,
    TaughtOption,
    TeachOption,
    TestOption,
    TrainOption,
    explain_network,
    explain_program,
    refuse_options,
)
from kleene.cli.options import (
    FAILED,
    LARGEST_SEED,
    MANY,
    ActivationOption,
    AgainstOption,
    CausalOption,
    ConstructionOption,
    DepthOption,
    DtypeOption,
    EditOption,
    FormOption,
    JsonOption,
    LayersOption,
    MachineOption,
    MaxLengthOption,
    ProgramArgument,
    RulesOption,
    SourceArgument,
    TransformerArgument,
    VocabOption,
    adoption,
)
from kleene.cli.printing import new_console, print_json, rounds_shown
from kleene.cli.tracing import ChannelsOption, PositionsOption, print_trace, read_cut, split_steps

commands = typer.Typer()


@commands.command("list")
def list_programs(as_json: JsonOption = False) -> None:
    """List the programs of the library, each with an input to try."""
    from kleene.running import listed

    found = listed()
    if as_json:
        return print_json([{key: row[key] for key in ("name", "summary", "example")} for row in found])
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
    new_console().print(table)


@commands.command(context_settings={"ignore_unknown_options": True})  # so that -7 is a number, not an option
def run(
    program: ProgramArgument,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[INPUT]...", help="The input, as `kleene list` shows it: words, tokens or a memory."),
    ] = None,
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Run the compiled network instead of the program.")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show the trace: what was done at every step.")] = False,
    max_layers: Annotated[
        int | None, typer.Option(help="Transformers: the greatest number of layers to run.", max=MANY)
    ] = None,
    max_steps: Annotated[
        int | None,
        typer.Option(help="Turing machines: the greatest number of steps to take (default 10,000).", min=0, max=10**12),
    ] = None,
    edit: EditOption = None,
    channels: ChannelsOption = None,
    positions: PositionsOption = None,
    steps: Annotated[
        str | None,
        typer.Option(help="With --trace, the steps to show, such as 3-9. A number: steps that a circuit takes."),
    ] = None,
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    machine: MachineOption = None,
    form: FormOption = None,
    construction: ConstructionOption = None,
    vocab: VocabOption = None,
    max_length: MaxLengthOption = None,
    causal: CausalOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a program, or the network compiled from it, on an input."""
    import kleene

    for word in words or ():
        if word.startswith("--"):
            raise typer.BadParameter(f"there is no option {word}; see kleene run --help")
    given = {"max_layers": max_layers, "max_steps": max_steps, "dtype": dtype, "rules": rules}
    taken, span = split_steps(steps)
    cut = read_cut(channels, positions, span, shown=trace and not as_json)
    given |= {
        "machine": machine,
        "form": form,
        "construction": construction,
        "steps": taken,
        **adoption(vocab, max_length, causal),
    }
    outcome = kleene.run(program, words or (), compiled=compiled, edits=edit or (), **given)
    if as_json:
        return print_json(outcome.as_json(with_trace=trace))
    console = new_console()
    if trace:
        print_trace(outcome, cut, console)
    console.print(outcome.answer, highlight=False, soft_wrap=True, markup=False)
    console.print(outcome.closing, style="dim")


@commands.command("compile")
def compile_command(
    program: SourceArgument,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the network to this .safetensors file.")
    ] = None,
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    activation: ActivationOption = None,
    machine: MachineOption = None,
    form: FormOption = None,
    construction: ConstructionOption = None,
    layers: LayersOption = None,
    depth: DepthOption = None,
    vocab: VocabOption = None,
    max_length: MaxLengthOption = None,
    causal: CausalOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compile a program into the exact weights of a network.

    A transformer or RASP program becomes a Universal Transformer, or with --layers unrolled an ordinary one; an
    automaton or a Turing machine a simple RNN, and a circuit an NRAM.
    """
    from kleene.running import compiled

    options = {
        "dtype": dtype,
        "rules": rules,
        "activation": activation,
        "machine": machine,
        "form": form,
        "construction": construction,
    }
    options |= {"layers": layers, "depth": depth, **adoption(vocab, max_length, causal)}
    made = compiled(program, **options)
    if output is not None:
        made = made.saved(output)
    if as_json:
        return print_json(made.as_json())
    typer.echo(str(made))


@commands.command(context_settings={"ignore_unknown_options": True})
def decode(
    program: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM",
            help="addition_decoded, induction_decoded, FILE.py:NAME (which runs it), or a .safetensors file.",
        ),
    ],
    words: Annotated[list[str], typer.Argument(metavar="INPUT...", help="The prompt, as words or as tokens.")],
    compiled: Annotated[bool, typer.Option("--compiled", help="Decode with the compiled network.")] = False,
    tokens: Annotated[int | None, typer.Option(help="How many tokens to write.", min=0, max=100_000)] = None,
    uncached: Annotated[bool, typer.Option("--uncached", help="Recompute all positions for every token.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a program as a decoder, which writes token by token."""
    from kleene.compiling.alta.writing import decode as decoded

    written = decoded(program, words, compiled=compiled, tokens=tokens, cached=not uncached)
    if as_json:
        return print_json(written.as_json())
    typer.echo(str(written))


@commands.command(context_settings={"ignore_unknown_options": True})
def rules(
    program: TransformerArgument,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[INPUT]...", help="An input; counts how often each rule fires.")
    ] = None,
    against: AgainstOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a program's variables and rules, and which fired.

    Shows what each variable costs, when it is written and by which source line.
    """
    from kleene.compiling.alta.checking import check_weights, pair_of
    from kleene.explaining import anatomy
    from kleene.kinds import TRANSFORMERS
    from kleene.naming import find_program
    from kleene.running import typed_input

    compared = None
    if program.endswith(".safetensors"):
        pair = pair_of(program, against)
        check_weights(pair)
        found, entry, compared = pair.program, pair.entry, pair.compared
    else:
        found, entry, _ = find_program(program, TRANSFORMERS)
    inputs = [typed_input(words, found, entry)] if words else []
    taken = anatomy(found, inputs)
    if as_json:
        return print_json(taken.as_json() | ({} if compared is None else {"compared": compared}))
    from rich.table import Table

    costs = Table("variable", "residual dims", "hidden units", "the paper's rules", box=None, header_style="bold")
    for cost in taken.costs:
        costs.add_row(cost.variable, *(f"{n:,}" for n in (cost.residual_dims, cost.hidden_units, cost.rules)))
    cases = Table("line", "writes", "where", *(["fired"] if inputs else []), box=None, header_style="bold")
    for c in taken.cases:
        cases.add_row(str(c.line), c.writes, c.where, *([f"{c.fired:,}"] if inputs else []))
    console = new_console()
    console.print(costs)
    console.print()
    console.print(cases)
    if compared is not None:
        typer.echo(f"compared: {compared}; the weights are those that it is compiled to")


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
            help="Write the automaton to this .json, .dot, .gv or .jff file, or draw it: .svg, .png, .pdf or .html.",
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="reachable: follow every hidden vector (exact integer weights); textbook: all 2^d + 1 states of "
            "Theorem 4.6 (an automaton is compiled with SLU units for it); lstar: ask any network."
        ),
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
            metavar="PROGRAM",
            help="dfa:REGEX, dfa:NAME, tm:NAME, FILE.jff, FILE.py:NAME (which runs it), or a network's file.",
        ),
    ],
    word: Annotated[str | None, typer.Argument(metavar="[WORD]", help="A word whose path is drawn bold.")] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="The .svg, .png, .pdf or .html to write; or a file of the program itself: .jff (JFLAP), .json, .dot, "
            ".gv, .tm.",
        ),
    ] = None,
    minimise: Annotated[bool, typer.Option("--minimise", help="Make the automaton as small as can be.")] = False,
    dead: Annotated[bool, typer.Option("--dead/--no-dead", help="Draw states from which nothing is accepted.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Draw all states and arrows, even if many.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Draw an automaton or a Turing machine as a diagram; show any other program or network as tables in a page.

    It goes to a file, or as SVG or HTML to where the output is sent. With -o FILE.jff, JFLAP opens it.
    """
    from kleene.viewing import ObjectPage, is_program_file, save_program
    from kleene.viewing import view as picture_of

    if output is not None and is_program_file(output):
        if word is not None:
            raise typer.BadParameter(f"{output} holds the program, and not the path of a word; leave the word out")
        written = save_program(program, output, minimise=minimise)
        return print_json(written.as_json()) if as_json else typer.echo(f"wrote {written.path}")
    printed = output is None and not as_json and not sys.stdout.isatty()
    shown: Any = picture_of(program, word, output, minimise=minimise, dead=dead, force=force)
    is_page = isinstance(shown, ObjectPage)
    if printed:
        return typer.echo(shown.html if is_page else shown.svg)
    if output is None:
        shown = picture_of(shown, path="program.html" if is_page else "diagram.svg")
    if as_json:
        return print_json(shown.as_json())
    typer.echo(f"wrote {shown.path}")


@commands.command()
def explain(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT|PROGRAM|NETWORK]",
            help="A sentence; its words have spaces between them. With --train, a transformer program; with --program, "
            "a Transformer in a file.",
        ),
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
        str | None,
        typer.Option(
            help="Show what would come next by these words alone: words, a phrase ('chimney sweep'), positions from 0 "
            "(1,4) or a span (0-2)."
        ),
    ] = None,
    sets: Annotated[
        str | None,
        typer.Option(
            help="Compare phrases, spans or sets instead of single words, with semicolons between them: 'The chimney "
            "sweep; has; 4-5'."
        ),
    ] = None,
    sharing: Annotated[
        str | None,
        typer.Option(
            metavar="CHOICE=VALUE,…",
            help="Conventions of contextual decomposition that are not the papers': bias=shapley, "
            "output_gate=decomposed, start=relevant, bias_bias=always or never, interactions=rel-rel+rel-irrel or "
            "others.",
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="A text that the network has read before: it begins the sentence in the state that this leaves.",
        ),
    ] = None,
    heads: Annotated[
        str | None, typer.Option(help="The sentence's tree: each word's head, from 1, and 0 for the root.")
    ] = None,
    conllu: Annotated[
        str | None, typer.Option(metavar="FILE[:N]", help="Take the Nth sentence and its tree from a CoNLL-U file.")
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot",
            "-o",
            help="The .svg, .png, .pdf or .html to draw it into (of a sentence: interdependence.svg).",
        ),
    ] = None,
    train: TrainOption = None,
    test: TestOption = None,
    program: ComparedOption = None,
    split: SplitOption = None,
    samples: SamplesOption = None,
    seed: DataSeedOption = None,
    constraints: ConstraintsOption = False,
    teach: TeachOption = False,
    taught: TaughtOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which words of a sentence a network takes together, or whether a program can be learned from training data.

    Of a sentence, prints a table of all pairs of words, or of the phrases in --sets, and draws a picture.

    With --train and --test, the argument is a transformer program, and the report says whether its minimal version for
    the training inputs agrees with it on the test inputs. A program of SCAN takes --split instead. With --program and
    --test, the argument is a file with a taught Transformer, which is compared with that program.
    """
    data = {
        "train": train,
        "test": test,
        "split": split,
        "samples": samples,
        "seed": seed,
        "constraints": constraints or None,
        "teach": teach or None,
        "taught": taught,
    }
    if program is not None or any(given is not None for given in data.values()):
        sentence = {"model": model, "at": at, "step": step, "layer": layer, "focus": focus, "sets": sets}
        sentence |= {"sharing": sharing, "after": after, "heads": heads, "conllu": conllu}
        refuse_options(sentence, method=method)
        if program is not None:
            return explain_network(text, program, data, plot, as_json=as_json)
        return explain_program(text, data, plot, as_json=as_json)
    plot = plot or "interdependence.svg"
    from kleene.explaining.words.explanation import explain as explain_sentence
    from kleene.explaining.words.sentences import typed_sentence
    from kleene.pictures.figures import check_picture

    check_picture(plot, "--plot")
    sentence, tree = typed_sentence(text, heads=heads, conllu=conllu)
    asked = {"at": at, "step": step, "layer": layer, "focus": focus, "sets": sets, "sharing": sharing, "after": after}
    asked |= {"heads": tree, "named": "--{}".format}
    found = explain_sentence(model, sentence, method=method, **asked)
    file = str(found.draw(plot))
    if as_json:
        return print_json(found.as_json() | {"file": file})
    new_console().print(found)
    typer.echo(f"wrote {file}")
