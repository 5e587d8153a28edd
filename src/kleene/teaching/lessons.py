"""The lesson of any subject: a name, a file of your own, an automaton, a circuit, a program, a task or a corpus.

The `Maker` that is registered for the subject's class makes the lesson, so a new kind of subject is one more line.
"""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, singledispatch
from pathlib import Path
from typing import Any

from kleene import kinds, naming
from kleene.errors import InputError, KleeneError, did_you_mean
from kleene.programs.alta import Program
from kleene.programs.alta.library import entries
from kleene.programs.automata import DFA
from kleene.programs.circuits import Circuit
from kleene.programs.rasp.program import RaspProgram
from kleene.programs.turing import TuringMachine
from kleene.tasks.memory import MemoryTask, memory_task, memory_tasks
from kleene.tasks.sequences import TASKS, SequenceTask
from kleene.tasks.text import Corpus, corpus
from kleene.tasks.translation import Translation, scan_translation
from kleene.teaching.acceptors import acceptor_lesson
from kleene.teaching.encoders import encoder_lesson
from kleene.teaching.hints import Policy
from kleene.teaching.language import corpus_lesson, language_lesson
from kleene.teaching.lesson import Lesson
from kleene.teaching.memories import nram_lesson
from kleene.teaching.mlps import mlp_lesson
from kleene.teaching.neural_gpus import neural_gpu_lesson
from kleene.teaching.plain_lessons import plain_lesson
from kleene.teaching.sequences import ntm_lesson
from kleene.teaching.transformers import transformer_lesson, turing_lesson
from kleene.teaching.translations import seq2seq_lesson

OWN_TEXT = {"dropout": 0.2, "epochs": 10}  # because a user's text is often small


@dataclass(frozen=True)
class Maker:
    """How subjects of a class become lessons: a function of the subject for each machine that can learn it.

    The first machine is the default; "" is the name of a machine that the subject brings along. The options are the
    keyword-only parameters of the function, or of the one in `declares`.
    """

    make: Mapping[str, Callable[..., Lesson]]
    declares: Callable[..., Any] | None = None

    def learner(self, shown: str, machine: str | None) -> str:
        """The machine of that name, or the default; refuses one that the subject is not for."""
        if machine is not None and machine not in self.make:
            meant = " or ".join(filter(None, self.make)) or "the machine that it was made with"
            raise InputError(f"{shown} is not for the machine {machine!r}; it is for {meant}")
        return machine or next(iter(self.make))

    def declaring(self, machine: str) -> Callable[..., Any]:
        """The function whose parameters are the options."""
        made = self.make[machine]
        return self.declares or (made.func if isinstance(made, partial) else made)

    def options(self, machine: str) -> tuple[str, ...]:
        """The names of the options that the lesson takes."""
        parameters = inspect.signature(self.declaring(machine)).parameters.values()
        named = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
        return tuple(name for name in named if name not in ("name", "machine", "kinds", "probes"))


@singledispatch
def maker_of(subject: Any) -> Maker:
    """The maker for a subject, by its class. Register another with `maker_of.register(CLASS, lambda _: Maker(…))`."""
    raise InputError(
        f"a {type(subject).__name__} cannot be taught; give a Lesson, a DFA, a TuringMachine, a Circuit, a "
        f"Program, a SequenceTask, a MemoryTask, a Corpus, or the name of a task"
    )


BY_PROGRAM: dict[str, Callable[..., Lesson]] = {
    "transformer": transformer_lesson, "mlp": mlp_lesson, "encoder": encoder_lesson,
    "plain": plain_lesson,
}  # fmt: skip
ACCEPTORS = {machine: partial(acceptor_lesson, machine=machine) for machine in ("rnn", "lstm")}

maker_of.register(Lesson, lambda _: Maker({"": lambda lesson: lesson}))
maker_of.register(SequenceTask, lambda _: Maker({"ntm": ntm_lesson, "neural_gpu": neural_gpu_lesson}))
maker_of.register(MemoryTask, lambda _: Maker({"nram": nram_lesson, "neural_gpu": neural_gpu_lesson}))
maker_of.register(Circuit, lambda _: Maker({"nram": nram_lesson, "neural_gpu": neural_gpu_lesson}))
maker_of.register(DFA, lambda _: Maker(ACCEPTORS))
maker_of.register(Program, lambda _: Maker(BY_PROGRAM))
maker_of.register(RaspProgram, lambda _: Maker(BY_PROGRAM))
maker_of.register(TuringMachine, lambda _: Maker({"transformer": turing_lesson}, declares=transformer_lesson))
maker_of.register(Translation, lambda _: Maker({"seq2seq": seq2seq_lesson}))
maker_of.register(Corpus, lambda _: Maker({"lstm": corpus_lesson}, declares=language_lesson))


def lesson(
    subject: Any,
    machine: str | None = None,
    *,
    hints: Sequence[str] | Mapping[str, Any] | None = None,
    **options: Any,
) -> Lesson:
    """The lesson of a subject, for its default machine or the one named.

    `hints` are the kinds to keep, because some cost time even in runs without them. A dict adds policies of your own
    by name to those of the lesson. A `method`, which only plain Transformers have, means the machine "plain".

    >>> lesson("dfa:tomita_4", "lstm", hidden=8).name
    'tomita_4 lstm'
    """
    name, asked = subject if isinstance(subject, str) else None, dict(options)
    found, given = _named(subject, _meant(machine, options), options) if isinstance(subject, str) else (subject, {})
    if kinds.is_relative(found):  # such as a RASP expression, which is given a vocabulary and a greatest length
        found, options = kinds.taken(found, options)
    maker = maker_of(found)
    shown = repr(name or getattr(found, "name", type(found).__name__))
    meant = _meant(machine, options)
    learner = maker.learner(shown, meant if meant in maker.make else machine)
    _check_options(shown, learner, options, maker.options(learner))
    made = maker.make[learner](found, **given | options)
    if name is not None:
        chosen = {"machine": machine} if machine is not None else {}
        made = replace(made, recipe={"task": name} | chosen | asked)
    return with_policies(made, hints)


def _meant(machine: str | None, options: Mapping[str, Any]) -> str | None:
    """The machine that was named, or the one that the options are for."""
    return machine or ("plain" if "method" in options else None)


def with_policies(taught: Lesson, hints: Sequence[str] | Mapping[str, Any] | None) -> Lesson:
    """The lesson with only these hints, policies of the user's own among them."""
    if hints is None:
        return taught
    own = {kind: policy for kind, policy in hints.items() if policy is not None} if isinstance(hints, Mapping) else {}
    widened = replace(taught, hints={**taught.hints, **own}) if own else taught
    return widened if taught.task.variants else widened.only(list(hints))


def _check_options(shown: str, machine: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    wrong = next((name for name in given if name not in known), None)
    if wrong is not None:
        there = f"its options are {', '.join(known)}" if known else "it has no options"
        on = f" on {machine!r}" if machine else ""
        raise InputError(f"{shown}{on} has no option {wrong!r}; {there}")


def _named(name: str, machine: str | None, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The subject of that name, and further arguments for its lesson.

    Where a task and a program have one name, the machine says which is meant. A `vocabulary` is taken out of the
    options, because it belongs to the text and not to the lesson.
    """
    prefix, colon, rest = name.partition(":")
    if prefix.endswith(".py"):
        return _in_file(name, options), {}
    if name in entries() and (machine in BY_PROGRAM or name not in (*TASKS, *memory_tasks())):
        return entries()[name].build(), {}
    if name in TASKS:
        return TASKS[name], {}
    if name in memory_tasks():
        return memory_task(name), {}
    if colon and prefix == "scan":
        return scan_translation(rest), {}
    if colon and prefix == "text":
        text = corpus(rest, minimum=None, size=options.pop("vocabulary", None))
        return text, {key: value for key, value in OWN_TEXT.items() if key not in options}
    if colon and prefix in ("dfa", "circuit", "tm", "rasp"):
        return naming.find(name).subject, {"name": rest} if prefix == "dfa" else {}
    close = did_you_mean(name, (*TASKS, *memory_tasks(), *entries()))
    others = (
        ""
        if close.endswith("?")
        else ", dfa:NAME or dfa:REGEX, tm:NAME, rasp:NAME, circuit:FILE.nram, text:FILE, scan:SPLIT, and FILE.py:NAME"
    )
    raise InputError(f"no task {name!r}; {close}{others}")


def _in_file(place: str, options: dict[str, Any]) -> Any:
    """The lesson, task or program that `FILE.py:NAME` names, or that the function of that name makes.

    A function gets the options that it declares; they are taken out of `options`.
    """
    path, _, name = place.partition(":")
    found = object_in_file(path, name or "lesson")
    if not inspect.isfunction(found):
        return found
    declared = inspect.signature(found).parameters
    taken = {key: options.pop(key) for key in [*options] if key in declared}
    try:
        return found(**taken)
    except KleeneError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"calling {name}() in {path!r} raised {type(error).__name__}: {error}") from error


def object_in_file(path: str, name: str) -> Any:
    """The object of that name in a Python file, which is run."""
    if not os.path.isfile(path):
        raise InputError(f"there is no file {path!r}; give FILE.py:NAME, NAME being a lesson, a task or a circuit")
    found = getattr(naming.module_in(Path(path)), name, None)
    if found is None:
        raise InputError(f"{path!r} defines no {name!r}; give FILE.py:NAME with a name that the file defines")
    return found


def hint_kinds(hints: Any, kinds: Sequence[str]) -> dict[str, Any]:
    """The kinds of hints that `hints` names, each with None for a kind of the lesson or with the user's own policy.

    `hints` is "none", "all", names separated by commas, a list of names, a policy, or a dict of policies; the name
    `FILE.py:NAME` is the policy of that name in a file.
    """
    if isinstance(hints, Policy) or callable(hints):
        return {getattr(getattr(hints, "weights", hints), "__name__", "own"): hints}
    if isinstance(hints, Mapping):
        return dict(hints)
    names = [part.strip() for part in hints.split(",")] if isinstance(hints, str) else list(hints)
    if names == ["all"]:
        return dict.fromkeys(kinds)
    return dict(_kind(name) for name in names)


def _kind(name: str) -> tuple[str, Any]:
    path, colon, function = name.partition(":")
    if not (colon and path.endswith(".py")):
        return name, None
    policy = object_in_file(path, function)
    if not callable(policy):
        raise InputError(f"{function!r} in {path!r} is a {type(policy).__name__}; a policy is a function of a trace")
    return function, policy
