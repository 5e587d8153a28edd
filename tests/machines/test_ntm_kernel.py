"""The NTM's kernel against the plain run.

A CPU emulates the kernel, thread by thread. With JAX_PLATFORMS=cuda, on a machine with a GPU, the kernel itself runs.
"""

import operator
import shutil
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene import kernels
from kleene.errors import KleeneWarning
from kleene.machines.ntm import building, fused
from kleene.machines.ntm.building import Kernel, KernelSizes, cuda_kernel, emulated_kernel, usable_kernel
from kleene.machines.ntm.ntm import NTM
from kleene_papers.traces.ntm import NTM as NTM_TABLES
from kleene_papers.traces.ntm import ntm_table

needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="the kernel is built by a C++ compiler, g++")
SEEDS = 2
# Cells that fill the warps, that leave the last warp with fewer, and that leave a warp with none; layers larger and
# smaller than the warps; batches of less and of more than 32.
CASES = {
    "a warp with fewer cells": (KernelSizes(7, 4, 4, 6, 5, 3, 5, 3, 1, 3, 1), 5),
    "a warp without cells": (KernelSizes(9, 3, 5, 9, 9, 2, 4, 4, 1, 4, 2), 32),
    "two groups of examples": (KernelSizes(8, 8, 3, 13, 10, 4, 3, 4, 1, 2, 1), 37),
    "one cell": (KernelSizes(1, 2, 2, 3, 3, 1, 3, 2, 1, 3, 1), 3),
    "more tiles than warps": (KernelSizes(5, 9, 3, 18, 35, 2, 3, 2, 2, 3, 2), 32),
    "heads that make much of rounding": (KernelSizes(17, 2, 3, 8, 7, 3, 7, 4, 1, 2, 1), 4),
}


def built(sizes: KernelSizes) -> Kernel:
    kernel = cuda_kernel(sizes) if jax.default_backend() == "gpu" else emulated_kernel(sizes)
    assert kernel is not None
    return kernel


@pytest.fixture(autouse=True)
def _plain_runs_are_plain(monkeypatch):
    monkeypatch.setenv("KLEENE_KERNEL", "off")


def machines(sizes: KernelSizes) -> NTM:
    """Machines with weights larger than fresh ones, so that heads go somewhere; the seeds are the first axis."""

    def one(key):
        hidden = (sizes.first, sizes.hidden)
        fresh = NTM.random(sizes.symbols, outputs=sizes.outputs, width=sizes.width, hidden=hidden, key=key)
        keys = jax.random.split(key, 10)
        leaves, tree = jax.tree.flatten(fresh)
        return tree.unflatten([2 * w + 0.3 * jax.random.normal(k, w.shape) for w, k in zip(leaves, keys)])

    return jax.vmap(one)(jax.random.split(jax.random.key(3), SEEDS))


def inputs(sizes: KernelSizes, batch: int):
    """Symbols and cells to ask for, some of which do not exist, and a direction for each output."""
    draw = np.random.default_rng(5)
    shape = (SEEDS, sizes.steps, batch)
    rows = [(sizes.outputs,), (2, sizes.cells), (sizes.width,)]
    directions = [draw.normal(size=(*shape[:2], *row, batch)).astype(np.float32) for row in rows]
    symbols = jnp.array(draw.integers(-1, sizes.symbols + 2, shape))
    return symbols, jnp.array(draw.integers(-1, sizes.cells + 1, shape)), directions


def plainly(sizes):
    return lambda machine, symbols, asked: tuple(machine.record(symbols, cells=sizes.cells, asked=asked))


def with_kernel(kernel):
    return lambda machine, symbols, asked: tuple(fused.record(kernel, machine, symbols, asked))


def run_and_gradient(record, models, symbols, asked, directions):
    def measured(models):
        found = jax.vmap(record)(models, symbols, asked)
        return sum(jnp.vdot(array, by) for array, by in zip(found, directions)), found

    with jax.default_matmul_precision("highest"):
        (_, found), gradient = jax.jit(jax.value_and_grad(measured, has_aux=True))(models)
    return found, gradient


def exactly(sizes, models, symbols, asked, directions):
    """What the plain machine computes in float64. In float32 it is itself far off where heads make much of rounding."""
    with jax.enable_x64(True):
        exact = jax.tree.map(lambda weights: jnp.asarray(np.asarray(weights), jnp.float64), models)
        doubled = [direction.astype(np.float64) for direction in directions]
        return jax.tree.map(np.asarray, run_and_gradient(plainly(sizes), exact, symbols, asked, doubled))


def assert_close(ours, theirs):
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=2e-5 * max(1e-3, float(jnp.abs(other).max())))


@needs_gcc
@pytest.mark.parametrize("case", CASES)
def test_the_kernel_runs_and_differentiates_as_the_plain_machine_does(case):
    sizes, batch = CASES[case]
    kernel = built(sizes)
    models, given = machines(sizes), inputs(sizes, batch)
    assert_close(run_and_gradient(with_kernel(kernel), models, *given), exactly(sizes, models, *given))


def worst(found, expected):
    """The largest difference over all arrays, each as a share of the largest entry of its own array."""
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    return max(float(np.abs(np.asarray(one) - np.asarray(other)).max() / np.abs(other).max()) for one, other in pairs)


@needs_gcc
@pytest.mark.parametrize("sharpness", [12.0, 30.0, 60.0])
def test_heads_may_be_as_sharp_as_they_like(sharpness):
    """Sums of exponentials go without the largest one where it cannot be large; it is large in the later of these.

    A sharp head makes much of rounding, so the kernel may differ as weights do that are rounded once more.
    """
    sizes, batch = CASES["a warp with fewer cells"]
    models, given = machines(sizes), inputs(sizes, batch)
    sharp = 2 * sizes.width + np.array([0, 2, 6, 8])  # strength and sharpening of both heads
    models = eqx.tree_at(lambda machine: machine.command_bias, models, models.command_bias.at[1, sharp].add(sharpness))
    draw = np.random.default_rng(7)
    rounded = jax.tree.map(lambda w: w * jnp.array(1 + 6e-8 * draw.normal(size=w.shape), jnp.float32), models)
    plain, close = (run_and_gradient(plainly(sizes), weights, *given) for weights in (models, rounded))
    found = run_and_gradient(with_kernel(built(sizes)), models, *given)
    assert worst(found, plain) < 5 * worst(close, plain) < 1e-2


def fresh_of(task: str):
    """The sizes of a task of figure 9 in the layout that is taken first, fresh machines, and inputs."""
    taught = ntm_table(task, "full").plans[0].lesson
    fresh = jax.vmap(lambda key: taught.fresh(key).machine)(jax.random.split(jax.random.key(3), SEEDS))
    one = jax.tree.map(operator.itemgetter(0), fresh)
    steps = taught.machine.task.steps(taught.task.longest)
    sizes = KernelSizes.choices(one, taught.machine.cells, steps)[0]
    return sizes, fresh, inputs(sizes, taught.batch)


@needs_gcc
def test_gradients_of_a_fresh_machine_are_as_precise_as_floats_allow():
    """What is written on an empty tape is small, and the gradient of a key is made of differences of cells."""
    sizes, fresh, given = fresh_of("copy")
    found = run_and_gradient(with_kernel(built(sizes)), fresh, *given)
    assert worst(found, exactly(sizes, fresh, *given)) < 2e-5


@pytest.mark.skipif(jax.default_backend() != "gpu", reason="a GPU runs these sizes, an emulation takes minutes")
@pytest.mark.parametrize("task", sorted(NTM_TABLES))
def test_the_kernel_is_right_at_the_sizes_of_figure_9(task):
    sizes, fresh, given = fresh_of(task)
    found = run_and_gradient(with_kernel(built(sizes)), fresh, *given)
    assert worst(found, run_and_gradient(plainly(sizes), fresh, *given)) < 5e-5


@needs_gcc
def test_layers_are_as_precise_as_with_floats():
    """A tensor core alone would be a thousand times less precise."""
    sizes, batch = CASES["more tiles than warps"]
    models, (symbols, asked, _) = machines(sizes), inputs(sizes, batch)
    symbols = jnp.clip(symbols, 0, sizes.symbols - 1)
    found = np.asarray(jax.vmap(with_kernel(built(sizes)))(models, symbols, asked)[0])[:, 0]
    exact = jax.tree.map(lambda weights: np.asarray(weights, np.float64), models)
    for seed in range(SEEDS):
        one = jax.tree.map(operator.itemgetter(seed), exact)
        entry = one.first_bias + one.read_weights @ one.first_read
        first = np.tanh(one.input_weights[:, np.asarray(symbols[seed, 0])] + entry[:, None])
        hidden = np.tanh(one.second @ first + one.second_bias[:, None])
        logits = one.output_weights @ hidden + one.output_bias[:, None]
        assert np.abs(found[seed] - logits).max() < 5e-7 * np.abs(logits).max()


@needs_gcc
def test_nothing_may_be_asked_and_seeds_may_share_their_words():
    sizes, batch = CASES["a warp with fewer cells"]
    models, (symbols, _, directions) = machines(sizes), inputs(sizes, batch)

    def gradient(record):
        def measured(models):
            found = jax.vmap(lambda machine: record(machine, symbols[0], None))(models)
            return sum(jnp.vdot(array, by) for array, by in zip(found[:2], directions))

        with jax.default_matmul_precision("highest"):
            return jax.jit(jax.grad(measured))(models)

    assert_close(gradient(with_kernel(built(sizes))), gradient(plainly(sizes)))


@needs_gcc
def test_a_gradient_over_another_number_of_steps_is_refused():
    sizes, batch = CASES["a warp with fewer cells"]
    kernel, models = built(sizes), machines(sizes)
    symbols, asked, _ = inputs(sizes, batch)

    def measured(models):
        return sum(jnp.sum(array) for array in jax.vmap(with_kernel(kernel))(models, symbols[:, 1:], asked[:, 1:]))

    with pytest.raises(Exception, match="built for another number of steps"):
        jax.block_until_ready(jax.grad(measured)(models))


@needs_gcc
def test_a_run_without_gradient_is_the_same_and_may_have_any_number_of_steps():
    sizes, batch = CASES["a warp with fewer cells"]
    kernel, models = built(sizes), machines(sizes)
    symbols, asked, _ = inputs(sizes, batch)
    longer = jnp.concatenate([symbols, symbols], axis=1), jnp.concatenate([asked, asked], axis=1)
    with jax.default_matmul_precision("highest"):
        expected = jax.vmap(plainly(sizes))(models, *longer)
    assert_close(jax.vmap(with_kernel(kernel))(models, *longer), expected)


@needs_gcc
def test_one_seed_computes_the_same_bits_among_others_and_alone():
    sizes, batch = CASES["a warp without cells"]
    kernel, models = built(sizes), machines(sizes)
    symbols, asked, _ = inputs(sizes, batch)
    together = jax.vmap(with_kernel(kernel))(models, symbols, asked)
    alone = with_kernel(kernel)(jax.tree.map(lambda w: w[1], models), symbols[1], asked[1])
    for one, other in zip(together, alone):
        np.testing.assert_array_equal(one[1], other)


@needs_gcc
def test_a_kernel_that_cannot_be_built_is_left_out_with_a_warning_that_quotes_the_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE", str(tmp_path))
    (tmp_path / "forward.cu").write_text("this is no program")
    monkeypatch.setattr(building, "FOLDER", tmp_path)
    with pytest.warns(KleeneWarning, match="(?s)KLEENE_KERNEL=off.*could not be built.*error"):
        assert emulated_kernel(KernelSizes(4, 2, 2, 2, 2, 2, 2, 2, 1, 2, 1)) is None


@needs_gcc
def test_kernels_may_be_asked_for_by_many_threads_at_once(monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE", "off")
    sizes = KernelSizes(3, 2, 2, 2, 2, 2, 2, 2, 1, 2, 1)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: emulated_kernel(sizes), range(4)))
    assert len(set(found)) == 1
    assert found[0] is not None


class FakeCpu:
    platform = "cpu"


class FakeGpu:
    platform, compute_capability = "gpu", "9.0"


def machine_of_copy(hidden: int = 50) -> NTM:
    return NTM.random(10, outputs=9, width=8, hidden=(hidden, hidden), key=jax.random.key(0))


def test_the_kernel_is_for_one_gpu_with_a_compiler_and_can_be_turned_off(monkeypatch):
    built = []
    monkeypatch.setattr(building, "_built", lambda *given: built.append(given) if given[0] else None)
    monkeypatch.setattr(building, "cuda_compiler", lambda: "nvcc")
    monkeypatch.setattr(kernels, "cuda_compiler", lambda: "nvcc")
    monkeypatch.delenv("KLEENE_KERNEL")
    machine = machine_of_copy()
    monkeypatch.setattr(jax, "local_devices", lambda: [FakeCpu()])
    usable_kernel(machine, 23, 12)
    monkeypatch.setattr(jax, "local_devices", lambda: [FakeGpu(), FakeGpu()])
    usable_kernel(machine, 23, 12)
    monkeypatch.setattr(jax, "local_devices", lambda: [FakeGpu()])
    usable_kernel(machine, building.MOST_CELLS + 1, 12)
    monkeypatch.setenv("KLEENE_KERNEL", "off")
    usable_kernel(machine, 23, 12)
    monkeypatch.delenv("KLEENE_KERNEL")
    usable_kernel(machine, 23, 0)
    with jax.default_device("cpu"):
        usable_kernel(machine, 23, 12)
    monkeypatch.setattr(kernels, "cuda_compiler", lambda: None)
    usable_kernel(machine, 23, 12)
    assert built == []
    monkeypatch.setattr(kernels, "cuda_compiler", lambda: "nvcc")
    usable_kernel(machine, 23, 12)
    (((sizes, *_), command, platform),) = built
    assert (sizes.cells, sizes.steps, sizes.outputs, platform) == (23, 12, 9, "CUDA")
    assert "-arch=sm_90" in command


@needs_gcc
def test_copy_has_a_kernel_on_gpus_with_little_shared_memory():
    command = (shutil.which("g++"), "-O0", "-std=c++20", "-w", "-shared", "-fPIC", "-x", "c++", "-DEMULATED")
    little = f"-DMOST_SHARED={kernels.shared_memory('89')}"

    def fits(sizes: KernelSizes) -> bool:
        return all(library.fits() for library, _ in building._libraries(sizes, (*command, little)).values())

    assert any(map(fits, reversed(KernelSizes.choices(machine_of_copy(), 23, 12))))  # the smallest is the last


@needs_gcc
def test_the_first_kernel_that_fits_is_taken(monkeypatch):
    small, large = (KernelSizes(3, 2, 2, hidden, hidden, 2, 2, 2, 1, 2, 1) for hidden in (2, 90))
    monkeypatch.setattr(building, "shared_memory", lambda found: 40_000)
    monkeypatch.setenv("KLEENE_CACHE", "off")
    assert emulated_kernel(small) is not None
    with pytest.warns(KleeneWarning, match="too little shared memory"):
        assert emulated_kernel(large) is None
    assert emulated_kernel(large, small).sizes == small


@pytest.mark.parametrize(
    ("cells", "hidden", "width", "fits"),
    [
        (23, 50, 8, True),
        (33, 100, 8, True),
        (43, 50, 8, True),
        (67, 50, 8, True),
        (96, 50, 8, True),
        (32, 50, 10, True),
        (25, 50, 12, True),
        (96, 50, 20, False),
        (97, 50, 2, False),
    ],
)
def test_the_registers_of_a_block_hold_the_tape_or_the_kernel_is_left_out(cells, hidden, width, fits):
    machine = NTM.random(10, outputs=9, width=width, hidden=(hidden, hidden), key=jax.random.key(0))
    choices = KernelSizes.choices(machine, cells, 12)
    assert bool(choices) == fits
    for sizes in choices:
        warps, blocks = sizes.backward_warps, sizes.backward_blocks
        registers = 65_536 // (32 * warps * blocks)  # of a thread
        assert -(-cells // warps) * width < registers / 2
