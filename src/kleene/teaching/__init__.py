"""Teaching networks: a lesson is a task, a machine, policies for hints and a criterion.

`lesson` and `hints` hold these parts, and `lessons` finds a lesson by name; `makers` says which machines learn what,
and `options` what can be set. `sequences` (NTM), `memories` (NRAM), `neural_gpus`, `acceptors` (RNN, LSTM), `language`
(LSTM) and `transformers` (with `program_words`) are the built-in ones. `plan` and `loop` teach many runs at once, with
checkpoints, `reports` and `results` hold the measurements; `teach` is the verb.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.teaching.hints import Hints as Hints
    from kleene.teaching.hints import Policy as Policy
    from kleene.teaching.hints import ProgramTrace as ProgramTrace
    from kleene.teaching.hints import everything as everything
    from kleene.teaching.lesson import NCM as NCM
    from kleene.teaching.lesson import Examples as Examples
    from kleene.teaching.lesson import Lesson as Lesson
    from kleene.teaching.lesson import Task as Task
    from kleene.teaching.lesson import Trainable as Trainable
    from kleene.teaching.lesson import UpToTwice as UpToTwice
    from kleene.teaching.lesson import perfect as perfect

# Imported on first use, so that the options of lessons are there without jax.
_HINTS = ("Hints", "Policy", "ProgramTrace", "everything")
_LESSON = ("NCM", "Examples", "Lesson", "Task", "Trainable", "UpToTwice", "perfect")
_LATE: dict[str, str] = {
    **dict.fromkeys(_HINTS, "kleene.teaching.hints"),
    **dict.fromkeys(_LESSON, "kleene.teaching.lesson"),
}
__all__ = sorted(_LATE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
