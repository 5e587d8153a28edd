"""Commands that compare a network with its program: check runs both, certify proves them equal."""

import os
import sys
from dataclasses import asdict
from typing import Annotated, Any, cast

import typer

from kleene.cli.options import (
    FAILED,
    LARGEST_SEED,
    MANY,
    VERY_MANY,
    ActivationOption,
    AgainstOption,
    CausalOption,
    ConstructionOption,
    DepthOption,
    DtypeOption,
    FormOption,
    InputsOption,
    JsonOption,
    LayersOption,
    MachineOption,
    MaxLengthOption,
    RulesOption,
    ScalarOption,
    TransformerArgument,
    VocabOption,
    adoption,
)
from kleene.cli.printing import print_json, progress_bar
from kleene.errors import InputError

commands = typer.Typer()


@commands.command()
def check(
    program: Annotated[
        str | None, typer.Argument(metavar="[PROGRAM]", help="A program, as for `kleene compile`.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check every program of the library.")] = False,
    samples: Annotated[
        int, typer.Option(help="How many short inputs to try, and how many random ones.", min=1, max=MANY)
    ] = 50,
    max_length: Annotated[int, typer.Option(help="The greatest size of the random inputs.", min=1, max=2_000)] = 10,
    random_programs: Annotated[
        int, typer.Option("--random", help="Check this many random programs instead.", min=0, max=VERY_MANY)
    ] = 0,
    resume: Annotated[
        str | None, typer.Option(help="With --random: a file that keeps the tally, to continue from.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="With --random: number of processes (default: all cores for more than 500 programs).", min=1, max=256
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.py:FUNCTION",
            help="A function from the list of input tokens to the list of output tokens to compare with (runs it).",
        ),
    ] = None,
    inputs: InputsOption = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="With --random: certify each program, and attack the certificate.")
    ] = False,
    seed: Annotated[
        int, typer.Option(help="Seed of the random inputs, or of the random programs.", min=0, max=LARGEST_SEED)
    ] = 0,
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    activation: ActivationOption = None,
    machine: MachineOption = None,
    form: FormOption = None,
    construction: ConstructionOption = None,
    layers: LayersOption = None,
    depth: DepthOption = None,
    vocab: VocabOption = None,
    causal: CausalOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check that program, network and a reference agree.

    Their traces must be equal, on inputs that are drawn from those that the program declares. The reference is
    independent of both: the library's own, or yours. Without a reference, program and network are compared with an
    independent interpreter. Inputs on which all of them end with the same error are counted apart. Exit status 1 if
    they differ, or if no input ran.
    """
    if (program is not None) + everything + (random_programs > 0) != 1:
        raise typer.BadParameter("give a PROGRAM to check, or --all, or --random N")
    if random_programs and reference is not None:
        raise typer.BadParameter("--reference is for one PROGRAM, and --random makes its own")
    if inputs is not None and program is None:
        raise typer.BadParameter("--inputs is for one PROGRAM")
    if attack and not random_programs:
        raise typer.BadParameter("--attack goes with --random N; `kleene certify PROGRAM --attack` attacks one program")
    if random_programs:
        return _check_random(random_programs, seed, workers, resume, attack, as_json)
    options: dict[str, Any] = {"dtype": dtype, "rules": rules, "activation": activation}
    own = adoption(vocab, causal=causal)
    options |= {"machine": machine, "form": form, "construction": construction, "layers": layers, "depth": depth}
    options |= {"vocab": own["vocab"], "causal": own["causal"]}
    asked = {"samples": samples, "max_length": max_length, "seed": seed}
    own_files = {"reference": reference, "inputs": inputs}
    reports = _reports(program, own_files, asked, options, shown=not as_json and sys.stderr.isatty())
    agree, of = sum(r.agree for r in reports), sum(r.of for r in reports)
    first = next((r.first_disagreement for r in reports if r.first_disagreement), None)
    if as_json:
        programs = [r.as_json() for r in reports]
        errors = sum(r.errors for r in reports)
        print_json({"agree": agree, "of": of, "errors": errors, "first_disagreement": first, "programs": programs})
    else:
        for report in reports:
            typer.echo(str(report))
        typer.echo(f"{agree} of {of} inputs: {_compared(reports)}" if of else "no input ran, so nothing was compared")
        if first:
            typer.echo(f"first disagreement: {first}", err=True)
        for warning in filter(None, (r.warning for r in reports)):
            typer.echo(f"kleene: {warning}", err=True)
    if not all(reports):
        raise typer.Exit(FAILED)


def _reports(
    program: str | None, own: dict[str, str | None], asked: dict[str, Any], options: dict[str, Any], *, shown: bool
) -> list[Any]:
    """The reports for one program, or for the whole library, with a progress bar."""
    from kleene.compiling.checking import check_all, check_named
    from kleene.naming import shelves

    inputs = 2 * asked["samples"] * (1 if program is not None else len(shelves()))
    with progress_bar(program or "checking", inputs, shown) as (bar, task):
        asked |= {"on_input": lambda: bar.advance(task)}
        if program is not None:
            return [check_named(program, **own, options=options, **asked)]
        if own["reference"] is not None:
            raise InputError("--reference is for one transformer program; give it with a PROGRAM, not --all")
        return check_all(on_program=lambda name: bar.update(task, description=name), options=options, **asked)


def _compared(reports: list[Any]) -> str:
    """Which runs have the same trace, and whether there was a reference."""
    if all(report.has_reference for report in reports):
        return "program, network and reference have the same trace"
    *first, last = reports[0].compared
    return f"{', '.join(first)} and {last} have the same trace; there was no reference of what they should do"


def _check_random(
    programs: int, seed: int, workers: int | None, resume: str | None, attack: bool, as_json: bool
) -> None:
    from kleene.compiling.alta.fuzzing import fuzz

    workers = workers or ((os.cpu_count() or 1) if programs > 500 else 1)
    with progress_bar("random programs", programs, not as_json and sys.stderr.isatty()) as (bar, task):

        def show(tally: Any) -> None:
            found = f"{tally.agree:,} agree, {len(tally.failures)} fail"
            bar.update(task, completed=tally.done, description=found)

        tally = fuzz(programs, seed=seed, workers=workers, resume=resume, attack=attack, on_program=show)
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
    against: AgainstOption = None,
    length: Annotated[
        int | None,
        typer.Option(help="The longest input to certify (default: the longest possible).", min=1, max=MANY),
    ] = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Search for an input on which program and network differ.")
    ] = False,
    seconds: Annotated[float, typer.Option(help="With --attack: how long to search.", min=0.1, max=86_400)] = 3.0,
    inputs: InputsOption = None,
    dtype: DtypeOption = None,
    rules: RulesOption = None,
    activation: ActivationOption = None,
    attention_scalar: ScalarOption = None,
    layers: LayersOption = None,
    depth: DepthOption = None,
    vocab: VocabOption = None,
    max_length: MaxLengthOption = None,
    causal: CausalOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say why a network equals its program, up to a length.

    --attack runs the program, its original (your own function, or RASP's evaluation), the selecting network and the
    softmax network on edge cases: short and long inputs, ties, and means near a threshold. Exit status 1 if there is no
    certificate, or if the attack refutes it.
    """
    import kleene
    from kleene import kinds
    from kleene.compiling.alta.attacks import attack as attack_certificate
    from kleene.compiling.alta.checking import pair_of
    from kleene.naming import inputs_in_file

    options = {"dtype": dtype, "rules": rules, "activation": activation, "attention_scalar": attention_scalar}
    options |= {"layers": layers, "depth": depth}
    found = pair_of(program, against, options, adoption(vocab, max_length, causal))
    if inputs is not None and not attack:
        raise InputError("--inputs says on what to run an attack; add --attack, or leave it out")
    if attack and kinds.of(found.network) is kinds.UNROLLED:
        raise InputError("--attack is for a network whose layers are shared; leave it out")
    program_with = found.program if inputs is None else found.program.taking(inputs_in_file(inputs))
    certificate = kleene.certify(found.network, length=length, program=found.program)
    if not as_json:
        typer.echo(f"{certificate}\ncompared: {found.compared}")
    result, network = None, cast(Any, found.network)
    if attack:
        in_jax = network.dtype == "bfloat16"  # which jax runs by default
        result = attack_certificate(network, certificate=certificate, program=program_with, seconds=seconds, jax=in_jax)
    if as_json:
        attacked = {} if result is None else {"attack": result.as_json()}
        print_json(certificate.as_json() | {"compared": found.compared} | attacked)
    elif result is not None:
        typer.echo(str(result))
    if not certificate or (result is not None and not result):
        raise typer.Exit(FAILED)
