"""Teaching an NRAM a memory task, with hints on the circuit that it wires (§4.3 and Appendices D, G and H).

Each update has 50 examples of one difficulty, drawn from those that the curriculum has reached; the difficulty rises by
one when a batch of 10 new examples of the hardest is without an error (Zaremba and Sutskever), up to the task's last.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from kleene.errors import InputError
from kleene.machines.ncm import Records, run
from kleene.machines.nram.nram import NRAM, stopping
from kleene.tasks.memory import Instance, MemoryTask, memory_task
from kleene.teaching.gradient_noise import gradient_noise
from kleene.teaching.hints import Hints, with_hints
from kleene.teaching.lessons import Setting
from kleene.teaching.nram_hints import KINDS, hints

FAINT = 1e-6  # added to a probability before its logarithm: a cell may have no weight at all on what it should be


class Batch(eqx.Module):
    """Examples of one difficulty, and what is told of each run."""

    instances: Instance
    told: Hints


class Progress(eqx.Module):
    """How far the curriculum has come."""

    difficulty: Int[Array, "*runs"]


class NRAMLesson:
    """The lesson of one task; see `Lesson`.

    `strength` is λ where a setting has no other. `learning_rate`, `start` and `end` are the paper's unless given.

    >>> lesson = NRAMLesson("increment")
    >>> lesson.lengths, lesson.default_iterations, lesson.default_strength
    ((4, 6, 8, 10, 13, 16, 20), 100, 40.0)
    """

    kinds: tuple[str, ...] = KINDS
    default_iterations = 100
    default_strength = 40.0

    def __init__(
        self,
        task: MemoryTask | str,
        *,
        hidden: int = 256,
        batch: int = 50,
        learning_rate: float | None = None,
        noise: float = 0.3,
        start: int | None = None,
        end: int | None = None,
        lengths: Sequence[int] | None = None,
        tests: int = 50,
        unroll: int = 1,
    ):
        self.task = memory_task(task) if isinstance(task, str) else task
        self.name = self.task.name
        self.hidden, self.batch, self.tests, self.unroll = hidden, batch, tests, unroll
        self.start, self.end = start or self.task.start, end or self.task.end
        self.lengths = tuple(lengths or self.task.tests)
        self.learning_rate, self.noise = learning_rate or self.task.learning_rate, noise
        if not self.task.smallest <= self.start <= self.end or min(self.lengths) < self.task.smallest:
            raise InputError(
                f"{self.name} is taught at difficulties {self.start} to {self.end} and tested at "
                f"{', '.join(map(str, self.lengths))}; they are memory sizes, the smallest is {self.task.smallest}, "
                f"and start is at most end"
            )
        self.optimiser = optax.chain(gradient_noise(noise), optax.adam(self.learning_rate))

    def fresh(self, key: PRNGKeyArray) -> NRAM:
        """A machine of the task's registers and modules, with random weights."""
        wiring = self.task.circuit.wiring
        return NRAM.random(wiring.registers, wiring.modules, hidden=self.hidden, key=key)

    def beginning(self) -> Progress:
        return Progress(jnp.array(self.start, jnp.int32))

    def examples(self, key: PRNGKeyArray, progress: Progress, setting: Setting) -> Batch:
        """A batch of one difficulty, from the first up to the one reached."""
        choosing, drawing, telling = jax.random.split(key, 3)
        size = jax.random.randint(choosing, (), self.start, progress.difficulty + 1)
        instances = self.task.batch(drawing, size, self.end, self.batch, noisy=True)
        most = self.task.most_steps(self.end)

        chances = jax.random.uniform(telling, (6 * self.batch,)).reshape(self.batch, 6)

        def tell(chances: Array, memory: Array, steps: Array) -> Hints:
            circuit = self.task.circuit
            return hints(chances, circuit, setting.kind, setting.density, memory, size, steps, most)

        told = jax.vmap(tell)(chances, instances.memory, instances.steps)
        return Batch(instances, told)

    def loss(self, model: NRAM, batch: Batch, setting: Setting) -> tuple[Float[Array, ""], dict[str, Array]]:
        """The mean of equation 8; also `accuracy`, the share of examples whose every cell is right, and `task_loss`."""

        def one(instance: Instance, told: Hints) -> tuple[Array, Array, Array]:
            trace, ends = self._run(model, instance, self.task.most_steps(self.end))
            task_loss = memory_loss(trace, ends, instance)
            full = with_hints(task_loss, setting.strength, trace, {"command": told})
            return full, task_loss, is_right(trace, ends, instance)

        losses, task_losses, right = jax.vmap(one)(batch.instances, batch.told)
        return jnp.mean(losses), {"accuracy": jnp.mean(right), "task_loss": jnp.mean(task_losses)}

    def advance(self, model: NRAM, progress: Progress, key: PRNGKeyArray, setting: Setting) -> Progress:
        """One difficulty more after ten new examples without an error."""
        instances = self.task.batch(key, progress.difficulty, self.end, 10)
        clean = jnp.all(self._right(model, instances, self.task.most_steps(self.end)))
        return Progress(jnp.minimum(progress.difficulty + clean, self.end))

    def test(self, model: NRAM, key: PRNGKeyArray) -> dict[str, Array]:
        """`accuracy_by_length`: the share of examples whose every cell is right, for each difficulty."""
        cells = max(self.lengths)

        def accuracy(now: tuple[PRNGKeyArray, Array]) -> Array:
            instances = self.task.batch(now[0], now[1], cells, self.tests)
            return jnp.mean(self._right(model, instances, self.task.most_steps(cells)))

        keys = jax.random.split(key, len(self.lengths))
        return {"accuracy_by_length": jax.lax.map(accuracy, (keys, jnp.asarray(self.lengths)))}

    def generalises(self, tested: dict[str, np.ndarray]) -> np.ndarray:
        """Right everywhere up to 1.5 times the end of the curriculum, and on 90% up to twice: the NTM's criterion."""
        accuracy, lengths = np.asarray(tested["accuracy_by_length"]), np.asarray(self.lengths)
        near, far = lengths <= 1.5 * self.end, lengths <= 2 * self.end
        return (accuracy[..., near] == 1).all(axis=-1) & (accuracy[..., far].mean(axis=-1) >= 0.9)

    def facts(self) -> dict[str, Any]:
        names = ("name", "hidden", "batch", "learning_rate", "noise", "start", "end", "lengths", "tests")
        return {"machine": "nram"} | {name: getattr(self, name) for name in names} | {"lengths": list(self.lengths)}

    def _run(self, model: NRAM, instance: Instance, steps: int) -> tuple[Records, Float[Array, " step"]]:
        """The trace of a run, and the probability that it ends with each step."""
        start = model.start(instance.memory, instance.size)
        trace = run(model, start, jnp.arange(steps), unroll=self.unroll)
        return trace, stopping(trace["output"], jnp.arange(steps) < instance.steps)

    def _right(self, model: NRAM, instances: Instance, steps: int) -> Bool[Array, " batch"]:
        return jax.vmap(lambda one: is_right(*self._run(model, one, steps), one))(instances)


def memory_loss(trace: Records, ends: Float[Array, " step"], instance: Instance) -> Float[Array, ""]:
    """-Σ p_t Σ log P(cell i is what it should be after step t), over the cells that count (equation 5)."""
    cells: Array = trace["memory"].cells
    wanted = instance.expected[:, None] == jnp.arange(cells.shape[-1])
    weights = jnp.sum(jnp.where(wanted, cells, 0.0), axis=-1)
    logs = jnp.where(instance.counts, jnp.log(weights + FAINT), 0.0)
    return -jnp.sum(ends[:, None] * logs)


def is_right(trace: Records, ends: Float[Array, " step"], instance: Instance) -> Bool[Array, ""]:
    """Whether every cell that counts is most probably what it should be when the run ends."""
    final = jnp.einsum("t,tij->ij", ends, trace["memory"].cells)
    return jnp.all((jnp.argmax(final, axis=-1) == instance.expected) | ~instance.counts)
