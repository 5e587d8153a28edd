"""What `kleene.reproduce` runs and lists: the experiments of the papers by name, our numbers beside the paper's."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kleene.errors import InputError, close_names, did_you_mean
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.protocol import load
from kleene.pictures.pages import inline
from kleene.teaching.reports import as_text, table_of
from kleene.traces.markup import html_of_rich, html_text
from kleene_papers.alta import (
    hinted_transformers,
    minimal_programs,
    parity_end_to_end,
    scan_end_to_end,
    simplicity,
    trace_supervision,
)
from kleene_papers.catalog import catalog_table, listed
from kleene_papers.claims import claims, claims_table
from kleene_papers.experiment import Reproduction, Size, SweptExperiment, Watch
from kleene_papers.interdependence import english, rule_corpora
from kleene_papers.judged import taught_algorithms
from kleene_papers.traces import neural_gpu, ntm_choices, partial_traces

SEEDED = (partial_traces, ntm_choices)  # modules whose experiments take a first seed


@dataclass(frozen=True)
class Reproduced:
    """The result of an experiment: the content of its JSON file, which the folder holds with the picture."""

    content: dict[str, Any]
    folder: Path

    @property
    def name(self) -> str:
        return self.content["name"]

    @property
    def picture(self) -> Path:
        return self.folder / f"{self.name}.svg"

    def table(self) -> Any:
        """A rich table with a row for each setting that was taught."""
        return table_of([self.content | {"lesson": self.name}])

    def lines(self) -> list[str]:
        """The result in a few lines, and where it is kept."""
        return [*self.content.get("summary", ()), f"kept in {self.folder}/{self.name}.json and .svg"]

    def as_json(self) -> dict[str, Any]:
        return self.content

    def __str__(self) -> str:
        table = [as_text(self.table())] if self.content["settings"] else []
        return "\n".join([self.content["shows"], *table, *self.lines()])

    def _repr_html_(self) -> str:
        shown = html_text(self.content["shows"])
        table = html_of_rich(self.table()) if self.content["settings"] else ""
        picture = ""
        if self.picture.is_file():
            picture = inline(self.picture.read_text(encoding="utf-8"), self.name)
        return shown + table + html_text("\n".join(self.lines())) + picture

    def __repr__(self) -> str:
        return f"<Reproduced {self.name}: {len(self.content['settings'])} settings, in {str(self.folder)!r}>"


def reproduce(
    name: str,
    *,
    full: bool = False,
    iterations: int | None = None,
    model: Any = None,
    networks: int | None = None,
    corpora: int | None = None,
    folder: Any = "results",
    first_seed: int = 0,
    piece: str | None = None,
    minutes: float | None = None,
    on_begin: Callable[[Reproduction], None] | None = None,
    watch: Watch | None = None,
) -> Reproduced:
    """Run the experiment of that name at a size for a CPU, or with `full` at the paper's own size.

    `model` is a language model, or a file with one, for experiments that only look at a model: then none is taught.
    `networks` says how many language models are taught, for the experiments on English and, for each of their
    `corpora`, on rules.
    Each plan keeps a checkpoint in the folder while it runs, so that a stopped experiment can continue.

    Experiments on partial traces are sweeps: their seeds begin at `first_seed`, `piece` is "i/n" for the i-th of n
    parts of their runs, and after `minutes` they stop at a checkpoint. They raise an `UnfinishedError` as long as runs
    are left, and the call that finds all of them in the folder returns the result.
    """
    network = _language_model(model)
    size: Size = "full" if full else "quick"
    many = {"networks": networks, "corpora": corpora}
    chosen = experiment(name, size, iterations=iterations, model=network, first_seed=first_seed, **many)
    chosen = in_pieces(name, chosen, piece, minutes)
    if on_begin is not None:
        on_begin(chosen)
    return Reproduced(chosen.run(folder, watch=watch), Path(folder))


def records() -> list[dict[str, Any]]:
    """A record for each table, figure and theorem of the texts."""
    return [claim.as_json() for claim in claims().values()]


def tables() -> tuple[Any, ...]:
    """A rich table of all tables, figures and theorems of the texts, and one of all experiments."""
    return claims_table(), catalog_table([listed(known) for known in experiments()])


def _language_model(model: Any) -> LSTM | None:
    network = load(model) if isinstance(model, (str, Path)) else model
    if network is not None and not isinstance(network, LSTM):
        raise InputError(f"{str(model)!r} holds a {type(network).__name__}, and the experiment looks at an LSTM")
    return network


def in_pieces(name: str, chosen: Reproduction, piece: str | None, minutes: float | None) -> Reproduction:
    """The experiment, to be run in pieces or until a time is up; refuses one that is no sweep."""
    if (piece, minutes) == (None, None):
        return chosen
    if not isinstance(chosen, SweptExperiment):
        raise InputError(f"the experiment {name!r} is not a sweep, so it has no pieces and no minutes; leave them out")
    if minutes is not None and not minutes > 0:
        raise InputError(f"minutes is {minutes}; give a number above 0")
    return replace(chosen, piece=piece, minutes=minutes)


def experiments(
    size: Size = "quick",
    iterations: int | None = None,
    model: LSTM | None = None,
    networks: int | None = None,
    corpora: int | None = None,
    first_seed: int = 0,
) -> dict[str, Callable[[], Reproduction]]:
    """A function without arguments for each experiment. `iterations` says how long each of its plans is taught.

    `first_seed` is for those on partial traces alone.
    """
    found: dict[str, Callable[[], Reproduction]] = {}
    for module in SEEDED:
        found.update(module.experiments(size, iterations, first_seed))
    found.update(neural_gpu.experiments(size, iterations))
    found.update(hinted_transformers.experiments(size, iterations))
    found.update(parity_end_to_end.experiments(size, iterations))
    found.update(trace_supervision.experiments(size, iterations))
    found.update(scan_end_to_end.experiments(size, iterations))
    found.update(taught_algorithms.experiments(size, iterations))
    found.update(rule_corpora.experiments(size, iterations, corpora, networks))
    found.update(english.experiments(size, iterations, model, networks))
    found.update(minimal_programs.experiments(size))
    found.update(simplicity.experiments(size))
    return found


def experiment(
    name: str,
    size: Size = "quick",
    *,
    iterations: int | None = None,
    model: LSTM | None = None,
    networks: int | None = None,
    corpora: int | None = None,
    first_seed: int = 0,
) -> Reproduction:
    """The experiment of that name, or the one that shows the claim of that name."""
    known = experiments(size, iterations, model, networks, corpora, first_seed)
    claim = claims().get(name)
    if claim is not None and not claim.experiment:
        raise InputError(f"{name} needs no experiment; this shows it: {claim.run}")
    name = name if claim is None else claim.experiment
    if name not in known:
        raise InputError(f"no experiment {name!r}; {_candidates(name, known)}")
    if iterations is not None and iterations < 1:
        raise InputError(f"iterations is {iterations}; give 1 or more")
    if iterations is not None and name in (*minimal_programs.experiments(), *simplicity.experiments()):
        raise InputError(f"the experiment {name!r} teaches nothing, so it has no iterations; leave them out")
    if first_seed and not any(name in module.experiments() for module in SEEDED):
        raise InputError(f"the experiment {name!r} has its own seeds; a first seed is for ntm-…, nram-… and states-…")
    takes_model = tuple(english.experiments())
    if model is not None and name not in takes_model:
        raise InputError(
            f"the experiment {name!r} teaches its own networks; a model is for {' and '.join(takes_model)}"
        )
    takes_corpora = tuple(rule_corpora.experiments())
    for option, count, takes in (
        ("networks", networks, (*takes_corpora, *takes_model)),
        ("corpora", corpora, takes_corpora),
    ):
        if count is not None and name not in takes:
            raise InputError(f"the experiment {name!r} has no number of {option}; it is for {', '.join(takes)}")
        if count is not None and count < 1:
            raise InputError(f"{option} is {count}; give 1 or more")
    return known[name]()


def _candidates(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: results of the texts that end in it, similar names, or experiments."""
    if of_texts := [claim for claim in claims() if claim.endswith(f"-{name}")]:
        return f"did you mean {' or '.join(of_texts)}?"
    named = [*known, *claims()]
    return did_you_mean(name, named if close_names(name, named) else known)
