"""Which settings a cell may have, and with which values: those of its verb, and those that its lesson declares."""

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kleene import kinds
from kleene.errors import InputError, KleeneError, did_you_mean
from kleene.sweeping.definition.drawing import SHARES, Drawn, is_number
from kleene.sweeping.definition.source import Source
from kleene.teaching.lesson import Lesson
from kleene.teaching.lessons import hint_kinds, lesson
from kleene.teaching.makers import Maker, maker_named, maker_of, meant, object_in_file, subject_options
from kleene.teaching.options import Option

MOST_SEED = 2**32 - 1
MOST_COUNT = 10**9  # as on the command line


class Wanted(NamedTuple):
    """What the value of a setting has to be, in words and as a test."""

    words: str
    test: Callable[[Any], bool]


def _whole(least: int, most: float = float("inf")) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


SEEDS = {
    "seed": Wanted(f"a whole number from 0 to {MOST_SEED}, or in [grid] a list of them", _whole(0, MOST_SEED)),
    "seeds": Wanted("how many seeds each setting has, a whole number above 0", _whole(1, MOST_SEED + 1)),
    "first_seed": Wanted(f"the first of the seeds, a whole number from 0 to {MOST_SEED}", _whole(0, MOST_SEED)),
}
MOST_WORDS = f"a whole number above 0, at most {MOST_COUNT:,}"
UPDATES = Wanted(f"how many updates, {MOST_WORDS}", _whole(1, MOST_COUNT))
SETTINGS: dict[str, dict[str, Wanted]] = {
    "teach": {
        "task": Wanted('the name of a task as `kleene teach` takes it, such as "copy"', _text),
        "machine": Wanted('the name of a machine, such as "rnn"', _text),
        "hints": Wanted(
            "one kind of hints or FILE.py:NAME; several are a list in [grid]",
            lambda value: _text(value) and "," not in value and value != "all",
        ),
        "density": Wanted(
            "the share of examples with hints, a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1
        ),
        "strength": Wanted("λ, a number, 0 or more", lambda value: is_number(value) and value >= 0),
        "iterations": UPDATES,
        "test_every": UPDATES,
    },
    "reproduce": {
        "experiment": Wanted("the name of an experiment, as `kleene reproduce` takes it", _text),
        "full": Wanted("true or false", lambda value: isinstance(value, bool)),
        "iterations": UPDATES,
        "model": Wanted("a file with a language model", _text),
        "networks": Wanted(f"how many networks, {MOST_WORDS}", _whole(1, MOST_COUNT)),
        "corpora": Wanted(f"how many corpora, {MOST_WORDS}", _whole(1, MOST_COUNT)),
    },
}
SUBJECT = {"teach": "task", "reproduce": "experiment"}  # the setting that every cell must have
KEPT = "the sweep keeps results and checkpoints in its store itself"
REFUSED = {
    "teach": {
        "stop_after": "it would make the result of a cell depend on the cells that it is taught with",
        **dict.fromkeys(("checkpoint", "results", "model", "heads"), KEPT),
    },
    "reproduce": {"folder": KEPT},
}


class SweepLessons:
    """The lessons of a sweep, which are made to learn what settings they have.

    A lesson is made once for each value of its options, but not for each number drawn between two bounds. A text is not
    read, so the kinds of its hints stay unknown until it is taught.
    """

    def __init__(self, source: Source, sweep: Mapping[str, Any]) -> None:
        self.source, self.sweep = source, sweep
        self.declared: dict[Any, dict[str, Option]] = {}
        self.made: dict[Any, Lesson | None] = {}
        self.tried: set[tuple[Any, str, str]] = set()
        self.own_hints: set[str] = set()

    def checked(self, drawn: Drawn) -> tuple[dict[str, Any], int]:
        """The settings in the form in which they decide a result, and how many seeds the lesson has by default."""
        given = drawn.settings
        options = {name: value for name, value in given.items() if name not in SETTINGS["teach"]}
        group = (given["task"], given.get("machine"), frozenset(options))
        if group not in self.declared:
            self.declared[group] = self._options(drawn, options)
        declared = self.declared[group]
        fitting = {name: self._fitting(drawn, name, declared[name]) for name in options}
        new = {(group, name, repr(value)) for name, value in fitting.items() if not self._spread(name)} - self.tried
        if new or group not in self.made:
            self.made[group] = self._lesson(drawn, fitting)
            self.tried |= new
        made = self.made[group]
        kind = self._kind(drawn, made)
        shares = {name: float(given[name]) for name in SHARES if name in given}
        left_out = SHARES if kind == "none" else ()
        settings = {name: value for name, value in {**given, **fitting, **shares}.items() if name not in left_out}
        return settings, 1 if made is None else made.seeds

    def _error(self, drawn: Drawn, name: str, problem: str) -> InputError:
        return self.source.error(drawn.place(self.sweep, name), problem)

    def _options(self, drawn: Drawn, options: Mapping[str, Any]) -> dict[str, Option]:
        """The options that the lesson takes; refuses others, and a machine that it is not for."""
        task, machine = drawn.settings["task"], meant(drawn.settings.get("machine"), options)
        try:
            maker, own = _maker(task, machine, options)
        except KleeneError as error:
            raise self._error(drawn, "task", str(error)) from error
        try:
            learner = maker.learner(repr(task), machine if machine in maker.make else drawn.settings.get("machine"))
        except InputError as error:
            raise self._error(drawn, "machine", str(error)) from error
        declared = maker.options(learner) | own
        for name in options:
            if name not in declared:
                known = [*SETTINGS["teach"], *SEEDS, *declared]
                raise self._error(drawn, name, f"{task!r} has no setting {name!r}; {did_you_mean(name, known)}")
        return declared

    def _fitting(self, drawn: Drawn, name: str, option: Option) -> Any:
        """The value of an option, as a real number where the lesson wants one."""
        value = drawn.settings[name]
        problem = option.problem(value)
        if problem is not None:
            nested = "; in [grid] a list is in another: [[1, 2]]" if list in option.types else ""
            raise self._error(drawn, name, f"{name} is {problem}, for {drawn.settings['task']!r}{nested}")
        return float(value) if is_number(value) and option.types == (float,) else value

    def _lesson(self, drawn: Drawn, options: Mapping[str, Any]) -> Lesson | None:
        task = drawn.settings["task"]
        if task.startswith("text:"):
            if not os.path.isfile(task.removeprefix("text:")):
                raise self._error(drawn, "task", f"there is no file {task.removeprefix('text:')!r}; give text:FILE")
            return None
        made = _made(drawn, options)
        if not isinstance(made, Exception):
            return made
        blamed = (name for name in options if not isinstance(_made(drawn, options, without=name), Exception))
        raise self._error(drawn, next(blamed, "task"), str(made)) from made

    def _spread(self, name: str) -> bool:
        """Whether an option is drawn between two bounds."""
        drawn_from = self.sweep["random"].get(name)
        return isinstance(drawn_from, dict) and "choose" not in drawn_from

    def _kind(self, drawn: Drawn, made: Lesson | None) -> str | None:
        """The kind of hints that a setting has, by default the first of its lesson; None where nobody knows."""
        kind = drawn.settings.get("hints")
        if made is None or kind is None:
            return None if made is None else made.kinds[0]
        if ".py:" in kind and kind not in self.own_hints:
            try:
                hint_kinds(kind, made.kinds)
            except KleeneError as error:
                raise self._error(drawn, "hints", str(error)) from error
            self.own_hints.add(kind)
        elif ".py:" not in kind and kind not in made.kinds:
            problem = f"no hints of kind {kind!r} for {made.name}; {did_you_mean(kind, made.kinds)}"
            raise self._error(drawn, "hints", problem)
        return kind


def _made(drawn: Drawn, options: Mapping[str, Any], without: str = "") -> Lesson | Exception:
    """The lesson with these options, or the error that making it raised."""
    task = drawn.settings["task"]
    try:
        kept = {name: value for name, value in options.items() if name != without}
        return lesson(task, drawn.settings.get("machine"), **kept)
    except KleeneError as error:
        return error
    except Exception as error:
        problem = f"the lesson of {task!r} cannot be made with these settings: {type(error).__name__}: {error}"
        return InputError(problem)


def _maker(task: str, machine: str | None, options: Mapping[str, Any]) -> tuple[Maker, dict[str, Option]]:
    """The maker of a task's lesson, and the options that the task itself takes."""
    path, _, name = task.partition(":")
    if not path.endswith(".py"):
        return maker_named(task, machine), {}
    subject = object_in_file(path, name or "lesson")
    own = subject_options(subject)
    given = {option: value for option, value in options.items() if option in own}
    if inspect.isfunction(subject):
        lesson(task, **given)  # refuses a function that raises
        subject = subject(**given)
    return maker_of(kinds.taken(subject, given)[0]), own
