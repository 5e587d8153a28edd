"""Teaching on the command line: a grid of settings and seeds, with a bar, checkpoints and a results file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kleene.commands.heads import best_run, check_heads, draw_heads
from kleene.errors import InputError
from kleene.files import make_folder


def teach_named(
    task: str,
    *,
    machine: str | None,
    hints: str,
    densities: str,
    strengths: str | None,
    checkpoint: str | None,
    results: str | None,
    model: str | None,
    heads: str | None,
    stop_after: int | None,
    progress: bool,
    lesson_options: dict[str, Any],
    **grid: Any,
) -> tuple[Any, Any]:
    """The report of the grid, and the file that it was stored in, if it was."""
    from kleene.teaching.catalog import lesson
    from kleene.teaching.cores import use_all_cores
    from kleene.teaching.loop import Plan, teach
    from kleene.teaching.reports import Report
    from kleene.teaching.results import store

    use_all_cores()
    asked = None if hints == "all" else tuple(part.strip() for part in hints.split(","))
    taught = lesson(task, machine, hints=asked, **lesson_options)
    plan = Plan.grid(
        taught,
        kinds=taught.kinds if asked is None else asked,
        densities=_numbers("density", densities),
        strengths=(getattr(taught, "default_strength", 1.0),) if strengths is None else _numbers("strength", strengths),
        **grid,
    )
    if heads is not None:
        check_heads(taught, heads)
    _prepare_places(results, checkpoint, model, heads)
    with _watched(plan, progress) as watch:
        measured, learners = teach(plan, checkpoint=checkpoint, stop_after=stop_after, on_test=watch)
    report = Report(plan, measured)
    stored = None if results is None else store(report, results)
    if model is not None:
        save_best(report, learners, model)
    if heads is not None:
        draw_heads(report, learners, heads)
    return report, stored


def save_best(report: Any, learners: Any, path: str) -> int:
    """The number of the run whose machine is now in the file, the best of all."""
    import jax

    best = best_run(report, range(report.plan.runs))
    machine = jax.tree.map(lambda leaf: leaf[best], learners.model)
    while not hasattr(machine, "save"):  # a pupil has a machine, and what makes a network a machine has the network
        inner = getattr(machine, "machine", None) or getattr(machine, "network", None)
        if inner is None:
            raise InputError(f"a {type(machine).__name__} cannot be kept in a file; leave --model out")
        machine = inner
    machine.save(path)
    return best


def _prepare_places(results: str | None, *files: str | None) -> None:
    """Make the folders of all that will be written: a place that is none is better found before the teaching."""
    if results is not None:
        make_folder(results)
    for file in filter(None, files):
        make_folder(Path(file).parent)
        if os.path.isdir(file):
            raise InputError(f"{file!r} is a folder; give the name of a file")


def _numbers(name: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--{name} is {text!r}; give a number, or several with commas, such as 1,0.1") from None


def told_of(test: Any) -> str:
    """What the bar says of a test: means over the runs that have not diverged, and how many have."""
    alive = test["alive"]
    if not alive.any():
        return f"all {len(alive)} runs diverged"
    loss, accuracy = (test[name][alive].mean() for name in ("loss", "accuracy"))
    diverged = "" if alive.all() else f", {(~alive).sum()} diverged"
    return f"loss {loss:.3f}, accuracy {accuracy:.0%}, {test['generalises'].sum()} of {len(alive)} generalise{diverged}"


@contextmanager
def _watched(plan: Any, shown: bool) -> Iterator[Any]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as bar:
        task = bar.add_task(f"{plan.runs} runs: compiling", total=plan.iterations)

        def watch(now: Any) -> None:
            bar.update(task, completed=now.iteration, description=told_of(now.tests[-1]))

        yield watch
