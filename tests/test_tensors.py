import json
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save

from kleene.errors import ModelFileError
from kleene.tensors import read_tensors, write_tensors

DTYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8]

shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
arrays = st.dictionaries(
    st.text(min_size=1, max_size=6), st.sampled_from(DTYPES).flatmap(lambda d: hnp.arrays(d, shapes)), max_size=4
)
headers = st.dictionaries(st.text(max_size=4).map("h{}".format), st.integers() | st.text(max_size=5) | st.booleans())


@given(arrays, headers)
def test_arrays_and_header_come_back_as_they_were(tmp_path_factory, given_arrays, header):
    path = tmp_path_factory.mktemp("tensors") / "x.safetensors"
    assert write_tensors(path, "test", header, given_arrays) == path
    found_header, found = read_tensors(path, "test")
    assert found_header == {"kind": "test"} | header
    assert set(found) == set(given_arrays)
    for name, array in given_arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def test_bfloat16_comes_back(tmp_path):
    array = np.array([[1.5, -2.0], [0.0, 3.140625]], dtype=ml_dtypes.bfloat16)
    write_tensors(tmp_path / "x", "test", {}, {"a": array})
    found = read_tensors(tmp_path / "x", "test")[1]["a"]
    assert found.dtype == ml_dtypes.bfloat16
    assert np.array_equal(found, array)


TABLE = np.arange(16, dtype=np.float32).reshape(4, 4)


@pytest.mark.parametrize("array", [TABLE.T, TABLE[::2], TABLE[:, 1:], np.broadcast_to(TABLE[0], (3, 4))])
def test_a_view_is_written_as_what_it_shows(tmp_path, array):
    write_tensors(tmp_path / "x", "test", {}, {"a": array})
    assert np.array_equal(read_tensors(tmp_path / "x", "test")[1]["a"], array)


def test_what_was_read_can_be_changed(tmp_path):
    write_tensors(tmp_path / "x", "test", {}, {"a": np.zeros(3)})
    found = read_tensors(tmp_path / "x", "test")[1]["a"]
    found[1] = 7
    assert found.tolist() == [0, 7, 0]


def test_a_file_of_another_kind_is_refused_naming_both(tmp_path):
    write_tensors(tmp_path / "x", "rule set", {}, {"a": np.zeros(3)})
    with pytest.raises(ModelFileError, match="holds a rule set, and a universal transformer was expected"):
        read_tensors(tmp_path / "x", "universal transformer")


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path):
    path = write_tensors(tmp_path / "x", "test", {"version": 1}, {"a": np.arange(5.0), "b": np.arange(3)})
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match="make it again"):
            read_tensors(path, "test")


KLEENE = {"kleene": json.dumps({"kind": "test"})}


def packed(header: bytes, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header)) + header + data


def described(dtype: str, shape: list[int], offsets: list[int]) -> bytes:
    """A file of ours with one array of four bytes, described as given."""
    array = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
    return packed(json.dumps({"__metadata__": KLEENE, "a": array}).encode(), b"0000")


@pytest.mark.filterwarnings("ignore:.* has no checksum")
def test_a_file_described_rightly_is_read(tmp_path):
    (tmp_path / "x").write_bytes(described("I32", [1], [0, 4]))
    assert read_tensors(tmp_path / "x", "test")[1]["a"].tobytes() == b"0000"


@pytest.mark.filterwarnings("ignore:.* has no checksum")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        b"\xff" * 100,
        packed(b"not json"),
        packed(b"\xff\xfe"),
        packed(b"[" * 100_000),
        packed(b"[]"),
        packed(b"null"),
        packed(b"{}"),
        packed(b'{"__metadata__": {}}'),
        packed(b'{"__metadata__": {"kleene": 3}}'),
        packed(b'{"__metadata__": {"kleene": "[]"}}'),
        save({"a": np.zeros(3)}),
        save({"a": np.zeros(3)}, {"kleene": "{"}),
        save({"a": np.zeros(3, np.int16)}, KLEENE),
        described("F32", [2], [0, 4]),
        described("F32", [-1], [0, 4]),
        described("F32", [2**62], [0, 4]),
        described("F32", [1], [4, 0]),
        described("F99", [1], [0, 4]),
        described("", [], []),
        packed(json.dumps({"__metadata__": KLEENE, "a": 3}).encode()),
        *(packed(json.dumps({"weight_hh_l0": {"shape": odd}}).encode()) for odd in (3, None, [], [None, 2], ["8", 2])),
        packed(b'{"weight_hh_l0": 3}'),
    ],
)
def test_a_foreign_or_damaged_file_is_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"is not a file that Kleene wrote|is damaged or cut short"):
        read_tensors(tmp_path / "x", "test")


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(ModelFileError, match=r"there is no file '.*x'"):
        read_tensors(tmp_path / "x", "test")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_tensors(tmp_path, "test")
