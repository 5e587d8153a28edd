"""Files are replaced in one step, so that nobody ever reads half of one, and read within bounds.

A file has a seal: a checksum of all its bytes, stored in the file itself. All formats share this mechanism. A writer
puts `SEAL` where its format has room for a string: a header, a key of a JSON object, a comment. `sealed` computes the
SHA-256 of the whole file with zeros in that place, and writes it over the zeros. The digits have a mark before and
after them, so that a damaged seal is still recognised as a seal.
"""

import codecs
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import stat
import warnings
from pathlib import Path
from typing import Any

from kleene.errors import InputError, KleeneWarning, ModelFileError, ProgramError
from kleene.limits import usable_memory

MOST_BYTES = 64 << 30  # of a regular file, if there is enough memory
MOST_STREAMED = 1 << 30  # of a pipe, whose length is not known
MOST_TEXT = 64 << 20  # of a program, an automaton or a JSON trace, which are read as a whole
CHUNK = 1 << 20
# A temporary file of ours, in the folder of the file that it will become.
TEMPORARY = re.compile(r"\.kleene-[0-9a-f]{16}\.part")


def read_bytes(path: str | os.PathLike, most: int | None = None) -> bytes:
    """The bytes of a file, at most `most`; a pipe is read to its end, and a device is refused.

    Without `most`, a regular file may be as large as the memory that can be used, and a pipe 1 GiB.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            return _read(str(path), file, os.fstat(file.fileno()), most)
    except FileNotFoundError:
        raise ModelFileError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise ModelFileError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except ValueError as error:  # a null character in the name
        raise ModelFileError(f"{str(path)!r} cannot be read: {error}") from None


def parsed_json(text: str | bytes) -> Any:
    """The value that a text in JSON spells. A ValueError says what is wrong with a text, whatever it is.

    >>> parsed_json("[" * 200_000)
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def check_source(path: str | os.PathLike, most: int) -> None:
    """Refuse a device, and a regular file of more than `most` bytes. A missing file is left to the reader."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return
    _refuse_device(str(path), status)
    if stat.S_ISREG(status.st_mode) and status.st_size > most:
        raise _too_large(str(path), most, f"{status.st_size:,}")


def _read(name: str, file, status: os.stat_result, most: int | None) -> bytes:
    _refuse_device(name, status, file.isatty())
    regular = stat.S_ISREG(status.st_mode)
    bound = (min(MOST_BYTES, usable_memory()) if regular else MOST_STREAMED) if most is None else most
    if status.st_size > bound:
        raise _too_large(name, bound, f"{status.st_size:,}")
    parts, held = [], 0
    while part := file.read(min(max(CHUNK, status.st_size - held), bound + 1 - held)):
        parts.append(part)
        held += len(part)
        if held > bound:  # a pipe, or a file that grows as it is read
            raise _too_large(name, bound, "more")
    return b"".join(parts)


def _refuse_device(name: str, status: os.stat_result, terminal: bool = False) -> None:
    if stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not terminal):
        raise ModelFileError(f"{name!r} is a device, which may never end; give a file or a pipe")


def _too_large(name: str, most: int, size: str) -> ModelFileError:
    return ModelFileError(f"{name!r} is too large: it has {size} bytes, and at most {most:,} are read")


def write_atomically(path: str | os.PathLike, content: bytes | str) -> Path:
    """Write the content and return the path: a temporary file beside it is written, then moved into place in one step.

    A link stays, and the file behind it is replaced. A device or a pipe is written to directly. A string is written as
    UTF-8.
    """
    target = Path(path)
    data = encoded(content) if isinstance(content, str) else content
    try:
        straight = _opened_straight(target)
        if straight is None:
            _replace(Path(os.path.realpath(target)), data)
        else:
            with os.fdopen(straight, "wb") as file:
                file.write(data)
        return target
    except OSError as error:
        raise ModelFileError(f"{str(target)!r} cannot be written: {error.strerror}") from error
    except ValueError as error:  # a null character in the name
        raise ModelFileError(f"{str(target)!r} cannot be written: {error}") from None


def encoded(text: str) -> bytes:
    """The string in UTF-8; refuses a lone surrogate, which JSON can contain.

    >>> encoded("σ")
    b'\\xcf\\x83'
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        odd = text[error.start : error.end]
        raise InputError(
            f"the text has {odd!r} in it, which is no character and cannot be written; change it"
        ) from None


def make_folder(path: str | os.PathLike) -> Path:
    """Make the folder unless it exists, and return its path; refuses one that cannot be written to."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelFileError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from error
    except ValueError as error:
        raise ModelFileError(f"the folder {str(folder)!r} cannot be made: {error}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ModelFileError(f"the folder {str(folder)!r} cannot be written to; give another")
    return folder


def _opened_straight(target: Path) -> int | None:
    """A descriptor of a target that must not be replaced: a device, a pipe, or a file that this process has open."""
    link = target
    for _ in range(40):  # Linux follows at most 40 links
        own = re.fullmatch(rf"/proc/{os.getpid()}/fd/(\d+)", f"{os.path.realpath(link.parent)}/{link.name}")
        if own:  # /dev/stdout, /dev/fd/3: continue at the current position, as `>> file` expects
            return os.dup(int(own[1]))
        if not link.is_symlink():
            break
        link = link.parent / os.readlink(link)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else os.open(target, os.O_WRONLY)


def _replace(target: Path, data: bytes) -> None:
    if target.is_dir():  # its own folder is not to be written to
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target.parent)
    descriptor, temporary = _new_temporary(target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:  # the lock lasts until the file is closed
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.chmod(temporary, _mode(target))
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _new_temporary(folder: Path) -> tuple[int, Path]:
    """A new file in the folder, open and locked: the lock shows that a living process still writes it."""
    while True:
        temporary = folder / f".kleene-{secrets.token_hex(8)}.part"
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):  # without locks, nothing is ever swept
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, temporary
        os.close(descriptor)  # another process swept it before it was locked


def _sweep(folder: Path) -> None:
    """Remove the temporary files that killed processes left in the folder."""
    with contextlib.suppress(OSError):  # a folder may be writable and not readable
        for name in filter(TEMPORARY.fullmatch, os.listdir(folder)):
            _remove_abandoned(folder / name)


def _remove_abandoned(temporary: Path) -> None:
    try:
        descriptor = os.open(temporary, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return  # it belongs to another user, or is gone
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            temporary.unlink(missing_ok=True)
    except OSError:
        pass  # another process is writing it
    finally:
        os.close(descriptor)


def _mode(target: Path) -> int:
    """The permissions of the existing file, or those that the umask gives a new one."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


MARKS = (b"kleene-sha256:", b":kleene-sha256")
DIGITS = 64
SEAL = f"{MARKS[0].decode()}{'0' * DIGITS}{MARKS[1].decode()}"
WHOLE = re.compile(rb"kleene-sha256:([0-9a-f]{64}):kleene-sha256")


class UnsealedWarning(KleeneWarning):
    """A file without a checksum was read, so damage to it cannot be noticed."""


def sealed(content: bytes | str) -> bytes:
    """The content with its checksum in the place of `SEAL`, which must occur once.

    >>> sealed(f"// {SEAL}\\nstart even").startswith(b"// kleene-sha256:5f8b")
    True
    """
    if isinstance(content, str):
        content = encoded(content)
    if any(content.count(mark) != 1 for mark in MARKS):
        raise InputError(f"a name or a text has {MARKS[0].decode()!r} in it, which marks a file's checksum; change it")
    start = content.index(MARKS[0]) + len(MARKS[0])
    return content[:start] + _digest(content, start) + content[start + DIGITS :]


def sealed_json(content: dict[str, Any], **options: Any) -> bytes:
    """The object as JSON with its checksum; options are those of `json.dumps`."""
    return sealed(json.dumps({"checksum": SEAL} | content, **options))


def check_seal(path: str | os.PathLike, content: bytes, *, by_hand: bool = False) -> bool:
    """Whether the file has a seal; refuses a file whose content does not match its seal.

    With `by_hand`, people may have edited the file, and the error says how they can go on.
    """
    content = content.removeprefix(codecs.BOM_UTF8)  # an editor may have added it
    found = list(WHOLE.finditer(content))
    if not found and not any(mark in content for mark in MARKS):
        return False
    if len(found) != 1 or found[0][1] != _digest(content, found[0].start(1)):
        edited = "; or, if you changed it on purpose, remove its checksum" if by_hand else ""
        raise ModelFileError(
            f"{str(path)!r} is damaged or cut short: its content does not have the checksum that was stored with it. "
            f"Take a copy of it, or make it again{edited}"
        )
    return True


def warn_unsealed(path: str | os.PathLike) -> None:
    """Warn that a file has no checksum although one was expected."""
    warnings.warn(
        f"{str(path)!r} has no checksum, so damage to it cannot be noticed: an older Kleene or another program wrote "
        f"it. Save it again to give it one.",
        UnsealedWarning,
        stacklevel=2,
    )


def _digest(content: bytes, start: int) -> bytes:
    """The checksum of a file whose digits from `start` on count as zeros."""
    view = memoryview(content)
    digest = hashlib.sha256(view[:start])
    digest.update(b"0" * DIGITS)
    digest.update(view[start + DIGITS :])
    return digest.hexdigest().encode()


def read_program_text(path: Path) -> str:
    """The text of a program in a file that people write by hand; a checksum is verified if the file has one."""
    content = read_bytes(path, MOST_TEXT)
    check_seal(path, content, by_hand=True)
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ProgramError(f"{str(path)!r} is not a text in UTF-8") from None
