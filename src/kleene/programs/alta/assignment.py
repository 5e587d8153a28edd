"""The dict-like `z` that an MLP function gets while it is traced."""

from collections.abc import Iterator, MutableMapping
from typing import Any, Protocol


class Scribe(Protocol):
    """Who answers reads and takes writes: the tracer."""

    domains: dict[str, Any]

    def read(self, name: str) -> Any: ...

    def write(self, name: str, value: Any) -> None: ...

    def refuse(self, what: str) -> None: ...


class Assignment(MutableMapping):
    """Reads give the value from before the MLP, writes are kept aside; whatever else a dict does is refused."""

    __slots__ = ("_scribe",)

    def __init__(self, scribe: Scribe):
        object.__setattr__(self, "_scribe", scribe)

    def __getitem__(self, name: str) -> Any:
        return self._scribe.read(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._scribe.write(name, value)

    def __delitem__(self, name: str) -> None:
        self._scribe.refuse(f"deletes {name!r} from z; a variable always has a value, so write another one")

    def __iter__(self) -> Iterator[str]:
        return iter(self._scribe.domains)

    def __len__(self) -> int:
        return len(self._scribe.domains)

    def __contains__(self, name: object) -> bool:
        return name in self._scribe.domains

    def get(self, name: str, default: Any = None) -> Any:
        # Not by KeyError, as a mapping would: an unknown name is refused where it is read.
        if name in self:
            return self[name]
        return default

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            self._scribe.refuse(f'asks for z.{name}; a variable is read as z["{name}"]')
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._scribe.refuse(f'sets z.{name}, which has no effect; a variable is written as z["{name}"] = …')


Assignment.__name__ = Assignment.__qualname__ = "z"  # what Python's own messages call it
