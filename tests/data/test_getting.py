"""Fetching data sets from a server on this machine, which fails in every way that servers do."""

import hashlib
import io
import os
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from kleene.data.catalog import DATA_SETS, DataFile, DataSet, Download
from kleene.data.folders import holding
from kleene.data.getting import FetchError, get
from kleene.errors import ModelFileError
from tests.data.serving import serving

ROOT = Path(__file__).parents[2]
TEXT = bytes(range(256)) * 12_000  # about 3 MB: three blocks
SMALL = b"a licence\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def small_set(*places: str, sized: bool = True) -> DataSet:
    """A data set of two files, which are published under each of these URLs."""
    files = tuple(DataFile(name, len(c), sha256(c)) for name, c in (("LICENSE", SMALL), ("text.txt", TEXT)))
    downloads = tuple(
        Download(f.name, tuple(f"{p}/{f.name}" for p in places), f"sha256:{f.sha256}", f.size if sized else None)
        for f in files
    )
    return DataSet("small", "A small set", "Nobody 2024", "CC0", "nowhere", "nothing", files, downloads)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path / "own"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "own" / "small"


@pytest.fixture
def server():
    with serving({"/LICENSE": SMALL, "/text.txt": TEXT}) as running:
        yield running


def test_all_files_are_fetched_and_nothing_is_left_beside_them(folder, server):
    told: list = []
    done = get(small_set(server.url), progress=lambda *args: told.append(args))
    assert (folder / "text.txt").read_bytes() == TEXT
    assert sorted(file.name for file in folder.iterdir()) == ["LICENSE", "text.txt"]
    assert done.fetched == ("LICENSE", "text.txt")
    assert told[-1] == ("text.txt", len(TEXT), len(TEXT))
    assert "licence: CC0" in str(done)
    asked = len(server.asked)
    assert get(small_set(server.url)).fetched == ()
    assert len(server.asked) == asked


@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize("says_length", [True, False])
def test_of_a_connection_that_ends_nothing_is_kept(folder, server, sized, says_length):
    server.says_length, server.ends_after = says_length, 1_500_000
    reason = "the connection ended after 1,500,000 of 3,072,000 bytes" if says_length else "its checksum is wrong"
    with pytest.raises(FetchError, match=reason):  # without a length, an end is not told from the end
        get(small_set(server.url, sized=sized))
    assert [file.name for file in folder.iterdir()] == ["LICENSE"]
    server.ends_after = None
    assert get(small_set(server.url, sized=sized)).fetched == ("text.txt",)
    assert (folder / "text.txt").read_bytes() == TEXT


def test_of_a_process_that_is_killed_in_the_middle_nothing_is_kept_and_another_does_not_wait_for_it(folder, server):
    script = (
        "import sys, time\n"
        "from tests.data.test_getting import small_set\nfrom kleene.data.getting import get\n"
        "def told(name, held, total):\n    if name == 'text.txt': print(held, flush=True); time.sleep(60)\n"
        "get(small_set(sys.argv[1]), progress=told)\n"
    )
    command = [sys.executable, "-c", script, server.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        assert 0 < int(child.stdout.readline()) < len(TEXT)
        assert get(small_set(server.url)).fetched == ("text.txt",)
        child.send_signal(signal.SIGKILL)
    assert sorted(file.name for file in folder.iterdir()) == ["LICENSE", "text.txt"]
    assert (folder / "text.txt").read_bytes() == TEXT


@pytest.mark.parametrize("sized", [True, False])
def test_a_wrong_checksum_is_refused_and_nothing_of_it_is_kept(folder, server, sized):
    server.files["/text.txt"] = TEXT[:-1] + b"x"
    with pytest.raises(FetchError, match=f"its checksum is wrong .*{sha256(TEXT)} was expected"):
        get(small_set(server.url, sized=sized))
    assert sorted(file.name for file in folder.iterdir()) == ["LICENSE"]


def test_a_file_of_another_size_is_refused_before_it_is_fetched(folder, server):
    server.files["/text.txt"] = TEXT + b"more"
    with pytest.raises(FetchError, match="has 3,072,004 bytes there, and 3,072,000 were expected"):
        get(small_set(server.url))
    server.says_length = False
    with pytest.raises(FetchError, match="more than 3,072,000 bytes"):
        get(small_set(server.url))
    assert [file.name for file in folder.iterdir()] == ["LICENSE"]


def test_a_place_that_fails_is_followed_by_the_next(folder, server):
    closed = unused_url()
    with serving({"/text.txt": b"another version"}) as other:
        done = get(small_set(closed, other.url, server.url))
    assert done.fetched == ("LICENSE", "text.txt")
    assert (folder / "text.txt").read_bytes() == TEXT


def test_without_a_network_every_place_is_named_with_its_reason(folder):
    with pytest.raises(FetchError) as refusal:
        get(small_set(unused_url(), "http://127.0.0.1:99999/data"))
    for part in ("cannot be reached (Connection refused)", "127.0.0.1:99999/data/LICENSE: ", "--from"):
        assert part in str(refusal.value)
    assert list(folder.iterdir()) == []


def unused_url() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def test_a_server_that_is_silent_is_given_up(folder, server):
    server.waits = threading.Event()
    try:
        with pytest.raises(FetchError, match="timed out"):
            get(small_set(server.url), patience=0.2)
    finally:
        server.waits.set()


def test_a_missing_file_is_the_servers_404(folder, server):
    del server.files["/text.txt"]
    with pytest.raises(FetchError, match="the server says 404"):
        get(small_set(server.url))


@pytest.mark.parametrize("from_folder", [True, False])
def test_a_mirror_or_a_folder_can_stand_for_where_it_is_published(folder, server, tmp_path, from_folder):
    (tmp_path / "LICENSE").write_bytes(SMALL)
    (tmp_path / "text.txt").write_bytes(TEXT)
    get(small_set("http://127.0.0.1:1"), source=str(tmp_path) if from_folder else f"{server.url}/")
    assert (folder / "text.txt").read_bytes() == TEXT
    (folder / "text.txt").unlink()
    (tmp_path / "text.txt").write_bytes(TEXT[:-1])
    server.files["/text.txt"] = TEXT[:-1]
    with pytest.raises(FetchError, match="expected"):
        get(small_set("http://127.0.0.1:1"), source=str(tmp_path) if from_folder else server.url)
    with pytest.raises(FetchError, match="http:// or https://, or a folder"):
        get(small_set(server.url), source="ftp://127.0.0.1/data")
    with pytest.raises(FetchError, match="No such file"):
        get(small_set(server.url), source=str(tmp_path / "none"))


def test_a_file_of_the_users_own_is_never_overwritten(folder, server):
    folder.mkdir(parents=True)
    (folder / "text.txt").write_text("mine")
    with pytest.raises(FetchError, match=r"text.txt' is there, and it is not the published file"):
        get(small_set(server.url))
    assert (folder / "text.txt").read_text() == "mine"
    assert server.asked == []
    assert holding(small_set(server.url)).state == "differs"


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path, monkeypatch, server):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path / "file"))
    with pytest.raises(ModelFileError, match=r"the folder .* cannot be made"):
        get(small_set(server.url))


def test_a_folder_where_a_file_should_be_is_refused(folder, server):
    (folder / "text.txt").mkdir(parents=True)
    with pytest.raises(FetchError, match=r"text.txt' is there, and it is not the published file"):
        get(small_set(server.url))


def archived(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def zipped_set(url: str, content: bytes) -> DataSet:
    files = (DataFile("text.txt", len(TEXT), sha256(TEXT)),)
    digest = f"md5:{hashlib.md5(content).hexdigest()}"
    download = Download("all.zip", (f"{url}/all.zip",), digest, members=(("in/text", "text.txt"),))
    return DataSet("small", "A small set", "Nobody 2024", "CC0", "nowhere", "nothing", files, (download,))


def test_an_archive_is_unpacked_and_removed(folder, server):
    server.files["/all.zip"] = content = archived({"in/text": TEXT, "../escape": b"no"})
    assert get(zipped_set(server.url, content)).fetched == ("text.txt",)
    assert [file.name for file in folder.iterdir()] == ["text.txt"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive at all", "cannot be unpacked: File is not a zip file"),
        (archived({"other": TEXT}), "There is no item named 'in/text'"),
        (archived({"in/text": TEXT + b"x"}), "does not have the 3,072,000 bytes"),
        (archived({"in/text": TEXT[:-1] + b"x"}), "does not have the checksum"),
    ],
)
def test_an_archive_with_something_else_in_it_is_refused(folder, server, content, message):
    server.files["/all.zip"] = content
    with pytest.raises(FetchError, match=message):
        get(zipped_set(server.url, content))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", DATA_SETS)
def test_every_published_set_has_a_licence_checksums_and_places(name):
    data = DATA_SETS[name]
    assert data.licence
    assert data.paper[-4:].isdigit()
    assert {file for download in data.downloads for file in download.files} == {file.name for file in data.files}
    for download in data.downloads:
        kind, _, digest = download.digest.partition(":")
        assert len(digest) == {"sha256": 64, "md5": 32}[kind]
        assert all(place.startswith("https://") and place.endswith(download.name) for place in download.places)


@pytest.mark.parametrize("source", ["http://[::1", "https://[/small", "http://[fe80::x%]/"])
def test_a_source_that_is_half_an_address_is_refused(folder, source):
    with pytest.raises(FetchError, match="not a URL"):
        get(small_set("http://127.0.0.1:9"), source=source)


def test_a_pipe_in_a_folder_of_files_is_refused_and_not_waited_for(folder, tmp_path):
    os.mkfifo(tmp_path / "LICENSE")
    with pytest.raises(FetchError, match="it is not a regular file"):
        get(small_set("http://127.0.0.1:9"), source=str(tmp_path))
