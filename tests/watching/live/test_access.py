"""Who is answered: only requests with the token, to the server's own address, from its own pages."""

import contextlib
import socket
import threading

import pytest

from kleene.watching.live.access import LocalAccess, fresh_token
from kleene.watching.live.board import LiveBoard
from kleene.watching.live.server import LARGEST_BODY, MOST_CONNECTIONS, LiveServer
from tests.watching.live.conftest import Visitor

ACCESS = LocalAccess(8000, token="secret")
HOST = (b"host", b"127.0.0.1:8000")


@pytest.mark.parametrize("path", ["/secret/", "/secret/events", "/secret/input"])
def test_a_request_of_its_own_page_passes(path):
    assert ACCESS.refusal(path, [HOST]) is None
    assert ACCESS.refusal(path, [HOST, (b"origin", b"http://127.0.0.1:8000")]) is None
    assert ACCESS.refusal(path, [(b"host", b"localhost:8000"), (b"origin", b"http://localhost:8000")]) is None


@pytest.mark.parametrize("path", ["", "/", "/events", "/secre/", "/secrets/", "/x/secret/", "//secret/", "/sécret/"])
def test_a_path_without_the_token_is_refused(path):
    assert "token" in str(ACCESS.refusal(path, [HOST]))


@pytest.mark.parametrize(
    "hosts", [[], [b"127.0.0.1"], [b"127.0.0.1:8001"], [b"evil.example:8000"], [b"127.0.0.1:8000.evil"], [HOST[1]] * 2]
)
def test_another_host_is_refused(hosts):
    assert "Host" in str(ACCESS.refusal("/secret/", [(b"host", host) for host in hosts]))


@pytest.mark.parametrize(
    "origin",
    [b"null", b"", b"http://evil.example", b"https://127.0.0.1:8000", b"http://127.0.0.1", b"http://localhost:8000"],
)
def test_another_origin_is_refused(origin):
    assert "origin" in str(ACCESS.refusal("/secret/", [HOST, (b"origin", origin)]))


def test_tokens_are_fresh_and_long_and_not_shown():
    tokens = {fresh_token() for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 32
    assert "secret" not in repr(ACCESS)


def test_the_server_refuses_strangers_before_anything_else(live_server):
    visitor = live_server("parity_relative", "101")
    assert visitor.ask("/", own=False).status == 403
    assert visitor.ask("/wrong/events", own=False).status == 403
    for path in ("", "events", "input"):
        assert visitor.ask(path, Host="evil.example").status == 403
        assert visitor.ask(path, Origin="http://evil.example").status == 403
    assert visitor.choose("1", Origin="http://evil.example").status == 403
    assert visitor.choose("1", Origin="null").status == 403
    assert visitor.ask().status == 200


def test_only_what_the_page_needs_is_answered(live_server):
    visitor = live_server("parity_relative", "101")
    for method, path in (("POST", ""), ("PUT", "input"), ("GET", "input"), ("DELETE", ""), ("POST", "events")):
        assert visitor.ask(path, method=method).status == 405
    assert visitor.ask("other").status == 404
    headers = visitor.ask().headers
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]


REFUSED = [
    ("{", "application/json"),
    ("[" * 60_000, "application/json"),
    ('"101"', "application/json"),
    ('{"input": 5}', "application/json"),
    ('{"input": "1", "target": "sort"}', "application/json"),
    ('{"input": "1"}', "text/plain"),
    ('{"edits": []}', "application/json"),
    ('{"input": "1", "edits": "parity@1=1"}', "application/json"),
    ('{"input": "1", "edits": [1]}', "application/json"),
    ('{"input": "1", "edits": ["parity"]}', "application/json"),
    (r'{"input": "\ud800"}', "application/json"),
    (r'{"input": "1", "edits": ["\udfff@1=1"]}', "application/json"),
    ('{"input": ' + "9" * 5000 + "}", "application/json"),
    ('{"input": "1", "edits": [' + '"a@1=1",' * 100 + '"a@1=1"]}', "application/json"),
]


def test_a_request_of_another_form_is_refused(live_server):
    visitor = live_server("parity_relative", "101")
    found = [visitor.ask("input", method="POST", body=body, Content_Type=kind).status for body, kind in REFUSED]
    assert found == [400] * len(REFUSED)


def test_an_input_that_is_no_text_is_refused_and_the_page_goes_on(live_server):
    visitor = live_server("parity_relative", "101")
    refused = visitor.choose("1\ud8000")
    assert (refused.status, "is no character" in refused.text) == (400, True)
    assert visitor.ask().status == 200
    assert visitor.good(1)["input"] == "101"


GET = b"GET /TOKEN/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n"
POST = GET.replace(b"GET /TOKEN/", b"POST /TOKEN/input") + b"Content-Type: application/json\r\nContent-Length: 9\r\n"


@pytest.mark.parametrize("begun", [b"", GET, POST + b"\r\n{", GET + b"\r\n" + GET])
def test_requests_that_do_not_become_complete_are_given_up_and_the_page_goes_on(begun):
    server = LiveServer(LiveBoard(), lambda: ("a page", "default-src 'none'"), lambda *_: None, complete=0.3)
    server.start()
    try:
        visitor, port = Visitor(server.url), server.access.port
        sent = begun.replace(b"TOKEN", visitor.token.encode()).replace(b"PORT", str(port).encode())
        with contextlib.ExitStack() as held:
            opened = [socket.create_connection(("127.0.0.1", port), timeout=15) for _ in range(MOST_CONNECTIONS + 2)]
            for one in map(held.enter_context, opened):
                one.sendall(sent)
            for one in opened:
                assert_ends(one)
            assert visitor.ask().status == 200
    finally:
        server.close()


def assert_ends(connection: socket.socket) -> None:
    with contextlib.suppress(ConnectionResetError):
        while connection.recv(1000):
            pass


def test_a_stream_is_not_given_up():
    board = LiveBoard()
    server = LiveServer(board, lambda: ("a page", "default-src 'none'"), complete=0.2)
    server.start()
    try:
        threading.Timer(1.0, lambda: board.publish({"late": True})).start()
        assert Visitor(server.url).until(lambda entry: entry.get("late"))
    finally:
        server.close()


def test_a_large_request_is_refused(live_server):
    visitor = live_server("parity_relative", "101")
    assert visitor.choose("1" * LARGEST_BODY).status == 413
    refused = visitor.choose("1" * 20_000)
    assert refused.status == 400
    assert "at most 10,000" in refused.text
