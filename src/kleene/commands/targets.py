"""What a run will write, tried before it begins: a place that cannot be written is found before hours are spent."""

import os
import tempfile
from pathlib import Path

from kleene.errors import InputError, ModelFileError
from kleene.files import make_folder


def check_targets(folder: str | None, files: dict[str, str | None]) -> None:
    """Refuse a folder or files that cannot be written, and files that would overwrite each other.

    `files` are by the options that name them.
    """
    if folder is not None:
        _try_to_write(make_folder(folder) / "results.json")
    seen: dict[Path, str] = {}
    for option, file in files.items():
        if file is None:
            continue
        target = _checked(file)
        if target in seen:
            raise InputError(f"{seen[target]} and {option} both name {file!r}; give each a file of its own")
        seen[target] = option


def _checked(file: str) -> Path:
    """The file that the name leads to, which can be written."""
    make_folder(Path(file).parent)
    try:
        os.lstat(file)  # refuses a name that is too long, as `is_dir` does not
        target = Path(file).resolve()
    except FileNotFoundError:
        target = Path(file).resolve()
    except (OSError, ValueError) as error:
        raise _refusal(file, error) from None
    if target.is_dir():
        raise InputError(f"{file!r} is a folder; give the name of a file")
    if not target.exists() or target.is_file():
        _try_to_write(target)
    elif not os.access(target, os.W_OK):  # a device
        raise ModelFileError(f"{file!r} cannot be written to; give another")
    return target


def _try_to_write(target: Path) -> None:
    """Write an empty file beside it, and take that away."""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".kleene-")
        os.close(descriptor)
        os.unlink(temporary)
    except (OSError, ValueError) as error:
        raise _refusal(str(target), error) from None


def _refusal(file: str, error: Exception) -> ModelFileError:
    told = error.strerror if isinstance(error, OSError) else error
    return ModelFileError(f"{file!r} cannot be written: {told}; give another")
