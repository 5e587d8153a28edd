"""Arrays in archives: what they say of their size is believed only where it fits."""

import io
import zipfile

import numpy as np
import pytest

from kleene.errors import ModelFileError
from kleene.traces import Trace
from kleene.traces.storage import pack, unpack


def archive(*parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as opened:
        for number, part in enumerate(parts):
            opened.writestr(f"arr_{number}.npy", part)
    return stream.getvalue()


def as_npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def test_the_same_arrays_give_the_same_file_and_numpy_reads_it():
    arrays = [np.arange(6).reshape(2, 3), np.array(1.5), np.array([True, False])]
    assert pack(arrays) == pack(arrays)
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(unpack(pack(arrays)), arrays, strict=True))
    assert len(np.load(io.BytesIO(pack(arrays))).files) == 3


def test_an_archive_that_unpacks_to_more_than_the_bound_is_refused_by_its_directory():
    small = archive(as_npy(np.zeros(1_000_000, np.uint8)))
    assert len(small) < 5_000
    with pytest.raises(ValueError, match="it unpacks to 1,000,128 bytes, and at most 10,000 are read"):
        unpack(small, most=10_000)


def test_the_bound_of_a_trace_is_a_gibibyte(tmp_path):
    size = (1_600_000_000).to_bytes(4, "little")  # as its directory says; all that comes is refused by that
    bomb = archive(as_npy(np.zeros(100_000, np.uint8))).replace((100_128).to_bytes(4, "little"), size)
    (tmp_path / "bomb.npz").write_bytes(bomb)
    with pytest.raises(ModelFileError, match="it unpacks to 1,600,000,000 bytes, and at most 1,073,741,824 are read"):
        Trace.load(tmp_path / "bomb.npz")


@pytest.mark.parametrize("shape", [(99_999_999_999,), (2**40, 2**40), (4,), (2,)])
def test_an_array_whose_header_says_another_size_than_it_has_is_refused(shape):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<i8", "fortran_order": False, "shape": shape})
    stream.write(np.arange(3).tobytes())
    with pytest.raises(ValueError, match=r"arr_0.npy says that it has [0-9,]+ bytes, which it does not"):
        unpack(archive(stream.getvalue()))


def test_a_directory_that_says_less_than_there_is_gives_no_more():
    content = bytearray(archive(as_npy(np.zeros(100_000, np.uint8))))
    size = (100_128).to_bytes(4, "little")
    content = content.replace(size, (200).to_bytes(4, "little"))
    with pytest.raises((ValueError, zipfile.BadZipFile)):
        unpack(bytes(content))
