"""Files of Kleene changed by a test: without their checksum, or with one that fits the change."""

from kleene.errors import InputError
from kleene.files import SEAL, WHOLE, sealed


def without_seal(content: bytes) -> bytes:
    """The file as an older Kleene wrote it, spaces in the checksum's place."""
    return WHOLE.sub(b" " * len(SEAL), content)


def resealed(content: bytes) -> bytes:
    """The file with the checksum of what it holds now, so that a reader looks at the change itself."""
    try:
        return sealed(WHOLE.sub(SEAL.encode(), content))
    except InputError:  # it has no checksum, or two
        return content
