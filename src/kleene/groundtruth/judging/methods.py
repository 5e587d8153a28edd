"""Which methods are to be judged, and of what: measures of interaction, or methods that look for circuits."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from kleene import naming
from kleene.errors import InputError, did_you_mean

KINDS = {"interactions": "a measure of interactions", "circuits": "a method for circuits"}
TAKES = {2: "interactions", 3: "circuits"}  # arguments: (network, words), (network, inputs, others)
Methods = dict[str, Callable[..., Any]]


def chosen_methods(methods: Any, tables: Mapping[str, Methods], of: str | None = None) -> dict[str, Methods]:
    """The methods that are meant by what they are judged on: a table of all if none is named.

    `tables` has Kleene's own methods for each of `KINDS`. A function of one's own is judged by how many arguments it
    takes.
    """
    if of is not None and of not in KINDS:
        raise InputError(f"judged are interactions or circuits, and not {of!r}")
    given = methods if isinstance(methods, Mapping) else _named(methods)
    found: dict[str, Methods] = {kind: {} for kind in KINDS}
    for name, method in given.items():
        kind, function = _found(name, method, tables)
        if of not in (None, kind):
            raise InputError(f"{name} is {KINDS[kind]}, and it was asked for {of} only")
        found[kind][name] = function
    if not given:
        found = {kind: dict(tables[kind]) if of in (None, kind) else {} for kind in KINDS}
    return found


def _named(methods: Any) -> dict[str, Any]:
    given = [methods] if isinstance(methods, str) or callable(methods) else list(methods)
    return {one if isinstance(one, str) else getattr(one, "__name__", repr(one)): one for one in given}


def _found(name: str, method: Any, tables: Mapping[str, Methods]) -> tuple[str, Callable[..., Any]]:
    if callable(method):
        return _kind_of(name, method), method
    if method.partition(":")[0].endswith(".py"):
        function = naming.function_in_file(method, "the method")
        return _kind_of(name, function), function
    for kind, table in tables.items():
        if method in table:
            return kind, table[method]
    like = did_you_mean(method, [name for table in tables.values() for name in table])
    raise InputError(f"no measure {method!r} and no such method for circuits; FILE.py:NAME is one of your own; {like}")


def _kind_of(name: str, function: Callable[..., Any]) -> str:
    """Of what a function is a method, by the number of its arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return "interactions"
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters) and len(needed) < 2:
        return "interactions"
    if len(needed) not in TAKES:
        raise InputError(
            f"{name} takes {len(needed)} arguments; a measure of interactions takes two, (network, words), and a "
            f"method for circuits three, (network, inputs, others)"
        )
    return TAKES[len(needed)]
