"""The tables of ground-truth.md from the JSON files of this folder. `python docs/results/generate.py` writes them.

A mark says which file, which table and which families: `<!-- table: FILE; TITLE; FAMILY; … -->`. Changes have marks of
their own: `<!-- change: FILE; spearman or partial; language or output; FAMILY < OTHER; … -->` is by how much OTHER is
above FAMILY, network by network. `python docs/results/judged.py PART.json …` joins runs on single families into
interactions.json.
"""

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from kleene.explaining.interactions.changes import change
from kleene.explaining.interactions.verdicts import InteractionVerdicts, joined, markdown_table

HERE = Path(__file__).parent
PAGE, STORED = HERE / "ground-truth.md", HERE / "interactions.json"
TABLE = re.compile(r"(<!-- (table|change): (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def content_of(name: str) -> InteractionVerdicts:
    return InteractionVerdicts.from_json(json.loads((HERE / f"{name}.json").read_text()))


def filled(page: str) -> str:
    """The page with the table of each mark; what no file has is an error."""
    makers = {"table": table, "change": changes}
    return TABLE.sub(lambda found: f"{found[1]}{makers[found[2]](*found[3].split('; '))}\n{found[4]}", page)


def table(file: str, title: str, *families: str) -> str:
    return content_of(file).only(families).markdown()[title]


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


def written(found: InteractionVerdicts) -> str:
    """The verdicts as JSON, one a line."""
    stored = found.as_json()
    verdicts = ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in stored.pop("verdicts"))
    rest = "".join(f' "{key}": {json.dumps(value, ensure_ascii=False)},\n' for key, value in stored.items())
    return f'{{\n{rest} "verdicts": [\n  {verdicts}\n ]\n}}\n'


def join(paths: Iterable[str]) -> None:
    parts = [InteractionVerdicts.from_json(json.loads(Path(path).read_text())) for path in paths]
    STORED.write_text(written(joined(parts)))


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("give the files to join; the tables are written by `python docs/results/generate.py`")
    join(sys.argv[1:])
