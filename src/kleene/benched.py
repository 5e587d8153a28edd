"""All benchmarks in one table: what, ours, a peer's in the same run, how many times better, and the device."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene.benchmarking import BenchmarkError, Row, rows_of
from kleene.errors import InputError
from kleene.files import write_atomically
from kleene.pictures.pages import is_page, page
from kleene.traces.markup import Table

HEAD = ("benchmark", "what", "ours", "peer", "ratio", "device", "remark")


@dataclass(frozen=True)
class Benched:
    """What was measured, benchmark by benchmark, which of them failed, and whether the user stopped the run."""

    rows: Mapping[str, list[Row]]
    failures: Mapping[str, str]
    stopped: bool = False

    def as_json(self) -> list[Row]:
        """A record for each measurement, and one for each benchmark that failed, whose `remark` says why."""
        return [record for name, rows in self.rows.items() for record in self._records(name, rows)]

    def _records(self, name: str, rows: list[Row]) -> list[Row]:
        found = [_record(name, row) for row in rows]
        if name in self.failures:
            why = {"name": "failed", "value": None, "unit": "", "remark": f"failed: {self.failures[name]}"}
            found.append(_record(name, why))
        return found

    def table(self) -> Table:
        """A line for each record. Why there is no peer stands in the first line that it is true of."""
        told: set[tuple[str, str]] = set()
        lines: list[tuple[str, ...]] = []
        for record in self.as_json():
            reason = record["benchmark"], record["no_peer"] or ""
            lines.append(_cells(record | ({"no_peer": ""} if reason in told else {})))
            told.add(reason)
        return Table(HEAD, lines)

    def __str__(self) -> str:
        return "\n".join("  ".join(line) for line in (HEAD, *self.table().rows))

    def __repr__(self) -> str:
        return f"<Benched: {len(self.as_json())} records of {', '.join(self.rows) or 'nothing'}>"

    def _repr_html_(self) -> str:
        return self.table().html()

    def save(self, path: Any) -> Path:
        """Save the table as a page (.html) or its records (.json), and return the path."""
        check_table_file(path)
        if is_page(path):
            return write_atomically(path, page("Benchmarks", f"<section>{self._repr_html_()}</section>"))
        return write_atomically(path, json.dumps(self.as_json(), ensure_ascii=False, indent=1) + "\n")


def bench(
    files: Mapping[str, Path],
    *,
    quick: bool = False,
    watch: Callable[[str, Row | None], None] = lambda name, row: None,
    kept: Any = None,
) -> Benched:
    """Run these benchmarks one after the other. A failure ends one of them; Ctrl-C ends the run and keeps its rows.

    `watch` is called when a benchmark starts, with None, and with every row. After each benchmark all there is so far
    is written into the file `kept`.
    """
    rows: dict[str, list[Row]] = {}
    failures: dict[str, str] = {}
    stopped = False
    for name, file in files.items():
        rows[name] = []
        try:
            watch(name, None)
            for row in rows_of(file, quick=quick):
                rows[name].append(row)
                watch(name, row)
        except BenchmarkError as error:
            failures[name] = str(error)
        except KeyboardInterrupt:
            stopped = True
        if kept is not None:
            Benched(rows, failures, stopped).save(kept)
        if stopped:
            break
    return Benched(rows, failures, stopped)


def check_table_file(path: Any) -> None:
    """Refuse a file that cannot hold the table, before anything is measured."""
    if Path(path).suffix.lower() not in (".html", ".json"):
        raise InputError(f"the table is a page or JSON, and not {str(path)!r}; give a name that ends in .html or .json")
    if not os.path.isdir(Path(path).resolve().parent):
        raise InputError(f"there is no folder for {str(path)!r}; make it first")


def _record(benchmark: str, row: Row) -> Row:
    """The row in the words of the table; what only this benchmark knows comes last."""
    known = {"name", "value", "unit", "peer", "peer_name", "ratio", "no_peer", "device", "remark"}
    record = {"benchmark": benchmark, "what": row["name"], "ours": row["value"], "unit": row["unit"]}
    record |= {key: row.get(key) for key in ("peer", "peer_name", "ratio", "no_peer", "device")}
    return record | {"remark": row.get("remark", "")} | {key: row[key] for key in row if key not in known}


def _cells(record: Row) -> tuple[str, ...]:
    def number(value: float | None) -> str:
        if value is None:
            return "–"
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}"

    ours, peer, ratio = (record[key] for key in ("ours", "peer", "ratio"))
    told = f"{number(peer)} {record['unit']} ({record['peer_name']})" if peer is not None else "–"
    better = f"{ratio:,.1f}×" if ratio is not None else "–"
    reason = f"no peer: {record['no_peer']}" if peer is None and record["no_peer"] else ""
    remark = "; ".join(text for text in (record["remark"], reason) if text)
    shown = f"{number(ours)} {record['unit']}" if ours is not None else "–"
    return record["benchmark"], record["what"], shown, told, better, record["device"] or "–", remark
