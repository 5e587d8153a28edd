"""The stored verdicts of `kleene judge` as tables and as a page to look at, and how runs on single families are joined.

kleene judge --json --iterations 3000 --family "taught LSTM" > taught-LSTM.json
python -m kleene_papers.judged.verdicts taught-LSTM.json …    # writes ours-interactions, and ours-circuits
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.groundtruth.judging.judged import AllJudged, Judged, joined, saved_page
from kleene_papers.stored import FOLDER, Provenance, Result, stored
from kleene_papers.tables import Table

INTERACTIONS, CIRCUITS = "ours-interactions", "ours-circuits"
SHOWS = {
    INTERACTIONS: "which measures find the true interactions of inputs in networks whose function is known",
    CIRCUITS: "which methods find the true circuits of compiled, hidden and taught Transformers",
}
TAUGHT = ("taught RNN", "taught LSTM")
COMPILED = ("compiled RNN", "compiled LSTM")
TRUTHS = {"output": ("own output", TAUGHT), "language": ("language", COMPILED + TAUGHT)}  # with families of the tables
SCORES = {"spearman": "rank correlation", "lead": "lead over nearness", "partial": "given the distance"}
HIDDEN = {
    "compiled RNN": ["hidden RNN"],
    "compiled LSTM": ["hidden LSTM", "softened LSTM"],
    "taught RNN": ["hidden taught RNN"],
    "taught LSTM": ["hidden taught LSTM"],
}
HINTS = {
    "taught RNN": ["RNN, 25% of the states", "RNN, states hints"],
    "taught LSTM": ["LSTM, 25% of the states", "LSTM, states hints"],
}
CIRCUIT_SCORES = {
    "edges_roc": "area under ROC, edges",
    "nodes_roc": "area under ROC, nodes",
    "faithfulness": "right answers",
}


def verdict(name: str, of: str, family: str) -> dict[str, Any]:
    """The stored verdict on a measure or method for a family: lists of the mean and its 95% interval, by score."""
    return Judged.from_json(stored(name).found).of(of, family).as_json()


def agreement(one: str, other: str) -> float:
    """How alike two families rank the stored methods: the rank correlation of their scores for nodes."""
    return Judged.from_json(stored(CIRCUITS).found).agreement(one, other)


def interaction_tables(result: Result) -> list[Table]:
    """How well measures order pairs, for both truths; pairs of the automaton; and what hiding and hints change."""
    found = Judged.from_json(result.found)
    tables = [
        _of(found, families, f"{score}_{truth}", f"{title}, {named}")
        for truth, (named, families) in TRUTHS.items()
        for score, title in SCORES.items()
    ]
    tables.append(_of(found, TAUGHT, "structure", "area under ROC, pairs of the automaton"))
    tables.append(_changes(found, HIDDEN, "spearman_language", "change by hiding"))
    tables.append(_changes(found, HINTS, "partial_output", "change by hints"))
    return tables


def circuit_tables(result: Result) -> list[Table]:
    """How well methods find edges and nodes, what their best keep right, and how alike families rank the methods."""
    found = Judged.from_json(result.found)
    tables = []
    for score, title in CIRCUIT_SCORES.items():
        rows = found.table(score)
        tables.append(Table(rows[0], [row for row in rows[1:] if {*row[1:]} != {"–"}], title))
    alike = [[one, *(f"{found.agreement(one, other):.2f}" for other in found.families)] for one in found.families]
    return [*tables, Table(["", *found.families], alike, "agreement of families")]


def _of(found: Judged, families: Sequence[str], score: str, title: str) -> Table:
    """A table of those of the families that were judged."""
    rows = found.only([family for family in families if family in found.families]).table(score)
    return Table(rows[0], rows[1:], title)


def _changes(found: Judged, families: Any, score: str, title: str) -> Table:
    """By how much measures do better on other families; nearness is left out, because it does not know the network."""
    known = {(one.method, one.family) for one in found.verdicts}
    pairs = [(one, other) for one in families for other in families[one] if {one, other} <= {*found.families}]
    rows = []
    for measure in found.methods:
        if measure != "nearness" and all({(measure, one), (measure, other)} <= known for one, other in pairs):
            numbers = (found.change(measure, other, one, score) for one, other in pairs)
            rows.append([measure, *map(str, numbers)])
    return Table(["measure", *(f"{other} − {one}" for one, other in pairs)], rows, title)


def page_to_look_at() -> str:
    """All stored verdicts as one page of tables, as `kleene judge -o judged.html` writes it."""
    interactions = Judged.from_json(stored(INTERACTIONS).found)
    return saved_page(AllJudged(interactions, Judged.from_json(stored(CIRCUITS).found)))


def results(parts: Iterable[Judged]) -> Iterator[Result]:
    """The results that runs on single families make together, those on interactions and those on circuits."""
    parts = [*parts]
    for name in (INTERACTIONS, CIRCUITS):
        if some := [part for part in parts if f"ours-{part.kind.name}" == name]:
            yield _result(name, joined(some))


def _result(name: str, found: Judged) -> Result:
    source = Provenance(command=f"kleene judge --of {name.removeprefix('ours-')}")
    return Result(name, name, SHOWS[name], source, found=found.as_json())


def main(paths: Sequence[str], folder: Path = FOLDER) -> None:
    """Join the files, and save the results in the place of the stored ones."""
    if not paths:
        sys.exit("give the files to join, which `kleene judge --json --family NAME` printed")
    for result in results(map(_part, paths)):
        print(result.save(folder))


def _part(path: str) -> Judged:
    try:
        return Judged.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path!r} does not hold what `kleene judge --json` prints ({error!r})") from error


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(str(error))
