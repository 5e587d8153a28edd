"""Arguments and options that several commands have, and exit statuses."""

from typing import Annotated

import typer

from kleene.cli.completion import complete_program, complete_transformer

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit statuses
MANY, VERY_MANY, LARGEST_SEED = 10**6, 10**9, 2**63 - 1  # bounds of options that count

ProgramArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM",
        help="A program or circuit of the library, dfa:REGEX, dfa:NAME, tm:NAME, tm:FILE.tm, circuit:FILE.nram, "
        "rnn:NAME, FILE.py:NAME (which runs that file), or a network in a .safetensors file.",
        autocompletion=complete_program,
    ),
]
TransformerArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM",
        help="A program of the library, FILE.py:NAME (which runs it), or its network in a .safetensors file.",
        autocompletion=complete_transformer,
    ),
]
AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--program", help="For a network in a file: its program, unless it is the library program of the same name."
    ),
]
SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM",
        help="A program or circuit of the library, dfa:REGEX, dfa:NAME, tm:NAME, circuit:FILE.nram or FILE.py:NAME "
        "(which runs that file).",
        autocompletion=complete_program,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
# None stands for a kind's own default, so that an option that means nothing to a kind can be refused.
DtypeOption = Annotated[
    str | None,
    typer.Option(
        help="Number type of the weights: float32 (default of Transformers), float64, bfloat16, exact (RNNs' default)."
    ),
]
RulesOption = Annotated[
    str | None,
    typer.Option(help="Transformers: compact (few hidden units; the default) or paper (one for each transition rule)."),
]
ActivationOption = Annotated[
    str | None, typer.Option(help="Transformers: clipped (the default) or relu. Automata: relu (the default) or slu.")
]
FormOption = Annotated[
    str | None,
    typer.Option(help="Automata: live (only transitions that matter; the default) or textbook (|Q||Σ|+1 units)."),
]
ConstructionOption = Annotated[
    str | None,
    typer.Option(help="Turing machines: compact (the default) or merged (one tick a step, as in Chiang's notes)."),
]
