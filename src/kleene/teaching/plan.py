"""A plan is what to teach: every setting with every seed, for a number of iterations.

`Progress` is how far it came. A checkpoint holds both: one atomic file with every learner and every measurement.
Opening one never runs code.
"""

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree, UInt32

from kleene.errors import InputError, ModelFileError
from kleene.limits import checked_count
from kleene.teaching.lesson import Setting, Teachable
from kleene.tensors import read_tensors, write_tensors

KIND = "teaching"
TYPES = ("bool", "int32", "int64", "uint32", "uint8", "float16", "bfloat16", "float32", "float64")
RUNS = ("lesson", "settings", "seeds")  # the parts of a plan that decide its runs
MEASURED = {"alive": "b", "generalises": "b", "loss": "f", "accuracy": "f", "accuracy_by_length": "f"}  # at each test


@dataclass(frozen=True)
class Plan:
    """What to teach: every one of `settings` with every one of `seeds` is a run, taught for `iterations` updates."""

    lesson: Teachable
    settings: tuple[dict[str, Any], ...]  # kind, density, strength
    seeds: tuple[int, ...]
    iterations: int
    test_every: int

    @staticmethod
    def grid(
        lesson: Teachable,
        *,
        kinds: tuple[str, ...] | None = None,
        densities: tuple[float, ...] = (1.0,),
        strengths: tuple[float, ...] = (1.0,),
        seeds: int = 10,
        first_seed: int = 0,
        iterations: int | None = None,
        test_every: int | None = None,
    ) -> "Plan":
        """The plan of every kind with every density and strength, each with every seed; "none" is one setting.

        Without `kinds`, the lesson's first is taken: "none", or the first text of a language lesson.
        """
        kinds = lesson.kinds[:1] if kinds is None else kinds
        _check_grid(lesson, kinds, densities, strengths)
        _check_seeds(first_seed, seeds)
        settings: list[dict[str, Any]] = []
        for kind in dict.fromkeys(kinds):
            pairs = [(0.0, 0.0)] if kind == "none" else [(d, s) for d in densities for s in strengths]
            settings += [{"kind": kind, "density": d, "strength": s} for d, s in pairs]
        total = lesson.iterations if iterations is None else iterations
        every = max(1, total // 10) if test_every is None else test_every
        for name, count in (("iterations", total), ("test_every", every)):
            checked_count(count, name, "give 1 or more", 1)
        return Plan(lesson, tuple(settings), tuple(range(first_seed, first_seed + seeds)), total, every)

    @property
    def pairs(self) -> list[tuple[dict[str, Any], int]]:
        """The setting and the seed of each run: the first setting with all seeds, then the next."""
        return [(setting, seed) for setting in self.settings for seed in self.seeds]

    @property
    def runs(self) -> int:
        return len(self.pairs)

    @property
    def run_seeds(self) -> UInt32[Array, " runs"]:
        """The seed of each run."""
        return jnp.array([seed for _, seed in self.pairs], jnp.uint32)

    def setting(self) -> Setting:
        """The settings of all runs as arrays."""
        settings = [setting for setting, _ in self.pairs]
        return Setting(
            kind=jnp.array([self.lesson.kinds.index(s["kind"]) for s in settings], jnp.int32),
            density=jnp.array([s["density"] for s in settings], jnp.float32),
            strength=jnp.array([s["strength"] for s in settings], jnp.float32),
        )

    def facts(self) -> dict[str, Any]:
        """The plan as plain values: what a checkpoint must match."""
        return {
            "lesson": self.lesson.facts(),
            "settings": [dict(s) for s in self.settings],
            "seeds": list(self.seeds),
            "iterations": self.iterations,
            "test_every": self.test_every,
        }


def _check_grid(lesson: Teachable, kinds: Any, densities: Any, strengths: Any) -> None:
    for kind in kinds:
        if kind not in lesson.kinds:
            raise InputError(f"no hints of kind {kind!r} for {lesson.name}; there are {', '.join(lesson.kinds)}")
    for density in densities:
        if not 0 <= density <= 1:
            raise InputError(f"the density is {density}; it is the share of examples with hints, from 0 to 1")
    for strength in strengths:
        if not (np.isfinite(strength) and strength >= 0):
            raise InputError(f"the strength is {strength}; it is a number, 0 or more")


def _check_seeds(first: int, count: int) -> None:
    if count < 1:
        raise InputError(f"seeds is {count}; give 1 or more")
    if not 0 <= first <= 2**32 - count:
        raise InputError(f"the seeds are {first} to {first + count - 1}; a seed is from 0 to {2**32 - 1}")


class Learner(NamedTuple):
    """Everything that a run carries from one iteration to the next; a checkpoint holds all of it."""

    model: PyTree
    optimiser: PyTree
    progress: PyTree
    key: Array
    alive: Bool[Array, "*runs"]
    loss: Float[Array, "*runs"]  # summed since the last test
    accuracy: Float[Array, "*runs"]  # summed since the last test


@dataclass
class Progress:
    """How far a plan has come: its iteration, the time it took, and the measurements of each test, runs first."""

    iteration: int = 0
    seconds: float = 0.0
    tests: list[dict[str, np.ndarray]] = field(default_factory=list)  # "iteration", and arrays over all runs

    @property
    def tested(self) -> int:
        """The iteration of the last test, 0 before the first."""
        return int(self.tests[-1]["iteration"]) if self.tests else 0


def stored(path: Any, plan: Plan, progress: Progress, learners: Learner) -> Path:
    """Save how far the plan has come, and return the path."""
    leaves = jax.tree.leaves(learners)
    arrays = {f"learner.{n}": _plain(np.asarray(leaf)) for n, leaf in enumerate(leaves)}
    for name in progress.tests[0] if progress.tests else ():
        arrays[f"tests.{name}"] = _plain(np.stack([test[name] for test in progress.tests]))
    header = {"plan": plan.facts(), "iteration": progress.iteration, "seconds": progress.seconds}
    header["types"] = {name: str(array.dtype) for name, array in _types(leaves, progress).items()}
    try:
        return write_tensors(path, KIND, header, arrays)
    except (ModelFileError, OSError) as error:
        raise ModelFileError(
            f"the checkpoint could not be written: {error}. The one before it, if there was one, is whole. Make room, "
            f"and run the same command again: it goes on from there"
        ) from error


def restored(path: Any, plan: Plan, learners: Learner) -> tuple[Progress, Learner]:
    """The progress and learners in the file; those of the beginning where there is no file yet."""
    if not os.path.exists(path):
        return Progress(), learners
    if not os.path.isfile(path):  # reading a device may never end
        raise ModelFileError(f"the checkpoint {str(path)!r} is not a file; name a file, which need not exist yet")
    header, arrays = read_tensors(path, KIND)
    _refuse_other_plan(path, header.get("plan"), plan.facts())
    leaves, structure = jax.tree.flatten(learners)
    try:
        iteration, seconds = _counted(header)
        typed = _typed(header.get("types"), arrays)
        tests = _tests(typed, plan, iteration)
        found = _learners(typed, leaves)
    except ValueError as error:
        raise ModelFileError(f"{str(path)!r} does not hold a whole checkpoint: {error}; remove it") from None
    if iteration > plan.iterations:
        raise ModelFileError(
            f"the checkpoint {str(path)!r} has {iteration:,} iterations already, and {plan.iterations:,} were asked "
            f"for; ask for {iteration:,} or more, or give another file"
        )
    return Progress(iteration, seconds, tests), jax.tree.unflatten(structure, found)


def _refuse_other_plan(path: Any, theirs: Any, ours: dict[str, Any]) -> None:
    """Refuse the checkpoint of other runs. The number of iterations and of tests may differ, because no lesson depends
    on it."""
    apart = [key for key in RUNS if not isinstance(theirs, dict) or theirs.get(key) != ours[key]]
    if apart:
        raise ModelFileError(
            f"the checkpoint {str(path)!r} is of another plan: {', '.join(apart)} differ. Give the command that began "
            f"it, or another file"
        )


def _counted(header: dict[str, Any]) -> tuple[int, float]:
    """The iteration and the seconds in the header."""
    iteration, seconds = header.get("iteration"), header.get("seconds")
    if not isinstance(iteration, int) or isinstance(iteration, bool) or iteration < 0:
        raise ValueError(f"its iteration is {iteration!r}, and a whole number, 0 or more, was expected")
    planned = header["plan"].get("iterations")
    if not isinstance(planned, int) or iteration > planned:
        raise ValueError(f"its iteration is {iteration:,} of a plan of {planned!r}")
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or not 0 <= seconds < math.inf:
        raise ValueError(f"its seconds are {seconds!r}, and a number, 0 or more, was expected")
    return iteration, float(seconds)


def _typed(types: Any, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays in the types that they had before they were stored."""
    if not isinstance(types, dict) or set(types) != set(arrays):
        raise ValueError("its header does not name the type of each array")
    for name, kind in types.items():
        if kind not in TYPES:
            raise ValueError(f"its header names {kind!r} as the type of {name!r}")
    return {name: array.astype(types[name]) for name, array in arrays.items()}


def _learners(arrays: dict[str, np.ndarray], leaves: list[Any]) -> list[np.ndarray]:
    """The arrays of the learners, in the shapes and types of these leaves."""
    found = [arrays.get(f"learner.{n}") for n in range(len(leaves))]
    for number, (new, old) in enumerate(zip(found, leaves)):
        if new is None or new.shape != old.shape or new.dtype != old.dtype:
            found_there = "is missing" if new is None else f"is {new.dtype}{list(new.shape)}"
            raise ValueError(f"its array {number} {found_there}, and {old.dtype}{list(old.shape)} was expected")
    return [array for array in found if array is not None]


def _tests(arrays: dict[str, np.ndarray], plan: Plan, iteration: int) -> list[dict[str, np.ndarray]]:
    """The measurements of each test so far, the last of them at `iteration` or before."""
    columns = {name.removeprefix("tests."): array for name, array in arrays.items() if name.startswith("tests.")}
    if not columns:
        return []
    at = columns.get("iteration", np.zeros(0))
    counts = at.ndim == 1 and len(at) and at.dtype.kind == "i" and at[0] >= 1 and (np.diff(at) > 0).all()
    if not counts or at[-1] > iteration:
        raise ValueError("the iterations of its tests do not count up to its own")
    lengths = columns.get("accuracy_by_length", at).shape[2:]
    measured = [array.shape[:2] for name, array in columns.items() if name != "iteration"]
    kinds = {name: columns[name].dtype.kind for name in MEASURED if name in columns}
    if kinds != MEASURED or set(measured) != {(len(at), plan.runs)} or lengths != (len(plan.lesson.lengths),):
        raise ValueError(f"its tests do not measure each of {plan.runs} runs")
    return [{name: np.asarray(column[row]) for name, column in columns.items()} for row in range(len(at))]


def _types(leaves: list[Any], progress: Progress) -> dict[str, np.ndarray]:
    """The arrays by their names in the file."""
    found = {f"learner.{n}": np.asarray(leaf) for n, leaf in enumerate(leaves)}
    tests = progress.tests[0] if progress.tests else {}
    return found | {f"tests.{name}": np.asarray(array) for name, array in tests.items()}


def _plain(array: np.ndarray) -> np.ndarray:
    """The array in a type that the file format has; booleans and integers become int64."""
    if array.dtype == bool or array.dtype.kind in "ui":
        return array.astype(np.int64)
    return array
