"""Folders that appear in one step: written beside their place under another name, and moved there when whole."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from kleene.errors import InputError, ModelFileError
from kleene.files import parsed_json, write_atomically

FORMAT = "kleene export"


def write_folder(folder: str | os.PathLike, files: Mapping[str, bytes | str]) -> Path:
    """Write the files into a new folder and return its path; an earlier export is replaced, anything else is not."""
    target = Path(folder)
    check_place(target)
    temporary = target.parent / f".kleene-{secrets.token_hex(8)}.export"
    try:
        temporary.mkdir(parents=True)
        for name, content in files.items():
            write_atomically(temporary / name, content)
        _move(temporary, target)
    except OSError as error:
        raise ModelFileError(f"the folder {str(target)!r} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def check_place(target: Path) -> None:
    """Refuse a place that holds something else than an earlier export."""
    try:
        if not target.exists() and not target.is_symlink():
            return
        held = sorted(os.listdir(target)) if target.is_dir() else None
    except (OSError, ValueError) as error:
        raise ModelFileError(f"the folder {str(target)!r} cannot be used: {error}") from None
    if held is None:
        raise InputError(f"{str(target)!r} is a file, and an export is a folder; give another name")
    if held and not _is_export(target, held):
        raise InputError(
            f"the folder {str(target)!r} holds something else, such as {held[0]!r}, and is left alone; give a new one"
        )


def _is_export(target: Path, held: list[str]) -> bool:
    """Whether a folder has an export of ours and nothing besides, but what running it leaves."""
    try:
        config = parsed_json((target / "config.json").read_text(encoding="utf-8"))
        return config["format"] == FORMAT and set(held) <= {*config["files"], "__pycache__"}
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _move(temporary: Path, target: Path) -> None:
    old = target.parent / f".kleene-{secrets.token_hex(8)}.export"
    with contextlib.suppress(FileNotFoundError):
        os.rename(target, old)
    try:
        os.rename(temporary, target)
    except OSError:
        if old.exists():
            os.rename(old, target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
