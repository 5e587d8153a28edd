"""Commands on programs and networks: list, run, compile, decode, view."""

import shlex
import sys
from typing import Annotated, Any

import typer

from kleene.cli.options import (
    MANY,
    ActivationOption,
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
    ScalarOption,
    SourceArgument,
    VocabOption,
    adoption,
)
from kleene.cli.printing import new_console, print_json, print_table
from kleene.cli.tracing import ChannelsOption, PositionsOption, print_trace, read_cut, split_steps

commands = typer.Typer()


@commands.command("list")
def list_programs(as_json: JsonOption = False) -> None:
    """List the programs of the library, each with an input to try."""
    from kleene.running import listed

    found = listed()
    if as_json:
        return print_json([{key: row[key] for key in ("name", "summary", "example")} for row in found])
    lines = []
    for number, row in enumerate(found):
        if number and row["kind"] != found[number - 1]["kind"]:
            lines.append(["", "", ""])
        words = " ".join(shlex.quote(w) for w in row["example"])
        lines.append([row["name"], row["summary"], f"kleene run {row['name']} {words}"])
    print_table(["program", "what it does", "try"], lines)


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
    attention_scalar: ScalarOption = None,
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
        "attention_scalar": attention_scalar,
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
