"""The lesson of any subject: a name, a file of your own, an automaton, a circuit, a program, a task or a corpus.

`kleene.teaching.makers` says which machines can learn what.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kleene import kinds, naming
from kleene.errors import InputError, KleeneError
from kleene.kinds import resolved
from kleene.teaching import makers
from kleene.teaching.hints import Policy
from kleene.teaching.lesson import Lesson
from kleene.teaching.makers import Maker as Maker
from kleene.teaching.makers import Way as Way
from kleene.teaching.makers import maker_of as maker_of
from kleene.teaching.makers import object_in_file as object_in_file
from kleene.teaching.options import TextOptions, declared


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
    meant = makers.meant(machine, options)
    found, own = _named(subject, meant, options) if isinstance(subject, str) else (subject, Own({}, ()))
    if kinds.is_relative(found):  # such as a RASP expression, which is given a vocabulary and a greatest length
        found, options = kinds.taken(found, options)
    maker = maker_of(found)
    shown = repr(name or getattr(found, "name", type(found).__name__))
    learner = maker.learner(shown, meant if meant in maker.make else machine)
    makers.check_options(shown, learner, options, (*own.options, *maker.options(learner)))
    made = maker.make[learner].make(found, **{**own.given, **options})
    if name is not None:
        chosen = {"machine": machine} if machine is not None else {}
        made = replace(made, recipe={"task": name} | chosen | asked)
    return with_policies(made, hints)


def with_policies(taught: Lesson, hints: Sequence[str] | Mapping[str, Any] | None) -> Lesson:
    """The lesson with only these hints, policies of the user's own among them."""
    if hints is None:
        return taught
    own = {kind: policy for kind, policy in hints.items() if policy is not None} if isinstance(hints, Mapping) else {}
    widened = replace(taught, hints={**taught.hints, **own}) if own else taught
    return widened if taught.task.variants else widened.only(list(hints))


class Own(NamedTuple):
    """Further arguments for a lesson, and the options that its subject has taken."""

    given: Mapping[str, Any]
    options: Sequence[str]


def _named(name: str, machine: str | None, options: dict[str, Any]) -> tuple[Any, Own]:
    """The subject of that name; its own options, such as the `vocabulary` of a text, are taken out of the options."""
    prefix, colon, rest = name.partition(":")
    if prefix.endswith(".py"):
        return _in_file(name, options)
    maker = makers.maker_named(name, machine)
    if maker is makers.TEXT:
        text = resolved("kleene.tasks.text:corpus")(rest, minimum=None, size=options.pop("vocabulary", None))
        usual = {one: TextOptions.options()[one].default for one in ("dropout", "epochs") if one not in options}
        return text, Own(usual, ("vocabulary",))
    if maker is makers.TRANSLATION:
        return resolved("kleene.tasks.translation:scan_translation")(rest), Own({}, ())
    if colon:
        return naming.find(name).subject, Own({"name": rest} if maker is makers.AUTOMATON else {}, ())
    if maker is makers.PROGRAM:
        return makers.programs()[name].build(), Own({}, ())
    found = "kleene.tasks.sequences:sequence_task" if maker is makers.SEQUENCE else "kleene.tasks.memory:memory_task"
    return resolved(found)(name), Own({}, ())


def _in_file(place: str, options: dict[str, Any]) -> tuple[Any, Own]:
    """The lesson, task or program that `FILE.py:NAME` names, or that the function of that name makes.

    A function gets the options that it declares; they are taken out of `options`.
    """
    path, _, name = place.partition(":")
    found = object_in_file(path, name or "lesson")
    if not inspect.isfunction(found):
        return found, Own({}, ())
    own = tuple(declared(found))
    taken = {key: options.pop(key) for key in [*options] if key in own}
    try:
        return found(**taken), Own({}, own)
    except KleeneError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"calling {name}() in {path!r} raised {type(error).__name__}: {error}") from error


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
