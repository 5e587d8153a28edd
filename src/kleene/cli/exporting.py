"""The command export: a network in a folder that opens without Kleene."""

from typing import Annotated, Any

import typer

from kleene.cli.options import (
    ActivationOption,
    CausalOption,
    DepthOption,
    DtypeOption,
    FormOption,
    JsonOption,
    LayersOption,
    MaxLengthOption,
    ProgramArgument,
    RulesOption,
    VocabOption,
    adoption,
)
from kleene.cli.printing import print_json

commands = typer.Typer()


@commands.command("export")
def export_command(
    program: ProgramArgument,
    to: Annotated[str, typer.Option("--to", help="The format: torch.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FOLDER", help="The folder to write.")],
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    activation: ActivationOption = None,
    form: FormOption = None,
    layers: LayersOption = None,
    depth: DepthOption = None,
    vocab: VocabOption = None,
    max_length: MaxLengthOption = None,
    causal: CausalOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a network into a folder that opens without Kleene.

    It has the weights, the source of the model, an example to run and a card that says what each dimension means. A
    program is compiled first.
    """
    import kleene

    options: dict[str, Any] = {"dtype": dtype, "rules": rules, "activation": activation, "form": form, "layers": layers}
    options |= {"depth": depth, **adoption(vocab, max_length, causal)}
    made = kleene.export(program, to, output, **options)
    if as_json:
        return print_json(made.as_json())
    typer.echo(str(made))
