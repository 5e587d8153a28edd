"""The tables of ground-truth.md from the JSON files of this folder. `python docs/results/generate.py` writes them.

A mark says which file, which table and which families: `<!-- table: FILE; TITLE; FAMILY; … -->`. Changes have marks of
their own: `<!-- change: FILE; spearman or partial; language or output; FAMILY < OTHER; … -->` is by how much OTHER is
above FAMILY, network by network. `<!-- agreement: FILE; SCORE -->` is how alike each two families rank the methods for
circuits. `<!-- ways: FILE -->` is how often networks keep the algorithm that they were taught, by way of teaching, and
`<!-- looks: FILE -->` how far networks are from an ordinarily trained one. `python docs/results/judged.py PART.json …`
joins runs on single families into interactions.json, or into circuits.json if they are runs on circuits.
"""

import json
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from kleene.explaining.circuits.verdicts import CircuitVerdicts
from kleene.explaining.interactions.changes import change
from kleene.explaining.interactions.verdicts import InteractionVerdicts, joined, markdown_table
from kleene.groundtruth.judging.all_verdicts import AllVerdicts, saved_page

HERE = Path(__file__).parent
PAGE = HERE / "ground-truth.md"
TABLE = re.compile(r"(<!-- (table|change|agreement|ways|looks): (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def read(path: Path) -> InteractionVerdicts | CircuitVerdicts:
    """The verdicts in a file; those on circuits say what true circuits keep right."""
    stored = json.loads(path.read_text())
    return (CircuitVerdicts if "kept" in stored else InteractionVerdicts).from_json(stored)


@cache
def content_of(name: str) -> Any:
    return read(HERE / f"{name}.json")


def filled(page: str) -> str:
    """The page with the table of each mark; what no file has is an error."""
    makers = {"table": table, "change": changes, "agreement": agreement, "ways": ways, "looks": looks}
    return TABLE.sub(lambda found: f"{found[1]}{makers[found[2]](*found[3].split('; '))}\n{found[4]}", page)


def page_to_look_at() -> str:
    """All stored verdicts as one page of tables."""
    return saved_page(AllVerdicts(content_of("interactions"), content_of("circuits")))


def table(file: str, title: str, *families: str) -> str:
    return content_of(file).only(families).markdown()[title]


def agreement(file: str, score: str) -> str:
    """The rank correlation of the methods' scores on each two families."""
    found = content_of(file)
    rows = [[one, *(f"{found.agreement(one, other, score):.2f}" for other in found.families)] for one in found.families]
    return markdown_table([["", *found.families], *rows])


def ways(file: str) -> str:
    """Interchange accuracy and strictness of the best network of each program, by way of teaching."""
    rows = [row for row in json.loads((HERE / f"{file}.json").read_text())["rows"] if "best" in row]
    programs = list(dict.fromkeys(row["subject"] for row in rows))
    head = ["way", *(f"{name}, {what}" for name in programs for what in ("inside", "outside"))]
    found: dict[str, list[str]] = {}
    for method in dict.fromkeys(row["method"] for row in rows):
        best = {row["subject"]: row["best"] for row in rows if row["method"] == method}
        counts = (best[name][what] for name in programs for what in ("interchange", "strictness"))
        found[method] = [f"{one['right'] / one['pairs']:.1%}" for one in counts]
    return markdown_table([head, *([method, *cells] for method, cells in found.items())])


def looks(file: str) -> str:
    """The mean over programs of how far networks are from the one that was taught by outputs alone."""
    every = [
        one
        for found in json.loads((HERE / f"{file}.json").read_text())["realism"].values()
        for one in found["networks"]
    ]
    rows = []
    for name in dict.fromkeys(one["name"] for one in every):
        some = [one for one in every if one["name"] == name]
        means = (sum(one[what] for one in some) / len(some) for what in ("weights", "effects", "zeros"))
        rows.append([name, *(f"{mean:.2f}" for mean in means)])
    return markdown_table([["network", "weights", "effects", "zeros"], *rows])


def changes(file: str, what: str, truth: str, *pairs: str) -> str:
    """A table of changes; nearness is left out, because it does not know the network."""
    found = content_of(file)
    columns = [pair.split(" < ") for pair in pairs]
    rows = [["measure", *(f"{other} − {family}" for family, other in columns)]]
    for measure in found.measures:
        if measure != "nearness" and all(_has(found, measure, family) for pair in columns for family in pair):
            numbers = (change(found, measure, other, family, what=what, truth=truth) for family, other in columns)
            rows.append([measure, *map(str, numbers)])
    return markdown_table(rows)


def _has(found: InteractionVerdicts, measure: str, family: str) -> bool:
    return any((one.measure, one.family) == (measure, family) for one in found.verdicts)


def written(found: InteractionVerdicts | CircuitVerdicts) -> str:
    """The verdicts as JSON, one a line."""
    stored = found.as_json()
    verdicts = ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in stored.pop("verdicts"))
    rest = "".join(f' "{key}": {json.dumps(value, ensure_ascii=False)},\n' for key, value in stored.items())
    return f'{{\n{rest} "verdicts": [\n  {verdicts}\n ]\n}}\n'


def join(paths: Iterable[str]) -> None:
    """Join runs on single families, all on interactions or all on circuits, into the file of this folder."""
    parts = [read(Path(path)) for path in paths]
    circuits = [part for part in parts if isinstance(part, CircuitVerdicts)]
    if circuits:
        (HERE / "circuits.json").write_text(written(CircuitVerdicts.joined(circuits)))
    interactions = [part for part in parts if isinstance(part, InteractionVerdicts)]
    if interactions:
        (HERE / "interactions.json").write_text(written(joined(interactions)))


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("give the files to join; the tables are written by `python docs/results/generate.py`")
    join(sys.argv[1:])
