"""The results store: one JSON file for each plan that was run, with its config, versions and every measurement.

`pandas.DataFrame(json.load(open(file))["rows"])` is the whole table: a row for each test and run.
"""

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kleene.checksums import check_seal, sealed_json
from kleene.errors import ModelFileError
from kleene.files import MOST_TEXT, read_bytes, write_atomically
from kleene.teaching.reports import Report

FORMAT = "kleene.results/1"
EXPERIMENT = {"name", "paper", "plans", "settings"}  # what a file of `kleene reproduce` has


def store(report: Report, folder: Any) -> Path:
    """The path of the file now holding the report; the same plan has the same file."""
    facts = report.plan.facts()
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:8]
    content = {"format": FORMAT, "plan": facts, "versions": versions()} | report.as_json() | {"rows": report.rows()}
    path = Path(folder) / f"{report.plan.lesson.name.replace(' ', '-')}-{digest}.json"
    return write_atomically(path, sealed_json(content))


def versions() -> dict[str, str]:
    """What the result was made with."""
    import jax

    import kleene

    packages = {name: version(name) for name in ("jax", "equinox", "optax", "numpy")}
    device = jax.local_devices()[0].device_kind
    return {"kleene": kleene.__version__, "python": platform.python_version(), "device": device} | packages


def load(path: Any) -> dict[str, Any]:
    """The content of a file of the store, or of one that an experiment wrote."""
    text = read_bytes(Path(path), MOST_TEXT)
    check_seal(path, text, by_hand=True)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{str(path)!r} is not a results file that Kleene wrote ({error})") from None
    if not isinstance(content, dict) or not (content.get("format") == FORMAT or set(content) >= EXPERIMENT):
        raise ModelFileError(f"{str(path)!r} is not a results file that Kleene wrote")
    return content


def listed(folder: Any) -> list[tuple[Path, dict[str, Any]]]:
    """Every results file of a folder, by name; other files are passed over."""
    found = []
    for path in sorted(Path(folder).glob("*.json")):
        try:
            found.append((path, load(path)))
        except ModelFileError:
            continue
    return found
