"""Try attacks by hand.

`python -m tests.fuzzing` prints the table of all, `python -m tests.fuzzing mirrors chunk` tries the mirrors that have
"chunk" in their names, `python -m tests.fuzzing line 17` line 17 of the drawn ones, and `… file 300 1300` all of these
spoiled files.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fuzzing.attacks.table import HEAD, KINDS, row_of
from tests.fuzzing.cases import case
from tests.fuzzing.trial import tried


def main(words: Sequence[str]) -> int:
    """The exit status: 1 if something did not hold."""
    with tempfile.TemporaryDirectory() as folder:
        if words and words[0] in ("line", "file"):
            return _try_cases(words[0], [int(word) for word in words[1:]], Path(folder))
        kinds = [kind for kind in KINDS if not words or words[0] in kind]
        rows = []
        for number, kind in enumerate(kinds):
            Path(folder, str(number)).mkdir()
            rows.append(row_of(kind, Path(folder, str(number)), *words[1:2]))
            print("\n".join(rows[-1].failures), file=sys.stderr, flush=True)
    print("\n".join([HEAD, *map(str, rows)]))
    return int(any(row.failures for row in rows))


def _try_cases(kind: Any, numbers: list[int], folder: Path) -> int:
    chosen = range(*numbers) if len(numbers) == 2 else numbers
    counts, began = Counter(), time.perf_counter()
    for number in chosen:
        started, one = time.perf_counter(), case(kind, number)
        fault, ended = tried(one, folder / "case")
        took = time.perf_counter() - started
        counts["parsed"] += ended is not None and ended.was_parsed
        counts["done"] += ended is not None and ended.status == 0
        counts["faults"] += fault is not None
        if fault or len(chosen) < 5 or took > 3:
            print(fault or f"{one}: in order, {took:.1f} s", flush=True)
        if ended is not None and len(chosen) < 5:
            print(ended.err or ended.out)
    told = f"{counts['parsed']} past the parser, {counts['done']} with status 0, " if kind == "line" else ""
    print(f"{len(chosen)} cases, {told}{counts['faults']} faults, {time.perf_counter() - began:.0f} s")
    return int(counts["faults"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
