import errno
import os
import stat

import pytest

from kleene.errors import ModelFileError
from kleene.files import make_folder, read_bytes, write_atomically


def test_what_was_written_is_read_back(tmp_path):
    path = write_atomically(tmp_path / "a" / "b.bin", b"\x00content")
    assert path == tmp_path / "a" / "b.bin"
    assert read_bytes(path) == b"\x00content"
    assert [p.name for p in path.parent.iterdir()] == ["b.bin"]


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old and long")
    write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"


def test_a_relative_name_is_written_where_one_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomically("file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


def test_the_file_may_be_read_by_whom_the_umask_lets(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", b"")
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


@pytest.mark.parametrize("stage", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_error_in_the_middle_leaves_the_old_file_and_no_temporary_one(tmp_path, monkeypatch, stage, error):
    def fail(*arguments):
        raise error

    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, stage, fail)
    with pytest.raises((ModelFileError, KeyboardInterrupt)):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_is_said_in_words_that_name_the_file(tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ModelFileError, match="file' cannot be written: No space left on device"):
        write_atomically(tmp_path / "file", b"new")


def test_a_folder_cannot_be_written_over(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(ModelFileError, match="folder' cannot be written: Is a directory"):
        write_atomically(tmp_path / "folder", b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_a_file_cannot_be_a_folder_on_the_way(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(ModelFileError, match="cannot be written"):
        write_atomically(tmp_path / "file" / "below", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"there is no file '.*nowhere'"):
        read_bytes(tmp_path / "nowhere")


def test_a_folder_cannot_be_read(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read: Is a directory"):
        read_bytes(tmp_path)


def test_a_folder_is_made_and_one_that_cannot_be_is_refused(tmp_path):
    assert make_folder(tmp_path / "a" / "b").is_dir()
    assert make_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_bytes(b"")
    for place in ("file", "file/inside"):
        with pytest.raises(ModelFileError, match="cannot be made"):
            make_folder(tmp_path / place)
