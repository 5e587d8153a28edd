"""What a function can keep from one run to the next: the containers, attributes and names that it reaches.

A cache with too narrow a key is filled by the first runs, and from then on the function answers alike in any order. To
catch it, everything is put back before the function is asked again.
"""

import functools
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from kleene.programs.alta.source import is_users_file

MOST = 10_000  # things that are looked into
LARGE = 100_000  # members of a container, above which it is left alone
ATOMS = frozenset({int, float, bool, complex, str, bytes, type(None), range})
MISSING = object()


class Remembered:
    """What a function reaches, as it is now."""

    def __init__(self, function: Callable):
        self._restore: list[Callable[[], None]] = []
        known: dict[int, Any] = {}  # things by identity; they are held here, so that no identity is used twice
        waiting: list[Any] = [function]
        while waiting and len(known) < MOST:
            thing = waiting.pop()
            if type(thing) not in ATOMS and id(thing) not in known:
                known[id(thing)] = thing
                waiting += self._reached(thing)

    def put_back(self) -> None:
        """Make everything what it was."""
        for restore in self._restore:
            restore()

    def _reached(self, thing: Any) -> Iterable[Any]:
        """Remember one thing; what else is reached through it."""
        if isinstance(thing, FunctionType):
            return self._of_function(thing) if is_users_file(thing.__code__.co_filename) else ()
        if isinstance(thing, MethodType | staticmethod | classmethod):
            return getattr(thing, "__self__", None), thing.__func__
        if isinstance(thing, functools.partial):
            return thing.func, *thing.args, *thing.keywords.values()
        if isinstance(thing, functools._lru_cache_wrapper):
            self._restore.append(thing.cache_clear)
            return (thing.__wrapped__,)
        if isinstance(thing, tuple | frozenset):
            return thing
        if isinstance(thing, list | dict | set | deque | bytearray):
            return self._of_container(thing) if len(thing) <= LARGE else ()
        if isinstance(thing, np.ndarray):
            return self._of_array(thing) if thing.size <= LARGE and thing.flags.writeable else ()
        if isinstance(thing, CellType):
            return self._of_attributes(thing, lambda: ["cell_contents"])
        if isinstance(thing, type | ModuleType):
            own = is_users_file(_file_of(thing))
            return self._of_attributes(thing, lambda: [n for n in vars(thing) if not n.startswith("__")]) if own else ()
        return (type(thing), getattr(thing, "__dict__", None)) if is_users_file(_file_of(type(thing))) else ()

    def _of_function(self, function: FunctionType) -> Iterator[Any]:
        yield from (function.__dict__, function.__defaults__, function.__kwdefaults__, function.__closure__)
        known, names = function.__globals__, set(_names(function.__code__))
        before = {name: known[name] for name in names if name in known}
        yield from before.values()

        def restore() -> None:
            for name in (names & known.keys()) - before.keys():
                del known[name]
            known.update(before)

        self._restore.append(restore)

    def _of_attributes(self, owner: Any, names: Callable[[], Iterable[str]]) -> Iterable[Any]:
        before = {name: value for name in names() if (value := _held(owner, name)) is not MISSING}

        def restore() -> None:
            for name in list(names()):
                now = _held(owner, name)
                if name in before and now is not before[name]:
                    setattr(owner, name, before[name])
                elif name not in before and now is not MISSING:
                    delattr(owner, name)

        self._restore.append(restore)
        return before.values()

    def _of_container(self, container: Any) -> Iterable[Any]:
        entries = _entries(container)

        def restore() -> None:
            now = _entries(container)
            if len(now) == len(entries) and all(map(operator.is_, now, entries)):
                return  # another thread may be reading it
            container.clear()
            if isinstance(container, dict):
                for key, value in zip(entries[::2], entries[1::2]):
                    container[key] = value
            else:
                (container.update if isinstance(container, set) else container.extend)(entries)

        self._restore.append(restore)
        return entries

    def _of_array(self, array: np.ndarray) -> Iterable[Any]:
        before = array.copy()
        self._restore.append(lambda: np.copyto(array, before))
        return array.ravel().tolist() if array.dtype == object else ()


def _entries(container: Any) -> list[Any]:
    """The members of a container; of a dict each key and then its value."""
    return [part for item in container.items() for part in item] if isinstance(container, dict) else list(container)


def _names(code: CodeType) -> Iterator[str]:
    """The names that a piece of code uses, and the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _held(owner: Any, name: str) -> Any:
    """What an attribute is, without asking a descriptor for its value."""
    if isinstance(owner, CellType):
        try:
            return owner.cell_contents
        except ValueError:
            return MISSING
    return vars(owner).get(name, MISSING)


def _file_of(thing: Any) -> str | None:
    """The file of a module, or of the module of a class; "" where none is loaded, as where classes are typed in."""
    module = thing if isinstance(thing, ModuleType) else sys.modules.get(getattr(thing, "__module__", None) or "")
    typed = module is None or module.__name__ == "__main__"
    return getattr(module, "__file__", None) or ("" if typed else None)
