"""An experiment: the plans behind a table or figure of a paper, the paper's own numbers, and how it is drawn."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from kleene.files import SEAL, make_folder, sealed, write_atomically
from kleene.sweeping.sweep import Status, swept_plans
from kleene.teaching.loop import teach
from kleene.teaching.plan import Learner, Plan, Progress
from kleene.teaching.reports import TeachingReport
from kleene.teaching.results import versions

Size = Literal["quick", "full"]
Watch = Callable[[float, str], None]  # called with the share of an experiment that is done, and a line about it

SPREAD = re.compile(r"\n +")  # a newline in JSON is never inside a string
SPREAD_LIST = re.compile(r"\[\n +([^\[\]{}]+)\n +\]")
SPREAD_ROW = re.compile(r"\{\n +([^{}]+?)\n +\}")
LONGEST_ROW = 400  # characters


@runtime_checkable
class Reproduction(Protocol):
    """What `kleene reproduce` runs: plans to teach, perhaps none, and a `run` that makes a result of them."""

    @property
    def name(self) -> str: ...

    @property
    def shows(self) -> str: ...

    @property
    def plans(self) -> tuple[Plan, ...]: ...

    def run(self, folder: Any, *, watch: Watch | None = None) -> dict[str, Any]:
        """What it came to; `NAME.json` and `NAME.svg` in the folder hold it."""
        ...


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper: what it shows, the plans that are run for it, the paper's numbers, its picture.

    `further` is a function from the reports to further entries of the JSON file.
    """

    name: str
    shows: str
    plans: tuple[Plan, ...]
    paper: dict[str, Any]
    draw: Callable[["Experiment", list[TeachingReport], Path], Path]
    further: Callable[[list[TeachingReport]], dict[str, Any]] | None = None

    def run(self, folder: Any, *, watch: Watch | None = None) -> dict[str, Any]:
        """What it came to; `NAME.json` and `NAME.svg` in the folder hold it. One that was stopped goes on."""
        folder = make_folder(folder)
        with self.taught(folder, watch) as reports:
            content = described(self, reports) | ({} if self.further is None else self.further(reports))
            keep(content, folder)
            self.draw(self, reports, folder / f"{self.name}.svg")
        return content

    @contextmanager
    def taught(self, folder: Path, watch: Watch | None) -> Iterator[list[TeachingReport]]:
        """The report of each plan. Each keeps a checkpoint in the folder until the experiment is kept."""
        with Lessons(self, folder, watch) as lessons:
            yield [lessons.taught(plan)[0] for plan in self.plans]


@dataclass(frozen=True)
class SweptExperiment(Experiment):
    """An experiment whose plans are run as a sweep. Its store, `cells` in the folder, is shared by all experiments.

    `piece` and `minutes` are those of `swept_plans`: an experiment that does not end in one sitting has no result yet.
    """

    piece: str | None = None
    minutes: float | None = None

    @contextmanager
    def taught(self, folder: Path, watch: Watch | None) -> Iterator[list[TeachingReport]]:
        def show(status: Status) -> None:
            if watch is not None:
                watch(status.share, f"{status.done:,} of {status.cells:,} cells")

        yield swept_plans(self.plans, folder / "cells", piece=self.piece, minutes=self.minutes, on_status=show)


@dataclass(frozen=True)
class GrowingExperiment(Experiment):
    """An experiment that is kept and drawn after each of its plans.

    A plan ends early after a test at which it is `learned`, or after its number of `seconds`. Without `checkpoints` a
    plan that is stopped begins again.
    """

    learned: Callable[[Progress], bool] | None = None
    seconds: tuple[float, ...] | None = None
    checkpoints: bool = True

    def run(self, folder: Any, *, watch: Watch | None = None) -> dict[str, Any]:
        folder, content, reports = make_folder(folder), {}, []
        with Lessons(self, folder, watch, checkpoints=self.checkpoints) as lessons:
            for number, plan in enumerate(self.plans):
                reports.append(lessons.taught(plan, partial(self._is_enough, number))[0])
                content = described(self, reports) | ({} if self.further is None else self.further(reports))
                keep(content, folder)
                self.draw(self, reports, folder / f"{self.name}.svg")
        return content

    def _is_enough(self, number: int, progress: Progress) -> bool:
        late = self.seconds is not None and progress.seconds > self.seconds[number]
        return late or (self.learned is not None and self.learned(progress))


class Lessons:
    """The plans of an experiment, taught one after another with a checkpoint each, which are removed on success."""

    def __init__(self, experiment: Reproduction, folder: Any, watch: Watch | None = None, *, checkpoints: bool = True):
        self.experiment, self.folder, self.watch, self.kept = experiment, Path(folder), watch, checkpoints
        self.checkpoints: list[Path] = []

    def __enter__(self) -> "Lessons":
        make_folder(self.folder)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            for checkpoint in self.checkpoints:
                checkpoint.unlink(missing_ok=True)

    def taught(self, plan: Plan, enough: Callable[[Progress], bool] | None = None) -> tuple[TeachingReport, Learner]:
        """The report of the next plan, and its learners at the end, which may be early (`loop.teach`)."""
        plans = self.experiment.plans
        before, total = (sum(p.iterations for p in some) for some in (plans[: len(self.checkpoints)], plans))
        checkpoint = self.folder / f".{self.experiment.name}-{len(self.checkpoints)}.safetensors"
        self.checkpoints.append(checkpoint)

        def on_test(progress: Progress) -> None:
            if self.watch is not None:
                generalise = progress.tests[-1]["generalises"].sum()
                self.watch((before + progress.iteration) / total, f"{generalise} of {plan.runs} generalise")

        place = checkpoint if self.kept else None
        progress, learners = teach(plan, checkpoint=place, enough=enough, on_test=on_test)
        return TeachingReport(plan, progress), learners


def described(experiment: Any, reports: list[TeachingReport]) -> dict[str, Any]:
    """The entries that the JSON file of every experiment has."""
    return {
        "name": experiment.name,
        "shows": experiment.shows,
        "paper": experiment.paper,
        "plans": [plan.facts() for plan in experiment.plans],
        "versions": versions(),
        "seconds": round(sum(report.progress.seconds for report in reports), 1),
        "settings": [{"task": r.plan.lesson.name} | row for r in reports for row in r.settings()],
    }


def keep(content: dict[str, Any], folder: Path) -> Path:
    """Save the content as JSON, a list of numbers and the row of a table on one line each, and return the path."""

    def joined(found: re.Match[str]) -> str:
        row = SPREAD.sub(" ", found[1])
        return found[0] if len(row) > LONGEST_ROW or "[ " in row else f"{{{row}}}"

    text = SPREAD_LIST.sub(
        lambda found: f"[{SPREAD.sub(' ', found[1])}]", json.dumps({"checksum": SEAL} | content, indent=1)
    )
    return write_atomically(folder / f"{content['name']}.json", sealed(SPREAD_ROW.sub(joined, text)))
