"""Sources that a compiler turns into a library at first use, such as kernels in CUDA.

A library is kept in the folder `kernels` of Kleene's cache, under a digest of everything that decides what is in it.
`KLEENE_KERNEL=off` leaves kernels out.
"""

import atexit
import contextlib
import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kleene.caching import private_folder

SLOWEST = 600.0  # seconds of a compiler
MOST_LIBRARIES = 100  # in the cache, of about 1 MB each
NO_COMPILER = "no nvcc, the compiler of CUDA"
OLDEST = 80  # compute capability: the first with `mma` for tf32 and with `cp.async`


def is_off() -> bool:
    return os.environ.get("KLEENE_KERNEL", "").lower() == "off"


def cuda_compiler() -> str | None:
    """The path of `nvcc`, on the PATH, in `$CUDA_HOME` or where CUDA is usually installed; None if there is none."""
    homes = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]
    places = [str(Path(home) / "bin") for home in homes if home]
    return shutil.which("nvcc") or shutil.which("nvcc", path=os.pathsep.join([*places, "/usr/local/cuda/bin"]))


def reason_against(devices: Sequence[Any]) -> str | None:
    """Why these devices of jax run no kernel in CUDA; None if they do.

    XLA cannot split a foreign call over devices, so several GPUs run without kernels.
    """
    if is_off():
        return "KLEENE_KERNEL=off"
    if not capability(devices[0]):
        return "no GPU of NVIDIA's"
    if int(capability(devices[0])) < OLDEST:
        needed = f"{OLDEST // 10}.{OLDEST % 10}"
        return f"the GPU has compute capability {devices[0].compute_capability}, and kernels need {needed}"
    if len(devices) > 1:
        return f"{len(devices)} GPUs, and a kernel runs on one"
    return None if cuda_compiler() else NO_COMPILER


def capability(device: Any) -> str:
    """The compute capability of a GPU as the compiler writes it, such as 90; empty for any other device."""
    found = str(getattr(device, "compute_capability", "")).replace(".", "")
    return found if device.platform == "gpu" and found.isdecimal() else ""


def shared_memory(found: str) -> int:
    """The bytes of shared memory that a block can have on a GPU of this compute capability (CUDA's programming guide).

    >>> shared_memory("90"), shared_memory("86")
    (232448, 101376)
    """
    kilobytes = {"80": 163, "87": 163, "90": 227, "100": 227, "103": 227, "110": 227}.get(found, 99)
    return 1024 * kilobytes


def loaded_library(
    source: Path, command: Sequence[str], *, depends: Sequence[str] = (), most: int = MOST_LIBRARIES
) -> tuple[ctypes.CDLL, str]:
    """The library that this command makes of a source, from the cache or built now, and the digest that names it.

    `depends` are further texts that decide what is in it, such as files that the source includes. A file of the cache
    that cannot be loaded is built again. Once a new one is there, the cache keeps the `most` that were used last.
    Raises `OSError` or `subprocess.SubprocessError`.
    """
    version = _output([command[0], "--version"])
    digest = hashlib.sha256("\n".join([*command, version, source.read_text(), *depends]).encode()).hexdigest()[:32]
    file = _folder() / f"{digest}.so"
    if file.exists():
        try:
            library = ctypes.CDLL(str(file))
        except OSError:
            file.unlink(missing_ok=True)
        else:
            with contextlib.suppress(OSError):
                os.utime(file)  # used now
            return library, digest
    with tempfile.TemporaryDirectory(dir=file.parent) as beside:
        part = Path(beside) / file.name  # moved into place whole, so that no process loads half
        _output([*command, str(source), "-o", str(part)])
        part.replace(file)
    library = ctypes.CDLL(str(file))
    _evict(file.parent, most)
    return library, digest


def _evict(folder: Path, most: int) -> None:
    """Remove all libraries but those that were used last. A process that has loaded one keeps it."""
    with contextlib.suppress(OSError):  # another process may remove them, too
        for file in sorted(folder.glob("*.so"), key=lambda file: file.stat().st_mtime_ns, reverse=True)[most:]:
            file.unlink(missing_ok=True)


def _output(command: Sequence[str]) -> str:
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True, timeout=SLOWEST)
    return run.stdout


def _folder() -> Path:
    """The cache's folder; without a cache one that is removed when the process ends."""
    kept = private_folder("kernels")
    if kept is not None:
        return kept
    folder = tempfile.mkdtemp(prefix="kleene-kernel-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
