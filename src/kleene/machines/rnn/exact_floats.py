"""Up to which length a floating network computes every number exactly, so that no run of it is rounded.

A float holds every multiple of 2^e up to 2^(bits + e). If all terms of a sum are such multiples, and neither the
positive nor the negative ones add up to more, no order of adding them rounds. Three proofs use this, in this order: at
most one unit is live at a time, as in a compiled automaton; all hidden vectors are listed, as far as they are few; and
from there on each unit has a largest value and a finest multiple.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import OutgrownError

NONE = 10**6  # the exponent of 0
MOST = 1 << 20  # products in the search for all hidden vectors
LEAST = 1 << 12  # products that the smallest step of the search counts as
STEPS = 1 << 12  # steps from one set of largest values to the next


def check_length(network: Any, length: int) -> None:
    """Refuse a word for which an `unrounded` network would round."""
    longest = network.longest_exact() if network.unrounded else None
    if longest is None or length <= longest:
        return
    kind = np.asarray(network.recurrent).dtype
    known = f"exact for words of up to {longest} symbols" if longest >= 0 else "exact for no word"
    wider = "" if kind == np.float64 else 'take to_float("float64"), which is exact for longer words, '
    raise OutgrownError(
        f"a word of {length} symbols is too long for this network: its numbers are {kind}, and {known}; run the "
        f"network of exact weights that it was made from, {wider}or accept rounding with to_float(..., round=True)"
    )


def longest_exact(network: Any, most: int = MOST) -> int | None:
    """The length up to which no word is rounded: None if no word ever is, -1 if even the empty one is.

    A proof and so a lower bound; it may be larger if `most` is.
    """
    if network.activation == "tanh":
        return -1
    step, readout, clips = _Sums.of_step(network), _Sums.of_readout(network), network.activation == "slu"
    new = _doubles(network.start)[None]
    if _one_live(step, readout, new[0], clips):
        return None
    seen: dict[bytes, np.ndarray] = {new.tobytes(): new[0]}
    length, products = 0, 0
    while len(new) and products < most:
        if not readout.fit(new, exponents(new)):
            return length - 1
        if not step.fit(new, exponents(new)):
            return length
        products += max(len(new) * step.products, LEAST)
        after = {vector.tobytes(): vector for vector in step.after(new, clips)}
        new = np.array([vector for key, vector in after.items() if key not in seen])
        seen |= after
        length += 1
    if not len(new):
        return None
    listed = np.array([vector for vector in seen.values() if (vector >= 0).all()])  # no word leads back to others
    return _beyond(step, readout, length, listed.max(axis=0), exponents(listed).min(axis=0), clips)


@dataclass(frozen=True)
class _Sums:
    """Sums of weighted units and of constants: weights[sum, unit] and constants[choice, sum, term].

    Everything is computed in float64, which is exact for numbers that fit. `bits`, `smallest` and `largest` are those
    of the network's own floats; the last two are exponents.
    """

    weights: np.ndarray
    constants: np.ndarray
    bits: int
    smallest: int
    largest: int

    @staticmethod
    def of_step(network: Any) -> "_Sums":
        """V h + W x + b; each symbol is a choice."""
        inputs, bias = _doubles(network.inputs).T, _doubles(network.bias)
        return _Sums.of(network, network.recurrent, np.stack([inputs, np.broadcast_to(bias, inputs.shape)], axis=-1))

    @staticmethod
    def of_readout(network: Any) -> "_Sums":
        return _Sums.of(network, network.readout, _doubles(network.readout_bias)[None, :, None])

    @staticmethod
    def of(network: Any, weights: Any, constants: np.ndarray) -> "_Sums":
        limits = np.finfo(np.asarray(network.recurrent).dtype)
        return _Sums(_doubles(weights), constants, limits.nmant + 1, int(limits.minexp), int(limits.maxexp) - 1)

    @property
    def products(self) -> int:
        return self.weights.size * len(self.constants)

    def sizes(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the positive and the negative terms add up to, [choice, vector, sum]."""
        (more, less), (up, down) = _signs(self.weights), _signs(vectors)
        constants = [part.sum(axis=-1)[:, None] for part in _signs(self.constants)]
        return up @ more.T + down @ less.T + constants[0], up @ less.T + down @ more.T + constants[1]

    def finest(self, units: np.ndarray) -> np.ndarray:
        """The largest e for which all terms are multiples of 2^e, [choice, vector, sum], from that of each unit."""
        weighted = np.stack([(units + row).min(axis=-1, initial=NONE) for row in exponents(self.weights)], axis=-1)
        found = np.minimum(weighted, exponents(self.constants).min(axis=-1, initial=NONE)[:, None])
        return np.where(found > NONE // 2, NONE, found)

    def limits(self, units: np.ndarray) -> np.ndarray:
        """How large each sum may be; 0 where the floats have no such small multiples."""
        finest = self.finest(units)
        held = np.exp2(np.minimum(finest + self.bits, self.largest).astype(float))
        held = held if self.bits < 53 else np.nextafter(held, 0)  # a larger sum may round to the limit here
        return np.where(finest < self.smallest, 0.0, held)

    def fit(self, vectors: np.ndarray, units: np.ndarray) -> bool:
        """Whether no sum is rounded; `units` has the exponents of the vectors."""
        limits = self.limits(units)
        return all(bool((size <= limits).all()) for size in self.sizes(vectors))

    def repeats(self, vectors: np.ndarray, units: np.ndarray, growth: np.ndarray) -> float:
        """How often vectors that fit can grow by `growth`, which is not negative, and still fit."""
        limits, found = self.limits(units), np.inf
        for size, weights in zip(self.sizes(vectors), _signs(self.weights)):
            rate = np.broadcast_to(growth @ weights.T, size.shape)
            found = min(found, ((limits - size)[rate > 0] / rate[rate > 0]).min(initial=np.inf))
        return float(found)

    def after(self, vectors: np.ndarray, clips: bool) -> np.ndarray:
        """The next hidden vectors, in rows."""
        positive, negative = self.sizes(vectors)
        return _activated(positive - negative, clips).reshape(-1, len(self.weights))


def _one_live(step: _Sums, readout: _Sums, start: np.ndarray, clips: bool) -> bool:
    """Whether a unit that is 1 beside zeros, or none, always leads to such a vector, and all their sums fit."""
    for sums in (step, readout):
        units = np.zeros((1, sums.weights.shape[1]), dtype=np.int64)
        largest = np.abs(sums.weights).max(axis=1, initial=0) + np.abs(sums.constants).sum(axis=-1)
        if not (largest[:, None] <= sums.limits(units)).all():
            return False
    vectors = np.pad(step.weights, ((0, 0), (0, 1))).T  # the last is that of no live unit
    later = (_activated(vectors + constant, clips) for constant in step.constants.sum(axis=-1))
    return all(_at_most_one(vectors) for vectors in (start[None], *later))


def _at_most_one(vectors: np.ndarray) -> bool:
    return bool(np.isin(vectors, (0, 1)).all() and (vectors.sum(axis=1) <= 1).all())


def _beyond(step: _Sums, readout: _Sums, length: int, most: np.ndarray, units: np.ndarray, clips: bool) -> int | None:
    """The length for words whose first `length` symbols lead to vectors from 0 to `most`, multiples of 2^units.

    Without the negative terms largest values grow by `growth`, and that by the positive weights: once a growth comes
    again, all that follows does. Clipped units are soon 1 or always 0.
    """
    most, units = most[None], units[None]
    growth, before = None, {}
    for _ in range(STEPS):
        if not readout.fit(most, units):
            return length - 1
        if not step.fit(most, units):
            return length
        positive, finest = step.sizes(most)[0].max(axis=0), np.minimum(units, step.finest(units).min(axis=0))
        if clips:
            growth, finest = np.maximum((positive > 0) - most, 0), np.minimum(finest, 0)
        elif growth is None:
            growth = np.maximum(positive - most, 0)
        if (finest < units).any():
            before = {}
        elif not growth.any():
            return None
        key = growth.tobytes()
        if key in before:
            earlier, then = before[key]
            again = min(sums.repeats(most, units, most - then) for sums in (step, readout))
            return length + int(again * (1 - 2.0**-40)) * (length - earlier)  # less, because quotients are rounded
        before[key] = length, most
        most, units, length = most + growth, finest, length + 1
        growth = growth if clips else growth @ _signs(step.weights)[0].T
    return length - 1


def exponents(numbers: np.ndarray) -> np.ndarray:
    """For each number the largest e such that it is an integer times 2^e; NONE for 0.

    >>> exponents(np.array([1.0, 12.0, 0.375, 0.0])).tolist()
    [0, 2, -3, 1000000]
    """
    mantissas, powers = np.frexp(numbers)
    whole = (mantissas * 2.0**53).astype(np.int64)
    lowest = np.maximum(whole & -whole, 1)
    return np.where(numbers == 0, NONE, np.log2(lowest).astype(np.int64) + powers - 53)


def _activated(sums: np.ndarray, clips: bool) -> np.ndarray:
    return np.clip(sums, 0.0, 1.0 if clips else None) + 0.0  # so that -0 is 0


def _signs(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positive numbers and, without their sign, the negative ones; 0 elsewhere."""
    return np.maximum(numbers, 0), np.maximum(-numbers, 0)


def _doubles(numbers: Any) -> np.ndarray:
    return np.asarray(numbers, dtype=np.float64)
