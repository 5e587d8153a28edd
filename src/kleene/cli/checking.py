"""Commands that say whether a network equals its program, and why: check, certify."""

import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from kleene.cli.options import (
    FAILED,
    ActivationOption,
    ConstructionOption,
    DtypeOption,
    FormOption,
    JsonOption,
    RulesOption,
    TransformerArgument,
)
from kleene.cli.printing import print_json

commands = typer.Typer()


@commands.command()
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
    attack: Annotated[
        bool, typer.Option("--attack", help="With --random: certify each program, and attack the certificate.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random inputs, or of the random programs.")] = 0,
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    activation: ActivationOption = None,
    form: FormOption = None,
    construction: ConstructionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that program, network and a reference agree.

    They have to have the same traces; the reference is independent of both. Exit status 1 if they differ.
    """
    from kleene.commands.checks import check_named

    if (program is not None) + everything + (random_programs > 0) != 1:
        raise typer.BadParameter("give a PROGRAM to check, or --all, or --random N")
    if attack and not random_programs:
        raise typer.BadParameter("--attack goes with --random N; `kleene certify PROGRAM --attack` attacks one program")
    if random_programs:
        return _check_random(random_programs, seed, workers, resume, attack, as_json)
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
        print_json({"agree": agree, "of": of, "first_disagreement": first, "programs": programs})
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


def _check_random(
    programs: int, seed: int, workers: int | None, resume: str | None, attack: bool, as_json: bool
) -> None:
    from kleene.commands.checks import fuzz_with_progress

    shown = not as_json and sys.stderr.isatty()
    tally = fuzz_with_progress(programs, seed, workers, resume, attack=attack, progress=shown)
    compared = tally.done - tally.refused
    if as_json:
        first = tally.failures[0]["what"] if tally.failures else None
        print_json({"agree": tally.agree, "of": compared, "first_disagreement": first} | asdict(tally))
    else:
        what, refused = "random programs agree", "refused for their number type"
        if attack:
            what, refused = "certificates of random programs stood", "not certified"
        typer.echo(
            f"{tally.agree:,} of {compared:,} {what} on {tally.inputs:,} inputs (seed {tally.seed}; "
            f"{tally.refused:,} {refused}) in {tally.seconds:,.0f} s"
        )
        for failure in tally.failures[:3]:
            typer.echo(
                f"program {failure['program']}, {failure['way']}, input {failure['input']}: {failure['what']}", err=True
            )
            typer.echo(failure["source"], err=True)
    if tally.failures:
        raise typer.Exit(FAILED)


@commands.command()
def certify(
    program: TransformerArgument,
    length: Annotated[
        int | None,
        typer.Option(help="The longest input that the certificate is to speak of; the longest there can be.", min=1),
    ] = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Look for inputs at the edges on which program and network differ.")
    ] = False,
    seconds: Annotated[float, typer.Option(help="With --attack: how long to look.", min=0.1)] = 10.0,
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    activation: ActivationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say why a network equals its program, up to a length.

    With --attack, program, selecting network and softmax network are run on inputs at the edges: short and long ones,
    ties, and means near where an answer changes. Exit status 1 if there is no certificate, or it did not stand.
    """
    import kleene
    from kleene.compiling.attacks import attack as attack_certificate
    from kleene.programs.lookup import find_transformer

    options = {"dtype": dtype, "rules": rules, "activation": activation}
    given = {key: value for key, value in options.items() if value is not None}
    network = kleene.compile(find_transformer(program)[0], **given)
    certificate = kleene.certify(network, length=length)
    if not as_json:
        typer.echo(str(certificate))
    result = None
    if attack:
        in_jax = network.dtype == "bfloat16"  # which jax runs by default
        result = attack_certificate(network, certificate=certificate, seconds=seconds, jax=in_jax)
    if as_json:
        print_json(certificate.as_json() | ({} if result is None else {"attack": result.as_json()}))
    elif result is not None:
        typer.echo(str(result))
    if not certificate or (result is not None and not result):
        raise typer.Exit(FAILED)
