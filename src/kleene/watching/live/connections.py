"""Connections of a local page: one whose request does not become complete is closed, so that it keeps no other out."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class LimitedConnection(H11Protocol):
    """uvicorn's connection, closed if a request is not complete within `seconds` of its beginning.

    A request is complete once its headers and its body are there; how long it is answered does not matter. Between two
    requests uvicorn's own `timeout_keep_alive` counts.
    """

    def __init__(self, *given: Any, seconds: float, **named: Any) -> None:
        super().__init__(*given, **named)
        self._seconds = seconds
        self._ending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait()
        elif self._ending is not None:
            self._ending.cancel()
            self._ending = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._ending is not None:
            self._ending.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._ending is None:
            self._ending = self.loop.call_later(self._seconds, self.transport.abort)
