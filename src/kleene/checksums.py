"""The seal of a file: a checksum that stands in the file itself, and that every bit of the file goes into.

One mechanism for every format. A writer puts `SEAL` where its format has room for a text: a header, a key of a JSON
object, a comment. `sealed` then writes the SHA-256 of the whole file, taken with zeros in that place, over the zeros.
The same name stands before and after the digits, so that a file whose seal is damaged is still known to have had one.
"""

import codecs
import hashlib
import json
import os
import re
import warnings
from typing import Any

from kleene.errors import InputError, KleeneWarning, ModelFileError
from kleene.files import encoded

MARKS = (b"kleene-sha256:", b":kleene-sha256")
DIGITS = 64
SEAL = f"{MARKS[0].decode()}{'0' * DIGITS}{MARKS[1].decode()}"
WHOLE = re.compile(rb"kleene-sha256:([0-9a-f]{64}):kleene-sha256")


class UnsealedWarning(KleeneWarning):
    """A file without a checksum was read: nobody can tell whether it is as it was written."""


def sealed(content: bytes | str) -> bytes:
    """The content with its checksum in the place of `SEAL`, which stands there once.

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
    """Whether the file has a seal; refuses one whose content is not what was sealed.

    `by_hand` says that people may have edited the file, and how they can go on.
    """
    content = content.removeprefix(codecs.BOM_UTF8)  # which an editor may have put before it
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
    """Say that a file has no checksum where one was expected."""
    warnings.warn(
        f"{str(path)!r} has no checksum, so damage to it cannot be noticed: an older Kleene or another program wrote "
        f"it. Save it again to give it one.",
        UnsealedWarning,
        stacklevel=2,
    )


def _digest(content: bytes, start: int) -> bytes:
    """The checksum of a file with zeros for the digits that begin at `start`."""
    view = memoryview(content)
    digest = hashlib.sha256(view[:start])
    digest.update(b"0" * DIGITS)
    digest.update(view[start + DIGITS :])
    return digest.hexdigest().encode()
