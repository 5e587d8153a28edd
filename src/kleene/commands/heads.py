"""Pictures of heads on the command line: the program's, and those of machines that were taught."""

from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.pictures.figures import check_picture

SEEN = 0.05  # a head's weight that can be seen in the picture


def check_heads(lesson: Any, path: str) -> None:
    """Refuse, before anything is taught, a lesson without heads and a file that no picture can be written to."""
    if not hasattr(lesson, "task") or not hasattr(lesson.task, "program"):
        raise InputError(f"{lesson.name!r} is for a machine without heads; --heads is for the tasks of the NTM")
    check_picture(path, "--heads")


def draw_heads(report: Any, learners: Any, path: str) -> Path:
    """The path of a picture with the program's heads, and for each setting those of its best run, on one word.

    The word is as long as twice the longest in training, where that is tested: what was learned from hints shows there.
    The tape is a ring, and its second half is drawn on the left, as cells below 0. Cells that no head visits are cut.
    """
    import jax

    from kleene.pictures.teaching import head_positions

    lesson = report.plan.lesson
    length = min(2 * lesson.longest, max(lesson.lengths))
    word = np.asarray(lesson.task.words(jax.random.key(0), length, 1))[:, 0].tolist()
    program = lesson.task.program(word, max(lesson.test_cells, lesson.task.cells(length)))
    cells = program.channel("read").size
    panels = [("program", *(one_hot(program[name][1:], cells) for name in ("read", "write")))]
    for number, setting in enumerate(report.plan.settings):
        seeds = len(report.plan.seeds)
        run = best_run(report, range(number * seeds, (number + 1) * seeds))
        trace = lesson.trace(jax.tree.map(lambda leaf: leaf[run], learners.model), word)  # noqa: B023
        panels.append((titled(report, setting, run), trace["read"][1:], trace["write"][1:]))
    middle = cells // 2
    unrolled = [(title, *(np.roll(heads, middle, axis=1) for heads in both)) for title, *both in panels]
    seen = [np.flatnonzero((heads > SEEN).any(axis=0)) for _, *both in unrolled for heads in both]
    first, last = (max(0, min(s.min() for s in seen) - 1), max(s.max() for s in seen) + 2)
    shown = [(title, read[:, first:last], write[:, first:last]) for title, read, write in unrolled]
    return head_positions(shown, path, first_cell=int(first) - middle)


def one_hot(places: np.ndarray, cells: int) -> np.ndarray:
    """A row for each step; of zeros where the program does not care where its head is.

    >>> one_hot(np.array([1, -1]), 3).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return (np.arange(cells) == np.asarray(places)[:, None]).astype(float)


def best_run(report: Any, runs: range) -> int:
    """The number of the run, of these, that was most accurate in the last test.

    Of runs that are as accurate it is the one with the lowest loss; one that diverged is not chosen if others did not.
    """
    last = report.progress.tests[-1]
    accuracy, loss = last["accuracy_by_length"].mean(axis=-1), last["loss"]
    return max(runs, key=lambda run: (bool(last["alive"][run]), float(accuracy[run]), -float(loss[run])))


def titled(report: Any, setting: dict[str, Any], run: int) -> str:
    """The kind of hints, density and strength where there are several, and the seed."""
    said = "no hints" if setting["kind"] == "none" else setting["kind"]
    alike = [other for other in report.plan.settings if other["kind"] == setting["kind"]]
    if len(alike) > 1:
        said += f", {setting['density']:g}, λ={setting['strength']:g}"
    return f"{said} (seed {report.plan.seeds[run % len(report.plan.seeds)]})"
