"""Arrays in one .npz file, without names: packed with a checksum, and unpacked only where they say that they fit."""

import io
import math
import zipfile
from collections.abc import Iterator, Sequence

import numpy as np

from kleene.checksums import SEAL, sealed

END = 22  # bytes of the record at the end of an archive, whose last two are the length of the comment
MOST_UNPACKED = 1 << 30  # bytes of all arrays together


def pack(arrays: Sequence[np.ndarray]) -> bytes:
    """The arrays as an .npz file, which `numpy.load` reads as well; the checksum is the archive's comment.

    They are numbered, not named: a channel may be called "file", or anything else that numpy or zip would trip over.
    The same arrays give the same file: it has no times.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number, array in enumerate(arrays):
            part = io.BytesIO()
            np.lib.format.write_array(part, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"arr_{number}.npy"), part.getbuffer(), zipfile.ZIP_DEFLATED)
        archive.comment = SEAL.encode()
    return sealed(stream.getvalue())


def unpack(content: bytes, most: int = MOST_UNPACKED) -> list[np.ndarray]:
    """The arrays of an .npz file, by number; a ValueError where they would take more than `most` bytes.

    What the archive's directory and each array's header say is added up before anything is unpacked.

    >>> [array.tolist() for array in unpack(pack([np.arange(3), np.ones(1)]))]
    [[0, 1, 2], [1.0]]
    """
    _check_end(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        size = sum(part.file_size for part in parts)
        if size > most:
            raise ValueError(f"it unpacks to {size:,} bytes, and at most {most:,} are read")
        by_name = {part.filename: part for part in parts}
        return list(_arrays(archive, by_name, len(parts)))


def _check_end(content: bytes) -> None:
    """Refuse an archive whose comment, where the checksum is, is not as long as it says; zipfile takes it."""
    end = content.rfind(b"PK\5\6")
    if end < 0 or end + END + int.from_bytes(content[end + END - 2 : end + END], "little") != len(content):
        raise ValueError("it is no .npz file, or cut short")


def _arrays(archive: zipfile.ZipFile, parts: dict[str, zipfile.ZipInfo], count: int) -> Iterator[np.ndarray]:
    for number in range(count):
        part = parts[f"arr_{number}.npy"]
        with archive.open(part) as stream:
            _check_header(stream, part)
        # The archive gives no more than the size that its directory says.
        yield np.lib.format.read_array(io.BytesIO(archive.read(part)), allow_pickle=False)


def _check_header(stream, part: zipfile.ZipInfo) -> None:
    """Refuse an array whose header says another size than the directory: numpy makes it before it reads it."""
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{part.filename} is of version {version}, and 1.0 or 2.0 was expected")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError(f"{part.filename} holds Python objects, which may run code and so are never read")
    size = math.prod(shape) * dtype.itemsize
    if size != part.file_size - stream.tell():
        raise ValueError(f"{part.filename} says that it has {size:,} bytes, which it does not")
