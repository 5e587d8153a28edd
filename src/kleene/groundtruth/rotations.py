"""Random changes of basis that leave what a Transformer computes as it is.

The residual stream is turned as a whole: what writes to it is multiplied by a rotation, and what reads it by the
inverse. Inside a head, queries and keys are mixed by a matrix and the transpose of its inverse, values and outputs by
a matrix and its inverse. ReLU units are resized.
"""

import numpy as np
from jaxtyping import Float

Weights = dict[str, np.ndarray]  # of a plain Transformer by name, in double precision
WRITERS = ("tokens", "positions", "out", "mlp_out", "mlp_constant")  # their last axis is the stream


def random_rotation(width: int, chance: np.random.Generator) -> Float[np.ndarray, "width width"]:
    """A uniformly random orthogonal matrix (Stewart 1980): Q of a Gaussian matrix, with the signs of R's diagonal.

    >>> turn = random_rotation(3, np.random.default_rng(0))
    >>> bool(np.allclose(turn @ turn.T, np.eye(3)))
    True
    """
    q, r = np.linalg.qr(chance.standard_normal((width, width)))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0)


def random_mixing(width: int, chance: np.random.Generator) -> Float[np.ndarray, "width width"]:
    """A random invertible matrix whose condition number is at most 4: rotated, stretched, rotated again."""
    stretched = random_rotation(width, chance) * 2.0 ** chance.uniform(-1, 1, width)
    return stretched @ random_rotation(width, chance)


def in_basis(
    weights: Weights, writing: Float[np.ndarray, "width other"], reading: Float[np.ndarray, "places width other"]
) -> Weights:
    """The weights with another stream: the old dimensions are written along the rows of `writing`, and read along
    those of `reading`, of which there is one for all places, or one for the heads and one for the MLP of each layer and
    at last one for the output. For a rotation all are the same."""
    found = dict(weights)
    for name in WRITERS:
        found[name] = weights[name] @ writing
    found["readout"] = weights["readout"] @ reading[-1]
    heads, mlps = (reading, reading) if len(reading) == 1 else (reading[:-1:2], reading[1::2])
    for name in ("query", "key", "value"):
        whole = np.broadcast_to(heads, (len(weights[name]), *heads.shape[1:]))
        found[name] = np.einsum("lwv,lhwk->lhvk", whole, weights[name])
    whole = np.broadcast_to(mlps, (len(weights["mlp_in"]), *mlps.shape[1:]))
    found["mlp_in"] = np.einsum("lwv,lwu->lvu", whole, weights["mlp_in"])
    return found


def with_mixed_heads(weights: Weights, chance: np.random.Generator) -> Weights:
    """The weights with another basis for the queries and keys, and for the values, of each head."""
    found = {name: np.copy(weights[name]) for name in ("query", "key", "value", "out")}
    layers, heads, _, size = weights["query"].shape
    for at in np.ndindex(layers, heads):
        inner, outer = random_mixing(size, chance), random_mixing(size, chance)
        found["query"][at] = weights["query"][at] @ inner
        found["key"][at] = weights["key"][at] @ np.linalg.inv(inner).T
        found["value"][at] = weights["value"][at] @ outer
        found["out"][at] = np.linalg.inv(outer) @ weights["out"][at]
    return weights | found


def with_resized_units(weights: Weights, scales: Float[np.ndarray, "layers units"]) -> Weights:
    """The weights with ReLU units that are so many times as large, and are read that much less."""
    return weights | {
        "mlp_in": weights["mlp_in"] * scales[:, None, :],
        "mlp_bias": weights["mlp_bias"] * scales,
        "mlp_out": weights["mlp_out"] / scales[:, :, None],
    }


def with_noise(weights: Weights, noise: float, chance: np.random.Generator) -> Weights:
    """The weights with Gaussian noise, whose standard deviation is `noise` times each weight."""
    return {name: array * (1 + noise * chance.standard_normal(array.shape)) for name, array in weights.items()}
