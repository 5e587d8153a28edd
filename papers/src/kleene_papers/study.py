"""A study: a table or figure of a paper, or a question of ours. What is run for it, and how its result is shown.

`run` is the one runner of all studies. It teaches what a study has to teach, lets it measure, and keeps the result.
"""

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

import jax

from kleene.files import make_folder
from kleene.sweeping.sweep import Status, swept_plans
from kleene.teaching.loop import teach
from kleene.teaching.plan import Learner, Plan, Progress
from kleene.teaching.reports import TeachingReport
from kleene.teaching.results import versions
from kleene_papers.stored import Provenance, Result
from kleene_papers.tables import Table

Size = Literal["quick", "full"]
Watch = Callable[[float, str], None]  # called with the share of a study that is done, and a line about it
NOT_MEASURED = "not measured"
ON_CPU = " on 2 cores"  # ends the time of a full size that was not measured on a GPU


@dataclass(frozen=True)
class Trained:
    """What a study measures: a report of each plan, and what `Trial.each` made of its learners."""

    reports: Sequence[TeachingReport]
    each: Sequence[Any]
    folder: Path
    watch: Watch | None = None

    def tell(self, share: float, line: str) -> None:
        """Say how far measuring is."""
        if self.watch is not None:
            self.watch(share, line)


@dataclass(frozen=True)
class Trial:
    """What is run for a study at one size: plans to teach, the paper's numbers, and what is measured of the taught.

    `measure` returns what was found by name, and perhaps a "summary" in lines. `each` is called with the number of a
    plan, its report and its learners, which are not kept. The plans of a `swept` trial are one sweep, whose store
    `cells` all studies share; `piece` and `minutes` are those of `swept_plans`. With `grows`, the result is kept after
    each plan, and a plan ends early after a test at which it is `learned`, or after its number of `seconds`. Without
    `checkpoints` a plan that is stopped begins again.
    """

    plans: tuple[Plan, ...] = ()
    paper: dict[str, Any] = field(default_factory=dict)
    measure: Callable[[Trained], dict[str, Any]] | None = None
    each: Callable[[int, TeachingReport, Learner], Any] | None = None
    swept: bool = False
    piece: str | None = None
    minutes: float | None = None
    grows: bool = False
    learned: Callable[[Progress], bool] | None = None
    seconds: tuple[float, ...] | None = None
    checkpoints: bool = True


@dataclass(frozen=True)
class Study:
    """What a table or figure shows, how it is measured, and how it is shown.

    `tables` and `draw` take the results of the names in `of`, which is the study's own where it is empty. `make` takes
    the size, and those options that `takes` names, and returns what is to be run; a study without it shows the results
    of others. `quick` and `full` say how long both sizes take: the quick one in CPU time on 2 cores, the full one on
    one H200 unless another machine is named. `formerly` is the name that it had before all had the names of results.
    """

    name: str
    shows: str
    tables: Callable[..., Sequence[Table]]
    draw: Callable[..., Path] | None = None
    make: Callable[..., Trial] | None = None
    of: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    quick: str = NOT_MEASURED
    full: str = NOT_MEASURED
    formerly: str = ""

    @property
    def results(self) -> tuple[str, ...]:
        """The names of the stored results that it shows."""
        return self.of or (self.name,)

    @property
    def cpu(self) -> str | None:
        """The times on 2 cores: of the quick size, and of the full one where it was run there."""
        quick = [] if self.quick == NOT_MEASURED else [f"{self.quick} (quick)"]
        full = [f"{self.full.removesuffix(ON_CPU)} (full)"] if self.full.endswith(ON_CPU) else []
        return ", ".join([*quick, *full]) or None

    @property
    def gpu(self) -> str | None:
        """The time of the full size on an H200."""
        return None if self.full == NOT_MEASURED or self.full.endswith(ON_CPU) else self.full


def run(
    study: Study, trial: Trial, folder: Any, *, watch: Watch | None = None, provenance: Provenance | None = None
) -> Result:
    """The result of a trial. The folder holds it as `NAME.json` and `NAME.svg`. One that was stopped goes on."""
    folder, begun, result = make_folder(folder), time.process_time(), None
    source = Provenance() if provenance is None else provenance
    for taught in _teachings(study.name, trial, folder, watch):
        found = {} if trial.measure is None else dict(trial.measure(taught))
        trained = sum(report.progress.seconds for report in taught.reports)
        seconds = round(trained if trial.plans else time.process_time() - begun, 1)
        rows = [{"task": r.plan.lesson.name} | row for r in taught.reports for row in r.settings()]
        result = Result(
            study.name,
            study.name,
            study.shows,
            replace(here(source), seconds=seconds, seeds=_seeds(trial.plans)),
            trial.paper,
            [plan.facts() for plan in trial.plans],
            rows,
            {name: value for name, value in found.items() if name != "summary"},
            list(found.get("summary", ())),
        )
        result.save(folder)
        if study.draw is not None:
            study.draw(result, folder / f"{study.name}.svg")
    assert result is not None  # every trial is taught at least once
    return result


def here(source: Provenance) -> Provenance:
    """The provenance with today's date, these versions, this machine, and the commit of a checkout."""
    devices = jax.devices()
    machine = f"{len(devices)} × {devices[0].device_kind}"
    return replace(source, commit=_commit(), date=date.today().isoformat(), machine=machine, versions=versions())


def _commit() -> str | None:
    """The commit of the checkout that this file lies in; None where it is installed from a package."""
    try:
        asked = ["git", "-C", str(Path(__file__).parent), "log", "-1", "--format=%h", "--", __file__]
        if not subprocess.run(asked, capture_output=True, text=True, timeout=10).stdout.strip():
            return None  # another project's checkout
        asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
        return subprocess.run(asked, capture_output=True, text=True, timeout=10).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def _seeds(plans: Sequence[Plan]) -> list[int] | None:
    seeds = [seed for plan in plans for seed in plan.seeds]
    return [min(seeds), max(seeds)] if seeds else None


def _teachings(name: str, trial: Trial, folder: Path, watch: Watch | None) -> Iterator[Trained]:
    """What was taught, whenever it is to be measured. Checkpoints are removed once all is measured."""
    if trial.swept:

        def show(status: Status) -> None:
            if watch is not None:
                watch(status.share, f"{status.done:,} of {status.cells:,} cells")

        reports = swept_plans(trial.plans, folder / "cells", piece=trial.piece, minutes=trial.minutes, on_status=show)
        yield Trained(reports, (), folder, watch)
        return
    reports, each, checkpoints = [], [], []
    for number, plan in enumerate(trial.plans):
        checkpoints.append(folder / f".{name}-{number}.safetensors")
        progress, learners = teach(
            plan,
            checkpoint=checkpoints[-1] if trial.checkpoints else None,
            enough=lambda progress, number=number: _is_enough(trial, number, progress),
            on_test=lambda progress, number=number, plan=plan: _tell(trial, number, plan, progress, watch),
        )
        reports.append(TeachingReport(plan, progress))
        if trial.each is not None:
            each.append(trial.each(number, reports[-1], learners))
        if trial.grows:
            yield Trained(tuple(reports), tuple(each), folder, watch)
    if not trial.grows:
        yield Trained(tuple(reports), tuple(each), folder, watch)
    for checkpoint in checkpoints:
        checkpoint.unlink(missing_ok=True)


def _is_enough(trial: Trial, number: int, progress: Progress) -> bool:
    late = trial.seconds is not None and progress.seconds > trial.seconds[number]
    return late or (trial.learned is not None and trial.learned(progress))


def _tell(trial: Trial, number: int, plan: Plan, progress: Progress, watch: Watch | None) -> None:
    if watch is not None:
        before, total = (sum(p.iterations for p in some) for some in (trial.plans[:number], trial.plans))
        right = progress.tests[-1]["generalises"].sum()
        watch((before + progress.iteration) / total, f"{right} of {plan.runs} generalise")
