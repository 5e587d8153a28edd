"""Experiments of the texts on the command line."""

from typing import Any

from kleene.errors import InputError


def listed() -> list[str]:
    """The names of all experiments."""
    from kleene.experiments.catalog import experiments

    return list(experiments())


def reproduce_named(
    name: str, *, full: bool, folder: str, progress: bool, iterations: int | None = None, model: str | None = None
) -> dict[str, Any]:
    """What the experiment came to. `model` is a file with a network to look at, where the experiment needs only one."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from kleene.experiments.catalog import experiment
    from kleene.teaching.cores import use_all_cores

    use_all_cores()
    network = None if model is None else _language_model(model)
    chosen = experiment(name, "full" if full else "quick", iterations=iterations, model=network)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not progress) as bar:
        total = sum(plan.iterations for plan in chosen.plans)
        task = bar.add_task(f"{name}: compiling" if total else name, total=total or None)
        before = {id(plan): sum(p.iterations for p in chosen.plans[:n]) for n, plan in enumerate(chosen.plans)}

        def watch(plan: Any, now: Any) -> None:
            told = f"{name}: {now.tests[-1]['generalises'].sum()} of {plan.runs} generalise"
            bar.update(task, completed=before[id(plan)] + now.iteration, description=told)

        return chosen.run(folder, on_test=watch)


def _language_model(path: str) -> Any:
    from kleene.machines.lstm.lstm import LSTM
    from kleene.machines.protocol import load

    network = load(path)
    if not isinstance(network, LSTM):
        raise InputError(f"{path!r} holds a {type(network).__name__}, and the experiment looks at an LSTM")
    return network
