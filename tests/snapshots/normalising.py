"""An answer without what changes from run to run and from machine to machine: times, memory, paths and versions."""

import math
import re
from pathlib import Path
from typing import Any

DIGITS = 9  # significant ones that are kept of a number with a fraction
# Keys whose values are times, memory, or sizes of files, which depend on what packs them; or follow from these.
MEASURED = re.compile(r"(.*_)?(seconds|per_second|memory_mb|peak_mb|minutes|bytes)|checksum")
IN_TEXT = (
    (re.compile(r"\b\d+(\.\d+)? (ms|s|seconds)\b"), "TIME"),
    (re.compile(r"kleene-sha256:[0-9a-f]+:kleene-sha256"), "CHECKSUM"),
    (re.compile(r"\b\d+\.\d+\.\d+(\.?(a|b|rc|dev|post)\d+)*\b"), "VERSION"),
)


def normalised(answer: Any, folder: Path | None = None) -> Any:
    """The answer as plain JSON data; `folder` is the one that a command ran in, and is written as FOLDER.

    >>> normalised({"seconds": 0.2, "answer": (1, "took 3.1 ms"), "x": 1 / 3})
    {'seconds': 'MEASURED', 'answer': [1, 'took TIME'], 'x': 0.333333333}
    """
    if isinstance(answer, dict):
        return {
            str(key): "MEASURED" if value is not None and MEASURED.fullmatch(str(key)) else normalised(value, folder)
            for key, value in answer.items()
        }
    if isinstance(answer, (list, tuple)):
        return [normalised(value, folder) for value in answer]
    if isinstance(answer, float):
        return rounded(answer)
    if isinstance(answer, str):
        return text(answer, folder)
    return answer


def rounded(number: float) -> float | str:
    """The number with the digits that are kept; those that JSON lacks are words."""
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else str(number)


def text(words: str, folder: Path | None = None) -> str:
    """The text without times, checksums and versions."""
    if folder is not None:
        words = words.replace(str(folder), "FOLDER")
    for pattern, name in IN_TEXT:
        words = pattern.sub(name, words)
    return words
