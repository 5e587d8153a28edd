"""Teaching on the command line: a grid of settings and seeds, with a bar, checkpoints and a results file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kleene.commands.heads import best_run, check_heads, draw_heads
from kleene.commands.targets import check_targets
from kleene.errors import InputError, KleeneError, ModelFileError
from kleene.stopping import tell


class Taught(NamedTuple):
    """What a grid came to: the report, the file that it was stored in, if it was, and what could not be kept."""

    report: Any
    stored: Path | None
    failure: KleeneError | None


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
    seeds: int | None,
    **grid: Any,
) -> Taught:
    """Teach a grid, and keep the best machine, the measurements and the picture that were asked for.

    All places are tried before anything is taught. What cannot be kept in the end does not keep the rest from it.
    """
    from kleene.teaching.catalog import lesson
    from kleene.teaching.cores import use_all_cores
    from kleene.teaching.loop import Plan, teach
    from kleene.teaching.reports import Report
    from kleene.teaching.results import store

    rate = lesson_options.get("learning_rate", 1.0)
    if not 0 < rate < float("inf"):
        raise InputError(f"--rate is {rate}; give a number above 0")
    use_all_cores()
    asked = None if hints == "all" else tuple(part.strip() for part in hints.split(","))
    taught = lesson(task, machine, hints=asked, **lesson_options)
    plan = Plan.grid(
        taught,
        kinds=taught.kinds if asked is None else asked,
        densities=_numbers("density", densities),
        strengths=(getattr(taught, "default_strength", 1.0),) if strengths is None else _numbers("strength", strengths),
        seeds=getattr(taught, "default_seeds", 10) if seeds is None else seeds,
        **grid,
    )
    if heads is not None:
        check_heads(taught, heads)
    if model is not None:
        _check_saved(taught)
    check_targets(results, {"--checkpoint": checkpoint, "--model": model, "--heads": heads})
    with _watched(plan, progress) as watch:
        measured, learners = teach(plan, checkpoint=checkpoint, stop_after=stop_after, on_test=watch)
    report, stored = Report(plan, measured), []
    failure = _kept(
        {
            "the model": model and (lambda: save_best(report, learners, model)),
            "the results": results and (lambda: stored.append(store(report, results))),
            "the picture": heads and (lambda: draw_heads(report, learners, heads)),
        }
    )
    return Taught(report, stored[0] if stored else None, failure)


def _kept(steps: dict[str, Any]) -> KleeneError | None:
    """What could not be kept and why, if anything; whatever goes wrong with one thing, the others are kept."""
    tell("stopped while what was learned was being kept", at_stake=True)
    failures, cause = [], None
    for what, keep in steps.items():
        try:
            if keep:
                keep()
        except Exception as error:
            told = str(error) if isinstance(error, KleeneError) else f"{type(error).__name__}: {error}"
            failures.append(f"{what} could not be kept ({told})")
            cause = cause or error
    if not failures:
        return None
    failure = ModelFileError("; ".join(failures))
    failure.__cause__ = cause
    return failure


def save_best(report: Any, learners: Any, path: str) -> int:
    """The number of the run whose machine is now in the file, the best of all."""
    import jax

    best = best_run(report, range(report.plan.runs))
    saved_part(jax.tree.map(lambda leaf: leaf[best], learners.model)).save(path)
    return best


def saved_part(model: Any) -> Any:
    """What of a model can be kept in a file: unwraps `Pupil.machine`, then `Recurrent.network`."""
    machine = model
    while not hasattr(machine, "save"):
        machine = getattr(machine, "machine", None) or getattr(machine, "network", None)
        if machine is None:
            raise InputError(f"a {type(model).__name__} cannot be kept in a file; leave --model out")
    return machine


def _check_saved(lesson: Any) -> None:
    """Refuse, before anything is taught, a machine that cannot be kept in a file."""
    import jax

    saved_part(jax.eval_shape(lesson.fresh, jax.random.key(0)))


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
