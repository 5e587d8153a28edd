"""An experiment: what has to be run for a table or figure, the text's own numbers, and how it is drawn."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kleene.files import write_atomically
from kleene.teaching.loop import Plan, Progress, teach
from kleene.teaching.reports import Report
from kleene.teaching.results import versions

Size = Literal["quick", "full"]


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a text: what it shows, the plans that are run for it, the text's numbers, its picture."""

    name: str
    shows: str
    plans: tuple[Plan, ...]
    paper: dict[str, Any]
    draw: Callable[["Experiment", list[Report], Path], Path]

    def run(self, folder: Any, *, on_test: Callable[[Plan, Progress], None] | None = None) -> dict[str, Any]:
        """What it came to; `NAME.json` and `NAME.svg` in the folder hold it.

        Each plan keeps a checkpoint in the folder while it runs, so that an experiment that was stopped goes on.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        reports, checkpoints = [], []
        for number, plan in enumerate(self.plans):
            checkpoint = folder / f".{self.name}-{number}.safetensors"
            watch = None if on_test is None else lambda progress, plan=plan: on_test(plan, progress)
            progress, _ = teach(plan, checkpoint=checkpoint, on_test=watch)
            reports.append(Report(plan, progress))
            checkpoints.append(checkpoint)
        content = {
            "name": self.name,
            "shows": self.shows,
            "paper": self.paper,
            "plans": [plan.facts() for plan in self.plans],
            "versions": versions(),
            "seconds": round(sum(report.progress.seconds for report in reports), 1),
            "settings": [row for report in reports for row in report.settings()],
        }
        write_atomically(folder / f"{self.name}.json", json.dumps(content, indent=1).encode())
        self.draw(self, reports, folder / f"{self.name}.svg")
        for checkpoint in checkpoints:
            checkpoint.unlink(missing_ok=True)
        return content
