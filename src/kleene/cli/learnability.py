"""The parts of `kleene explain` that are about programs: options of training and test data, and the reports."""

import random
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer

from kleene.cli.options import LARGEST_SEED
from kleene.cli.printing import print_json, progress_bar
from kleene.errors import InputError

SAMPLES, COMPARED = 1_000, 100
TrainOption = Annotated[
    str | None,
    typer.Option(metavar="COND|FILE", help="Of a program: the training inputs, such as 'length<=20' or 'ones<=3'."),
]
TestOption = Annotated[
    str | None, typer.Option(metavar="COND|FILE", help="Of a program: the test inputs; a FILE has one a line.")
]
ComparedOption = Annotated[
    str | None,
    typer.Option(metavar="PROGRAM", help="Of a Transformer in a file: the transformer program to compare it with."),
]
SplitOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|mcd:SEED|FILE.json",
        help="Of a SCAN program, in place of --train and --test: a split, such as simple, length, addprim_jump, mcd:0.",
    ),
]
SamplesOption = Annotated[
    int | None,
    typer.Option(
        help=f"Of a program: random inputs of each length, where not all are taken (default: {SAMPLES}, or {COMPARED} "
        "with --program).",
        min=1,
        max=100_000,
    ),
]
DataSeedOption = Annotated[
    int | None, typer.Option(help="Of a program: seed of the random inputs (default: 0).", min=0, max=LARGEST_SEED)
]
ConstraintsOption = Annotated[
    bool, typer.Option("--constraints", help="Of a program: also drop conditions of rules that no example needs.")
]

TeachOption = Annotated[
    bool,
    typer.Option(
        "--teach", help="Of a program: teach its MLP on the training inputs by trace supervision, and test it."
    ),
]
TaughtOption = Annotated[
    str | None, typer.Option(metavar="FILE", help="Of a program: a network that was taught it, to be tested as well.")
]
# What --teach does: enough for parity of up to 20 bits, in about a minute on 2 cores.
TEACHING = {"iterations": 4_000, "test_every": 4_000, "depth": 2, "hidden": 256, "rate": 1e-3}
MOST_WORDS = 4_096  # training inputs that --teach takes


def refuse_options(given: Mapping[str, Any], *, method: str) -> None:
    """Refuse options of a sentence where a program is explained."""
    unfit = [name for name, value in given.items() if value is not None]
    unfit += ["method"] if method != "interdependence" else []
    if unfit:
        raise InputError(
            f"--{unfit[0]} is about a sentence, and --train, --test, --split and --program are about a program; give "
            f"one kind"
        )


def explain_program(name: str | None, data: Mapping[str, Any], plot: str | None, *, as_json: bool) -> None:
    """Print whether a program's minimal version generalises from the training to the test inputs, and draw it."""
    from kleene.explaining.programs.data_sets import InputSource
    from kleene.explaining.programs.learnable import learnable
    from kleene.explaining.programs.taught import taught_outputs
    from kleene.naming import inputs_in_file
    from kleene.pictures.figures import check_picture

    if plot is not None:
        check_picture(plot, "--plot")
    if data["teach"] is not None and data["taught"] is not None:
        raise InputError("--teach teaches a network now, and --taught has one that was taught before; give one of them")
    if data["split"] is not None:
        return _explain_on_split(name, data, plot, as_json=as_json)
    if name is None or data["train"] is None or data["test"] is None:
        raise InputError("a program is explained with all of PROGRAM, --train and --test; see `kleene explain --help`")
    found = _program(name, rasp=True)
    source, seed = InputSource.of(found.subject, found.entry, inputs_in_file(data["inputs"])), data["seed"] or 0
    machine = None if data["taught"] is None else _loaded(data["taught"], source.program)
    # Test inputs are drawn with another seed, so that they are not the training inputs again.
    train, short = drawn_inputs(source, data, "train", seed)
    test, shorter = drawn_inputs(source, data, "test", seed + 1)
    kept = bool(data["constraints"])
    reference = None if found.entry is None else found.entry.reference
    shown = not as_json and sys.stderr.isatty()
    with progress_bar(found.subject.name, len(train) + 2 * len(test), shown) as (bar, task):
        report = learnable(
            found.subject, train, test, constraints=kept, length=source.length(), reference=reference,
            on_inputs=lambda count: bar.advance(task, count),
        )  # fmt: skip
    what = f"the network in {data['taught']!r}"
    if data["teach"] is not None:
        machine, what = _taught_mlp(found.subject, train, max(map(report.length, report.tests)), seed)
    if machine is not None:
        report = replace(report, taught=taught_outputs(machine, source.program, report.tests, what))
    more = _fuller(name, data, plot, taught=machine is not None)
    _show(replace(report, notes=(*short, *shorter)), plot, as_json=as_json, more=more)


def drawn_inputs(
    source: Any, data: Mapping[str, Any], which: str, seed: int, **limits: int
) -> tuple[list[list[Any]], list[str]]:
    """The training or test inputs, and a note if they are fewer than usual because runs are long."""
    from kleene.explaining.programs.data_sets import affordable, inputs_of

    if data["samples"] is not None:
        return inputs_of(source, data[which], samples=data["samples"], seed=seed), []
    samples = affordable(source, data[which], SAMPLES, **limits)
    found = inputs_of(source, data[which], samples=samples, seed=seed, fewer=samples < SAMPLES)
    name = {"train": "training"}.get(which, which)
    note = f"{name} inputs: {samples:,} of each length instead of {SAMPLES:,}, because runs are long; see --samples"
    return found, [note] if samples < SAMPLES else []


def _fuller(name: str, data: Mapping[str, Any], plot: str | None, *, taught: bool) -> str | None:
    """The command with a picture and a taught network in addition, if either is missing."""
    missing = ["a picture"] * (plot is None) + ["the curve of a taught network"] * (not taught)
    words = ["kleene", "explain", name]
    for option in ("train", "test", "inputs", "samples", "seed", "taught"):
        words += [f"--{option}", str(data[option])] if data[option] is not None else []
    words += ["--constraints"] * bool(data["constraints"]) + ["--teach"] * (data["taught"] is None)
    picture = re.sub(r"[^\w.-]+", "_", name.removesuffix(".py"))
    command = shlex.join([*words, "-o", plot or f"{picture}.svg"])
    return f"for {' and '.join(missing)}: {command}" if missing else None


def explain_network(
    name: str | None, program: str, data: Mapping[str, Any], plot: str | None, *, as_json: bool
) -> None:
    """Print how a taught Transformer compares with a program on the test inputs, and draw it."""
    from kleene.explaining.networks.compared import compare_with_program
    from kleene.explaining.programs.data_sets import InputSource, inputs_of
    from kleene.naming import find, inputs_in_file
    from kleene.pictures.figures import check_picture

    if plot is not None:
        check_picture(plot, "--plot")
    if name is None or data["test"] is None:
        raise InputError(
            "a network is compared with a program with all of NETWORK.safetensors, --program and --test; see "
            "`kleene explain --help`"
        )
    unfit = [option for option in ("train", "split", "constraints", "teach", "taught") if data[option] is not None]
    if unfit:
        raise InputError(f"--{unfit[0]} is about a program alone, and --program compares a network with one")
    found = _program(program)
    source, network = InputSource.of(found.subject, found.entry, inputs_in_file(data["inputs"])), find(name).subject
    test = inputs_of(source, data["test"], samples=data["samples"] or COMPARED, seed=data["seed"] or 0)
    report = compare_with_program(network, found.subject, test, length=source.length(), seed=data["seed"] or 0)
    _show(report, plot, as_json=as_json)


def _program(name: str, *, rasp: bool = False) -> Any:
    """What a name means, if that is a transformer program, or a RASP program where these are taken."""
    from kleene.naming import find
    from kleene.programs.alta.program import Program
    from kleene.programs.rasp.program import RaspProgram

    found = find(name)
    if isinstance(found.subject, RaspProgram) and not rasp:
        raise InputError(f"{name!r} is a RASP program, and networks are compared with transformer programs alone")
    if not isinstance(found.subject, (Program, RaspProgram)):
        raise InputError(
            f"{name!r} is no transformer program, and only these and RASP programs have transition rules; see "
            f"`kleene list`"
        )
    return found


def _loaded(path: str, program: Any) -> Any:
    """The network in a file; refuses one that was not taught the program."""
    from kleene.explaining.programs.taught import check_taught
    from kleene.machines.protocol import load

    machine = load(path)
    check_taught(machine, program)
    return machine


def _taught_mlp(program: Any, train: list[list[Any]], longest: int, seed: int) -> tuple[Any, str]:
    """The compiled network with an MLP taught on the training inputs by trace supervision, and what it is in words."""
    from kleene.stopping import stoppable

    with stoppable("stopped before anything was taught"):
        from kleene.teaching.loop import use_all_cores
        from kleene.teaching.teach import teach

        use_all_cores()
        words = train if len(train) <= MOST_WORDS else random.Random(seed).sample(train, MOST_WORDS)
        taught = teach(program, machine="mlp", hints="full", words=words, seeds=1, first_seed=seed, lengths=(longest,),
                       **TEACHING)  # fmt: skip
    some = "" if len(words) == len(train) else f", on {len(words):,} of the training inputs"
    return taught.best, f"the MLP alone by trace supervision, {taught.plan.iterations:,} updates{some}"


def _explain_on_split(name: str | None, data: Mapping[str, Any], plot: str | None, *, as_json: bool) -> None:
    from kleene.explaining.programs.splits import learnable_on_split

    unfit = [option for option in ("train", "test", "samples", "seed", "teach", "taught") if data[option] is not None]
    if unfit:
        raise InputError(f"--split says which commands are for training and which for the test; leave --{unfit[0]} out")
    if name is None:
        raise InputError("--split needs a program of SCAN; give scan or scan_shift_reduce")
    _show(learnable_on_split(name, data["split"], constraints=bool(data["constraints"])), plot, as_json=as_json)


def _show(report: Any, plot: str | None, *, as_json: bool, more: str | None = None) -> None:
    file = None if plot is None else str(report.draw(plot))
    if as_json:
        return print_json(report.as_json() | ({} if file is None else {"file": file}))
    typer.echo(str(report) if more is None else f"{report}\n{more}")
    if file is not None:
        typer.echo(f"wrote {file}")
