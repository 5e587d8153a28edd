"""Sources that a compiler turns into a library at first use, such as kernels in CUDA.

A library is kept in the folder `kernels` of Kleene's cache, under a digest of everything that decides what is in it.
`KLEENE_KERNEL=off` leaves kernels out.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kleene.caching import private_folder


def is_off() -> bool:
    return os.environ.get("KLEENE_KERNEL", "").lower() == "off"


def cuda_compiler() -> str | None:
    """The path of `nvcc`, on the PATH, in `$CUDA_HOME` or where CUDA is usually installed; None if there is none."""
    homes = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]
    places = [str(Path(home) / "bin") for home in homes if home]
    return shutil.which("nvcc") or shutil.which("nvcc", path=os.pathsep.join([*places, "/usr/local/cuda/bin"]))


def library(source: Path, command: Sequence[str], *, includes: Sequence[Path] = ()) -> Path:
    """The file of the library that this command makes of a source, from the cache or built now.

    `includes` are further files that the source includes. Raises `OSError` or `subprocess.SubprocessError`.
    """
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True).stdout
    texts = [file.read_text() for file in (source, *includes)]
    digest = hashlib.sha256("\n".join([*command, version, *texts]).encode()).hexdigest()[:32]
    folder = private_folder("kernels") or Path(tempfile.mkdtemp(prefix="kleene-kernel-"))
    file = folder / f"{digest}.so"
    if not file.exists():
        with tempfile.TemporaryDirectory(dir=folder) as beside:
            part = Path(beside) / file.name  # moved into place whole, so that no process loads half
            subprocess.run([*command, str(source), "-o", str(part)], capture_output=True, text=True, check=True)
            part.replace(file)
    return file
