"""Random traces with channels of every kind, undefined entries among them."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kleene.traces import Channel, Trace

finite = st.floats(allow_nan=False, allow_infinity=False)
undefined_too = finite | st.just(float("nan"))


@st.composite
def channels(draw, name: str) -> Channel:
    kind = draw(st.sampled_from(["category", "number", "set", "distribution", "vector"]))
    size = None if kind == "number" else draw(st.integers(1, 4))
    values = draw(st.none() | st.lists(finite, min_size=1, max_size=4, unique=True).map(sorted).map(tuple))
    labels = None if size is None else draw(st.none() | st.just(tuple("abcd"[:size])))
    return Channel(name, kind, size, values if kind == "number" else None, labels, draw(st.booleans()))


@st.composite
def traces(draw) -> Trace:
    names = draw(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4, unique=True))
    found = tuple(draw(channels(name)) for name in names)
    axes = draw(st.sampled_from([("step",), ("step", "position")]))
    shape = tuple(draw(st.integers(1, 4)) for _ in axes)
    data = {c.name: draw(hnp.arrays(c.dtype, shape + c.entry_shape, elements=_elements(c))) for c in found}
    return Trace(
        found, data, draw(st.sampled_from([None, *names])), draw(st.booleans()), axes, draw(st.text(max_size=5))
    )


def _elements(channel: Channel) -> st.SearchStrategy:
    if channel.kind == "category":
        return st.integers(-1, channel.size - 1)
    return st.booleans() if channel.kind == "set" else undefined_too


def small_trace(codes, *, halted: bool = True, source: str = "") -> Trace:
    """A trace with one category and one number at every position, the number being a tenth of the code."""
    codes = np.array(codes, dtype=np.int32)
    found = (Channel("code", "category", 10), Channel("tenth", "number", per_step=True))
    return Trace(found, {"code": codes, "tenth": codes / 10}, "code", halted, source=source)
