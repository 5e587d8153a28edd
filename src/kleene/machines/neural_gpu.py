"""The improved Neural GPU (Freivalds & Liepins 2018, the DNGPU): a word is rewritten in place, all positions at once.

The state is an image of one vector for each position. A step is a convolutional gated recurrent unit of width 3:

    r = σ(R * s + b_r),   c = τ(C * (r ⊙ s) + b_c),   u = σ(U * s + b_u),   s' = u ⊙ s~ + (1 - u) ⊙ c

σ and τ are hard, that is, clipped lines. The gates are diagonal: in s~ a third of the state has come from the left
neighbour, a third from the right one, and the rest has stayed, so that a gate can carry values along the word. There
are as many steps as positions, and the answer is read off the last image by a linear map.

Past both ends of a word the state is 0 at every step, so a word among padding is computed as it is alone.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from kleene.errors import InputError
from kleene.machines.protocol import Shown, Size
from kleene.machines.weights import Format, arrays_of
from kleene.notation.console import Telling
from kleene.traces import Channel, Trace

LIMIT = 0.9  # an input of σ or τ is saturated by how much its size exceeds this
RESET, GATE = 0.5, 0.7  # the first biases of r and u, so that a fresh machine mostly keeps its state
AT_ONCE = 1 << 25  # numbers that the runs of one call may record

Image = Float[Array, "position hidden"]
Kernel = Float[Array, "width hidden hidden"]  # for the left neighbour, the position itself and the right neighbour


class Rewritten(NamedTuple):
    """The part of a run that is recorded: the image at the start and after each step, and how saturated the run was.

    The saturation is summed over units and averaged over positions and steps; the start counts as much as all steps.
    """

    images: Float[Array, "moment position hidden"]
    saturation: Float[Array, ""]


class NeuralGPU(Shown, eqx.Module):
    """A machine that reads a word of symbols and answers with one symbol at each position.

    >>> machine = NeuralGPU.random(4, hidden=6, key=jax.random.key(0))
    >>> trace = machine.run([0, 3, 1])
    >>> trace.steps, len(trace.output), trace["state"].shape
    (3, 3, (4, 3, 6))
    """

    embedding: Float[Array, "symbols hidden"]
    reset_weights: Kernel
    reset_bias: Float[Array, " hidden"]
    candidate_weights: Kernel
    candidate_bias: Float[Array, " hidden"]
    gate_weights: Kernel
    gate_bias: Float[Array, " hidden"]
    output_weights: Float[Array, "outputs hidden"]
    output_bias: Float[Array, " outputs"]

    @classmethod
    def random(cls, symbols: int, *, outputs: int | None = None, hidden: int, key: PRNGKeyArray) -> "NeuralGPU":
        """A machine to be trained: Glorot's uniform weights, and the biases of the authors' code."""
        outputs = symbols if outputs is None else outputs
        if min(symbols, outputs, hidden) < 1:
            raise InputError(
                f"a Neural GPU needs a symbol, an output and a hidden unit at least; it was given symbols={symbols}, "
                f"outputs={outputs}, hidden={hidden}"
            )
        keys, kernel = jax.random.split(key, 5), (3, hidden, hidden)
        reset, candidate, gate = (_glorot(key, kernel, 3 * hidden, 3 * hidden) for key in keys[:3])
        return cls(
            _glorot(keys[3], (symbols, hidden), symbols, hidden),
            reset, jnp.full(hidden, RESET), candidate, jnp.zeros(hidden), gate, jnp.full(hidden, GATE),
            _glorot(keys[4], (outputs, hidden), outputs, hidden), jnp.zeros(outputs),
        )  # fmt: skip

    @property
    def symbols(self) -> int:
        """The number of symbols that it reads."""
        return self.embedding.shape[-2]

    def start(
        self, symbols: Int[Array, " position"], inside: Bool[Array, "position 1"], kept: Image | None = None
    ) -> tuple[Image, Float[Array, ""]]:
        """The image of a word, and how saturated it is; `kept` are the factors of dropout."""
        embedded = self.embedding[symbols]
        return _dropped(hard_tanh(embedded), kept) * inside, _saturation(embedded, inside)

    def __call__(
        self, state: Image, inside: Bool[Array, "position 1"], kept: Image | None = None
    ) -> tuple[Image, Float[Array, ""]]:
        """The image after one step, and how saturated that step was; `kept` are the factors of dropout."""
        reset = convolved(self.reset_weights, state) + self.reset_bias
        gate = convolved(self.gate_weights, state) + self.gate_bias
        candidate = convolved(self.candidate_weights, hard_sigmoid(reset) * state) + self.candidate_bias
        opened = hard_sigmoid(gate)
        after = opened * diagonal(state) + (1 - opened) * _dropped(hard_tanh(candidate), kept)
        return after * inside, _saturation(jnp.concatenate([reset, gate, candidate], axis=1), inside)

    def rewrite(
        self,
        symbols: Int[Array, " position"],
        length: Int[Array, ""],
        steps: Int[Array, ""],
        *,
        most: int,
        kept: Float[Array, "moment position hidden"] | None = None,
    ) -> Rewritten:
        """A run of `steps` steps, at most `most`, on the first `length` symbols; the last image is kept until `most`.

        `kept` are the factors of dropout at the start and at each step.
        """
        inside = (jnp.arange(len(symbols)) < length)[:, None]
        first, rest = (None, None) if kept is None else (kept[0], kept[1:])

        def step(state: Image, now: tuple[Array, Image | None]) -> tuple[Image, tuple[Image, Array]]:
            number, factors = now
            after, saturation = self(state, inside, factors)
            after = jnp.where(number < steps, after, state)
            return after, (after, jnp.where(number < steps, saturation, 0.0))

        start, begun = self.start(symbols, inside, first)
        _, (images, saturated) = jax.lax.scan(step, start, (jnp.arange(most), rest))
        positions = jnp.maximum(length, 1)
        saturation = (jnp.sum(saturated) / jnp.maximum(steps, 1) + begun) / positions
        return Rewritten(jnp.concatenate([start[None], images]), saturation)

    def logits(self, images: Float[Array, "*moment position hidden"]) -> Float[Array, "*moment position outputs"]:
        """The logits of the answer at each position, as if the run ended with that image."""
        return jnp.einsum("oh,...h->...o", self.output_weights, images) + self.output_bias

    def run(self, symbols: Sequence[int], steps: int | None = None) -> Trace:
        """The run on a word, by default of as many steps as it has symbols.

        `output` is the answer at each position, were the run to end there, and `state` the image.
        """
        return self.run_batch([symbols], steps)[0]

    def run_batch(
        self, inputs: Sequence[Sequence[int]], steps: int | None = None, *, at_once: int = AT_ONCE
    ) -> list[Trace]:
        """The runs on many words of unequal length. One jitted program runs as many as record `at_once` numbers."""
        for symbols in inputs:
            self._check_symbols(symbols)
        if steps is not None and steps < 0:
            raise InputError(f"steps is {steps}; give 0 or more")
        if not len(inputs):
            return []
        positions = max(1, *map(len, inputs))
        most = positions if steps is None else steps
        rows = min(len(inputs), max(1, at_once // ((most + 1) * positions * self.embedding.shape[1])))
        found = []
        for first in range(0, len(inputs), rows):
            found += _traces(self, inputs[first : first + rows], steps, (rows, positions, most))
        return found

    def _check_symbols(self, symbols: Sequence[int]) -> None:
        for position, symbol in enumerate(symbols):
            if symbol not in range(self.symbols):
                raise InputError(
                    f"position {position} has symbol {symbol!r}, and the machine reads 0 to {self.symbols - 1}"
                )

    @property
    def size(self) -> Size:
        """The size; `hidden_units` are those of one position."""
        nonzero = sum(int(np.count_nonzero(array)) for array in arrays_of(self).values())
        return Size(self.embedding.shape[1], self.parameter_count(), nonzero)

    def facts(self) -> dict[str, str]:
        outputs, hidden = self.output_weights.shape[-2:]
        return {"reads": f"{self.symbols} symbols", "answers": f"one of {outputs} at each position",
                "has": f"a vector of {hidden} at each position"}  # fmt: skip

    def save(self, path: Any) -> Path:
        """Save the machine and return the path."""
        return FORMAT.save(self, path)

    @classmethod
    def load(cls, path: Any) -> "NeuralGPU":
        """The machine in a file that `save` wrote. Opening a file never runs code."""
        return FORMAT.load(cls, path)


FORMAT = Format("neural gpu", "Neural GPU", relations={"width": "3"}, sizes=("symbols", "outputs", "hidden"))


def hard_sigmoid(x: Array) -> Array:
    """x / 2 + 1 / 2, clipped to [0, 1].

    >>> hard_sigmoid(jnp.array([-3.0, 0.0, 0.5])).tolist()
    [0.0, 0.5, 0.75]
    """
    return jnp.clip(0.5 * x + 0.5, 0.0, 1.0)


def hard_tanh(x: Array) -> Array:
    """x, clipped to [-1, 1]."""
    return jnp.clip(x, -1.0, 1.0)


def shifted(state: Image, by: int) -> Image:
    """The image one position to the right (`by` = 1) or to the left (-1); zeros come in at the end."""
    empty = jnp.zeros_like(state[:1])
    return jnp.concatenate([empty, state[:-1]] if by == 1 else [state[1:], empty])


def diagonal(state: Image) -> Image:
    """s~: the last third of the units comes from the right neighbour, the one before it from the left neighbour."""
    third = state.shape[1] // 3
    stays = state.shape[1] - 2 * third
    from_left, from_right = shifted(state[:, stays : stays + third], 1), shifted(state[:, stays + third :], -1)
    return jnp.concatenate([state[:, :stays], from_left, from_right], axis=1)


def convolved(kernel: Kernel, state: Image) -> Image:
    """The convolution of width 3 along the positions."""
    near = jnp.stack([shifted(state, 1), state, shifted(state, -1)], axis=1)
    return jnp.einsum("koh,pkh->po", kernel, near)


def _dropped(image: Image, kept: Image | None) -> Image:
    return image if kept is None else image * kept


def _saturation(inputs: Float[Array, "position units"], inside: Bool[Array, "position 1"]) -> Float[Array, ""]:
    return jnp.sum(jax.nn.relu(jnp.abs(inputs) - LIMIT) * inside)


def _glorot(key: PRNGKeyArray, shape: tuple[int, ...], inputs: int, outputs: int) -> Array:
    bound = (6 / (inputs + outputs)) ** 0.5
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


def _traces(
    machine: NeuralGPU, inputs: Sequence[Sequence[int]], steps: int | None, shape: tuple[int, int, int]
) -> list[Trace]:
    """The traces of runs that are padded to this number of runs, positions and steps."""
    rows, positions, most = shape
    symbols, lengths = np.zeros((rows, positions), dtype=np.int32), np.zeros(rows, dtype=np.int32)
    for row, word in enumerate(inputs):
        symbols[row, : len(word)], lengths[row] = word, len(word)
    counts = lengths if steps is None else np.full(rows, steps, dtype=np.int32)
    images, answers = map(np.asarray, _padded_runs(machine, symbols, lengths, counts, most))
    channels = (
        Channel("output", "category", len(machine.output_bias)),
        Channel("state", "vector", images.shape[-1]),
    )
    found = []
    for row, word in enumerate(inputs):
        shown = slice(0, counts[row] + 1), slice(0, len(word))
        data = {"output": answers[row][shown].astype(np.int32), "state": images[row][shown].astype(np.float64)}
        found.append(Trace(channels, data, "output", source="network"))
    return found


@eqx.filter_jit
def _padded_runs(
    machine: NeuralGPU, symbols: np.ndarray, lengths: np.ndarray, steps: np.ndarray, most: int
) -> tuple[Float[Array, "batch moment position hidden"], Int[Array, "batch moment position"]]:
    """The images at the start and after each step, and the answers that are read off them."""

    def one(symbols: Int[Array, " position"], length: Int[Array, ""], steps: Int[Array, ""]) -> tuple[Array, Array]:
        images = machine.rewrite(symbols, length, steps, most=most).images
        return images, jnp.argmax(machine.logits(images), axis=-1)

    return jax.vmap(one)(*map(jnp.asarray, (symbols, lengths, steps)))


def tell_answer(outcome: Any) -> Telling:
    """The answer, and the number of steps."""
    trace = outcome.trace
    facts = {"output": trace.output, "steps": trace.steps}
    return Telling(facts, " ".join(map(str, trace.output)), f"took {trace.steps} steps", hidden=("state",))
