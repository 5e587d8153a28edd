"""The results store, and a check before training that all files can be written.

The store has one JSON file for each plan, with its config, versions and every measurement.
`pandas.DataFrame(json.load(open(file))["rows"])` is the whole table: a row for each test and run.
"""

import hashlib
import json
import os
import platform
import re
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax

from kleene import __version__
from kleene.errors import InputError, ModelFileError
from kleene.files import MOST_TEXT, check_seal, make_folder, parsed_json, read_bytes, sealed_json, write_atomically
from kleene.teaching.reports import TeachingReport

FORMAT = "kleene.results/1"
STUDY = "kleene.study/1"  # the format of the files of `kleene reproduce`
EXPERIMENT = {"name", "paper", "plans", "settings"}  # keys of such a file from before it had a format
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
}  # the entries of a setting that a table shows
PERPLEXITIES = ("perplexity", "unigram_perplexity")  # of language models
LONGEST = 60  # characters of a lesson's name in the name of its file


def store(report: TeachingReport, folder: Any) -> Path:
    """Save the report in the folder and return the path; the same plan always has the same file."""
    content = {"format": FORMAT, "plan": None, "versions": versions()} | report.content()
    return write_atomically(Path(folder) / file_name(report.plan.lesson.name, content["plan"]), sealed_json(content))


def file_name(name: str, facts: dict[str, Any]) -> str:
    """The name of the file for a lesson: the letters and digits of its name, and a digest of the name and the plan.

    >>> file_name("(a|b)*/../../evil rnn", {})
    'a-b-evil-rnn-1c2b946fdf.json'
    """
    plain = "-".join(re.findall(r"[A-Za-z0-9_]+", name))[:LONGEST].strip("-")
    digest = hashlib.sha256(json.dumps([name, facts], sort_keys=True).encode()).hexdigest()[:10]
    return f"{plain or 'lesson'}-{digest}.json"


def versions() -> dict[str, str]:
    """The versions of Kleene, Python and the libraries, and the kind of device."""
    packages = {name: version(name) for name in ("jax", "equinox", "optax", "numpy")}
    device = jax.local_devices()[0].device_kind
    return {"kleene": __version__, "python": platform.python_version(), "device": device} | packages


def load(path: Any) -> dict[str, Any]:
    """The content of a results file, of the store or of a study."""
    content = with_settings(_json(path))
    if not _is_ours(content):
        raise ModelFileError(f"{str(path)!r} is not a results file that Kleene wrote")
    if not is_whole(content):
        raise ModelFileError(f"{str(path)!r} is a results file that was damaged: it lacks some of its measurements")
    return content


def with_settings(content: Any) -> Any:
    """The content of a results file. A study's has its settings by that name, because it calls them rows."""
    if not isinstance(content, dict) or content.get("format") != STUDY:
        return content
    return {key: value for key, value in content.items() if key != "rows"} | {"settings": content.get("rows")}


def is_whole(content: dict[str, Any]) -> bool:
    """Whether a results file has all that a table shows."""
    settings = content.get("settings")
    rows = settings if isinstance(settings, list) else [None]
    return isinstance(content.get("lesson", content.get("name")), str) and all(map(_is_row, rows))


def listed(folder: Any) -> tuple[list[tuple[Path, dict[str, Any]]], list[str]]:
    """The results files of a folder, sorted by name, and a message for each that is damaged.

    JSON files of other kinds are skipped.
    """
    found, damaged = [], []
    for path in sorted(Path(folder).glob("*.json")):
        try:
            if _is_ours(with_settings(_json(path))):
                found.append((path, load(path)))
        except ModelFileError as error:
            damaged.append(str(error))
    return found, damaged


def _json(path: Any) -> Any:
    text = read_bytes(Path(path), MOST_TEXT)
    check_seal(path, text, by_hand=True)
    try:
        return parsed_json(text)
    except ValueError as error:
        raise ModelFileError(f"{str(path)!r} is not a results file that Kleene wrote ({error})") from None


def _is_ours(content: Any) -> bool:
    return isinstance(content, dict) and (content.get("format") == FORMAT or set(content) >= EXPERIMENT)


def _is_row(row: Any) -> bool:
    """Whether the row has all entries of a setting that a table shows."""
    if not isinstance(row, dict) or not all(_is_of(row.get(name), kind) for name, kind in ROW.items()):
        return False
    right, hits = row["accuracy_by_length"].values(), [hit for hit in row["first_hit"] if hit is not None]
    numbers = [*row["interval"], *right, *hits, *(row.get(name) or 0 for name in PERPLEXITIES)]
    return len(row["interval"]) == 2 and len(right) > 0 and row["seeds"] > 0 and all(_is_of(n, NUMBER) for n in numbers)


def _is_of(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def check_targets(folder: Any, files: dict[str, Any]) -> None:
    """Refuse a folder or files that cannot be written or would overwrite each other; called before training.

    `files` has each file by the option that names it. Folders are created here, so that a bad path fails early.
    """
    if folder is not None:
        _try_to_write(make_folder(folder) / "results.json")
    seen: dict[Path, str] = {}
    for option, file in files.items():
        if file is None:
            continue
        target = _checked(str(file))
        if target in seen:
            raise InputError(f"{seen[target]} and {option} both name {str(file)!r}; give each a file of its own")
        seen[target] = option


def _checked(file: str) -> Path:
    """The resolved path of the file, after checking that it can be written."""
    make_folder(Path(file).parent)
    try:
        os.lstat(file)  # raises for a name that is too long, which `is_dir` does not
        target = Path(file).resolve()
    except FileNotFoundError:
        target = Path(file).resolve()
    except (OSError, ValueError) as error:
        raise _refusal(file, error) from None
    if target.is_dir():
        raise InputError(f"{file!r} is a folder; give the name of a file")
    if not target.exists() or target.is_file():
        _try_to_write(target)
    elif not os.access(target, os.W_OK):  # a device
        raise ModelFileError(f"{file!r} cannot be written to; give another")
    return target


def _try_to_write(target: Path) -> None:
    """Check that the folder can be written to, with an empty temporary file beside the target."""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".kleene-")
        os.close(descriptor)
        os.unlink(temporary)
    except (OSError, ValueError) as error:
        raise _refusal(str(target), error) from None


def _refusal(file: str, error: Exception) -> ModelFileError:
    problem = error.strerror if isinstance(error, OSError) else error
    return ModelFileError(f"{file!r} cannot be written: {problem}; give another")
