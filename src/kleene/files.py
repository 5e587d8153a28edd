"""Files: written so that a reader, or a crash, never meets half of one, and read with clear words where that fails."""

import os
import tempfile
from pathlib import Path

from kleene.errors import ModelFileError


def read_bytes(path: str | os.PathLike) -> bytes:
    """What the file holds."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise ModelFileError(f"{str(path)!r} cannot be read: {error.strerror}") from None


def write_atomically(path: str | os.PathLike, content: bytes) -> Path:
    """The path, now holding `content`: written beside it first, then moved into place in one step."""
    target = Path(path)
    try:
        return _write(target, content)
    except OSError as error:
        raise ModelFileError(f"{str(target)!r} cannot be written: {error.strerror}") from error


def make_folder(path: str | os.PathLike) -> Path:
    """The path of a folder that is there now, and that files can be written to."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelFileError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ModelFileError(f"the folder {str(folder)!r} cannot be written to; give another")
    return folder


def _write(target: Path, content: bytes) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
