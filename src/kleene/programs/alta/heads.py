"""Attention heads: which positions they read, by equality of key and query or by distance, and which variable."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kleene.errors import ProgramError
from kleene.programs.alta.variables import Categorical, Numeric, SetValued, Variable, either


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


relative_v = v_relative  # the name in the ALTA paper


def resolve_heads(program: str, variables: Mapping[str, Variable], heads: Mapping[str, Head]) -> dict[str, Variable]:
    """The output variable of every head; refuses heads whose query, key or value is missing or does not fit."""
    outputs: dict[str, Variable] = {}
    for name, head in heads.items():
        where = f"program {program!r}, head {name!r}"
        if name in variables:
            raise ProgramError(f"{where}: a variable has this name already; rename one of the two.")
        for role, of in (("query", head.query), ("key", head.key), ("value", head.value)):
            if of in heads:
                raise ProgramError(
                    f"{where}: the {role} is {of!r}, the output of a head, which is always undefined when attention "
                    f"runs. Copy it into a variable in the MLP and use that in the next layer."
                )
            if of is not None and of not in variables:
                raise ProgramError(f"{where}: the {role} {of!r} is not a variable; there are {', '.join(variables)}.")
        if (head.query is None) != (head.key is None):
            raise ProgramError(f"{where}: give both a query and a key, or neither.")
        if head.query is not None and isinstance(variables[head.query], Numeric):
            raise ProgramError(f"{where}: the query {head.query!r} is numeric; it must be categorical or a set.")
        if head.key is not None and not isinstance(variables[head.key], Categorical):
            raise ProgramError(f"{where}: the key {head.key!r} must be categorical.")
        outputs[name] = _output_of(where, head, variables[head.value])
    return outputs


def _output_of(where: str, head: Head, value: Variable) -> Variable:
    output = head.output_spec or value
    if isinstance(value, SetValued):
        raise ProgramError(f"{where}: the value {head.value!r} is a set; a head reads a category or a number.")
    if isinstance(value, Numeric) != isinstance(output, Numeric) or isinstance(output, SetValued):
        raise ProgramError(f"{where}: the value and the output must both be categorical or both numeric.")
    if isinstance(value, Categorical) and isinstance(output, Categorical) and output.range < value.range:
        raise ProgramError(f"{where}: the output has range {output.range}, but the value reaches {value.range - 1}.")
    return output
