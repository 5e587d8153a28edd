"""Building the NTM's kernel (`kernel.cu`) for the sizes of one machine, the first time that these sizes are run.

CUDA's compiler takes a few seconds for it, and Kleene's cache keeps the library (`kleene.kernels`).
"""

import ctypes
import functools
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import jax.ffi

from kleene.errors import KleeneWarning
from kleene.kernels import cuda_compiler, is_off, library

SOURCE = Path(__file__).with_name("kernel.cu")
EMULATION = Path(__file__).with_name("emulated.h")
CALLS = ("Forward", "ForwardKept", "Backward")
MOST_CELLS = 96  # more do not fit into the registers of a block


@dataclass(frozen=True)
class KernelSizes:
    """The sizes that a kernel is built for. `steps` are those of runs with a gradient; others may have any number.

    A block has `warps` warps, and a multiprocessor has room for this many blocks of each kernel at least.
    """

    cells: int
    width: int
    symbols: int
    first: int
    hidden: int
    outputs: int
    steps: int
    warps: int
    forward_blocks: int
    backward_blocks: int

    @classmethod
    def of(cls, machine: Any, cells: int, steps: int) -> "KernelSizes":
        """The sizes of a machine with this tape, and warps enough to keep the tape in registers."""
        first, hidden = len(machine.first_bias), len(machine.second_bias)
        # As measured on an H200: two or three small blocks side by side hide each other's barriers; where the tape or
        # the weights leave room for one block only, it has twice the warps.
        few = cells <= 48 and max(first, hidden) <= 64
        layout = (8, 3 if cells <= 32 else 2, 2) if few else (16, 1, 1)
        return cls(cells, machine.width, machine.symbols, first, hidden, len(machine.output_bias), steps, *layout)

    @property
    def macros(self) -> list[str]:
        return [f"-D{name.upper()}={value}" for name, value in asdict(self).items()]


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built, by the names under which XLA calls it."""

    sizes: KernelSizes
    forward: str
    forward_kept: str
    backward: str


def usable_kernel(machine: Any, cells: int, steps: int) -> Kernel | None:
    """The kernel for this machine where it can run: on one GPU of NVIDIA's, with a compiler, on at most 96 cells.

    XLA cannot split a foreign call over devices, so machines with several GPUs run without it.
    """
    devices = jax.local_devices()
    if is_off() or len(devices) != 1 or devices[0].platform != "gpu" or not 0 < cells <= MOST_CELLS:
        return None
    capability = str(getattr(devices[0], "compute_capability", "")).replace(".", "")
    nvcc = cuda_compiler()
    if nvcc is None or not capability.isdecimal():
        return None
    command = (
        nvcc,
        "-O3",
        "--use_fast_math",
        "-std=c++17",
        "-w",
        f"-arch=sm_{capability}",
        "-shared",
        "-Xcompiler",
        "-fPIC",
    )
    return _built(KernelSizes.of(machine, cells, steps), command, "CUDA")


def emulated_kernel(sizes: KernelSizes) -> Kernel | None:
    """The same kernel for a CPU, built by a C++ compiler: slow, and there for tests. None without a compiler."""
    gcc = shutil.which("g++")
    if gcc is None:
        return None
    flags = ("-O1", "-std=c++20", "-w", "-shared", "-fPIC", "-pthread", "-DEMULATED", "-x", "c++")
    return _built(sizes, (gcc, *flags), "cpu")


@functools.cache
def _built(sizes: KernelSizes, command: Sequence[str], platform: str) -> Kernel | None:
    """The registered kernel; None, with a warning, if it cannot be built."""
    whole = [*command, f"-I{jax.ffi.include_dir()}", *sizes.macros]
    try:
        file = library(SOURCE, whole, includes=[EMULATION])
        loaded = ctypes.cdll.LoadLibrary(str(file))
    except (OSError, subprocess.SubprocessError) as error:
        told = getattr(error, "stderr", None) or str(error)
        lines = "\n".join(told.strip().splitlines()[-5:])
        warnings.warn(
            f"the NTM's kernel could not be built, so training runs without it, several times slower. "
            f"KLEENE_KERNEL=off hides this. The compiler said:\n{lines}",
            KleeneWarning,
            stacklevel=2,
        )
        return None
    if not loaded.fits():
        return None
    names = [f"kleene_ntm_{file.stem}_{call}" for call in CALLS]
    for name, call in zip(names, CALLS):
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(loaded, call)), platform=platform)
    return Kernel(sizes, *names)
