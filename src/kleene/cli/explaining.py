"""Commands that take programs and networks apart: rules, extract, explain."""

import sys
from typing import Annotated

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
    AgainstOption,
    InputsOption,
    JsonOption,
    TransformerArgument,
)
from kleene.cli.printing import new_console, print_json, print_table, rounds_shown

commands = typer.Typer()


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
    costs, cases = taken.tables()
    print_table(costs.head, costs.rows)
    typer.echo()
    print_table(cases.head, cases.rows)
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
        str | None,
        typer.Option(
            help="An LSTM, a simple RNN or a TransformerLM in a file, or one that ships with Kleene: english or "
            "grammar. By default the one of these that knows more of the words."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="interdependence, or a plainer measure beside it: erasure, gradient or information.")
    ] = "interdependence",
    corpus: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --method information: the text in which words are counted, one sentence a line; for the model "
            "of the grammar, by default the grammar's.",
        ),
    ] = None,
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
    inputs: InputsOption = None,
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
    the training inputs agrees with it on the test inputs; both are drawn from the inputs that it declares. A program of
    SCAN takes --split instead. With --program and --test, the argument is a file with a taught Transformer, which is
    compared with that program.
    """
    data = {
        "train": train,
        "test": test,
        "split": split,
        "inputs": inputs,
        "samples": samples,
        "seed": seed,
        "constraints": constraints or None,
        "teach": teach or None,
        "taught": taught,
    }
    if program is not None or any(given is not None for given in data.values()):
        sentence = {"model": model, "at": at, "step": step, "layer": layer, "focus": focus, "sets": sets}
        sentence |= {"sharing": sharing, "after": after, "heads": heads, "conllu": conllu, "corpus": corpus}
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
    found = explain_sentence(model, sentence, method=method, corpus=corpus, **asked)
    file = str(found.draw(plot))
    if as_json:
        return print_json(found.as_json() | {"file": file})
    new_console().print(found)
    typer.echo(f"wrote {file}")
