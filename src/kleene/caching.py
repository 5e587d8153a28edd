"""Compiled programs are kept in the user's cache folder, so that only the first run compiles.

This is jax's persistent compilation cache with another store of files. jax computes the keys (from the program, its
options, the versions, the processor) and asks the store. jax's own store needs another package to have a bound, leaves
half an entry when a process is killed, and never replaces a damaged one. `CompiledPrograms` has a bound, moves
whole files into place, and checks each entry by its SHA-256.

`$KLEENE_CACHE` names the folder; without it, the folder is `$XDG_CACHE_HOME/kleene` or `~/.cache/kleene`.
`KLEENE_CACHE=off` turns the cache off. A `jax_compilation_cache_dir` of the user's own is left alone.
"""

import contextlib
import hashlib
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any

MOST_BYTES = 256 << 20  # of all entries
ENTRY, PART = ".compiled", ".part"  # the suffixes of entries, and of entries that are being written
ABANDONED = 3600.0  # seconds after which a part counts as abandoned
_JAX_CAME_FIRST = "jax" in sys.modules  # this module is imported with `kleene`


class CompiledPrograms:
    """A folder of entries, each checked by its SHA-256; the least recently used ones are evicted first.

    A store never raises: an entry that cannot be read is compiled again, and one that cannot be written is not kept.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES):
        self._path = folder  # jax reads this name
        self._most_bytes = most_bytes
        self._left: int | None = None  # free bytes, as far as this process knows

    def get(self, key: str) -> bytes | None:
        """The entry of a key, or None if there is none. A damaged entry is removed."""
        file = self._file(key)
        try:
            content = file.read_bytes()
        except OSError:
            return None
        digest, value = content[:32], content[32:]
        with contextlib.suppress(OSError):
            if hashlib.sha256(value).digest() != digest:
                file.unlink()
                return None
            os.utime(file)  # used now
        return value

    def put(self, key: str, value: bytes) -> None:
        """Keep an entry, if it can be written and is not larger than a quarter of the bound."""
        if len(value) > self._most_bytes // 4:
            return
        part = self._path / f"{secrets.token_hex(8)}{PART}"
        with contextlib.suppress(OSError):
            try:
                part.write_bytes(hashlib.sha256(value).digest() + value)
                part.replace(self._file(key))
            except OSError:
                part.unlink()
                raise
            self._left = self._measure() if self._left is None else self._left - len(value)
            if self._left < 0:
                self._evict()

    def _file(self, key: str) -> Path:
        return (
            self._path / f"{hashlib.sha256(key.encode()).hexdigest()}{ENTRY}"
        )  # a key may be too long for a file name

    def _measure(self) -> int:
        return self._most_bytes - sum(file.stat().st_size for file in self._path.glob(f"*{ENTRY}"))

    def _evict(self) -> None:
        """Remove abandoned parts, and the oldest entries until a quarter of the bound is free."""
        for part in self._path.glob(f"*{PART}"):
            if time.time() - part.stat().st_mtime > ABANDONED:
                part.unlink(missing_ok=True)
        statuses = [(file.stat(), file) for file in self._path.glob(f"*{ENTRY}")]
        found = [(status.st_mtime, status.st_size, file) for status, file in statuses]
        self._left = self._most_bytes - sum(size for _, size, _ in found)
        for _, size, file in sorted(found):
            if self._left >= self._most_bytes // 4:
                break
            file.unlink(missing_ok=True)
            self._left += size


def cache_folder() -> Path | None:
    """Kleene's cache folder, or None if `KLEENE_CACHE=off`."""
    own, shared = os.environ.get("KLEENE_CACHE"), os.environ.get("XDG_CACHE_HOME", "")
    if own:
        return None if own.lower() == "off" else Path(own).expanduser().absolute()
    return (Path(shared) if os.path.isabs(shared) else Path("~/.cache").expanduser()) / "kleene"


def keep_compiled_programs(folder: Path | None = None, most_bytes: int = MOST_BYTES) -> Path | None:
    """Let jax keep compiled programs, and return the folder; None if nothing is kept.

    The folder is Kleene's own unless one is given. Nothing is kept if the user has set jax's cache, if the folder
    cannot be made, if others can write to it (an entry is code that is run), or if this jax takes no other store.
    """
    import jax
    from jax._src import compilation_cache

    folder, settings = cache_folder() if folder is None else folder, jax.config.values
    if folder is None or settings["jax_compilation_cache_dir"] or not settings["jax_enable_compilation_cache"]:
        return None
    path, otherwise = folder / "compiled", getattr(compilation_cache, "get_file_cache", None)
    if otherwise is None or not _is_private(path):
        return None

    def get_file_cache(asked: str) -> Any:
        """jax calls this at the first compilation, with the folder that is set then."""
        return (CompiledPrograms(path, most_bytes), asked) if asked == str(path) else otherwise(asked)

    compilation_cache.get_file_cache = get_file_cache
    jax.config.update("jax_compilation_cache_dir", str(path))
    # Kleene runs many small programs, and by default jax keeps only those that took a second to compile.
    # XLA's own caches have no bound.
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_enable_xla_caches", "none")
    return path


def private_folder(name: str) -> Path | None:
    """A folder of Kleene's cache that only this user can write to, made if need be; None if there is none."""
    folder = cache_folder()
    return folder / name if folder is not None and _is_private(folder / name) else None


def keep_compiled_programs_unless_jax_came_first() -> None:
    """Keep compiled programs, unless jax was imported first: its settings then belong to the user's own program."""
    if not _JAX_CAME_FIRST:
        keep_compiled_programs()


def _is_private(folder: Path) -> bool:
    """Make the folder; whether it exists, belongs to this user, and neither group nor others can write to it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, ValueError):
        return False
    return status.st_uid == os.getuid() and not status.st_mode & 0o022 and os.access(folder, os.W_OK | os.X_OK)
