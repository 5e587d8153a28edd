import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys

import pytest

from kleene.errors import InputError, ModelFileError
from kleene.files import make_folder, parsed_json, read_bytes, write_atomically


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
    os.utime(tmp_path, (0, 0))
    with pytest.raises(ModelFileError, match="folder' cannot be written: Is a directory"):
        write_atomically(tmp_path / "folder", b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]
    assert tmp_path.stat().st_mtime == 0  # nothing was written beside it


def test_json_that_is_nested_too_deeply_is_a_value_error():
    assert parsed_json(b'{"a": [1]}') == {"a": [1]}
    for text in ("[" * 100_000, '{"a":' * 100_000, "{", "9" * 5000, b"\xff"):
        with pytest.raises(ValueError):
            parsed_json(text)


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


def test_a_link_stays_and_the_file_that_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real/file")
    assert write_atomically(tmp_path / "link", b"new") == tmp_path / "link"
    assert os.readlink(tmp_path / "link") == "real/file"
    assert (tmp_path / "real" / "file").read_bytes() == b"new"
    assert not (tmp_path / "real" / "file").is_symlink()


def test_a_link_to_nothing_yet_is_followed_and_one_in_a_circle_refused(tmp_path):
    (tmp_path / "link").symlink_to("later")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "later").read_bytes() == b"new"
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(ModelFileError, match="round' cannot be written: Too many levels"):
        write_atomically(tmp_path / "round", b"new")


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, b"new")
        assert os.read(reader, 10) == b"new"
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert [p.name for p in tmp_path.iterdir()] == ["pipe"]
    finally:
        os.close(reader)


def test_a_file_that_this_process_has_open_is_written_to_where_it_stands(tmp_path):
    with open(tmp_path / "log", "wb", buffering=0) as log:
        log.write(b"before ")
        write_atomically(f"/dev/fd/{log.fileno()}", b"new")
        log.write(b" after")
    assert (tmp_path / "log").read_bytes() == b"before new after"


def test_a_private_device_node_is_written_into_and_stays_one(tmp_path):
    node = tmp_path / "null"
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.close(os.open(node, os.O_WRONLY))
    except OSError:
        pytest.skip("device nodes can be made by root alone, where the file system allows them")
    write_atomically(node, b"new")
    assert stat.S_ISCHR(node.stat().st_mode)


def test_the_permissions_of_a_replaced_file_stay(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "file").chmod(0o600)
    write_atomically(tmp_path / "file", b"new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_what_a_killed_process_left_is_swept_away_and_nothing_else(tmp_path):
    for name in (".kleene-0123456789abcdef.part", ".kleene-notes.part", ".file.x8k2", "mine.part"):
        (tmp_path / name).write_bytes(b"half")
    write_atomically(tmp_path / "file", b"new")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".file.x8k2", ".kleene-notes.part", "file", "mine.part"]


def test_a_temporary_file_that_another_process_still_writes_is_left_alone(tmp_path):
    living = tmp_path / ".kleene-0123456789abcdef.part"
    with open(living, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_atomically(tmp_path / "file", b"new")
        assert living.exists()
    write_atomically(tmp_path / "file", b"newer")
    assert not living.exists()


def test_a_process_killed_while_it_writes_leaves_the_old_file_and_what_the_next_one_sweeps(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    killed = (
        "import os, signal\nfrom kleene.files import write_atomically\n"
        "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"write_atomically({str(tmp_path / 'file')!r}, b'new')"
    )
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == -signal.SIGKILL
    assert (tmp_path / "file").read_bytes() == b"old"
    assert len([*tmp_path.iterdir()]) == 2
    write_atomically(tmp_path / "other", b"new")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "other"]


def test_a_text_with_half_a_character_is_not_written(tmp_path):
    write_atomically(tmp_path / "file", "σ")
    with pytest.raises(InputError, match=r"the text has '\\ud800' in it, which is no character"):
        write_atomically(tmp_path / "file", "a\ud800")
    assert (tmp_path / "file").read_text() == "σ"


def test_a_name_with_a_null_character_is_refused(tmp_path):
    for call in (read_bytes, lambda path: write_atomically(path, b""), make_folder):
        with pytest.raises(ModelFileError, match="null"):
            call(f"{tmp_path}/a\0b")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_not_read(device):
    with pytest.raises(ModelFileError, match=f"'{device}' is a device, which may never end; give a file or a pipe"):
        read_bytes(device)


def test_a_file_larger_than_the_bound_is_refused_before_it_is_read(tmp_path):
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ModelFileError, match="has 1,099,511,627,776 bytes, and at most 5 are read"):
        read_bytes(tmp_path / "sparse", 5)
    with pytest.raises(ModelFileError, match="has 1,099,511,627,776 bytes, and at most"):
        read_bytes(tmp_path / "sparse")
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bytes(tmp_path / "file", 5) == b"12345"


@pytest.mark.parametrize(("brought", "most"), [(b"x" * 3000, 3000), (b"", 0), (b"x" * 3001, 3000)])
def test_a_pipe_is_read_up_to_the_bound(brought, most):
    reader, writer = os.pipe()
    os.write(writer, brought)
    os.close(writer)
    try:
        if len(brought) <= most:
            assert read_bytes(f"/dev/fd/{reader}", most) == brought
        else:
            with pytest.raises(ModelFileError, match="has more bytes, and at most 3,000 are read"):
                read_bytes(f"/dev/fd/{reader}", most)
    finally:
        os.close(reader)
