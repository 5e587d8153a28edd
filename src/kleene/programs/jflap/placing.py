"""Positions for the states of a drawing that has none."""

from collections.abc import Iterable, Sequence

from kleene.notation.graphs import Arrow, Node, StateGraph

STEP, ROW = 126.0, 100.0  # between two columns, and between two states in a column, in pixels
MANY = 40  # states from which on columns are left in their order
EDGE = 80.0  # pixels to the left of the first column, and above the first row


Position = tuple[float, float]


def placed(known: Sequence[Position | None], ends: Iterable[tuple[int, int]], start: int) -> list[Position]:
    """A place for each state: where it stood, a new one in a row below those, or a layout where none is known.

    >>> placed([(10.0, 20.0), None], [(0, 1)], 0)
    [(10.0, 20.0), (80.0, 120.0)]
    """
    given = [place for place in known if place is not None]
    if not given:
        return laid_out(len(known), ends, start)
    below = max(y for _, y in given) + ROW
    new = ((EDGE + STEP * number, below) for number in range(len(known)))
    return [next(new) if place is None else place for place in known]


def laid_out(count: int, ends: Iterable[tuple[int, int]], start: int) -> list[Position]:
    """A place for each of `count` states: columns by distance from the start, left to right, y downwards.

    >>> laid_out(3, [(0, 1), (1, 2)], 0)
    [(80.0, 80.0), (206.0, 80.0), (332.0, 80.0)]
    """
    arrows = tuple(Arrow(*pair, (), ()) for pair in dict.fromkeys(ends))
    graph = StateGraph("", tuple(Node(str(number)) for number in range(count)), arrows, start, count)
    from kleene.pictures.diagrams.layout import columns, untangled  # only a drawing without places needs it

    (places,) = columns(graph)
    places = untangled(graph, places) if count <= MANY else places
    places = places - places.min(axis=0) + EDGE
    return [(round(float(x), 1), round(float(y), 1)) for x, y in places]
