"""Who works on which cell: claims in the store's folder, which any number of processes and machines can share.

A claim is a symbolic link `claims/CELL.N` to the name of a worker. Making a link fails where there is one already, on
network file systems too, so a cell has one holder. Nothing is ever removed while a sweep runs: a worker that gives a
cell back adds the next link, to nobody, and one that takes a cell over from a dead worker adds the next link, to
itself. The link with the highest N counts. A worker lives as long as its file in `workers/` is renewed.
"""

import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

BEAT = 3.0  # seconds between renewals of a worker's file
EXPIRES = 60.0  # seconds after the last renewal until a worker on another machine counts as dead
NOBODY = "released"


class Heart:
    """A worker: a name that no other has, and a file that a thread renews while the process lives.

    `facts` is what the file says about the work in hand, for the table of a sweep.
    """

    def __init__(self, store: Path, *, beat: float = BEAT, expires: float = EXPIRES) -> None:
        self.store, self.expires = store, expires
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self.file = store / "workers" / f"{self.name}.json"
        self.facts: dict[str, Any] = {}
        self._identity = {"machine": machine(), "pid": os.getpid(), "started": _started(os.getpid())}
        self._ended = threading.Event()
        self.renew()
        self._thread = threading.Thread(target=self._live, args=(beat,), name="kleene-heart", daemon=True)
        self._thread.start()

    def __enter__(self) -> "Heart":
        return self

    def __exit__(self, *_: Any) -> None:
        self._ended.set()
        self._thread.join()
        self.file.unlink(missing_ok=True)

    def _live(self, beat: float) -> None:
        while not self._ended.wait(beat):
            with suppress(OSError):  # a full disk stops no worker: what counts is written elsewhere
                self.renew()

    def renew(self) -> None:
        """Write the file anew; replaced in one step, so that nobody reads half of it."""
        temporary = self.file.with_suffix(".part")
        temporary.write_text(json.dumps(self._identity | {"facts": self.facts}))
        os.replace(temporary, self.file)

    def claim(self, cell: str) -> str | None:
        """Claim a cell. Returns the name of the worker that held it before and died, "" if there was none such.

        None means that a living worker holds it.
        """
        number, holder = self._latest(cell)
        if holder not in ("", NOBODY) and self.lives(holder):
            return None
        try:
            os.symlink(self.name, self._link(cell, number + 1))
        except FileExistsError:  # another was quicker
            return None
        return "" if holder in ("", NOBODY) else holder

    def holds(self, cell: str) -> bool:
        """Whether this worker still holds the cell: it may have been taken for dead, or the claims may be gone."""
        return self._latest(cell)[1] in (self.name, "")

    def release(self, cells: Iterable[str]) -> None:
        """Give cells back, as far as they are still held."""
        for cell in cells:
            number, holder = self._latest(cell)
            if holder == self.name:
                with suppress(FileExistsError):
                    os.symlink(NOBODY, self._link(cell, number + 1))

    def lives(self, name: str) -> bool:
        """Whether the worker of that name lives.

        Both times are the file system's, so that clocks may differ. A worker on this machine is looked up among its
        processes as well, so that the cells of a killed one are free at once.
        """
        file = self.store / "workers" / f"{name}.json"
        try:
            age = self.file.stat().st_mtime - file.stat().st_mtime
            said = json.loads(file.read_bytes())
        except (OSError, ValueError):
            return name == self.name
        return age <= self.expires and _may_live(said)

    def _link(self, cell: str, number: int) -> Path:
        return self.store / "claims" / f"{cell}.{number}"

    def _latest(self, cell: str) -> tuple[int, str]:
        """The number of the latest claim to the cell, and its holder; 0 and "" where there is none."""
        number, holder = 0, ""
        while True:
            try:
                holder = os.readlink(self._link(cell, number + 1))
            except FileNotFoundError:
                return number, holder
            number += 1


def remove_claims(store: Path, cells: Iterable[str]) -> None:
    """Remove the claims to finished cells, the latest first, so that a cell's claims never have a gap."""
    for cell in cells:
        links = [store / "claims" / f"{cell}.{n}" for n in range(1, 1000)]
        for link in reversed([link for link in links if link.is_symlink()]):
            link.unlink(missing_ok=True)


def living(store: Path, expires: float = EXPIRES) -> dict[str, dict[str, Any]]:
    """What each living worker says about its work, by its name."""
    found = {}
    for file in sorted((store / "workers").glob("*.json")):
        with suppress(OSError, ValueError):
            said = json.loads(file.read_bytes())
            if time.time() - file.stat().st_mtime <= expires and _may_live(said):
                found[file.stem] = said["facts"]
    return found


def _may_live(said: dict[str, Any]) -> bool:
    """Whether the process of a worker's file runs, as far as this machine can tell."""
    return said.get("machine") != machine() or machine() is None or said.get("started") == _started(said.get("pid"))


def machine() -> str | None:
    """A name for this machine since it was started, and for the process numbers in use; None where there is none."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return None


def _started(pid: Any) -> str | None:
    """When the process of that number was started, in the kernel's own count; None where there is no such process."""
    try:
        return Path(f"/proc/{int(pid)}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, ValueError, TypeError, IndexError):
        return None
