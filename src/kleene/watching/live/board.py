"""What the pages of a server are told: entries in order, added by one thread and read by the server's."""

import threading
from collections.abc import Mapping
from typing import Any


class LiveBoard:
    """Entries for all pages. A page that opens reads all so far, or with `latest` only the last.

    >>> board = LiveBoard()
    >>> board.publish({"iteration": 10})
    >>> board.since(0), board.since(1)
    ([(0, {'iteration': 10})], [])
    """

    def __init__(self, *, latest: bool = False) -> None:
        self.latest = latest
        self.closed = False  # nothing more will come
        self._entries: list[dict[str, Any]] = []
        self._dropped = 0  # entries that no page asks for any more
        self._lock = threading.Lock()

    def publish(self, entry: Mapping[str, Any]) -> None:
        with self._lock:
            if self.latest:
                self._dropped += len(self._entries)
                self._entries.clear()
            self._entries.append(dict(entry))

    def since(self, seen: int) -> list[tuple[int, dict[str, Any]]]:
        """The entries from that number on, with their numbers."""
        with self._lock:
            first = max(seen, self._dropped)
            return list(enumerate(self._entries[first - self._dropped :], first))

    def close(self) -> None:
        self.closed = True
