"""Lessons by name: which tasks there are, and which machine learns each."""

from collections.abc import Callable
from typing import Any

from kleene.errors import InputError, did_you_mean
from kleene.teaching.lessons import Lesson

SEQUENCES = ("copy", "repeat_copy_twice", "dyck_words", "flip_3rd", "repeat_flip_3d", "reverse")
MEMORIES = ("swap", "increment", "permute", "list_k", "merge", "permute_noise")


def lesson(task: str, machine: str | None = None, *, hints: tuple[str, ...] | None = None, **options: Any) -> Lesson:
    """The task for the machine that it is meant for, or for the one named.

    `hints` are the kinds that will be asked for, where that is known: some cost time even for runs without them.

    >>> lesson("dfa:tomita_4", "lstm", hidden=8).name
    'tomita_4 lstm'
    """
    makers: dict[str, Callable[..., Lesson]] = {"ntm": _ntm, "nram": _nram, "rnn": _acceptor, "lstm": _acceptor}
    if task.startswith("text:"):
        makers["lstm"] = _language
    meant = _meant(task)
    chosen = machine or meant[0]
    if chosen not in meant:
        raise InputError(f"{task!r} is not for the machine {chosen!r}; it is for {' or '.join(meant)}")
    if chosen == "ntm" and hints is not None:
        options["kinds"] = ("none", *(kind for kind in dict.fromkeys(hints) if kind != "none"))
    try:
        return makers[chosen](task, machine=chosen, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        option = str(error).split("'")[1]
        said = "rate" if option == "learning_rate" else option
        raise InputError(f"there is no such option for {task!r} on {chosen!r}: {said}; leave it out") from None


def _meant(task: str) -> tuple[str, ...]:
    """The machines that learn a task, the usual one first."""
    if task in SEQUENCES:
        return ("ntm",)
    if task in MEMORIES:
        return ("nram",)
    if task.startswith("text:"):
        return ("lstm",)
    if task.startswith("dfa:"):
        return ("rnn", "lstm")
    told = did_you_mean(task, (*SEQUENCES, *MEMORIES))
    raise InputError(
        f"no task {task!r}; {told}{'' if told.endswith('?') else ', dfa:NAME or dfa:REGEX, and text:FILE'}"
    )


def _ntm(task: str, *, machine: str, **options: Any) -> Lesson:
    from kleene.teaching.ntm_lesson import NTMLesson

    return NTMLesson(task, **options)


def _nram(task: str, *, machine: str, **options: Any) -> Lesson:
    from kleene.teaching.nram_lesson import NRAMLesson

    return NRAMLesson(task, **options)


def _acceptor(task: str, *, machine: str, **options: Any) -> Lesson:
    from kleene.naming import find
    from kleene.teaching.acceptor_lesson import AcceptorLesson

    if "learning_rate" in options:
        options["rate"] = options.pop("learning_rate")
    return AcceptorLesson(find(task).subject, name=task.removeprefix("dfa:"), machine=machine, **options)


def _language(task: str, *, machine: str, vocabulary: int | None = None, **options: Any) -> Lesson:
    from kleene.tasks.text import corpus
    from kleene.teaching.language_lesson import LanguageLesson

    text = corpus(task.removeprefix("text:"), minimum=None, size=vocabulary)
    return LanguageLesson.of(text, **({"dropout": 0.2, "epochs": 10} | options))  # a text of one's own is often small
