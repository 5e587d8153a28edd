import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.errors import ModelFileError
from kleene.programs.alta.library import parity
from kleene.traces import Channel, Trace
from kleene.traces.storage import as_json
from tests.traces.strategies import small_trace, traces

GOLDEN = Path(__file__).with_name("golden_parity.json")


def assert_the_same(first: Trace, second: Trace) -> None:
    """Not only equal but alike to the last bit."""
    assert first.difference(second) is None
    assert (first.channels, first.axes, first.source) == (second.channels, second.axes, second.source)
    for name, array in first.data.items():
        assert array.dtype == second[name].dtype
        assert np.array_equal(array, second[name], equal_nan=array.dtype.kind == "f")


@settings(max_examples=150)
@given(trace=traces(), ending=st.sampled_from(["json", "npz"]))
def test_a_saved_trace_comes_back_to_the_last_bit(tmp_path_factory, trace, ending):
    path = tmp_path_factory.mktemp("traces") / f"trace.{ending}"
    trace.save(path)
    assert_the_same(trace, Trace.load(path))


@given(traces())
def test_json_has_null_for_undefined_numbers_and_no_words_that_other_readers_refuse(trace):
    text = json.dumps(as_json(trace), allow_nan=False)
    assert_the_same(trace, Trace.from_json(json.loads(text)))


def test_json_says_steps_and_output_for_other_programs():
    content = as_json(small_trace([[1, 2], [3, 4]]))
    assert (content["steps"], content["output"], content["halted"]) == (1, [3, 4], True)
    assert content["data"]["tenth"] == [[0.1, 0.2], [0.3, 0.4]]


@pytest.mark.parametrize("name", ["file", "allow_pickle", "arr_0", "x.npy", "//header", "a/b", "\x00", "é·"])
def test_a_channel_may_have_any_name(tmp_path, name):
    channels = (Channel("x", "category", 2), Channel(name, "category", 2))
    trace = Trace(channels, {"x": np.zeros((1, 2), np.int32), name: np.ones((1, 2), np.int32)})
    trace.save(tmp_path / "trace.npz")
    assert_the_same(trace, Trace.load(tmp_path / "trace.npz"))


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_folders_on_the_way_to_the_file_are_made(tmp_path, ending):
    path = tmp_path / "a" / "b" / f"trace.{ending}"
    small_trace([[1]]).save(path)
    assert Trace.load(path) == small_trace([[1]])


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match=r"saved as \.json or \.npz, and 'trace\.txt' is neither"):
        small_trace([[1]]).save(tmp_path / "trace.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_missing_file_is_refused_by_name(tmp_path, ending):
    with pytest.raises(ModelFileError, match=rf"there is no file .*nowhere\.{ending}"):
        Trace.load(tmp_path / f"nowhere.{ending}")


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_folder_is_refused(tmp_path, ending):
    folder = tmp_path / f"folder.{ending}"
    folder.mkdir()
    with pytest.raises(ModelFileError, match="cannot be read"):
        Trace.load(folder)


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path, ending):
    path = tmp_path / f"trace.{ending}"
    small_trace([[1, 2], [3, 4]]).save(path)
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"does not hold a trace that Kleene wrote|is damaged or cut short"):
            Trace.load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[]", b"3", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"channels": 3}', b'{"format": "other/1"}'],
)
@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_foreign_file_is_refused(tmp_path, content, ending):
    path = tmp_path / f"trace.{ending}"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="does not hold a trace that Kleene wrote"):
        Trace.load(path)


def spoiled(**changes) -> dict:
    return json.loads(json.dumps(as_json(small_trace([[1, 2], [3, 4]])))) | changes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (spoiled(format="kleene.trace/2"), "the format is 'kleene.trace/2', expected 'kleene.trace/1'"),
        (spoiled(data={"code": [[1, 2], [3, 4]]}), "the data of channel 'tenth' is missing"),
        (spoiled(data=[1]), "does not hold a trace"),
        (spoiled(channels=[], data={}), "it has no channels"),
        (spoiled(channels=[{"name": "code", "kind": "colour"}]), "kind 'colour'"),
        (spoiled(data={"code": [[1, 2], [3]], "tenth": [[0, 0], [0, 0]]}), "inhomogeneous"),
        (spoiled(data={"code": [[1, 2], [3, 4]], "tenth": [[0.0, 0.0]]}), r"'tenth' is float64 of shape \(1, 2\)"),
        (spoiled(data={"code": [1, 2], "tenth": [0.0, 0.0]}), "its axes are step, position"),
        (spoiled(axes=["step", 7]), r"its axes are \['step', 7\], and names were expected"),
        (spoiled(data={"code": [], "tenth": []}, axes=["step"]), r"its data has the shape \(0,\)"),
        (spoiled(data={"code": [[10**30]], "tenth": [[0.0]]}), "does not hold a trace"),
        (spoiled(data={"code": [["one"]], "tenth": [[0.0]]}), "'one'"),
        (spoiled(output_name="parity"), "the output 'parity' is not one of its channels"),
    ],
)
def test_what_is_wrong_inside_a_json_file_is_said(tmp_path, content, message):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match=message):
        Trace.load(path)


class Trap:
    """An object whose unpickling leaves a mark."""

    def __reduce__(self):
        return (Path.touch, (Path("sprung"),))


def test_an_npz_file_with_a_pickled_object_is_refused_and_nothing_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_trace([[1]]).save("trace.npz")
    with zipfile.ZipFile("trace.npz") as old, zipfile.ZipFile("trap.npz", "w") as new:
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.array([[Trap()]], dtype=object), allow_pickle=True)
        for name in old.namelist():
            new.writestr(name, stream.getvalue() if name == "arr_1.npy" else old.read(name))
    with pytest.raises(ModelFileError, match="holds Python objects, which may run code"):
        Trace.load("trap.npz")
    assert not Path("sprung").exists()


def test_a_pickle_with_the_ending_npz_is_refused_and_nothing_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("trap.npz").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelFileError):
        Trace.load("trap.npz")
    assert not Path("sprung").exists()


@pytest.mark.filterwarnings("ignore:.* has no checksum")
def test_the_golden_trace_is_parity_carried_along_from_the_left():
    golden = Trace.load(GOLDEN)
    assert golden.channel("parity_left").per_step
    assert golden["done"].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert golden["parity"].tolist() == [[1, 0, 1], [1, 1, 1], [1, 1, 0]]
    assert golden["parity_left"].tolist() == [[-1, -1, -1], [1, 1, 0], [1, 1, 1]]
    assert golden.halted


@pytest.mark.filterwarnings("ignore:.* has no checksum")
@pytest.mark.parametrize("make", [lambda program: program, kleene.compile], ids=["program", "network"])
def test_program_and_network_reproduce_the_golden_trace(make):
    found = make(parity.absolute(positions=8)).run([1, 0, 1])
    assert Trace.load(GOLDEN).difference(found) is None
