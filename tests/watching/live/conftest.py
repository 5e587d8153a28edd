"""Live servers, and requests to them over real sockets."""

import http.client
import json
import time
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest

from kleene.watching.live.following import live_run


def pytest_collection_modifyitems(items):
    if find_spec("starlette") and find_spec("uvicorn"):
        return
    for item in items:
        if "live_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason="starlette is not installed: pip install 'kleene[live]'"))


class Reply(NamedTuple):
    """A status, the headers and the text."""

    status: int
    headers: dict[str, str]
    text: str


class Visitor:
    """Somebody who sends requests to a server."""

    def __init__(self, url: str):
        self.host, _, path = url.removeprefix("http://").partition("/")
        self.token = path.strip("/")

    def ask(self, path: str | None = None, *, method="GET", body=None, own=True, **headers) -> Reply:
        """The answer to a request; headers are written with underscores, and `own` puts the token before the path."""
        connection = http.client.HTTPConnection(self.host, timeout=20)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, f"/{self.token}/{path or ''}" if own else path or "/", body, named)
            found = connection.getresponse()
            return Reply(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read().decode())
        finally:
            connection.close()

    def choose(self, typed: Any, edits: Any = None, **headers) -> Reply:
        kind = {"Content_Type": "application/json"} | headers
        request = {"input": typed} | ({} if edits is None else {"edits": edits})
        return self.ask("input", method="POST", body=json.dumps(request), **kind)

    def until(self, wanted, seconds: float = 30.0) -> dict:
        """The first entry of the stream that is wanted."""
        last, until = None, time.monotonic() + seconds
        connection = http.client.HTTPConnection(self.host, timeout=20)
        try:
            connection.request("GET", f"/{self.token}/events")
            found = connection.getresponse()
            assert (found.status, found.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
            for line in found:
                if line.startswith(b"data: ") and wanted(last := json.loads(line[6:])):
                    return last
                assert time.monotonic() < until, last
            raise AssertionError(f"the stream ended after {last}")
        finally:
            connection.close()

    def good(self, page: int) -> dict:
        return self.until(lambda entry: entry["page"] >= page and not entry["running"])

    def problem(self) -> dict:
        return self.until(lambda entry: entry["problem"] and not entry["running"])["problem"]


@pytest.fixture
def live_server():
    """A function that starts a followed run and its server, and gives a visitor."""
    started = []

    def start(target: str, *words: str, seconds: float = 30.0, **options) -> Visitor:
        run, server = live_run(target, words, **options)
        run.seconds, run.pause = seconds, 0.05
        started.append((run, server))
        server.start()
        run.start()
        return Visitor(server.url)

    yield start
    for run, server in started:
        run.close()
        server.close()
