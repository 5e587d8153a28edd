"""Which machines can learn what, and by which lesson: a table of classes, and one of the names of `kleene teach`.

Lessons are imported when one is made, so that this table and the options of every lesson are there without jax.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, singledispatch
from pathlib import Path
from typing import Any, NamedTuple

from kleene import kinds, naming
from kleene.errors import InputError, did_you_mean
from kleene.kinds import late, resolved
from kleene.teaching.options import (
    AcceptorOptions,
    EncoderOptions,
    LanguageOptions,
    MlpOptions,
    NeuralGpuOptions,
    NramOptions,
    NtmOptions,
    Option,
    Options,
    PlainOptions,
    TextOptions,
    TransformerOptions,
    TranslationOptions,
    declared,
)


class Way(NamedTuple):
    """How a machine learns a subject: the function that makes the lesson, and the record of its options.

    Without a record, the options are the function's own keyword-only parameters.
    """

    make: Callable[..., Any]
    record: type[Options] | None = None


@dataclass(frozen=True)
class Maker:
    """How subjects of a class become lessons: a way for each machine that can learn it; the first is the default.

    The machine "" is the one that the subject brings along.
    """

    make: Mapping[str, Way]

    def learner(self, shown: str, machine: str | None) -> str:
        """The machine of that name, or the default; refuses one that the subject is not for."""
        if machine is not None and machine not in self.make:
            meant = " or ".join(filter(None, self.make)) or "the machine that it was made with"
            raise InputError(f"{shown} is not for the machine {machine!r}; it is for {meant}")
        return machine or next(iter(self.make))

    def summary(self, machine: str) -> str:
        """What is learned on that machine, and which others there are."""
        record, others = self.make[machine].record, [other for other in self.make if other != machine]
        learned = "" if record is None or record.__doc__ is None else record.__doc__.splitlines()[0]
        return learned + (f" Other machines: {', '.join(others)}." if others else "")

    def options(self, machine: str) -> dict[str, Option]:
        """The options that the lesson takes, by name."""
        way = self.make[machine]
        return declared(way.make, keywords=True) if way.record is None else way.record.options()


NTM = Way(late("kleene.teaching.sequences:ntm_lesson"), NtmOptions)
NRAM = Way(late("kleene.teaching.memories:nram_lesson"), NramOptions)
NEURAL_GPU = Way(late("kleene.teaching.neural_gpus:neural_gpu_lesson"), NeuralGpuOptions)
ACCEPTOR = late("kleene.teaching.acceptors:acceptor_lesson")
BY_PROGRAM = {
    "transformer": Way(late("kleene.teaching.transformers:transformer_lesson"), TransformerOptions),
    "mlp": Way(late("kleene.teaching.mlps:mlp_lesson"), MlpOptions),
    "encoder": Way(late("kleene.teaching.encoders:encoder_lesson"), EncoderOptions),
    "plain": Way(late("kleene.teaching.plain_lessons:plain_lesson"), PlainOptions),
}
SEQUENCE = Maker({"ntm": NTM, "neural_gpu": NEURAL_GPU})
MEMORY = Maker({"nram": NRAM, "neural_gpu": NEURAL_GPU})
AUTOMATON = Maker({name: Way(partial(ACCEPTOR, machine=name), AcceptorOptions) for name in ("rnn", "lstm")})
PROGRAM = Maker(BY_PROGRAM)
TURING = Maker({"transformer": Way(late("kleene.teaching.transformers:turing_lesson"), TransformerOptions)})
TRANSLATION = Maker({"seq2seq": Way(late("kleene.teaching.translations:seq2seq_lesson"), TranslationOptions)})
CORPUS = Maker({"lstm": Way(late("kleene.teaching.language:corpus_lesson"), LanguageOptions)})
TEXT = Maker({"lstm": Way(late("kleene.teaching.language:corpus_lesson"), TextOptions)})
BY_CLASS = {
    "kleene.teaching.lesson:Lesson": Maker({"": Way(lambda lesson: lesson)}),
    "kleene.tasks.sequences:SequenceTask": SEQUENCE,
    "kleene.tasks.memory:MemoryTask": MEMORY,
    "kleene.programs.circuits.circuit:Circuit": MEMORY,
    "kleene.programs.automata.dfa:DFA": AUTOMATON,
    "kleene.programs.alta.program:Program": PROGRAM,
    "kleene.programs.rasp.program:RaspProgram": PROGRAM,
    "kleene.programs.turing.machine:TuringMachine": TURING,
    "kleene.tasks.translation:Translation": TRANSLATION,
    "kleene.tasks.text:Corpus": CORPUS,
}

# Names on the command line.
SEQUENCES = ("copy", "repeat_copy_twice", "dyck_words", "flip_3rd", "repeat_flip_3d", "reverse")
MEMORIES = ("swap", "increment", "permute", "list_k", "merge", "permute_noise")
BY_PREFIX = {"dfa": AUTOMATON, "circuit": MEMORY, "tm": TURING, "rasp": PROGRAM, "text": TEXT, "scan": TRANSLATION}
PLACES = "dfa:NAME or dfa:REGEX, tm:NAME, rasp:NAME, circuit:FILE.nram, text:FILE, scan:SPLIT, and FILE.py:NAME"


@singledispatch
def maker_of(subject: Any) -> Maker:
    """The maker for a subject, by its class. Register another with `maker_of.register(CLASS, lambda _: Maker(…))`."""
    for known in type(subject).__mro__:
        found = BY_CLASS.get(f"{known.__module__}:{known.__qualname__}")
        if found is not None:
            return found
    raise InputError(
        f"a {type(subject).__name__} cannot be taught; give a Lesson, a DFA, a TuringMachine, a Circuit, a "
        f"Program, a SequenceTask, a MemoryTask, a Corpus, or the name of a task"
    )


def maker_named(task: str, machine: str | None = None) -> Maker:
    """The maker for the subject that a name other than FILE.py:NAME means; the subject itself is not made.

    Where a task and a program have one name, the machine says which is meant.

    >>> [*maker_named("reverse").make], [*maker_named("reverse", "mlp").make]
    (['ntm', 'neural_gpu'], ['transformer', 'mlp', 'encoder', 'plain'])
    """
    prefix, colon, _ = task.partition(":")
    if colon and prefix in BY_PREFIX:
        return BY_PREFIX[prefix]
    if is_program(task, machine):
        return PROGRAM
    if task in (*SEQUENCES, *MEMORIES):
        return SEQUENCE if task in SEQUENCES else MEMORY
    close = did_you_mean(task, (*SEQUENCES, *MEMORIES, *programs()))
    raise InputError(f"no task {task!r}; {close}" + ("" if close.endswith("?") else f", {PLACES}"))


def is_program(task: str, machine: str | None) -> bool:
    """Whether the name means a transformer program of the library."""
    return (machine in BY_PROGRAM or task not in (*SEQUENCES, *MEMORIES)) and task in programs()


def programs() -> Mapping[str, Any]:
    """The transformer programs of the library."""
    return resolved("kleene.programs.alta.library:entries")()


def meant(machine: str | None, options: Mapping[str, Any]) -> str | None:
    """The machine that was named, or the one that the options are for: only plain Transformers have a `method`."""
    return machine or ("plain" if "method" in options else None)


def object_in_file(path: str, name: str) -> Any:
    """The object of that name in a Python file, which is run."""
    if not os.path.isfile(path):
        raise InputError(f"there is no file {path!r}; give FILE.py:NAME, NAME being a lesson, a task or a circuit")
    found = getattr(naming.module_in(Path(path)), name, None)
    if found is None:
        raise InputError(f"{path!r} defines no {name!r}; give FILE.py:NAME with a name that the file defines")
    return found


def subject_options(subject: Any) -> dict[str, Option]:
    """The options that make a subject of one that is given: those of a function, or of an expression of RASP."""
    if inspect.isfunction(subject):
        return declared(subject)
    kind = kinds.find(subject) if kinds.is_relative(subject) else None
    return {} if kind is None else {name: ADOPTION[name] for name in kind.adoption}


ADOPTION = {
    "vocab": PlainOptions.options()["vocab"],
    "max_length": Option("max_length", int, None, "RASP programs: the most tokens of an input", least=1, most=10**6),
    "causal": Option("causal", bool, False, "no position looks to its right"),
}


def check_options(shown: str, machine: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse an option that a task does not have, with those that it has."""
    wrong = next((name for name in given if name not in known), None)
    if wrong is not None:
        there = f"its options are {', '.join(known)}" if known else "it has no options"
        on = f" on {machine!r}" if machine else ""
        raise InputError(f"{shown}{on} has no option {wrong!r}; {there}")


def options_of(subject: Any, shown: str, machine: str | None) -> tuple[str | None, dict[str, Option]]:
    """The machine that learns a subject of a user's own, and the options of both; a function is not called."""
    own = subject_options(subject)
    if inspect.isfunction(subject):
        return machine, own
    kind = kinds.find(subject) if kinds.is_relative(subject) else None
    maker = maker_of(subject) if kind is None else BY_CLASS[str(kind.program)]
    learner = maker.learner(repr(shown), machine)
    return learner, own | maker.options(learner)


def tasks_by_machine() -> dict[str, list[str]]:
    """The names of tasks, by the machines that learn them."""
    named = {name: maker for names, maker in ((SEQUENCES, SEQUENCE), (MEMORIES, MEMORY)) for name in names}
    named |= {"circuit:FILE.nram": MEMORY, "dfa:NAME": AUTOMATON, "dfa:REGEX": AUTOMATON, "text:FILE": TEXT}
    named |= {"scan:SPLIT": TRANSLATION, "tm:NAME": TURING, "rasp:NAME": PROGRAM}
    found: dict[str, list[str]] = {}
    for name, maker in [*named.items(), *((name, PROGRAM) for name in programs())]:
        for machine in maker.make:
            found.setdefault(machine, []).append(name)
    return found
