"""Experiments of the texts on the command line."""

from typing import Any

from kleene.errors import InputError


def listed() -> list[str]:
    """The names of all experiments."""
    from kleene.experiments.partial_traces import experiments

    return list(experiments())


def reproduce_named(name: str, *, full: bool, folder: str, progress: bool) -> dict[str, Any]:
    """What the experiment came to."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from kleene.experiments.partial_traces import experiments

    known = experiments("full" if full else "quick")
    if name not in known:
        raise InputError(f"no experiment {name!r}; there are {', '.join(known)}")
    experiment = known[name]()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not progress) as bar:
        total = sum(plan.iterations for plan in experiment.plans)
        task = bar.add_task(f"{name}: compiling", total=total)
        before = {id(plan): sum(p.iterations for p in experiment.plans[:n]) for n, plan in enumerate(experiment.plans)}

        def watch(plan: Any, now: Any) -> None:
            told = f"{name}: {now.tests[-1]['generalises'].sum()} of {plan.runs} generalise"
            bar.update(task, completed=before[id(plan)] + now.iteration, description=told)

        return experiment.run(folder, on_test=watch)
