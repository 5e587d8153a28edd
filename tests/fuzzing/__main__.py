"""`python -m tests.fuzzing line 17` tries line 17 again, `python -m tests.fuzzing file 300 1300` all of these files."""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzzing.cases import case
from tests.fuzzing.trial import tried


def main() -> None:
    kind, *words = sys.argv[1:]
    numbers = [int(word) for word in words]
    chosen = range(*numbers) if len(numbers) == 2 else numbers
    counts, began = Counter(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in chosen:
            started, one = time.perf_counter(), case(kind, number)
            fault, ended = tried(one, Path(folder, "case"))
            took = time.perf_counter() - started
            counts["parsed"] += ended is not None and ended.was_parsed
            counts["done"] += ended is not None and ended.status == 0
            if fault:
                counts["faults"] += 1
                print(fault, flush=True)
            elif len(chosen) < 5 or took > 3:
                print(f"{one}: in order, {took:.1f} s", flush=True)
            if ended is not None and len(chosen) < 5:
                print(ended.err or ended.out)
    told = f"{counts['parsed']} past the parser, {counts['done']} with status 0, " if kind == "line" else ""
    print(f"{len(chosen)} cases, {told}{counts['faults']} faults, {time.perf_counter() - began:.0f} s")
    sys.exit(bool(counts["faults"]))


if __name__ == "__main__":
    main()
