"""A small server on 127.0.0.1: one page, its stream of events, and one request that chooses an input.

Starlette and uvicorn are the extra `live`, so they are imported only when a server is made.
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from kleene.errors import InputError
from kleene.files import encoded, parsed_json
from kleene.watching.live.access import HOST, LocalAccess
from kleene.watching.live.board import LiveBoard

LARGEST_BODY = 64 * 1024  # bytes
MOST_CONNECTIONS = 64
COMPLETE = 10.0  # seconds within which a request must be complete
LOOK = 0.05  # seconds between two looks at the board
QUIET = 15.0  # seconds after which a stream says that it is still there
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",  # the address has the token
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Choose = Callable[[str, list[str] | None], None]  # takes an input and edits as they were typed; raises InputError


def check_installed() -> None:
    """Raise an error that says how to install the server, where it is not."""
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"a live page needs {' and '.join(missing)}; install the extra: pip install 'kleene[live]'. "
            f"Without it, kleene watch -o FILE.html writes a page that needs no server"
        )


def application(
    access: LocalAccess,
    board: LiveBoard,
    page: Callable[[], tuple[str, str]],
    choose: Choose | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> Any:
    """The ASGI application. `page` gives the text of the page and its content security policy."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, StreamingResponse
    from starlette.routing import Route

    async def show(_: Request) -> Any:
        text, policy = page()
        return HTMLResponse(text, headers={"Content-Security-Policy": f"{policy}; frame-ancestors 'none'"})

    async def events(_: Request) -> Any:
        return StreamingResponse(stream(board, is_over), media_type="text/event-stream")

    async def take(request: Request) -> Any:
        assert choose is not None
        try:
            choose(*_typed(request.headers.get("content-type", ""), await _body(request)))
        except BodyTooLarge as error:
            return JSONResponse({"problem": str(error)}, 413)
        except InputError as error:
            return JSONResponse({"problem": str(error)}, 400)
        return JSONResponse({"taken": True}, 202)

    routes = [Route("/{token}/", show, methods=["GET"]), Route("/{token}/events", events, methods=["GET"])]
    if choose is not None:
        routes.append(Route("/{token}/input", take, methods=["POST"]))
    served = Starlette(routes=routes)
    served.router.redirect_slashes = False
    return _guarded(served, access)


def _guarded(served: Any, access: LocalAccess) -> Any:
    """The application behind its access: a request that is refused reaches nothing else."""
    from starlette.datastructures import MutableHeaders
    from starlette.responses import PlainTextResponse

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] != "http":
            if scope["type"] != "websocket":  # there are none, so nothing is answered
                await served(scope, receive, send)
            return
        refusal = access.refusal(scope["path"], scope["headers"])
        answer = served if refusal is None else PlainTextResponse(f"refused: {refusal}\n", 403)
        await answer(scope, receive, send_with_headers)

    return guarded


async def stream(board: LiveBoard, is_over: Callable[[], bool]) -> AsyncIterator[str]:
    """What the board has, and what it gets, as server-sent events; it ends when the board is closed."""
    seen, spoke = 0, time.monotonic()
    yield "retry: 1000\n\n"
    while True:
        closed = board.closed or is_over()
        for number, entry in board.since(seen):
            seen, spoke = number + 1, time.monotonic()
            yield f"id: {number}\ndata: {json.dumps(entry, allow_nan=False)}\n\n"
        if closed:
            return
        if time.monotonic() - spoke > QUIET:
            spoke = time.monotonic()
            yield ": still here\n\n"
        await asyncio.sleep(LOOK)


class BodyTooLarge(InputError):
    """A request had more bytes than are read."""


async def _body(request: Any) -> bytes:
    """The body of a request, of which no more than the limit is ever kept."""
    found = b""
    async for part in request.stream():
        found += part
        if len(found) > LARGEST_BODY:
            raise BodyTooLarge(f"the request has more than {LARGEST_BODY:,} bytes")
    return found


def _typed(kind: str, body: bytes) -> tuple[str, list[str] | None]:
    """The input and the edits in a request such as {"input": "10110", "edits": ["parity@3,5=1"]}."""
    if kind.partition(";")[0].strip().lower() != "application/json":
        raise InputError("the request is not JSON")
    try:
        found = parsed_json(body)
    except ValueError:
        raise InputError("the request is not JSON") from None
    edits = found.get("edits") if isinstance(found, dict) else None
    is_list = edits is None or (isinstance(edits, list) and all(isinstance(edit, str) for edit in edits))
    if not isinstance(found, dict) or not {"input"} <= set(found) <= {"input", "edits"} or not is_list:
        raise InputError('the request is not of the form {"input": "…", "edits": ["…"]}')
    if not isinstance(found["input"], str):
        raise InputError('the request is not of the form {"input": "…", "edits": ["…"]}')
    for text in (found["input"], *(edits or ())):
        encoded(text)  # "\\ud800" is JSON and no text
    return found["input"], edits


def bound(port: int | None) -> socket.socket:
    """A socket on 127.0.0.1 with that port, or with one that is free."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port or 0))
        found.listen(MOST_CONNECTIONS)
    except (OSError, OverflowError) as error:
        found.close()
        raise InputError(
            f"port {port} cannot be used ({getattr(error, 'strerror', None) or error}); "
            f"give another --port, or none for a free one"
        ) from None
    return found


class LiveServer:
    """A server of one page: it owns its port from the beginning, and serves until it is closed or interrupted."""

    def __init__(
        self,
        board: LiveBoard,
        page: Callable[[], tuple[str, str]],
        choose: Choose | None = None,
        *,
        port: int | None = None,
        complete: float = COMPLETE,
    ) -> None:
        check_installed()
        import uvicorn

        from kleene.watching.live.connections import LimitedConnection

        self._socket = bound(port)
        self._board = board
        self.access = LocalAccess(self._socket.getsockname()[1])
        served = application(self.access, board, page, choose, lambda: self._server.should_exit)
        config = uvicorn.Config(
            served,
            http=partial(LimitedConnection, seconds=complete),  # type: ignore[arg-type]
            log_level="critical",
            access_log=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return self.access.url

    def serve(self) -> None:
        """Serve until Ctrl-C."""
        try:
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:  # which uvicorn raises again after it has ended
            pass
        finally:
            self._socket.close()

    def start(self) -> None:
        """Serve in a thread of its own until `close`."""
        self._thread = threading.Thread(target=self.serve, name="kleene-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the streams once they have said everything, and stop serving."""
        self._board.close()
        if self._thread is not None:
            time.sleep(4 * LOOK)  # so that pages get what was published last
            self._server.should_exit = True
            self._thread.join(timeout=5)
