"""The results store: one JSON file for each plan that was run, with its config, versions and every measurement.

`pandas.DataFrame(json.load(open(file))["rows"])` is the whole table: a row for each test and run.
"""

import hashlib
import json
import platform
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kleene.errors import ModelFileError
from kleene.files import MOST_TEXT, check_seal, read_bytes, sealed_json, write_atomically
from kleene.teaching.reports import Report

FORMAT = "kleene.results/1"
EXPERIMENT = {"name", "paper", "plans", "settings"}  # what a file of `kleene reproduce` has
NUMBER = (int, float)
ROW: dict[str, Any] = {
    "hints": str,
    "density": NUMBER,
    "strength": NUMBER,
    "seeds": int,
    "generalised": int,
    "interval": list,
    "first_hit": list,
    "accuracy_by_length": dict,
    "loss": (*NUMBER, type(None)),
    "diverged": list,
}  # what a table shows of a setting
PERPLEXITIES = ("perplexity", "unigram_perplexity")  # of language models
LONGEST = 60  # characters of a lesson's name in a file's


def store(report: Report, folder: Any) -> Path:
    """The path of the file now holding the report; the same plan has the same file."""
    facts = report.plan.facts()
    content = {"format": FORMAT, "plan": facts, "versions": versions()} | report.as_json() | {"rows": report.rows()}
    return write_atomically(Path(folder) / file_name(report.plan.lesson.name, facts), sealed_json(content))


def file_name(name: str, facts: dict[str, Any]) -> str:
    """The name of the file for a lesson: what of its name is plain, and a digest of all of it and of the plan.

    >>> file_name("(a|b)*/../../evil rnn", {})
    'a-b-evil-rnn-1c2b946fdf.json'
    """
    plain = "-".join(re.findall(r"[A-Za-z0-9_]+", name))[:LONGEST].strip("-")
    digest = hashlib.sha256(json.dumps([name, facts], sort_keys=True).encode()).hexdigest()[:10]
    return f"{plain or 'lesson'}-{digest}.json"


def versions() -> dict[str, str]:
    """What the result was made with."""
    import jax

    import kleene

    packages = {name: version(name) for name in ("jax", "equinox", "optax", "numpy")}
    device = jax.local_devices()[0].device_kind
    return {"kleene": kleene.__version__, "python": platform.python_version(), "device": device} | packages


def load(path: Any) -> dict[str, Any]:
    """The content of a file of the store, or of one that an experiment wrote."""
    content = _json(path)
    if not _is_ours(content):
        raise ModelFileError(f"{str(path)!r} is not a results file that Kleene wrote")
    settings = content.get("settings")
    rows = settings if isinstance(settings, list) else [None]
    if not isinstance(content.get("lesson", content.get("name")), str) or not all(map(_is_row, rows)):
        raise ModelFileError(f"{str(path)!r} is a results file that was damaged: it lacks some of its measurements")
    return content


def listed(folder: Any) -> tuple[list[tuple[Path, dict[str, Any]]], list[str]]:
    """Every results file of a folder, by name, and what is wrong with those that cannot be read.

    A whole JSON file that holds something else is passed over.
    """
    found, damaged = [], []
    for path in sorted(Path(folder).glob("*.json")):
        try:
            if _is_ours(_json(path)):
                found.append((path, load(path)))
        except ModelFileError as error:
            damaged.append(str(error))
    return found, damaged


def _json(path: Any) -> Any:
    text = read_bytes(Path(path), MOST_TEXT)
    check_seal(path, text, by_hand=True)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        told = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ModelFileError(f"{str(path)!r} is not a results file that Kleene wrote ({told})") from None


def _is_ours(content: Any) -> bool:
    return isinstance(content, dict) and (content.get("format") == FORMAT or set(content) >= EXPERIMENT)


def _is_row(row: Any) -> bool:
    """Whether there is all of a setting that a table shows."""
    if not isinstance(row, dict) or not all(_is_of(row.get(name), kind) for name, kind in ROW.items()):
        return False
    right, hits = row["accuracy_by_length"].values(), [hit for hit in row["first_hit"] if hit is not None]
    numbers = [*row["interval"], *right, *hits, *(row.get(name) or 0 for name in PERPLEXITIES)]
    return len(row["interval"]) == 2 and len(right) > 0 and row["seeds"] > 0 and all(_is_of(n, NUMBER) for n in numbers)


def _is_of(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
