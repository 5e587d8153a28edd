"""Checks on the command line, with a bar that shows how far they are."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kleene.commands import tapes, transformers, words
from kleene.commands.subjects import find_subject, module_of, options_for
from kleene.errors import InputError


def check_named(
    name: str | None,
    *,
    samples: int,
    max_length: int,
    seed: int,
    progress: bool,
    reference: str | None = None,
    **options: Any,
) -> list[Any]:
    """The reports for one program, or for everything in the libraries.

    `reference` is FILE.py:NAME, a function from the input tokens of a transformer program to its output tokens.
    """
    from kleene.compiling.alta.checking import check

    reports = []
    chosen = _everything() if name is None else [_one(name)]
    more = {} if reference is None else {"reference": _reference(reference, name, chosen[0][1])}
    given = _for_all(options) if name is None else options_for(name, chosen[0][1], options)
    with _bar("checking", len(chosen) * 2 * samples, progress) as (bar, task):
        for shown, subject in chosen:
            bar.update(task, description=shown)
            asked = {"samples": samples, "max_length": max_length, "seed": seed, "on_input": lambda: bar.advance(task)}
            meant = {key: value for key, value in given.items() if key in module_of(subject).OPTIONS}
            reports.append(check(subject, name=shown, **asked, **meant, **more))
    return reports


def _reference(place: str, name: str | None, subject: Any) -> Any:
    from kleene.programs.lookup import function_in_file

    if name is None or module_of(subject) is not transformers:
        told = "give it with a PROGRAM, not --all" if name is None else f"{name!r} is of another kind"
        raise InputError(f"--reference is for one transformer program; {told}")
    return function_in_file(place, "--reference")


def _for_all(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given; one that not every kind of program has is refused.

    Circuits, which are compiled in one way and have no options, go without.
    """
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if not all(key in module.OPTIONS for module in (tapes, transformers, words)):
            raise InputError(f"--{key} has no meaning for some kinds of programs; give it with a PROGRAM, not --all")
    return given


def _one(name: str) -> tuple[str, Any]:
    program, entry, network = find_subject(name)
    if network:
        raise InputError(f"{name!r} is a network, and there is no program to check it against; name a program")
    return name, entry or program


def _everything() -> list[tuple[str, Any]]:
    from kleene.programs.alta import library as alta_library
    from kleene.programs.automata import library as automata_library
    from kleene.programs.circuits import library as circuits_library
    from kleene.programs.turing import library as turing_library

    shelves = (("", alta_library), ("dfa:", automata_library), ("tm:", turing_library), ("", circuits_library))
    return [(prefix + name, entry) for prefix, shelf in shelves for name, entry in shelf.entries().items()]


def fuzz_with_progress(
    programs: int, seed: int, workers: int | None, resume: str | None, *, attack: bool = False, progress: bool
) -> Any:
    """The tally of so many random programs; on all cores, unless told otherwise, when there are many."""
    from kleene.compiling.alta.fuzzing import fuzz

    with _bar("random programs", programs, progress) as (bar, task):

        def show(tally: Any) -> None:
            told = f"{tally.agree:,} agree, {len(tally.failures)} fail"
            bar.update(task, completed=tally.done, description=told)

        chosen = workers or ((os.cpu_count() or 1) if programs > 500 else 1)
        return fuzz(programs, seed=seed, workers=chosen, resume=resume, attack=attack, on_program=show)


@contextmanager
def _bar(title: str, total: int, shown: bool) -> Iterator[tuple[Any, Any]]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not shown) as bar:
        yield bar, bar.add_task(title, total=total)
