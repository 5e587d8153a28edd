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
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from kleene.errors import ModelFileError
from kleene.files import parsed_json
from kleene.sweeping.store import not_written

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
        try:
            self.renew()
        except OSError as error:
            raise not_written(self.file, error) from error
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
        try:
            temporary.write_text(json.dumps(self._identity | {"facts": self.facts}))
            os.replace(temporary, self.file)
        except OSError:  # the disk is full
            temporary.unlink(missing_ok=True)
            raise

    def claim(self, cell: str) -> str | None:
        """Claim a cell. Returns the name of the worker that held it before and died, "" if there was none such.

        None means that a living worker holds it.
        """
        number, holder = self._latest(cell)
        if holder not in ("", NOBODY) and self.lives(holder):
            return None
        if not self._add(cell, number + 1):
            return None
        return "" if holder in ("", NOBODY) else holder

    def holds(self, cell: str) -> bool:
        """Whether this worker still holds the cell: it may have been taken for dead.

        Where the claims are gone, the cell is claimed again, so that no other can take it from now on.
        """
        holder = self._latest(cell)[1]
        return holder == self.name or (holder == "" and self._add(cell, 1))

    def release(self, cells: Iterable[str]) -> None:
        """Give cells back, as far as they are still held. Where the disk is full, they are free once this one ends."""
        for cell in cells:
            number, holder = self._latest(cell)
            if holder == self.name:
                with suppress(OSError):
                    os.symlink(NOBODY, self._link(cell, number + 1))

    def _add(self, cell: str, number: int) -> bool:
        """Add a claim to the cell; False if another was quicker."""
        link = self._link(cell, number)
        try:
            try:
                os.symlink(self.name, link)
            except FileNotFoundError:  # somebody removed the folder
                link.parent.mkdir(exist_ok=True)
                os.symlink(self.name, link)
        except FileExistsError:
            return False
        except OSError as error:
            raise not_written(link, error) from error
        return True

    def lives(self, name: str) -> bool:
        """Whether the worker of that name lives.

        Both times are the file system's, so that clocks may differ. A worker on this machine is looked up among its
        processes as well, so that the cells of a killed one are free at once.
        """
        file = self.store / "workers" / f"{name}.json"
        try:
            age = self.file.stat().st_mtime - file.stat().st_mtime
            said = _said(file)
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
            except OSError as error:  # a copy of the store that has no links
                link = str(self._link(cell, number + 1))
                raise ModelFileError(f"{link!r} is no claim ({error.strerror}); remove it if no sweep runs") from None
            number += 1


def remove_claims(store: Path, cells: Collection[str]) -> None:
    """Remove the claims to finished cells, the latest first, so that a cell's claims never have a gap."""
    parts = (name.partition(".") for name in _names(store / "claims"))
    found = [(cell, int(number)) for cell, _, number in parts if cell in cells and number.isdigit()]
    for cell, number in sorted(found, reverse=True):
        (store / "claims" / f"{cell}.{number}").unlink(missing_ok=True)


def remove_dead(store: Path) -> None:
    """Remove the files of workers that were killed on this machine, and what they left half written."""
    for file in (store / "workers").glob("*.json"):
        with suppress(OSError, ValueError):
            if not _may_live(_said(file)):
                file.unlink()
                file.with_suffix(".part").unlink(missing_ok=True)


def _names(folder: Path) -> list[str]:
    """The names in a folder, none where it is gone."""
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def living(store: Path, expires: float = EXPIRES) -> dict[str, dict[str, Any]]:
    """What each living worker says about its work, by its name."""
    found = {}
    for file in sorted((store / "workers").glob("*.json")):
        with suppress(OSError, ValueError):
            said = _said(file)
            if time.time() - file.stat().st_mtime <= expires and _may_live(said):
                found[file.stem] = said["facts"]
    return found


def _said(file: Path) -> dict[str, Any]:
    """What a worker's file says; an OSError or a ValueError where nothing of a worker can be read."""
    if not file.is_file():  # a pipe would be waited for
        raise ValueError("it is no file")
    said = parsed_json(file.read_bytes())
    facts = said.get("facts") if isinstance(said, dict) else None
    if not isinstance(facts, dict) or not all(isinstance(facts.get(n, 0), int | float) for n in ("cells", "done")):
        raise ValueError("it is not a worker's")
    return said


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
        facts = Path(f"/proc/{int(pid)}/stat").read_text().rpartition(")")[2].split()
        return None if facts[0] in "ZX" else facts[19]  # a dead one that its parent has not asked for yet
    except (OSError, ValueError, TypeError, IndexError):
        return None
