"""What the five texts show, table by table, figure by figure, theorem by theorem: what shows it here, and our verdict.

A verdict is one word:

- `holds`: it is proved here for every input, or measured at the paper's size with the same outcome, or
  drawn in the text and shown by the command;
- `weaker`: it comes out in part, or less clearly, or at a smaller size than the paper's;
- `fails`: it was measured, and came out otherwise;
- `open`: what shows it is here, but was not run at a size that says anything, or depends on what the paper leaves out;
- `untestable`: the text does not say enough to do it again, or there is nothing to measure.
"""

import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

from kleene_papers.registry import studies
from kleene_papers.study import NOT_MEASURED, Study
from kleene_papers.tables import Table

Verdict = Literal["holds", "weaker", "fails", "open", "untestable"]
TEXTS = ("alta", "notes", "traces", "compose", "earlier", "ours")  # what the names of their claims begin with


@dataclass(frozen=True)
class Claim:
    """One table, figure or theorem: what it shows, the study or the command that shows it here, and the verdict.

    What has no `study` is shown by a `command` or a page; `time` is the CPU time of the command, or of all examples of
    the page. The claims are in texts/*.toml, and `why` is a template: its numbers come from the stored results.
    """

    name: str
    text: str
    shows: str
    verdict: Verdict
    why: str
    study: str = ""
    command: str = ""
    time: str | None = None

    @property
    def of(self) -> Study | None:
        """The study that shows it."""
        return studies()[self.study] if self.study else None

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, with the numbers."""
        if "{{" not in self.why:
            return self.why
        from kleene_papers.report import filled  # templates and their functions are slow to load

        return filled(self.why, f"why of {self.name}")

    @property
    def cpu(self) -> str | None:
        """How long it takes on 2 cores, None where that was not measured."""
        return self.time if self.of is None else self.of.cpu

    @property
    def gpu(self) -> str | None:
        """How long it takes on one H200, None where that was not measured."""
        return None if self.of is None else self.of.gpu

    @property
    def run(self) -> str:
        """The command that shows it."""
        return self.command or f"kleene reproduce {self.study}"

    def as_json(self) -> dict[str, Any]:
        of = self.of
        return {
            "name": self.name,
            "text": self.text,
            "shows": self.shows,
            "verdict": self.verdict,
            "why": self.reason,
            "study": self.study,
            "run": self.run,
            "cpu": self.cpu,
            "gpu": self.gpu,
            "quick": NOT_MEASURED if of is None else of.quick,
            "full": NOT_MEASURED if of is None else of.full,
        }


@cache
def claims() -> dict[str, Claim]:
    """All claims by name, in the order of the texts."""
    folder = resources.files("kleene_papers").joinpath("texts")
    read = (tomllib.loads(folder.joinpath(f"{text}.toml").read_text(encoding="utf-8")) for text in TEXTS)
    return {row["name"]: Claim(**row) for written in read for row in written["claim"]}


def of_text(text: str) -> list[Claim]:
    """The claims of a text, which the names of its claims begin with."""
    return [claim for claim in claims().values() if claim.name.partition("-")[0] == text]


def verdicts() -> Table:
    """How many claims of each text have each verdict."""
    words, texts = get_args(Verdict), dict.fromkeys(claim.text for claim in claims().values())
    counts = Counter((claim.text, claim.verdict) for claim in claims().values())
    return Table(["", *words], [[text, *(counts[text, word] or "" for word in words)] for text in texts])


def renamed() -> Table:
    """What results were called before all had one name."""
    rows = [[f"`{study.formerly}`", f"`{study.name}`"] for study in studies().values() if study.formerly]
    return Table(["before 0.3: `kleene reproduce …`", "now"], sorted(rows))
