"""Checkpoints of a plan: one atomic file with every learner and all that was measured. Opening one never runs code."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from kleene.errors import ModelFileError
from kleene.tensors import read_tensors, write_tensors

if TYPE_CHECKING:
    from kleene.teaching.loop import Learner, Plan, Progress

KIND = "teaching"


def stored(path: Any, plan: "Plan", progress: "Progress", learners: "Learner") -> Path:
    """The path of the file now holding how far the plan has come."""
    leaves = jax.tree.leaves(learners)
    arrays = {f"learner.{n}": _plain(np.asarray(leaf)) for n, leaf in enumerate(leaves)}
    for name in progress.tests[0] if progress.tests else ():
        arrays[f"tests.{name}"] = _plain(np.stack([test[name] for test in progress.tests]))
    header = {"plan": plan.facts(), "iteration": progress.iteration, "seconds": progress.seconds}
    header["types"] = {name: str(array.dtype) for name, array in _types(leaves, progress).items()}
    try:
        return write_tensors(path, KIND, header, arrays)
    except OSError as error:
        raise ModelFileError(
            f"the checkpoint {str(path)!r} could not be written ({error}); the one before it is whole. Make room, and "
            f"run the same command again: it goes on from there"
        ) from error


def restored(path: Any, plan: "Plan", learners: "Learner") -> tuple["Progress", "Learner"]:
    """How far the plan has come according to the file; its beginning where there is no file yet."""
    from kleene.teaching.loop import Progress

    if not Path(path).exists():
        return Progress(), learners
    if not Path(path).is_file():  # a device may be read without end
        raise ModelFileError(f"the checkpoint {str(path)!r} is no file; give the name of one, it need not be there yet")
    header, arrays = read_tensors(path, KIND)
    _refuse_other_plan(path, header.get("plan"), plan.facts())
    leaves, structure = jax.tree.flatten(learners)
    kinds = header["types"]
    try:
        found = [arrays[f"learner.{n}"].astype(kinds[f"learner.{n}"]) for n in range(len(leaves))]
        if any(new.shape != old.shape for new, old in zip(found, leaves)):
            raise ValueError("its arrays have other shapes")
        names = [name.removeprefix("tests.") for name in arrays if name.startswith("tests.")]
        columns = {name: arrays[f"tests.{name}"].astype(kinds[f"tests.{name}"]) for name in names}
        count = len(columns["iteration"]) if columns else 0
        tests = [{name: column[row] for name, column in columns.items()} for row in range(count)]
        progress = Progress(int(header["iteration"]), float(header["seconds"]), tests)
    except (KeyError, ValueError, TypeError) as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole checkpoint ({error}); remove it") from None
    return progress, jax.tree.unflatten(structure, found)


def _refuse_other_plan(path: Any, theirs: Any, ours: dict[str, Any]) -> None:
    if theirs == ours:
        return
    apart = [key for key in ours if not isinstance(theirs, dict) or theirs.get(key) != ours[key]]
    raise ModelFileError(
        f"the checkpoint {str(path)!r} is of another plan: {', '.join(apart)} differ. Give the command that began it, "
        f"or another file"
    )


def _types(leaves: list[Any], progress: "Progress") -> dict[str, np.ndarray]:
    """The arrays by the names that they have in the file."""
    found = {f"learner.{n}": np.asarray(leaf) for n, leaf in enumerate(leaves)}
    tests = progress.tests[0] if progress.tests else {}
    return found | {f"tests.{name}": np.asarray(array) for name, array in tests.items()}


def _plain(array: np.ndarray) -> np.ndarray:
    """The array in a type that the file format has: booleans and unsigned numbers become signed ones."""
    if array.dtype == bool or array.dtype.kind in "ui":
        return array.astype(np.int64)
    return array
