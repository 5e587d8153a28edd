"""Random rotations, and matrices with a well-conditioned inverse."""

import numpy as np
from jaxtyping import Float


def random_rotation(width: int, chance: np.random.Generator) -> Float[np.ndarray, "width width"]:
    """A uniformly random orthogonal matrix (Stewart 1980): Q of a Gaussian matrix, with the signs of R's diagonal.

    >>> turn = random_rotation(3, np.random.default_rng(0))
    >>> bool(np.allclose(turn @ turn.T, np.eye(3)))
    True
    """
    q, r = np.linalg.qr(chance.standard_normal((width, width)))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0)
