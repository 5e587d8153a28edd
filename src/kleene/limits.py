"""Bounds on what people and files ask for: counts, numbers with many digits, letters that are shown, and memory.

Each check refuses what is out of bounds before anything is made of it.
"""

import os
import re
import resource
import sys
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import Any

from kleene.errors import HaltError, InputError, MemoryLimitError


def checked_count(value: Any, name: str, what: str, least: int = 0) -> int:
    """The number as a plain int. Raises unless it is an integer of at least `least`; booleans are rejected.

    >>> import numpy as np
    >>> checked_count(np.int64(5), "max_steps", "it is a number of steps, 0 or more")
    5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} is {value!r}; {what}")
    return int(value)


@dataclass(frozen=True)
class LayerLimit:
    """After how many layers a run ends, and whether it must have halted by then.

    Whoever gives a limit gets the output so far, and the trace says that the run has not halted (ALTA, section 2.3). A
    program's own limit is there to end runs that never halt, so that reaching it is an error.
    """

    program: str
    layers: int
    must_halt: bool

    @classmethod
    def of(cls, program: str, own: int, asked: int | None, *, halts: bool) -> "LayerLimit":
        """The limit that a caller asked for, or else the program's own.

        >>> LayerLimit.of("parity", 1000, None, halts=True)
        LayerLimit(program='parity', layers=1000, must_halt=True)
        >>> LayerLimit.of("parity", 1000, 3, halts=True)
        LayerLimit(program='parity', layers=3, must_halt=False)
        """
        if asked is None:
            return cls(program, own, halts)
        what = "it is a number of layers; 0 gives the values before the first layer"
        return cls(program, checked_count(asked, "max_layers", what), False)

    def check(self, halted: Any) -> None:
        """Refuse a batch of runs, of which some have `halted`, if all must have."""
        if self.must_halt and not halted.all():
            raise HaltError(self.program, int(halted.argmin()), self.layers)


def read_count(text: str, most_digits: int = 18) -> int | None:
    """The whole number, 0 or more, that a string spells; None if it spells none, or one with too many digits.

    >>> read_count("12"), read_count("-1"), read_count("9" * 30)
    (12, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most_digits else None


def read_fraction(text: str, most_digits: int = 4000) -> Fraction:
    """The exact number that a string such as 1/2, 3 or 2.5e3 spells; a ValueError if it has too many digits.

    >>> read_fraction("-1/2"), read_fraction("2.5e3")
    (Fraction(-1, 2), Fraction(2500, 1))
    """
    exponent = re.search(r"[eE]([+-]?[0-9_]+)\s*$", text[-most_digits:])
    tens = exponent[1].lstrip("+-0_") if exponent else ""
    if len(text) > most_digits or len(tens) > 6 or int(tens or 0) > most_digits:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise ValueError(f"the number {shown} has more than {most_digits:,} digits")
    return Fraction(text)


def printable(text: str, most: int | None = None) -> str:
    """The text, at most so many letters of it, with escapes for what a terminal would obey and no reader would see.

    Lines stay lines.

    >>> printable("a\\x1b[2Jb\\u202e\\n"), printable("abcdef", 3)
    ('a\\\\x1b[2Jb\\\\u202e\\n', 'abc…')
    """
    shown = text if most is None or len(text) <= most else f"{text[:most]}…"
    if shown.isprintable():
        return shown
    return "".join(
        letter if letter.isprintable() or letter == "\n" else letter.encode("unicode_escape").decode()
        for letter in shown.replace("\t", "    ")
    )


GIB = 1 << 30


def peak_memory_mb() -> float:
    """The most memory that this process has held so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, ru_maxrss includes what the parent process held
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return round(int(line.split()[1]) / 1024, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def usable_memory() -> int:
    """How many bytes this machine, or the container around this process, still has available."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    information = Path("/proc/meminfo")
    if information.exists():
        lines = dict(line.split(":", 1) for line in information.read_text().splitlines() if ":" in line)
        total = min(total, int(lines.get("MemAvailable", f"{total >> 10} kB").split()[0]) << 10)
    return min(total, _left_of_container(total))


def _left_of_container(otherwise: int) -> int:
    """How many bytes the control group leaves; a container has its two files at the root of the hierarchy."""
    try:
        most, held = (Path("/sys/fs/cgroup", f"memory.{name}").read_text().strip() for name in ("max", "current"))
        return otherwise if most == "max" else max(0, int(most) - int(held))
    except (OSError, ValueError):
        return otherwise


def check_memory(needed: float, what: str, advice: str, most: int | None = None) -> None:
    """Refuse what would take more bytes than are available (or than `most`), before anything is allocated.

    >>> check_memory(5e12, "a big table", "make it less", most=GIB)
    Traceback (most recent call last):
    kleene.errors.MemoryLimitError: a big table takes about 4,657 GiB of memory, and 1.0 are left here; make it less
    """
    left = usable_memory() if most is None else most
    if needed > left:
        size = f"{needed / GIB:,.0f}" if needed >= 10 * GIB else f"{needed / GIB:.1f}"
        raise MemoryLimitError(f"{what} takes about {size} GiB of memory, and {left / GIB:.1f} are left here; {advice}")
