"""Words for parity as ALTA has them (Appendix D.1): about equally many for each number of ones.

A word's number of ones is uniform from 0 to the longest length, its length uniform from there to the longest, and the
ones stand anywhere. The empty word, which is there in ALTA, is left out.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from kleene.programs.alta import Program
from kleene.programs.alta.inputs import Sample
from kleene.programs.alta.library import parity
from kleene.teaching.lesson import Examples, Record, Setting
from kleene.teaching.program_words import Pool
from kleene.teaching.transformers import ProgramTask

PROGRAMS = ("parity_absolute", "parity_relative", "parity_sum_modulo", "parity_sum_modulo_steps")


def balanced(program: Program, longest: int) -> Sample:
    """How a word of a length is drawn, with START where the program takes it.

    >>> from kleene.programs.alta.library import parity
    >>> balanced(parity.relative(), 4)(random.Random(0), 3)
    [2, 1, 1, 1]
    """
    start = [parity.START] if program.input_range > parity.START else []

    def sample(rng: random.Random, size: int) -> Sequence[int]:
        (ones,) = rng.choices(range(size + 1), [1 / (longest - ones + 1) for ones in range(size + 1)])
        bits = [1] * ones + [0] * (size - ones)
        rng.shuffle(bits)
        return start + bits

    return sample


def ones_evenly(sample: Sample) -> Sample:
    """How words of parity are drawn so that those of a length have every number of ones about equally often.

    >>> even = ones_evenly(lambda rng, size: [2, *(rng.randrange(2) for _ in range(size))])
    >>> sorted({even(random.Random(seed), 3).count(1) for seed in range(30)})
    [0, 1, 2, 3]
    """

    def drawn(rng: random.Random, size: int) -> Sequence[int]:
        word = list(sample(rng, size))
        start = [parity.START] if word[0] == parity.START else []
        count = len(word) - len(start)
        ones = set(rng.sample(range(count), rng.randint(0, count)))
        return [*start, *(int(place in ones) for place in range(count))]

    return drawn


def length_chances(longest: int) -> Float[np.ndarray, " lengths"]:
    """How likely each length from 0 to the longest is.

    >>> length_chances(2).round(3).tolist()
    [0.111, 0.278, 0.611]
    """
    return np.cumsum(1 / (longest + 1 - np.arange(longest + 1))) / (longest + 1)


class BalancedParity(ProgramTask):
    """Parity of such words; the tests also measure by number of ones.

    `accuracy_within` and `accuracy_beyond` are those of words up to and beyond the longest in training, and
    `accuracy_many_ones` that of words with more ones than any of these.
    """

    def __init__(
        self, name: str, training: Pool, tests: Pool, layers: Callable[[Any], Any] | None, *, last: bool = False
    ):
        super().__init__(name, training, tests, layers, last=last)
        self._chances = length_chances(max(training.sizes))
        self._tested = length_chances(max(tests.sizes))[list(tests.sizes)]

    def training_lengths(self, key: PRNGKeyArray, progress: Any, count: int) -> Int[Array, " batch"]:
        chances = np.where(np.arange(self.longest + 1) >= self.shortest, self._chances, 0)
        return jax.random.categorical(key, jnp.log(jnp.asarray(chances, jnp.float32)), shape=(count,))

    def test(
        self, record: Callable[[Examples], Record], model: Any, key: PRNGKeyArray, setting: Setting, count: int
    ) -> dict[str, Array]:
        """Accuracy by length and by number of ones, and the mean output at the last position by number of ones.

        Of each length `count` words are tested, with the weight that the length has among all words.
        """
        longest = max(self.lengths)

        def tested(now: tuple[PRNGKeyArray, Array]) -> tuple[Array, Array, Array, dict[str, Array]]:
            examples = self.examples(now[0], jnp.full((count,), now[1]), longest)
            recorded = record(examples)
            words = examples.inputs
            said = jnp.argmax(recorded.output, axis=-1)[jnp.arange(count), words.lengths - 1]
            inside = jnp.arange(words.tokens.shape[1]) < words.lengths[:, None]
            ones = jnp.sum((words.tokens == 1) & inside, axis=1)
            return self.score(recorded, examples).right, said, ones, self.measure(recorded, examples)

        lengths = jnp.array(self.lengths)
        right, said, ones, further = jax.lax.map(tested, (jax.random.split(key, len(self.lengths)), lengths))
        weight = jnp.broadcast_to(jnp.asarray(self._tested, jnp.float32)[:, None], ones.shape)

        def share(of: Array, among: Array) -> Array:
            return jnp.sum(jnp.where(among, of * weight, 0)) / jnp.sum(jnp.where(among, weight, 0))

        def by_ones(of: Array) -> Array:
            return jax.vmap(lambda number: share(of, ones == number))(jnp.arange(longest + 1))

        beyond = jnp.broadcast_to((lengths > self.longest)[:, None], ones.shape)
        found = {
            "accuracy_by_length": jnp.mean(right, axis=1),
            "accuracy_by_ones": by_ones(right),
            "prediction_by_ones": by_ones(said),
            "accuracy_within": share(right, ~beyond),
            "accuracy_beyond": share(right, beyond),
            "accuracy_many_ones": share(right, ones > self.longest),
        }
        return found | {name: jnp.mean(values) for name, values in further.items()}
