"""How much memory this process has held, and how much it may still take."""

import os
import resource
import sys
from pathlib import Path

from kleene.errors import InputError

GIB = 1 << 30


def peak_memory_mb() -> float:
    """The most memory that this process has held so far."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux counts what the parent held into ru_maxrss
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return round(int(line.split()[1]) / 1024, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def usable_memory() -> int:
    """How many bytes this machine, or the container that it is, still has for a process."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    information = Path("/proc/meminfo")
    if information.exists():
        lines = dict(line.split(":", 1) for line in information.read_text().splitlines() if ":" in line)
        total = min(total, int(lines.get("MemAvailable", f"{total >> 10} kB").split()[0]) << 10)
    return min(total, _left_of_container(total))


def _left_of_container(otherwise: int) -> int:
    """What a control group leaves; in a container its two files lie at the root of the hierarchy."""
    try:
        most, held = (Path("/sys/fs/cgroup", f"memory.{name}").read_text().strip() for name in ("max", "current"))
        return otherwise if most == "max" else max(0, int(most) - int(held))
    except (OSError, ValueError):
        return otherwise


def check_memory(needed: float, what: str, advice: str, most: int | None = None) -> None:
    """Refuse what would take more bytes than there are (or than `most`), before anything is made.

    >>> check_memory(5e12, "a table of 10⁶ × 10⁶", "make it less", most=GIB)
    Traceback (most recent call last):
    kleene.errors.InputError: a table of 10⁶ × 10⁶ takes about 4,657 GiB of memory, and 1.0 are left here; make it less
    """
    left = usable_memory() if most is None else most
    if needed > left:
        size = f"{needed / GIB:,.0f}" if needed >= 10 * GIB else f"{needed / GIB:.1f}"
        raise InputError(f"{what} takes about {size} GiB of memory, and {left / GIB:.1f} are left here; {advice}")
