"""Attention heads: which positions are read, by equality of key and query or by distance, and what is read."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kleene.programs.alta.variables import Variable, either


@dataclass(frozen=True)
class Head:
    """A head reads `value` from the one position whose key equals the query (or is in the query's set).

    `offsets` are the allowed distances, key position minus query position; empty allows all. Without query
    and key the offsets alone decide. A numeric value is averaged over all selected positions instead.
    """

    query: str | None
    key: str | None
    value: str
    offsets: frozenset[int] = field(default_factory=frozenset)
    output_spec: Variable | None = None

    def looking_back(self, width: int) -> "Head":
        """The same head in a decoder over `width` positions: nothing to the right is seen."""
        seen = {o for o in self.offsets if o <= 0} if self.offsets else set(range(1 - width, 1))
        return replace(self, offsets=frozenset(seen or {width}))  # a distance that is never reached, not "anywhere"


def qkv(
    query: str,
    key: str,
    value: str,
    relative_position_mask: Iterable[int] = frozenset(),
    output_spec: Variable | None = None,
) -> Head:
    """A head that selects by key and query.

    >>> qkv("one", "pointer", "token").offsets
    frozenset()
    """
    return Head(query, key, value, frozenset(int(i) for i in relative_position_mask), output_spec)


def v_relative(
    value: str, offset: int | None = None, output_spec: Variable | None = None, *, position: int | None = None
) -> Head:
    """A head that reads the position `offset` to the right (to the left where negative); ALTA says `position`."""
    distance = either("v_relative", "offset", offset, "position", position)
    return Head(None, None, value, frozenset({int(distance)}), output_spec)


relative_v = v_relative  # the paper's own name for it
