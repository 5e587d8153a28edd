"""What the five texts show, table by table, figure by figure, theorem by theorem: what shows it here, and our verdict.

A verdict is one word:

- `holds`: it is proved here for every input, or measured at the paper's size with the same outcome, or
  drawn in the text and shown by the command;
- `weaker`: it comes out in part, or less clearly, or at a smaller size than the paper's;
- `fails`: it was measured, and came out otherwise;
- `open`: what shows it is here, but was not run at a size that says anything;
- `untestable`: the text does not say enough to do it again, or there is nothing to measure.
"""

import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from itertools import groupby
from typing import Any, Literal

from kleene_papers.catalog import listed

Verdict = Literal["holds", "weaker", "fails", "open", "untestable"]


@dataclass(frozen=True)
class Claim:
    """One table, figure or theorem: what it shows, the experiment or the command that shows it here, and the verdict.

    An `experiment` is one of `kleene reproduce`, anything else a `command`, or the page that has it; `time` is the CPU
    time of the command, or of all examples of the page. The claims are in claims.toml. `paper` and `ours` are numbers
    side by side, from numbers.toml, which `python docs/results/generate.py` writes from the stored results.
    """

    name: str
    text: str
    shows: str
    verdict: Verdict
    why: str
    experiment: str = ""
    command: str = ""
    time: str | None = None
    paper: str | None = None
    ours: str | None = None

    @property
    def cpu(self) -> str | None:
        """How long it takes on 2 cores, None where that was not measured."""
        return listed(self.experiment).cpu if self.experiment else self.time

    @property
    def gpu(self) -> str | None:
        """How long it takes on one H200, None where that was not measured."""
        return listed(self.experiment).gpu if self.experiment else None

    @property
    def run(self) -> str:
        """The command that shows it."""
        return f"kleene reproduce {self.experiment}" if self.experiment else self.command

    def as_json(self) -> dict[str, Any]:
        times = listed(self.experiment)
        found = asdict(self) | {"run": self.run, "cpu": self.cpu, "gpu": self.gpu}
        return found | ({"quick": times.quick, "full": times.full} if self.experiment else {"quick": "", "full": ""})


@cache
def claims() -> dict[str, Claim]:
    """All claims by name, in the order of the texts."""
    written, numbers = (_written(file) for file in ("claims.toml", "numbers.toml"))
    return {row["name"]: Claim(**row, **numbers.get(row["name"], {})) for row in written["claim"]}


def _written(file: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("kleene_papers").joinpath(file).read_text(encoding="utf-8"))


def claims_table() -> Any:
    """A rich table of all claims, text by text."""
    from rich.table import Table  # slow to import

    table = Table(box=None, header_style="bold", pad_edge=False, collapse_padding=True)
    table.add_column("name, verdict", no_wrap=True)
    table.add_column("shows, why, and numbers")
    table.add_column("run", max_width=36)
    for text, of_text in groupby(claims().values(), key=lambda claim: claim.text):
        table.add_row(f"[bold]{text}[/bold]")
        for claim in of_text:
            table.add_row(f"{claim.name}\n[bold]{claim.verdict}[/bold]", *_explained(claim))
    return table


def _explained(claim: Claim) -> tuple[str, str]:
    """What it shows, why and the numbers; and what shows it, with its times."""
    from rich.markup import escape

    def lines(first: str, facts: dict[str, str | None]) -> str:
        told = (f"[dim]{name}:[/dim] {escape(fact)}" for name, fact in facts.items() if fact)
        return "\n".join([escape(first), *told])

    shown = lines(claim.shows, {"why": claim.why, "paper": claim.paper, "ours": claim.ours})
    return shown, lines(claim.run, {"CPU": claim.cpu, "GPU": claim.gpu})
