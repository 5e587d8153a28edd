"""Patches and ablations: numbers set by hand inside a compiled Transformer, whether they stand for anything or not.

An `Edit` sets a variable, in the program's own values. A `Patch` sets dimensions of the residual stream, what a head
read, its attention pattern, or hidden units. The program has nothing that corresponds to it, so nothing is refused on
the way: where the residual stream holds no value of a channel, the trace has an undefined entry, and a run that does
not halt ends at its limit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kleene.errors import EditError, did_you_mean
from kleene.machines.transformer.attention import Tap
from kleene.machines.transformer.layer import Runnable
from kleene.machines.transformer.parameters import Parameters
from kleene.notation.edit_plans import by_rows, edits_of_rows
from kleene.notation.edits import Edit, Places

SITES = ("dimension", "head", "pattern", "unit")


@dataclass(frozen=True, eq=False)
class Patch:
    """Sets one of: a `dimension` of the residual stream, the output of a `head`, its `pattern`, a hidden `unit`.

    Heads are named or numbered; dimensions and units are numbered, one or several. The value is a number, or as many as
    the place has: a head's output has an entry for each dimension of its value, a pattern one for each position. The
    residual stream is set after a layer (0 is the start), all else in a layer. `mean` stands for the mean over all
    positions of the batch in that layer. Layers and positions are one, several, or all (None).

    >>> Patch(head="parity_left", layer=2, value=[0, 1])
    Patch(head='parity_left', layer=2, value=[0, 1])
    """

    dimension: Places = None
    head: str | int | None = None
    pattern: str | int | None = None
    unit: Places = None
    layer: Places = field(default=None, kw_only=True)
    position: Places = field(default=None, kw_only=True)
    value: Any = field(default=0.0, kw_only=True)
    mean: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        given = [site for site in SITES if getattr(self, site) is not None]
        if len(given) != 1:
            raise EditError(f"a patch is of one of {', '.join(SITES)}; this one names {' and '.join(given) or 'none'}")

    @property
    def site(self) -> str:
        return next(site for site in SITES if getattr(self, site) is not None)

    def __repr__(self) -> str:
        shown = {site: getattr(self, site) for site in (*SITES, "layer", "position")}
        shown |= {"mean": True} if self.mean else {"value": self.value}
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in shown.items() if v is not None)})"


Patches = list[tuple[Patch, np.ndarray]]  # each with the rows of the batch that it is for
Interventions = Sequence[Edit | Patch] | Sequence[Sequence[Edit | Patch]]  # for every input, or a list for each


def ablate(
    *,
    dimension: Places = None,
    head: str | int | None = None,
    unit: Places = None,
    layer: Places = None,
    position: Places = None,
    mean: bool = False,
) -> Patch:
    """A patch that takes something out of a network: it is 0 everywhere, or the mean over the batch."""
    return Patch(dimension, head, None, unit, layer=layer, position=position, mean=mean)


def split_patches(edits: Interventions, count: int) -> tuple[Any, Patches]:
    """The edits of channels, and the patches with the rows of the batch that each is for."""
    patches = [(edit, rows) for edit, rows in by_rows(edits, count) if isinstance(edit, Patch)] if edits else []
    if not patches:
        return edits, []
    rest = [[edit for edit in own if not isinstance(edit, Patch)] for own in edits_of_rows(edits, count)]
    return (rest if any(rest) else ()), patches


class PatchTap(Tap):
    """The patches of one layer, put in while it is computed. `rows` has, for each patch, which rows of the batch."""

    def __init__(self, network: Parameters, patches: Sequence[tuple[Patch, np.ndarray]], inside: np.ndarray):
        self._network, self._patches, self._inside = network, patches, inside
        self.patterns: Any = None

    def pattern(self, weights: Any) -> Any:
        self.patterns = self._in_heads("pattern", weights)
        return self.patterns

    def heads(self, mixed: Any) -> Any:
        return self._in_heads("head", mixed)

    def _in_heads(self, site: str, array: Any) -> Any:
        found = array
        for patch, rows in self._of(site):
            if getattr(patch, site) not in (*self._network.layout.heads, *range(array.shape[1])):
                continue  # another layer of an unrolled network has it
            found = np.array(found)
            head = head_of(self._network, getattr(patch, site))
            found[:, head] = self._patched(patch, rows, found[:, head])
        return found

    def hidden(self, units: Any) -> Any:
        found = units
        for patch, rows in self._of("unit"):
            found = np.array(found)
            chosen = _numbers(self._network, "unit", patch.unit, found.shape[-1])
            found[..., chosen] = self._patched(patch, rows, found[..., chosen])
        return found

    def after(self, state: np.ndarray) -> np.ndarray:
        """The residual stream with its patches in it."""
        for patch, rows in self._of("dimension"):
            state = np.array(state)
            chosen = _numbers(self._network, "dimension", patch.dimension, state.shape[-1])
            state[..., chosen] = self._patched(patch, rows, state[..., chosen])
        return state

    def _of(self, site: str) -> Iterable[tuple[Patch, np.ndarray]]:
        return ((patch, rows) for patch, rows in self._patches if patch.site == site)

    def _patched(self, patch: Patch, rows: np.ndarray, array: np.ndarray) -> np.ndarray:
        """The array (batch, position, numbers) with the patch in it."""
        where = rows[:, None] & self._inside & _at(patch.position, array.shape[1])
        if patch.mean:
            value = array[self._inside].mean(axis=0)
        else:
            try:
                value = np.broadcast_to(np.asarray(patch.value, dtype=array.dtype), array.shape[1:])
            except (TypeError, ValueError):
                name, count = self._network.layout.name, array.shape[-1]
                raise EditError(
                    f"{name}: {patch} does not fit; there it takes a number, {count} of them, or {count} for each of "
                    f"{array.shape[1]} positions"
                ) from None
        return np.where(where[..., None], value, array)


def head_of(network: Parameters, head: str | int) -> int:
    """The number of a head that is named or numbered."""
    heads = network.layout.heads
    if isinstance(head, str) and head in heads:
        return heads.index(head)
    if isinstance(head, (int, np.integer)) and 0 <= head < len(heads):
        return int(head)
    hint = did_you_mean(str(head), heads) if heads else "it has none"
    raise EditError(f"{network.layout.name}: there is no head {head!r}; {hint}")


def _numbers(network: Parameters, what: str, places: Places, count: int) -> np.ndarray:
    found = np.atleast_1d(np.asarray(places if isinstance(places, (int, np.integer)) else list(places or ())))
    if not np.issubdtype(found.dtype, np.integer) or found.min(initial=0) < 0 or found.max(initial=0) >= count:
        raise EditError(f"{network.layout.name}: the {what} {places!r} is not there; there are 0 to {count - 1}")
    return found


def _at(places: Places, count: int) -> np.ndarray:
    if places is None:
        return np.ones(count, dtype=bool)
    return np.isin(np.arange(count), np.atleast_1d(np.asarray(places if isinstance(places, int) else list(places))))


def check_patches(network: Parameters, runnable: Runnable, patches: Sequence[Patch], longest: int) -> None:
    """Refuse patches of what the network does not have, before anything runs."""
    for patch in patches:
        if patch.site in ("head", "pattern"):
            head_of(network, getattr(patch, patch.site))
        else:
            count = network.layout.width if patch.site == "dimension" else len(network.mlp_out)
            _numbers(network, patch.site, getattr(patch, patch.site), count)
        check_place(network.layout.name, patch, longest)


def check_place(name: str, patch: Patch, longest: int) -> None:
    """Refuse a patch of a position behind the longest input, and one of a head or a unit at the start."""
    last = int(np.max(np.atleast_1d(np.asarray(patch.position or 0, dtype=np.int64)), initial=0))
    if patch.position is not None and last >= longest:
        raise EditError(f"{name}: {patch} is for position {last}, and the input has {longest}")
    if patch.layer == 0 and patch.site != "dimension":
        raise EditError(f"{name}: {patch} is for the start; layers are counted from 1")
