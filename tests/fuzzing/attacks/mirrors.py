"""Mirrors that lie, stop, repeat themselves and never end: nothing of theirs is kept, and a good one ends the work."""

import contextlib
import hashlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from kleene.data.catalog import DataFile, DataSet, Download
from kleene.data.getting import get
from kleene.errors import KleeneError
from tests.data.serving import serving
from tests.fuzzing.attacks import Attack

TEXT = bytes(range(256)) * 2_000
SECONDS = 20.0  # that a hostile mirror may take, with half a second of patience
SIZE = len(TEXT)
REQUEST = b"\r\n\r\n"
Reply = bytes | tuple[bytes, bytes] | list[bytes]


def _head(status: str = "200 OK", **headers: object) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


CHUNKED = {"Transfer_Encoding": "chunked"}
# What the mirror sends for every request. The second piece of a tuple is sent without end, that of a list ten times
# with pauses.
REPLIES: dict[str, Reply] = {
    "no answer at all": b"",
    "no HTTP": b"hello\n" * 100,
    "a status that is no number": b"HTTP/1.1 OK\r\n\r\n",
    "a status of 99999": b"HTTP/1.1 99999 ODD\r\n\r\n",
    "a server error": _head("500 Oops", Content_Length=4) + b"oops",
    "an error that never ends": (_head("500 Oops"), b"x" * 65_536),
    "a redirection to itself": _head("302 Found", Location="/text.txt", Content_Length=0),
    "a redirection to a file": _head("302 Found", Location="file:///etc/hostname", Content_Length=0),
    "a redirection to nowhere": _head("302 Found", Location="http://[::1", Content_Length=0),
    "a redirection to another protocol": _head("302 Found", Location="ftp://127.0.0.1/x", Content_Length=0),
    "a file of another content": _head(Content_Length=SIZE) + TEXT[::-1],
    "a file that is too short": _head(Content_Length=SIZE) + TEXT[:-10],
    "a length that is too small": _head(Content_Length=10) + TEXT,
    "a length that is negative": _head(Content_Length=-5) + TEXT[:-1],
    "a length of 5,000 digits": _head(Content_Length="9" * 5000) + TEXT,
    "a length that is no number": _head(Content_Length="many") + TEXT[:-1],
    "two lengths": _head(Content_Length="5, 6") + TEXT[:-1],
    "a body that never ends": (_head(), b"x" * 65_536),
    "a header that never ends": (b"HTTP/1.1 200 OK\r\nX: ", b"x" * 65_536),
    "headers that never end": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 10_000),
    "a header with a null": b"HTTP/1.1 200 OK\r\nX: \0\r\nContent-Length: 3\r\n\r\nabc",
    "a chunk of a negative size": _head(**CHUNKED) + b"-5\r\nhello\r\n",
    "a chunk of an endless size": _head(**CHUNKED) + b"f" * 5000 + b"\r\nhello\r\n",
    "a chunk that breaks off": _head(**CHUNKED) + b"ffff\r\nhello",
    "a packed body": _head(Content_Encoding="gzip", Content_Length=20) + b"\x1f\x8b" + b"\0" * 18,
    "a range that was not asked for": _head("206 Partial", Content_Range="bytes 5-10/20", Content_Length=6) + b"abcdef",
    "a range of nonsense": _head("206 Partial", Content_Range="bytes x-y/z", Content_Length=6) + b"abcdef",
    "a range that cannot be": _head("416 No", Content_Length=0),
    "a byte now and then": [_head(Content_Length=SIZE), b"x"],
}


def attacks() -> Iterator[Attack]:
    for name, reply in REPLIES.items():
        yield name, lambda folder, reply=reply: _refused(folder, reply)


def _refused(folder: Path, reply: Reply) -> str | None:
    with mock.patch.dict("os.environ", {"KLEENE_DATA": str(folder / "own"), "no_proxy": "*"}):
        started = time.monotonic()
        with _mirror(reply) as url:
            try:
                get(_data(url), patience=0.5)
            except KleeneError:
                pass
            else:
                return None if (folder / "own" / "small" / "text.txt").read_bytes() == TEXT else "it was taken"
        if (took := time.monotonic() - started) > SECONDS:
            return f"it took {took:.0f} s"
        held = sum(file.stat().st_size for file in (folder / "own").rglob("*"))
        if held > 2 * SIZE + 8192:
            return f"{held:,} bytes were kept"
        with serving({"/text.txt": TEXT}) as good:
            get(_data(good.url))
        whole = (folder / "own" / "small" / "text.txt").read_bytes() == TEXT
        return None if whole else "the file is another in the end"


def _data(url: str) -> DataSet:
    digest = hashlib.sha256(TEXT).hexdigest()
    download = Download("text.txt", (f"{url}/text.txt",), f"sha256:{digest}", None)
    return DataSet("small", "A small set", "Nobody", "CC0", "", "", (DataFile("text.txt", SIZE, digest),), (download,))


@contextlib.contextmanager
def _mirror(reply: Reply) -> Iterator[str]:
    """A server that sends this to whoever asks."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        thread = threading.Thread(target=_serve, args=(server, reply, over), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        over.set()
        thread.join(10)


def _serve(server: socket.socket, reply: Reply, over: threading.Event) -> None:
    while not over.is_set():
        with contextlib.suppress(OSError):
            asker, _ = server.accept()
            with asker:
                asker.settimeout(0.5)
                _send(asker, reply, over)


def _send(asker: socket.socket, reply: Reply, over: threading.Event) -> None:
    asked = b""
    while REQUEST not in asked:
        asked += asker.recv(4096)
    if isinstance(reply, bytes):
        asker.sendall(reply)
        return
    until = time.monotonic() + 2 * SECONDS
    asker.sendall(reply[0])
    if isinstance(reply, tuple):
        while not over.is_set() and time.monotonic() < until:
            asker.sendall(reply[1])
    else:
        for _ in range(10):
            asker.sendall(reply[1])
            over.wait(0.3)
