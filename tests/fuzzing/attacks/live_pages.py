"""Requests to the server of a live page: whatever came before, the page answers its own user soon, and nobody else."""

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from kleene.watching.live.following import live_run
from tests.fuzzing.attacks import Attack
from tests.fuzzing.mutations import VALUES
from tests.watching.live.conftest import Visitor

SOON = 10.0  # seconds in which the page answers
PATIENCE = 30.0  # seconds after which connections that stand still are closed
ALLOWED = (100, 200, 202, 204, 400, 403, 404, 405, 408, 411, 413, 415, 431, 503)
BODIES = {
    "no JSON": "{",
    "half a character": '{"input": "\\ud800"}',
    "half a character in an edit": '{"input": "1", "edits": ["\\ud800@1=1"]}',
    "a null character": '{"input": "\\u0000"}',
    "deep nesting": "[" * 60_000,
    "a deep object": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "an endless number": '{"input": ' + "9" * 5_000 + "}",
    "a key twice": '{"input": "1", "input": "2"}',
    "not a number": '{"input": NaN}',
    "an edit of everything": '{"input": "1", "edits": ["*@*,*=*"]}',
    "an edit without end": '{"input": "1", "edits": ["parity@0-99999999999=1"]}',
    "an edit from another input": '{"input": "1", "edits": ["parity@1=from:\\ud800"]}',
    "no UTF-8": b'{"input": "\xff\xfe"}',
    "UTF-16": '{"input": "1"}'.encode("utf-16"),
    "a long word": json.dumps({"input": "1" * 9_999}),
    "a large body": json.dumps({"input": "1" * 3_000_000}),
    "markup": json.dumps({"input": "<script>alert(1)</script>"}),
    "nothing": "",
}
RAW = {
    "no HTTP": b"hello\r\n\r\n",
    "a null": b"\0" * 100,
    "a method of nonsense": b"FETCH / HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "a length that is negative": b"POST /TOKEN/input HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n",
    "a length that is too large": b"POST /TOKEN/input HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999\r\n\r\n{",
    "two lengths": b"POST /TOKEN/input HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    "a broken chunk": b"POST /TOKEN/input HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a header without end": b"GET /TOKEN/ HTTP/1.1\r\nHost: HOST\r\nX: " + b"x" * 1_000_000,
    "ten thousand headers": b"GET /TOKEN/ HTTP/1.1\r\nHost: HOST\r\n" + b"X: y\r\n" * 10_000 + b"\r\n",
    "a path without end": b"GET /TOKEN/" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "a path upwards": b"GET /TOKEN/../../etc/passwd HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "a path of percents": b"GET /TOKEN/%00%ff%2e%2e/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "another host": b"GET /TOKEN/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "an upgrade": b"GET /TOKEN/ HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "an expectation": b"POST /TOKEN/input HTTP/1.1\r\nHost: HOST\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n",
    "two requests at once": b"GET /TOKEN/ HTTP/1.1\r\nHost: HOST\r\n\r\n" * 2,
}


def attacks() -> Iterator[Attack]:
    for name, body in BODIES.items():
        yield f"a body: {name}", lambda folder, body=body: _while_served(lambda visitor: _post(visitor, body))
    for number, value in enumerate(VALUES):
        body = json.dumps({"input": value})
        yield f"an input of JSON ({number})", lambda folder, body=body: _while_served(lambda v: _post(v, body))
    for name, raw in RAW.items():
        yield f"a request: {name}", lambda folder, raw=raw: _while_served(lambda visitor: _send(visitor, raw))
    yield "100 connections that say nothing", lambda folder: _while_served(lambda visitor: _opened(visitor, b""))
    half = b"POST /TOKEN/input HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\n{"
    yield "100 requests that stop", lambda folder: _while_served(lambda visitor: _opened(visitor, half))
    yield "100 headers that stop", lambda folder: _while_served(lambda visitor: _opened(visitor, half[:40]))
    events = b"GET /TOKEN/events HTTP/1.1\r\nHost: HOST\r\n\r\n"
    yield "100 readers that do not read", lambda folder: _while_served(lambda visitor: _opened(visitor, events))
    yield "a flood of inputs", lambda folder: _while_served(_flood)


def _while_served(attack: Callable[[Visitor], str | None]) -> str | None:
    run, server = live_run("parity_relative", ["101"])
    run.seconds, run.pause = 5.0, 0.05
    server.start()
    run.start()
    visitor = Visitor(server.url)
    try:
        visitor.good(0)
        return attack(visitor) or _still_served(visitor)
    finally:
        run.close()
        server.close()


def _still_served(visitor: Visitor) -> str | None:
    """The page, its stream and an input of its user are answered, and nobody without the token is."""
    started = time.monotonic()
    if (status := visitor.ask().status) != 200:
        return f"the page is answered with {status}"
    if (status := visitor.ask("/", own=False).status) != 403:
        return f"a stranger is answered with {status}"
    if (reply := visitor.choose("1 1")).status not in (200, 202, 204):
        return f"an input is answered with {reply.status}: {reply.text}"
    visitor.until(lambda entry: not entry["running"])
    took = time.monotonic() - started
    return f"it took {took:.0f} s to answer" if took > SOON else None


def _post(visitor: Visitor, body: Any) -> str | None:
    reply = visitor.ask("input", method="POST", body=body, Content_Type="application/json")
    if reply.status not in ALLOWED or "Traceback" in reply.text:
        return f"it is answered with {reply.status}: {reply.text[:300]}"
    return None


def _send(visitor: Visitor, raw: bytes) -> str | None:
    with _connected(visitor) as connection, contextlib.suppress(OSError):
        connection.sendall(_named(visitor, raw))
        connection.settimeout(2)
        reply = connection.recv(65_536)
        status = reply.split(b" ")[1:2]
        if status and int(status[0]) not in ALLOWED:
            return f"it is answered with {reply[:300]!r}"
    return None


def _opened(visitor: Visitor, raw: bytes) -> str | None:
    """A hundred connections that are left open while the page is asked for."""
    with contextlib.ExitStack() as held:
        for _ in range(100):
            with contextlib.suppress(OSError):  # refused: there are enough
                held.enter_context(_connected(visitor)).sendall(_named(visitor, raw))
        until = time.monotonic() + PATIENCE
        while visitor.ask().status == 503 and time.monotonic() < until:
            time.sleep(0.5)
        return _still_served(visitor)


def _flood(visitor: Visitor) -> str | None:
    for number in range(300):
        reply = visitor.choose(" ".join(f"{number:b}"))
        if reply.status not in ALLOWED:
            return f"input {number} is answered with {reply.status}"
    return None


def _connected(visitor: Visitor) -> socket.socket:
    host, _, port = visitor.host.partition(":")
    return socket.create_connection((host, int(port)), timeout=5)


def _named(visitor: Visitor, raw: bytes) -> bytes:
    return raw.replace(b"HOST", visitor.host.encode()).replace(b"TOKEN", visitor.token.encode())
