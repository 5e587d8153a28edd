"""Lessons by name: which tasks there are, and which machine learns each."""

from collections.abc import Callable
from typing import Any

from kleene.errors import InputError
from kleene.teaching.lessons import Lesson

MEMORIES = ("swap", "increment", "permute", "list_k", "merge", "permute_noise")


def lesson(task: str, machine: str | None = None, **options: Any) -> Lesson:
    """The task for the machine that it is meant for, or for the one named.

    >>> lesson("dfa:tomita_4", "lstm", hidden=8).name
    'tomita_4 lstm'
    """
    makers: dict[str, Callable[..., Lesson]] = {"nram": _nram, "rnn": _acceptor, "lstm": _acceptor}
    meant = ("nram",) if task in MEMORIES else ("rnn", "lstm")
    if not task.startswith("dfa:") and meant == ("rnn", "lstm"):
        raise InputError(f"no task {task!r}; there are {', '.join(MEMORIES)}, and dfa:NAME or dfa:REGEX")
    chosen = machine or meant[0]
    if chosen not in meant:
        raise InputError(f"{task!r} is not for the machine {chosen!r}; it is for {' or '.join(meant)}")
    try:
        return makers[chosen](task, machine=chosen, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise InputError(f"{task!r} on {chosen!r} has no such option: {error}") from None


def _nram(task: str, *, machine: str, **options: Any) -> Lesson:
    from kleene.teaching.nram_lesson import NRAMLesson

    return NRAMLesson(task, **options)


def _acceptor(task: str, *, machine: str, **options: Any) -> Lesson:
    from kleene.programs.lookup import find
    from kleene.teaching.acceptor_lesson import AcceptorLesson

    return AcceptorLesson(find(task)[0], name=task.removeprefix("dfa:"), machine=machine, **options)
