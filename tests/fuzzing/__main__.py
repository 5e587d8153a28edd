"""`python -m tests.fuzzing 17` tries case 17 again, `python -m tests.fuzzing 300 1300` all of these numbers."""

import sys
import tempfile
import time
from pathlib import Path

from tests.fuzzing.cases import case
from tests.fuzzing.trial import fault_of


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:]]
    chosen = range(*numbers) if len(numbers) == 2 else numbers
    faults, began = 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in chosen:
            started = time.perf_counter()
            fault = fault_of(case(number), Path(folder, "case"))
            took = time.perf_counter() - started
            if fault:
                faults += 1
                print(fault, flush=True)
            elif len(chosen) < 5 or took > 3:
                print(f"{case(number)}: in order, {took:.1f} s", flush=True)
    print(f"{len(chosen)} cases, {faults} faults, {time.perf_counter() - began:.0f} s")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
