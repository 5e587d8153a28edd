"""The grid on which a network holds the numbers that its MLP writes, so that adding and subtracting is exact."""

import math

import numpy as np


def grid_step(values: np.ndarray, dtype: np.dtype) -> float:
    """The distance between neighbours of the grid: a power of two, small against the largest value."""
    bits = {8: 40, 4: 18, 2: 5}[np.dtype(dtype).itemsize]
    largest = float(np.abs(values).max())
    return 2.0 ** (math.ceil(math.log2(largest)) - bits) if largest > 0 else 1.0


def on_grid(values: np.ndarray, step: float) -> np.ndarray:
    """The nearest points of the grid."""
    return np.round(values / step) * step
