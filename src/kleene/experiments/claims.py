"""What the five texts show, table by table, figure by figure, theorem by theorem: what shows it here, and our verdict.

A verdict is one word:

- `holds`: it is proved here for every input, or measured at the paper's size with the same outcome;
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

from kleene.experiments.catalog import listed

Verdict = Literal["holds", "weaker", "fails", "open", "untestable"]


@dataclass(frozen=True)
class Claim:
    """One table, figure or theorem: what it shows, the experiment or the command that shows it here, and the verdict.

    An `experiment` is one of `kleene reproduce`, anything else a `command`, or the page that has it. The claims are in
    claims.toml.
    """

    name: str
    text: str
    shows: str
    verdict: Verdict
    why: str
    experiment: str = ""
    command: str = ""

    @property
    def run(self) -> str:
        """The command that shows it."""
        return f"kleene reproduce {self.experiment}" if self.experiment else self.command

    def as_json(self) -> dict[str, Any]:
        times = listed(self.experiment)
        found = asdict(self) | {"run": self.run}
        return found | ({"quick": times.quick, "full": times.full} if self.experiment else {"quick": "", "full": ""})


@cache
def claims() -> dict[str, Claim]:
    """All claims by name, in the order of the texts."""
    written = resources.files("kleene.experiments").joinpath("claims.toml").read_text(encoding="utf-8")
    return {row["name"]: Claim(**row) for row in tomllib.loads(written)["claim"]}


def claims_table() -> Any:
    """A rich table of all claims, text by text."""
    from rich.table import Table  # slow to import

    table = Table(box=None, header_style="bold", pad_edge=False, collapse_padding=True)
    table.add_column("name", no_wrap=True)
    for column in ("shows", "verdict", "why", "run"):
        table.add_column(column, no_wrap=column == "verdict")
    for text, of_text in groupby(claims().values(), key=lambda claim: claim.text):
        table.add_row(f"[bold]{text}[/bold]")
        for claim in of_text:
            table.add_row(claim.name, claim.shows, claim.verdict, claim.why, claim.run)
    return table
