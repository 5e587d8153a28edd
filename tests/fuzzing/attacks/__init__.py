"""Attacks by kind: processes that are killed, hostile servers, mirrors and students, full disks, many threads.

A module has `attacks`, which yields each case: its name, and a function of a fresh folder that returns what did not
hold, or None. An exception is a failure, too.
"""

from collections.abc import Callable
from pathlib import Path

Attack = tuple[str, Callable[[Path], str | None]]
