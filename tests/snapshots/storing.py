"""The files of the snapshots: reading them, comparing an answer with one, and taking them again."""

import json
import os
from pathlib import Path
from textwrap import wrap
from typing import Any

from tests.snapshots.comparing import EXACT, first_differences

STORED = Path(__file__).parent / "stored"
REWRITE = "KLEENE_REWRITE_SNAPSHOTS"  # set by `python -m tests.snapshots`
FAULT = "fault"  # the key of an answer under which a known fault is declared
WIDEST = 110  # characters of a list or object that stands on one line of a file

TAKEN: dict[str, list[str]] = {}  # snapshots that were taken again, with their first differences
FAULTS: dict[str, str] = {}  # snapshots that hold a known fault, and which


def compare(name: str, answer: Any, *, tolerance: float = EXACT) -> None:
    """Fail where the answer is not the one in `stored/NAME.json`; write that file if snapshots are taken again.

    A stored answer that is equal within the tolerance is left as it is, so that rewriting changes nothing by itself.
    """
    file = stored_file(name)
    answer = json.loads(json.dumps(answer, ensure_ascii=False))
    if file.exists():
        found = first_differences(json.loads(file.read_text()), answer, tolerance)
    else:
        found = ["there is no such snapshot yet"]
    fault = answer.get(FAULT) if isinstance(answer, dict) else None
    if fault is not None:
        FAULTS[name] = fault
    if found and rewriting():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(written(answer) + "\n")
        TAKEN[name] = found
    elif found:
        raise AssertionError(message(name, found, fault))


def stored_file(name: str) -> Path:
    """The file of a snapshot, by its name: "commands/run-addition"."""
    return STORED / f"{name}.json"


def rewriting() -> bool:
    """Whether snapshots are taken again rather than compared."""
    return REWRITE in os.environ


def message(name: str, found: list[str], fault: str | None = None) -> str:
    """What a failed test says: which snapshot, the first differences, a known fault, and how to take it again."""
    lines = "\n".join(f"  {line}" for line in found)
    lines += "" if fault is None else f"\n  Its known fault: {fault} If that is mended, remove `fault` from its entry."
    group, _, last = name.partition("/")
    cells = ", and raise the lesson's version, because finished cells of sweeps are no longer what would be taught"
    return (
        f"snapshot {name!r} differs (old → new):\n{lines}\n"
        f'If this is on purpose: python -m tests.snapshots -k "{group} and {last}", '
        f"and say why in the commit{cells if group == 'lessons' else ''}."
    )


def summary() -> list[str]:
    """Lines on what was taken again, with the first differences, and on the known faults that were met."""
    taken = [line for name, found in TAKEN.items() for line in (f"taken again: {name}", *(f"  {one}" for one in found))]
    return taken + [f"known fault: {name}: {fault}" for name, fault in FAULTS.items()]


def left_over(group: str, names: list[str]) -> list[Path]:
    """The files of a group that belong to none of its snapshots; removed if snapshots are taken again."""
    expected = {stored_file(f"{group}/{name}") for name in names}
    extra = sorted(set((STORED / group).glob("*.json")) - expected)
    if rewriting():
        for file in extra:
            file.unlink()
        return []
    return extra


def written(answer: Any, indent: int = 0) -> str:
    """JSON whose short lists and objects stand on one line each, so that differences are easy to read."""
    line = json.dumps(answer, ensure_ascii=False)
    if len(line) + indent <= WIDEST or not isinstance(answer, (list, dict)):
        return line
    pad = " " * (indent + 1)
    if isinstance(answer, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {written(v, indent + 1)}" for key, v in answer.items()]
        return "{\n" + ",\n".join(pad + part for part in parts) + "\n" + " " * indent + "}"
    if not any(isinstance(value, (list, dict, str)) for value in answer):  # numbers fill lines
        return "\n".join(wrap(line, WIDEST, subsequent_indent=pad))
    return "[\n" + ",\n".join(pad + written(v, indent + 1) for v in answer) + "\n" + " " * indent + "]"
