"""Arguments and options that several commands share, how a shell completes them, and exit statuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit statuses
MANY, VERY_MANY, LARGEST_SEED = 10**6, 10**9, 2**63 - 1  # upper bounds of integer options
FILES = (".py", ".safetensors", ".jff")  # that hold programs or networks


def complete_program(incomplete: str) -> list[str]:
    """The names of all programs that begin with `incomplete`, and files."""
    from kleene.naming import listed_names

    return _beginning(incomplete, iter(listed_names()))


def complete_transformer(incomplete: str) -> list[str]:
    """The names of transformer and RASP programs that begin with `incomplete`, and files."""
    from kleene.kinds import RASP, TRANSFORMERS
    from kleene.naming import shelves

    return _beginning(incomplete, (name for name, _, kind in shelves() if kind in (TRANSFORMERS, RASP)))


def _beginning(incomplete: str, names: Iterator[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)] + _files(incomplete)


def _files(incomplete: str) -> list[str]:
    """Files of programs and networks whose path begins with `incomplete`, and folders that may hold some."""
    folder, _, start = incomplete.rpartition("/")
    where = Path(folder or ("/" if incomplete.startswith("/") else "."))
    try:
        found = sorted(file for file in where.iterdir() if file.name.startswith(start) and file.name[0] != ".")
    except OSError:
        return []
    before = incomplete[: len(incomplete) - len(start)]
    return [before + file.name + "/" * file.is_dir() for file in found if file.suffix in FILES or file.is_dir()]


ProgramArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM",
        help="A program or circuit of the library, dfa:REGEX, dfa:NAME, tm:NAME, tm:FILE.tm, FILE.jff, "
        "circuit:FILE.nram, rasp:NAME, rnn:NAME, FILE.py:NAME (which runs that file), or a network in a "
        ".safetensors file.",
        autocompletion=complete_program,
    ),
]
EditOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME@LAYER,POSITION=VALUE",
        help="Set a variable, a head's output or a state there and run on: parity@3,5=1. A layer or position may be "
        "several (2-4) or all (*); the value may be that of a run on another input (from:110). Give it several times.",
    ),
]
TransformerArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM",
        help="A program of the library, rasp:NAME, FILE.py:NAME (which runs it), or its network in a .safetensors "
        "file.",
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
        help="A program or circuit of the library, dfa:REGEX, dfa:NAME, tm:NAME, FILE.jff, rasp:NAME, "
        "circuit:FILE.nram or FILE.py:NAME (which runs that file).",
        autocompletion=complete_program,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
# None stands for a kind's own default, so that an option that a kind does not have can be refused.
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
ScalarOption = Annotated[
    float | None,
    typer.Option(help="Transformers: ALTA's λ (default 100). A small one attends softly, and is no longer exact."),
]
MachineOption = Annotated[
    str | None, typer.Option("--machine", help="Automata: the network to compile into, rnn (the default) or lstm.")
]
FormOption = Annotated[
    str | None,
    typer.Option(help="Automata: live (only transitions that matter; the default) or textbook (|Q||Σ|+1 units)."),
]
ConstructionOption = Annotated[
    str | None,
    typer.Option(help="Turing machines: compact (the default) or merged (one tick a step, as in Chiang's notes)."),
]
LayersOption = Annotated[
    str | None,
    typer.Option(
        help="Transformers: shared (one layer, repeated; the default) or unrolled (weights of its own for each layer)."
    ),
]
DepthOption = Annotated[
    int | None,
    typer.Option(
        help="With --layers unrolled: how many layers, if that cannot be found; more are refused.", min=1, max=MANY
    ),
]
VocabOption = Annotated[
    str | None, typer.Option(help="RASP programs: the tokens, such as abc, or 1,2,10 where some are longer or numbers.")
]
MaxLengthOption = Annotated[
    int | None,
    typer.Option(help="RASP programs, and --layers unrolled: the most tokens of an input.", min=1, max=MANY),
]
CausalOption = Annotated[
    bool, typer.Option("--causal", help="RASP programs, and --layers unrolled: no position looks to its right.")
]


InputsOption = Annotated[
    str | None,
    typer.Option(
        metavar="INPUTS",
        help="FILE.py:NAME (which runs it): a function of a random.Random and a size that returns an input, or an "
        "automaton or regular expression of inputs; in place of the inputs that the program declares.",
    ),
]


def adoption(vocab: str | None = None, max_length: int | None = None, causal: bool = False) -> dict[str, Any]:
    """The options that make a program of an s-op of RASP, None where one was not given."""
    from kleene.notation.console import typed_vocabulary

    tokens = None if vocab is None else typed_vocabulary(vocab)
    return {"vocab": tokens, "max_length": max_length, "causal": causal or None}
