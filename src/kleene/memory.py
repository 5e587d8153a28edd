"""How much memory this process has held."""

import resource
import sys
from pathlib import Path


def peak_memory_mb() -> float:
    """The most memory that this process has held so far."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux counts what the parent held into ru_maxrss
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return round(int(line.split()[1]) / 1024, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
