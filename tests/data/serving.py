"""A web server on this machine that has some files, and can be as unreliable as others are."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Server:
    """The files by their paths, how the server behaves, and the paths that it was asked for."""

    files: dict[str, bytes]
    url: str = ""
    says_length: bool = True
    ends_after: int | None = None  # bytes of one answer, after which the connection is closed
    waits: threading.Event | None = None  # for this before it answers
    asked: list[str] = field(default_factory=list)


@contextlib.contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Server]:
    """A running server on the loopback interface."""
    server = Server(files)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            pass

        def do_GET(self) -> None:
            server.asked.append(self.path)
            if server.waits is not None:
                server.waits.wait(30)
            content = server.files.get(self.path)
            if content is None:
                return self.send_error(404)
            self.send_response(200)
            if server.says_length:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: server.ends_after])

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        server.url = f"http://127.0.0.1:{httpd.server_address[1]}"
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            httpd.shutdown()
            thread.join()
