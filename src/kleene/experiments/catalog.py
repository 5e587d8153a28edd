"""All experiments by name."""

from collections.abc import Callable

from kleene.errors import InputError, did_you_mean
from kleene.experiments import english, partial_traces, rule_corpora
from kleene.experiments.experiment import Reproduction, Size
from kleene.machines.lstm.lstm import LSTM


def experiments(
    size: Size = "quick", iterations: int | None = None, model: LSTM | None = None
) -> dict[str, Callable[[], Reproduction]]:
    """A function without arguments for each experiment. `iterations` says how long each of its plans is taught."""
    found: dict[str, Callable[[], Reproduction]] = {}
    found.update(partial_traces.experiments(size, iterations))
    found.update(rule_corpora.experiments(size, iterations))
    found.update(english.experiments(size, iterations, model))
    return found


def experiment(
    name: str, size: Size = "quick", *, iterations: int | None = None, model: LSTM | None = None
) -> Reproduction:
    """The experiment of that name."""
    known = experiments(size, iterations, model)
    if name not in known:
        raise InputError(f"no experiment {name!r}; {did_you_mean(name, known)}")
    if iterations is not None and iterations < 1:
        raise InputError(f"iterations is {iterations}; give 1 or more")
    takes_model = tuple(english.experiments())
    if model is not None and name not in takes_model:
        raise InputError(
            f"the experiment {name!r} teaches its own networks; a model is for {' and '.join(takes_model)}"
        )
    return known[name]()
