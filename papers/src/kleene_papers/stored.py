"""Results of studies as JSON files of one form: those that the package brings, and those of a run in a folder.

A file has the name of its result (`traces-figure-9a.json`), where it comes from, the paper's numbers, the plans that
were taught, a row for each setting of theirs, whatever else was found, and a summary. It is sealed with a checksum.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kleene.errors import InputError, ModelFileError, did_you_mean
from kleene.files import MOST_TEXT, SEAL, check_seal, parsed_json, read_bytes, sealed, write_atomically

FORMAT = "kleene.study/1"
FOLDER = Path(__file__).parent / "results"
ENTRIES: dict[str, type] = {
    "name": str,
    "study": str,
    "shows": str,
    "provenance": dict,
    "paper": dict,
    "plans": list,
    "rows": list,
    "found": dict,
    "summary": list,
}
SPREAD = re.compile(r"\n +")  # a newline in JSON is never inside a string
SPREAD_LIST = re.compile(r"\[\n +([^\[\]{}]+)\n +\]")
SPREAD_ROW = re.compile(r"\{\n +([^{}]+?)\n +\}")
LONGEST_ROW = 400  # characters


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from. What was not written down when it was measured is None.

    `commit` is the commit that was run, or that stored the result where only that is known; `seeds` are the first and
    the last; `seconds` are those of training, or the CPU time where nothing is taught.
    """

    command: str | None = None
    size: str | None = None
    commit: str | None = None
    date: str | None = None
    machine: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    seeds: list[int] | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Result:
    """What a study came to. `result["errors"]` is what it found by that name."""

    name: str
    study: str
    shows: str
    provenance: Provenance = Provenance()
    paper: dict[str, Any] = field(default_factory=dict)
    plans: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)
    summary: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Any:
        return self.found[name]

    def __repr__(self) -> str:
        return f"<Result {self.name}: {len(self.rows)} rows, {', '.join(self.found) or 'nothing else'}>"

    @property
    def seconds(self) -> float | None:
        return self.provenance.seconds

    @classmethod
    def load(cls, path: Any) -> "Result":
        """The result in a file; refuses a damaged file, and one that holds something else, by name and entry."""
        text = read_bytes(Path(path), MOST_TEXT)
        check_seal(path, text, by_hand=True)
        try:
            content = parsed_json(text)
        except ValueError as error:
            raise ModelFileError(f"{str(path)!r} is not the result of a study ({error})") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ModelFileError(f"{str(path)!r} is not the result of a study: its format is not {FORMAT!r}")
        for entry, kind in ENTRIES.items():
            if not isinstance(content.get(entry), kind):
                raise ModelFileError(f"{str(path)!r} is damaged: its {entry!r} is not a {kind.__name__}")
        try:
            provenance = Provenance(**content["provenance"])
        except TypeError as error:
            raise ModelFileError(f"{str(path)!r} is damaged: in its 'provenance', {error}") from None
        entries: dict[str, Any] = {entry: content[entry] for entry in ENTRIES}
        entries["provenance"] = provenance
        return cls(**entries)

    def save(self, folder: Any) -> Path:
        """Save the result as `NAME.json`, a list of numbers or the row of a table on one line, and return the path."""

        def joined(found: re.Match[str]) -> str:
            row = SPREAD.sub(" ", found[1])
            return found[0] if len(row) > LONGEST_ROW or "[ " in row else f"{{{row}}}"

        text = SPREAD_LIST.sub(
            lambda found: f"[{SPREAD.sub(' ', found[1])}]", json.dumps({"checksum": SEAL} | self.as_json(), indent=1)
        )
        return write_atomically(Path(folder) / f"{self.name}.json", sealed(SPREAD_ROW.sub(joined, text)))

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT} | asdict(self)


def names() -> list[str]:
    """The names of all results that the package brings."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


@cache
def stored(name: str) -> Result:
    """A result that the package brings.

    >>> stored("traces-figure-9a").provenance.seeds
    [1000, 1039]
    """
    if name not in names():
        raise InputError(f"no stored result {name!r}; {did_you_mean(name, names())}")
    return Result.load(FOLDER / f"{name}.json")


def where(rows: Any, **wanted: Any) -> list[Mapping[str, Any]]:
    """The rows that have these values.

    >>> where([{"hints": "none", "seeds": 40}, {"hints": "corner", "seeds": 10}], hints="none")
    [{'hints': 'none', 'seeds': 40}]
    """
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]
