"""Store the rows that `kleene bench NAME -o FILE.json` wrote as a result of the package, in place of an older run.

kleene bench teach -o teach.json
python -m kleene_papers.benches teach.json bench-teach-2-cores --machine "2 cores"
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kleene.errors import InputError, KleeneError
from kleene.files import MOST_TEXT, parsed_json, read_bytes
from kleene_papers import stored
from kleene_papers.registry import studies
from kleene_papers.stored import Provenance, Result
from kleene_papers.study import here

ENTRIES = {"benchmark", "what", "ours", "unit", "peer", "peer_name", "ratio", "no_peer", "device"}


def result_of(file: Any, name: str, machine: str | None = None) -> Result:
    """The rows of a file as the result of that name, measured here and now unless the machine is named."""
    if name not in studies():
        raise InputError(f"no study {name!r}; add it to BENCHES in benches/studies.py, so that its tables are shown")
    try:
        rows = parsed_json(read_bytes(Path(file), MOST_TEXT))
    except ValueError as error:
        raise InputError(f"{str(file)!r} is not JSON ({error})") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and row.keys() >= ENTRIES for row in rows):
        raise InputError(f"{str(file)!r} holds no rows of `kleene bench`; write it by `kleene bench NAME -o FILE.json`")
    if failed := [row["benchmark"] for row in rows if row["what"] == "failed"]:
        raise InputError(f"the benchmark {failed[0]} failed in {str(file)!r}; run it again before its rows are stored")
    benchmarks = dict.fromkeys(row["benchmark"] for row in rows)
    command = f"kleene bench {' '.join(benchmarks)}" if len(benchmarks) == 1 else "kleene bench"
    source = here(Provenance(command))
    if machine is not None:
        source = replace(source, machine=machine)
    return Result(name, name, studies()[name].shows, source, rows=rows)


def main(given: Sequence[str] | None = None) -> int:
    """The exit status: 1 if the file holds no rows of `kleene bench`."""
    parser = argparse.ArgumentParser(prog="python -m kleene_papers.benches", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", help="what `kleene bench NAME -o FILE.json` wrote")
    parser.add_argument("name", help="the name of the result, as bench-teach-2-cores")
    parser.add_argument("--machine", help="the machine in words; without, this one's devices")
    parser.add_argument("--folder", default=stored.FOLDER, help="where it is stored; without, in the package")
    asked = parser.parse_args(given)
    try:
        print(result_of(asked.file, asked.name, asked.machine).save(asked.folder))
    except KleeneError as error:
        print(f"kleene_papers.benches: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
