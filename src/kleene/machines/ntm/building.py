"""Building the NTM's kernels (in `cuda`) for the sizes of one machine, the first time that these sizes are run.

CUDA's compiler takes a few seconds for them, and Kleene's cache keeps the libraries (`kleene.kernels`).
"""

import functools
import shutil
import subprocess
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import jax.ffi

from kleene.errors import KleeneWarning
from kleene.kernels import capability, cuda_compiler, loaded_library, reason_against, shared_memory
from kleene.machines.ntm.addressing import EMPTY, PER_HEAD, SMALL, TINY

FOLDER = Path(__file__).with_name("cuda")
CALLS = {"forward": ("Forward", "ForwardKept"), "backward": ("Backward",)}  # of each source
LANES = 32  # examples that a block runs at once
TAPE_EVERY = 2  # steps of which the forward kernel keeps one tape; the backward kernel computes the other
MOST_CELLS = 96
MOST_NUMBERS = 48  # of the tape that a thread holds in its registers
TILE_UNITS, TILE_INPUTS = 16, 8  # of the weights that a tensor core takes at once
# The most cells, and warps and blocks of the forward and of the backward kernel. The first ones are as measured on an
# H200: two small blocks side by side hide each other's barriers, where registers and shared memory have room for them,
# and a block of 12 warps has more registers a thread than one of 16. Large layers need 16. The last one needs least
# shared memory, and is for GPUs that have little.
LARGE = 16
LAYOUTS = (
    (32, (8, 2, 6, 2)),
    (48, (8, 2, 12, 1)),
    (72, (12, 1, 12, 1)),
    (MOST_CELLS, (LARGE, 1, LARGE, 1)),
    (24, (8, 1, 4, 1)),
)
_building = threading.Lock()  # a target is registered once


@dataclass(frozen=True)
class KernelSizes:
    """The sizes that the kernels are built for. `steps` are those of runs with a gradient; others may have any number.

    A block of the forward kernel has `forward_warps` warps, and a multiprocessor should hold `forward_blocks` of them;
    so it is with the backward kernel.
    """

    cells: int
    width: int
    symbols: int
    first: int
    hidden: int
    outputs: int
    steps: int
    forward_warps: int
    forward_blocks: int
    backward_warps: int
    backward_blocks: int

    @classmethod
    def choices(cls, machine: Any, cells: int, steps: int) -> "list[KernelSizes]":
        """The sizes of a machine with this tape, in the layouts whose registers hold the tape; the fastest first."""
        first, hidden = len(machine.first_bias), len(machine.second_bias)
        sizes = (cells, machine.width, machine.symbols, first, hidden, len(machine.output_bias), steps)
        small = max(first, hidden) <= 64
        layouts = [layout for most, layout in LAYOUTS if cells <= most and (small or layout[0] == LARGE)]
        return [found for layout in layouts if (found := cls(*sizes, *layout)).fits]

    @property
    def fits(self) -> bool:
        """Whether a thread's part of the tape is small enough for its registers; otherwise the kernel would be slow."""
        fewest = min(self.forward_warps, self.backward_warps)
        return self.cells <= MOST_CELLS and -(-self.cells // fewest) * self.width <= MOST_NUMBERS

    def macros(self, source: str) -> list[str]:
        """The definitions that a source is built with, but for the device's."""
        layout = {"warps": getattr(self, f"{source}_warps"), "blocks": getattr(self, f"{source}_blocks")}
        sizes = {name: size for name, size in asdict(self).items() if not name.endswith(("_warps", "_blocks"))}
        numbers = {"lanes": LANES, "per_head": PER_HEAD, "empty": f"{EMPTY}f", "small": f"{SMALL}f", "tiny": f"{TINY}f"}
        numbers |= {"tape_every": TAPE_EVERY, "tile_units": TILE_UNITS, "tile_inputs": TILE_INPUTS}
        return [f"-D{name.upper()}={value}" for name, value in (sizes | layout | numbers).items()]


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built, by the names under which XLA calls it."""

    sizes: KernelSizes
    forward: str
    forward_kept: str
    backward: str


def usable_kernel(machine: Any, cells: int, steps: int) -> Kernel | None:
    """The kernel for this machine where it can run: on one GPU of NVIDIA's with a compiler, on at most 96 cells.

    Wide tapes, large layers or a GPU with little shared memory leave room for fewer cells. What jax runs elsewhere by
    `jax.default_device` runs without it.
    """
    devices, chosen = jax.local_devices(), jax.config.jax_default_device  # type: ignore[attr-defined]
    elsewhere = chosen is not None and getattr(chosen, "platform", chosen) not in ("gpu", "cuda")
    if elsewhere or reason_against(devices) or jax.device_count() > 1 or min(cells, steps) < 1:
        return None
    return cuda_kernel(*KernelSizes.choices(machine, cells, steps))


def cuda_kernel(*choices: KernelSizes) -> Kernel | None:
    """The first of these kernels that fits the GPU of this machine, built by CUDA's compiler."""
    flags = ("-O3", "--use_fast_math", "-std=c++17", "-w", "-shared", "-Xcompiler", "-fPIC")
    found = capability(jax.local_devices()[0])
    made_for = (f"-arch=sm_{found}", f"-DMOST_SHARED={shared_memory(found)}")
    return _built(choices, (cuda_compiler() or "", *flags, *made_for), "CUDA")


def emulated_kernel(*choices: KernelSizes) -> Kernel | None:
    """The same for a CPU, built by a C++ compiler: slow, and there for tests. None without a compiler."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    flags = ("-O1", "-std=c++20", "-w", "-shared", "-fPIC", "-pthread", "-x", "c++")
    made_for = ("-DEMULATED", f"-DMOST_SHARED={shared_memory('90')}")
    return _built(choices, (compiler, *flags, *made_for), "cpu")


def _built(choices: tuple[KernelSizes, ...], command: tuple[str, ...], platform: str) -> Kernel | None:
    """The first kernel that fits, registered; None, with a warning, if it cannot be built or none fits."""
    with _building:
        return _first_that_fits(choices, command, platform)


@functools.cache
def _first_that_fits(choices: tuple[KernelSizes, ...], command: tuple[str, ...], platform: str) -> Kernel | None:
    try:
        found = (_registered(sizes, command, platform) for sizes in choices)
        kernel = next((kernel for kernel in found if kernel is not None), None)
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", None) or str(error)
        lines = "\n".join(output.strip().splitlines()[-5:])
        return _left_out(f"it could not be built; the compiler or the loader said:\n{lines}")
    return _left_out("the device has too little shared memory for it") if choices and kernel is None else kernel


@functools.cache
def _registered(sizes: KernelSizes, command: tuple[str, ...], platform: str) -> Kernel | None:
    """The kernel of these sizes, or None if it does not fit."""
    libraries = _libraries(sizes, command)
    fits = all(library.fits() for library, _ in libraries.values())
    return Kernel(sizes, *_targets(libraries, platform)) if fits else None


def _libraries(sizes: KernelSizes, command: tuple[str, ...]) -> dict[str, tuple[Any, str]]:
    """The library of each source, with its digest."""
    included = (*(file.read_text() for file in sorted(FOLDER.glob("*.h"))), version("jaxlib"))

    def built(source: str) -> tuple[Any, str]:
        whole = (*command, f"-I{jax.ffi.include_dir()}", *sizes.macros(source))
        return loaded_library(FOLDER / f"{source}.cu", whole, depends=included)

    with ThreadPoolExecutor(len(CALLS)) as pool:  # each waits for its compiler
        return dict(zip(CALLS, pool.map(built, CALLS)))


def _targets(libraries: dict[str, tuple[Any, str]], platform: str) -> list[str]:
    """The names under which XLA calls the functions of the libraries, once they are registered."""
    names: list[str] = []
    for source, (library, digest) in libraries.items():
        for call in CALLS[source]:
            names.append(f"kleene_ntm_{digest}_{call}")
            jax.ffi.register_ffi_target(names[-1], jax.ffi.pycapsule(getattr(library, call)), platform=platform)
    return names


def _left_out(reason: str) -> None:
    warnings.warn(
        f"NTMs learn without their kernel, several times slower (KLEENE_KERNEL=off hides this): {reason}",
        KleeneWarning,
        stacklevel=4,
    )
