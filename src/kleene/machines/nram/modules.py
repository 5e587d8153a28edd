"""The modules of an NRAM on distributions over the integers modulo M.

Arrays are padded to a fixed number of cells; the size M, at most that many, is a traced scalar. A distribution is 0
from M on, and so is every result, so one compilation serves memories of all sizes. No table of M³ entries is made, and
nothing is indexed by M: shifts are static, and masks find what wraps around. Products and sums are written out
instead of matrix products: for batches of arrays this small they are fused and twice as fast.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

Distribution = Float[Array, " cells"]
Size = Int[Array, ""]


def one_hot(value: Int[Array, ""] | int, cells: int) -> Distribution:
    """The distribution with all weight on one value."""
    return (jnp.arange(cells) == value).astype(jnp.float32)


def constant(value: int, cells: int, size: Size) -> Distribution:
    return one_hot(value % size, cells)


def increased(a: Distribution, size: Size) -> Distribution:
    """(a + 1) mod M."""
    at = jnp.arange(len(a))
    wrapped = jnp.sum(jnp.where(at == size - 1, a, 0.0))
    shifted = jnp.concatenate([jnp.zeros_like(a[:1]), a[:-1]])
    return jnp.where(at < size, shifted, 0.0) + jnp.where(at == 0, wrapped, 0.0)


def decreased(a: Distribution, size: Size) -> Distribution:
    """(a - 1) mod M."""
    shifted = jnp.concatenate([a[1:], jnp.zeros_like(a[:1])])
    return shifted + jnp.where(jnp.arange(len(a)) == size - 1, a[0], 0.0)


def sums(a: Distribution, b: Distribution) -> Float[Array, " sums"]:
    """P(a + b = k) for every k from 0 on, nothing wrapped: the plain convolution, of length 2 · cells - 1."""
    cells = len(a)
    # Padded rows, reshaped to rows one shorter: each is shifted right by one more, so that columns are sums.
    rows = jnp.pad(a[:, None] * b, ((0, 0), (0, cells))).reshape(-1)
    return jnp.sum(rows[: cells * (2 * cells - 1)].reshape(cells, 2 * cells - 1), axis=0)


def wrapped(weights: Float[Array, " sums"], zero: int, cells: int, size: Size) -> Distribution:
    """The weights added up modulo M, where index `zero` stands for 0."""
    value, at = jnp.arange(len(weights)) - zero, jnp.arange(cells)[:, None]
    lands = ((value == at) | (value == at + size) | (value == at - size)) & (at < size)
    return jnp.sum(jnp.where(lands, weights, 0.0), axis=-1)


def added(a: Distribution, b: Distribution, size: Size) -> Distribution:
    """(a + b) mod M."""
    return wrapped(sums(a, b), 0, len(a), size)


def subtracted(a: Distribution, b: Distribution, size: Size) -> Distribution:
    """(a - b) mod M: b is flipped, so that a difference of 0 has the index cells - 1."""
    return wrapped(sums(a, jnp.flip(b)), len(a) - 1, len(a), size)


def up_to(a: Distribution) -> Distribution:
    """P(a ≤ k) for every k."""
    at = jnp.arange(len(a))
    return jnp.sum(jnp.where(at <= at[:, None], a, 0.0), axis=-1)


def answer(probability: Float[Array, ""], cells: int) -> Distribution:
    """1 with this probability, else 0."""
    at = jnp.arange(cells)
    return jnp.where(at == 1, probability, 0.0) + jnp.where(at == 0, 1.0 - probability, 0.0)


def is_less(a: Distribution, b: Distribution, size: Size) -> Distribution:
    """Whether a < b."""
    return answer(jnp.sum(b * (up_to(a) - a)), len(a))


def is_at_most(a: Distribution, b: Distribution, size: Size) -> Distribution:
    """Whether a ≤ b."""
    return answer(jnp.sum(b * up_to(a)), len(a))


def is_equal(a: Distribution, b: Distribution, size: Size) -> Distribution:
    """Whether a = b."""
    return answer(jnp.sum(a * b), len(a))


def smaller(a: Distribution, b: Distribution, size: Size) -> Distribution:
    """min(a, b): one of them is k, and the other is k or more."""
    more_than_a, at_least_b = 1.0 - up_to(a), 1.0 - up_to(b) + b
    return a * at_least_b + b * more_than_a


def larger(a: Distribution, b: Distribution, size: Size) -> Distribution:
    """max(a, b): one of them is k, and the other is k or less."""
    return a * up_to(b) + b * (up_to(a) - a)


CONSTANTS = {"ZERO": 0, "ONE": 1, "TWO": 2}
UNARY: dict[str, Callable[[Distribution, Size], Distribution]] = {"INC": increased, "DEC": decreased}
BINARY: dict[str, Callable[[Distribution, Distribution, Size], Distribution]] = {
    "ADD": added,
    "SUB": subtracted,
    "LT": is_less,
    "LEQ": is_at_most,
    "EQ": is_equal,
    "MIN": smaller,
    "MAX": larger,
}
