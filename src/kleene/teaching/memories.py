"""Teaching an NRAM memory tasks, with hints on the circuit that it wires (partial traces, §4.3, Appendices D, G, H).

Each update has 50 examples of one difficulty, drawn from those that the curriculum has reached. The difficulty rises by
one when 10 new examples of the hardest are all right (Zaremba and Sutskever), up to the task's last.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

from kleene.errors import InputError
from kleene.machines.ncm import run
from kleene.machines.nram import NRAM, stopping
from kleene.notation.wiring import Wiring
from kleene.programs.circuits import Circuit
from kleene.tasks.memory import CircuitTask, Instance, MemoryTask, circuit_run, memory_task
from kleene.teaching.hints import Draws, Hints, Policy, ProgramTrace, Weights
from kleene.teaching.lesson import Examples, Lesson, Record, Score, TaskOf, Trainable, UpToTwice
from kleene.teaching.options import NramOptions

FAINT = 1e-6  # added to a probability before its logarithm, because the target's probability may be 0
NOISE = 0.2  # the share of noisy_full's traces that have a wrong hint
# How training may differ from the paper's; see `nram_lesson`.
VARIANTS = {"paper": (), "on": ("on",), "holes": ("holes",), "each": ("each",), "stated": ("on", "holes", "each")}
CHANCES = 5  # for each example: a step, a unit, whether there is noise, its place, and the wrong choice

Mask = Bool[Array, "step connections"]
Number = Int[Array, ""]


class Difficulty(eqx.Module):
    """How far the curriculum has come, and after how many updates."""

    difficulty: Int[Array, "*runs"]
    updates: Int[Array, "*runs"]


@dataclass(frozen=True)
class CellsTask(TaskOf):
    """A memory task as a `Task`: its lengths are memory sizes, and its trace is the circuit's wiring.

    If it `stops`, training ends when the curriculum reaches the last difficulty, as in the paper. The trace has the
    whole circuit, every module of it, or with `holes` only the connections that the circuit states.
    """

    task: MemoryTask
    stops: bool = True
    holes: bool = False

    def examples(
        self, key: PRNGKeyArray, lengths: Int[Array, " batch"], longest: int, *, training: bool = False
    ) -> Examples:
        """Instances of one size, the first of `lengths`. In training some outputs are wrong if the task has noise."""
        instances = self.task.batch(key, lengths[0], longest, len(lengths), noisy=training)
        if not training:
            return Examples(instances, None)
        trace = jax.vmap(self._trace, in_axes=(0, None, 0))(instances.memory, lengths[0], instances.steps)
        return Examples(instances, None, trace)

    def _trace(self, memory: Int[Array, " cells"], size: Number, steps: Number) -> ProgramTrace:
        found = circuit_run(self.task.circuit, memory, size, self.task.most_steps(len(memory)))
        at = jnp.arange(len(found.choices))[:, None]
        stated = found.stated if self.holes else jnp.any(found.stated, axis=1, keepdims=True)
        stated = jnp.broadcast_to(stated & (at < steps), found.choices.shape)
        return ProgramTrace({"command": found.choices}, {"command": stated}, steps)

    def beginning(self) -> Difficulty:
        return Difficulty(jnp.array(self.shortest, jnp.int32), jnp.array(0, jnp.int32))

    def training_lengths(self, key: PRNGKeyArray, progress: Difficulty, count: int) -> Int[Array, " batch"]:
        """One difficulty for the whole batch, uniform from the first to the one reached."""
        size = jax.random.randint(key, (), self.shortest, progress.difficulty + 1)
        return jnp.broadcast_to(size, (count,))

    def advance(self, progress: Difficulty, key: PRNGKeyArray, score: Callable[[Examples], Score]) -> Difficulty:
        """The next difficulty if ten new examples are all right."""
        clean = jnp.all(score(self.examples(key, jnp.broadcast_to(progress.difficulty, (10,)), self.longest)).right)
        return Difficulty(jnp.minimum(progress.difficulty + clean, self.longest), progress.updates + 1)

    def finished(self, progress: Difficulty) -> Any:
        return progress.difficulty >= self.longest if self.stops and self.shortest < self.longest else False

    def reached(self, progress: Difficulty) -> dict[str, Array]:
        return {"difficulty": progress.difficulty, "updates": progress.updates}

    def score(self, record: Record, examples: Examples) -> Score:
        def one(cells: Array, ends: Array, instance: Instance) -> Score:
            return Score(memory_loss(cells, ends, instance), is_right(cells, ends, instance))

        cells, ends = record.output
        return jax.vmap(one)(cells, ends, examples.inputs)


@dataclass(frozen=True)
class CircuitMachine(Trainable):
    """An NRAM with the registers and modules of a task's circuit. Hints are on its commands."""

    task: MemoryTask
    hidden: int
    unroll: int

    def fresh(self, key: PRNGKeyArray) -> NRAM:
        wiring = self.task.circuit.wiring
        return NRAM.random(wiring.registers, wiring.modules, hidden=self.hidden, key=key)

    def record(self, model: NRAM, examples: Examples, *, training: bool) -> Record:
        """The memory after each step and the probability that the run ends with it, and the commands."""
        steps = self.task.most_steps(examples.inputs.memory.shape[-1])

        def one(instance: Instance) -> Record:
            start = model.start(instance.memory, instance.size)
            trace = run(model, start, jnp.arange(steps), unroll=self.unroll)
            ends = stopping(trace["output"], jnp.arange(steps) < instance.steps)
            return Record((trace["memory"].cells, ends), {"command": trace["command"]})

        return jax.vmap(one)(examples.inputs)


def memory_loss(
    cells: Float[Array, "step cells values"], ends: Float[Array, " step"], instance: Instance
) -> Float[Array, ""]:
    """-Σ p_t Σ log P(cell i has its expected value after step t), over the cells that count (equation 5)."""
    wanted = instance.expected[:, None] == jnp.arange(cells.shape[-1])
    weights = jnp.sum(jnp.where(wanted, cells, 0.0), axis=-1)
    # Rounding makes probabilities negative by up to a hundredth, and one NaN ends the run.
    logs = jnp.where(instance.counts, jnp.log(jnp.maximum(weights, 0.0) + FAINT), 0.0)
    return -jnp.sum(ends[:, None] * logs)


def is_right(
    cells: Float[Array, "step cells values"], ends: Float[Array, " step"], instance: Instance
) -> Bool[Array, ""]:
    """Whether the expected value is the likeliest of every cell that counts when the run ends."""
    final = jnp.einsum("t,tij->ij", ends, cells)
    return jnp.all((jnp.argmax(final, axis=-1) == instance.expected) | ~instance.counts)


def policies(wiring: Wiring) -> dict[str, Policy]:
    """The kinds of hints on a circuit with that wiring. The weight of step t is (t + 1)^-2 (§4.3)."""
    is_register = np.arange(len(wiring.connections)) >= len(wiring.connections) - wiring.registers

    def weighted(mask: Callable[[ProgramTrace, Array], Any]) -> Policy:
        def weights(trace: ProgramTrace, chances: Float[Array, " chances"]) -> Weights:
            return {"command": jnp.where(mask(trace, chances), _fading(trace), 0.0)}

        return Policy(weights, CHANCES)

    def single_hint(trace: ProgramTrace, chances: Array) -> Mask:
        at = _one_step(trace, chances)
        return at & _one_unit(chances[1], wiring, jnp.any(trace.stated["command"] & at, axis=0))

    def noisy_full(trace: ProgramTrace, chances: Array) -> Weights:
        choices, stated = trace.targets["command"], trace.stated["command"]
        targets = jnp.where(chances[2] < NOISE, spoiled(chances[3:], wiring, choices, stated), choices)
        return {"command": Hints(targets, jnp.broadcast_to(_fading(trace), stated.shape))}

    return {
        "full": weighted(lambda trace, _: True),
        "single_hint": weighted(single_hint),
        "single_timestep": weighted(_one_step),
        "corners": weighted(lambda trace, _: (_steps(trace) == 0) | (_steps(trace) == trace.steps - 1)),
        "registers": weighted(lambda trace, _: is_register),
        "modules": weighted(lambda trace, _: ~is_register),
        "noisy_full": Policy(noisy_full, CHANCES),
    }


def _steps(trace: ProgramTrace) -> Int[Array, "step 1"]:
    return jnp.arange(len(trace.targets["command"]))[:, None]


def _fading(trace: ProgramTrace) -> Float[Array, "step 1"]:
    return (1.0 + _steps(trace)) ** -2.0


def _one_step(trace: ProgramTrace, chances: Array) -> Bool[Array, "step 1"]:
    return _steps(trace) == jnp.floor(chances[0] * trace.steps)


def _drawn(chance: Float[Array, ""], odds: Float[Array, " places"]) -> Number:
    """A place drawn in proportion to its odds; one past the last place where all odds are 0."""
    upper = jnp.cumsum(odds)
    return jnp.sum(upper <= chance * upper[-1])


def _one_unit(
    chance: Float[Array, ""], wiring: Wiring, stated: Bool[Array, " connections"]
) -> Bool[Array, " connections"]:
    """The connections of one module or register, drawn uniformly from those with a stated connection."""
    units = np.array([connection.unit for connection in wiring.connections])
    same = jnp.asarray(units[:, None] == units)
    crowd = jnp.sum(same & stated, axis=1)  # stated connections of the same unit: one or two
    place = _drawn(chance, jnp.where(stated, 1.0 / jnp.maximum(crowd, 1), 0.0))
    return jnp.any(same & (jnp.arange(len(units)) == place), axis=1)


def spoiled(chances: Float[Array, "2"], wiring: Wiring, choices: Array, stated: Mask) -> Int[Array, "step connections"]:
    """The choices with one of the stated ones made wrong."""
    place = _drawn(chances[0], stated.reshape(-1).astype(jnp.float32))
    here = jnp.arange(stated.size).reshape(stated.shape) == place
    limits = jnp.asarray([connection.choices for connection in wiring.connections])
    others = 1 + jnp.floor(chances[1] * (limits - 1)).astype(choices.dtype)
    return jnp.where(here, (choices + others) % limits, choices)


def circuit_draws(key: PRNGKeyArray, trace: ProgramTrace, chances: int) -> Draws:
    """Six random numbers for each example; the third is for the density."""
    count = len(trace.steps)
    # Drawn flat and then reshaped, because XLA takes seconds to compile a draw with several axes.
    drawn = jax.random.uniform(key, (6 * count,)).reshape(count, 6)
    return Draws(drawn[:, 2], jnp.concatenate([drawn[:, :2], drawn[:, 3:]], axis=1), {})


def nram_lesson(task: MemoryTask | Circuit | str, **options: Any) -> Lesson:
    """The lesson of a memory task, or of the task that a circuit computes.

    `rate` and the curriculum's difficulties `start` and `end` are the paper's unless given. `noise` is the gradient
    noise, and `clip` the largest norm of a gradient before it, by default any.

    The `variant` "paper" stops at the difficulty `end`, shows the whole circuit, and takes all arguments of a module as
    one hint (equation 11). Others deviate in one of these: "on" trains to the last update, "holes" shows only the
    connections that the circuit states, "each" takes each argument as a hint. "stated" is all three. The options are
    `NramOptions`.

    >>> lesson = nram_lesson("increment")
    >>> lesson.lengths, lesson.iterations, lesson.strength
    ((4, 6, 8, 10, 13, 16, 20), 100, 40.0)
    """
    if isinstance(task, str):
        task = memory_task(task)
    elif isinstance(task, Circuit):
        task = CircuitTask.of(task)
    given = NramOptions(**options).filled(
        start=task.start, end=task.end, lengths=tuple(task.tests), rate=task.learning_rate
    )
    start, end, lengths = given.start, given.end, given.lengths
    if not task.smallest <= start <= end or min(lengths) < task.smallest:
        raise InputError(
            f"{task.name} is taught at difficulties {start} to {end} and tested at {', '.join(map(str, lengths))}; "
            f"they are memory sizes, the smallest is {task.smallest}, and start is at most end"
        )
    wiring, apart = task.circuit.wiring, VARIANTS[given.variant]
    stored = ("hidden", "batch", "noise", "start", "end", "lengths", "tests", "variant", "clip")
    config = {"machine": "nram", "name": task.name} | given.stored(*stored, rate="learning_rate")
    clipped = () if given.clip is None else (optax.clip_by_global_norm(given.clip),)
    return Lesson(
        CellsTask(task, task.name, start, end, lengths, stops="on" not in apart, holes="holes" in apart),
        CircuitMachine(task, given.hidden, given.unroll),
        policies(wiring),
        UpToTwice(end),
        optax.chain(*clipped, gradient_noise(given.noise), optax.adam(given.rate)),
        batch=given.batch,
        tests=given.tests,
        iterations=100,
        strength=40.0,
        draws=circuit_draws,
        shares={} if "each" in apart else {"command": _shares(wiring)},
        config=config | _own_circuit(task),
    )


def _shares(wiring: Wiring) -> Float[np.ndarray, " connections"]:
    """How much of a hint each connection is: those of one module or register are one together."""
    units = np.array([connection.unit for connection in wiring.connections])
    return (1.0 / (units[:, None] == units).sum(axis=1)).astype(np.float32)


def _own_circuit(task: MemoryTask) -> dict[str, Any]:
    """The content of a user's circuit, which tells it from another of the same name."""
    return {} if task.circuit_name else {"circuit": task.circuit.text}


class NoiseState(NamedTuple):
    """The number of updates so far, and the key of the next noise."""

    count: Int[Array, ""]
    key: UInt32[Array, " words"]


def gradient_noise(amount: float, decay: float = 0.55) -> optax.GradientTransformation:
    """Add normal noise of variance amount / (1 + t)^decay to every gradient of update t (Neelakantan et al. 2015).

    `optax.add_noise` has one seed for all runs. Here the key comes from the initial weights, so that each of many
    parallel runs has its own noise, and the same noise when it runs alone.
    """

    def init(params: optax.Params) -> NoiseState:
        leaves = [leaf.astype(jnp.float32) for leaf in jax.tree.leaves(params)]
        bits = [jnp.sum(jax.lax.bitcast_convert_type(leaf, jnp.uint32), dtype=jnp.uint32) for leaf in leaves]
        return NoiseState(jnp.zeros((), jnp.int32), jax.random.PRNGKey(sum(bits, start=jnp.uint32(0))))

    def update(updates: optax.Updates, state: Any, params: optax.Params | None = None) -> tuple[Any, NoiseState]:
        del params
        leaves, structure = jax.tree.flatten(updates)
        following, *keys = jax.random.split(state.key, len(leaves) + 1)
        spread = jnp.sqrt(amount / (1.0 + state.count) ** decay)
        # Drawn flat and then reshaped, as in `circuit_draws`.
        noise = [
            jax.random.normal(key, (leaf.size,), leaf.dtype).reshape(leaf.shape) for leaf, key in zip(leaves, keys)
        ]
        noisy = [leaf + spread * drawn for leaf, drawn in zip(leaves, noise)]
        return jax.tree.unflatten(structure, noisy), NoiseState(state.count + 1, following)

    return optax.GradientTransformation(init, update)
