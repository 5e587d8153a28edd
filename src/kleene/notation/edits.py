"""Interventions on a run: at some step and position a channel gets another value, and the run goes on from there.

An `Edit` says what is set, where and to what: a value, or what another run had there (an interchange). It names a
channel of the trace, so the same edit is given to a program and to its network.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from kleene.errors import EditError
from kleene.traces import Trace

Places = int | Iterable[int] | None  # one, several, or all
MOST_PLACES = 100_000  # that one edit names
LAST_PLACE = 10**9


class Unset:
    """The value of an edit that takes its values from another run."""

    def __repr__(self) -> str:
        return "…"


UNSET = Unset()


@dataclass(frozen=True, repr=False, eq=False)
class Edit:
    """Sets a variable, a head's output or a state after a layer, at a position, and lets the run go on.

    Layer 0 is the start; a head's output is set in its layer, before the MLP reads it. Layers and positions are one,
    several, or all (None). A run without layers has steps, and `step` is another name for `layer`. A value is given
    as the trace shows it: a label or a code, a number, the members of a set.

    >>> Edit("parity", layer=3, position=5, value=1)
    Edit('parity', layer=3, position=5, value=1)
    >>> print(Edit("state", step=range(2, 5), value="q1"))
    state@2-4=q1
    """

    name: str
    layer: Places = field(default=None, kw_only=True)
    position: Places = field(default=None, kw_only=True)
    value: Any = field(default=UNSET, kw_only=True)
    source: Trace | None = field(default=None, kw_only=True)  # another run, which has the values
    step: Places = field(default=None, kw_only=True)
    origin: str = field(default="…", kw_only=True)  # how a person would type where the other run comes from

    def __post_init__(self) -> None:
        if self.step is not None and self.layer is not None:
            raise EditError(f"the edit of {self.name!r} has a layer and a step, which mean the same: give one of them")
        object.__setattr__(self, "layer", _places(self.name, "layer", self.step if self.layer is None else self.layer))
        object.__setattr__(self, "position", _places(self.name, "position", self.position))
        object.__setattr__(self, "step", None)
        if (self.value is UNSET) == (self.source is None):
            raise EditError(f"the edit of {self.name!r} needs a value, or a run to take it from, and not both")

    @classmethod
    def from_run(
        cls, name: str, run: Trace, *, layer: Places = None, position: Places = None, step: Places = None
    ) -> "Edit":
        """An interchange: the values that the channel had in another run, at the same layers and positions.

        >>> from kleene.programs.alta.library import parity
        >>> program = parity.absolute()
        >>> swapped = Edit.from_run("parity", program.run([1, 0, 1]), layer=0, position=0)
        >>> program.run([0, 0, 1], edits=[swapped]).output
        [1, 1, 0]
        """
        return cls(name, layer=layer, position=position, step=step, source=run)

    @classmethod
    def parse(cls, text: str) -> "Edit":
        """The edit that a person typed: NAME@LAYER,POSITION=VALUE; * or nothing stands for all, 2-4 for several.

        >>> Edit.parse("parity@3,5=1"), Edit.parse("tape@*,0-1=a")
        (Edit('parity', layer=3, position=5, value='1'), Edit('tape', position=(0, 1), value='a'))
        """
        place, equals, value = text.partition("=")
        name, _, places = place.partition("@")
        layer, _, position = places.partition(",")
        if not equals or not name.strip():
            raise EditError(f"the edit {text!r} is not of the form NAME@LAYER,POSITION=VALUE, such as parity@3,5=1")
        return cls(name.strip(), layer=_typed(text, layer), position=_typed(text, position), value=value.strip())

    def __str__(self) -> str:
        places = [_shown(places) for places in (self.layer, self.position)]
        where = ",".join(places if places[1] != "*" else places[:1])
        value = self.origin if self.source is not None else self.value
        return f"{self.name}@{where}={value}"

    def __repr__(self) -> str:
        given = {"layer": self.layer, "position": self.position} | ({"source": self.source} if self.source else {})
        given |= {} if self.source is not None else {"value": self.value}
        shown = [f"{name}={value!r}" for name, value in given.items() if value is not None or name == "value"]
        return f"Edit({', '.join([repr(self.name), *shown])})"


Edits = Sequence[Edit] | Sequence[Sequence[Edit]]  # for every word of a batch, or a list for each of them


def _places(name: str, what: str, given: Places) -> Places:
    if given is None or (isinstance(given, (int, np.integer)) and not isinstance(given, bool)):
        found = given if given is None else int(given)
        least = 0 if found is None else found
    else:
        try:
            found = tuple(int(place) for place in islice(given, MOST_PLACES + 1))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise EditError(
                f"the edit of {name!r} has the {what} {given!r}; give a whole number, several, or None for all"
            ) from None
        least = min(found, default=0)
        if len(found) > MOST_PLACES:
            raise EditError(f"the edit of {name!r} names more than {MOST_PLACES:,} {what}s; None stands for all")
    most = max(found, default=0) if isinstance(found, tuple) else found or 0
    if most > LAST_PLACE:
        raise EditError(f"the edit of {name!r} has a {what} beyond {LAST_PLACE:,}, which no run reaches")
    if least < 0:
        raise EditError(f"the edit of {name!r} has the {what} {least}; {what}s are counted from 0")
    return found


def _typed(text: str, places: str) -> Places:
    places = places.strip()
    if places in ("", "*"):
        return None
    first, dash, last = places.partition("-")
    try:
        return range(int(first), int(last) + 1) if dash else int(first)
    except ValueError:
        raise EditError(
            f"the edit {text!r} has the place {places!r}; a layer or a position is a number, several such as 2-4, or *"
        ) from None


def _shown(places: Places) -> str:
    if places is None or isinstance(places, int):
        return "*" if places is None else str(places)
    places = tuple(places)
    return f"{places[0]}-{places[-1]}" if places == tuple(range(places[0], places[-1] + 1)) else str(list(places))
