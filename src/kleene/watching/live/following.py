"""`kleene watch --live`: a run made again when one of its files is saved or another input is chosen, and its page."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kleene import naming
from kleene.errors import EditError, InputError, RunError
from kleene.notation.edits import Edit
from kleene.watching.cutting import Cut
from kleene.watching.live.board import LiveBoard
from kleene.watching.live.processes import RunProcesses
from kleene.watching.live.saving import Marks, file_of, marks_of
from kleene.watching.live.server import LiveServer, check_installed
from kleene.watching.live.shell import run_page

LONGEST_INPUT = 10_000  # characters
MOST_EDITS = 100
SETTLE = 0.05  # seconds after which a file that is being saved is looked at again


class FollowedRun:
    """The last good document of a target, and what the page says: whether it runs, on what input, and the problem."""

    def __init__(
        self,
        target: str,
        words: Sequence[str],
        options: Mapping[str, Any],
        *,
        seconds: float = 30.0,
        pause: float = 0.5,
    ) -> None:
        self.target, self.options, self.pause = target, dict(options), pause
        self.board = LiveBoard(latest=True)
        self.document: dict[str, Any] | None = None
        self.number = 0  # of the documents so far
        self.words = list(words)
        self.edits: list[str] = list(self.options.pop("edits", ()))
        self._chosen: tuple[list[str], list[str]] | None = None  # words and edits
        self._problem: dict[str, Any] | None = None
        file = file_of(target)
        self._files = set() if file is None else {str(file.resolve())}
        self._wake, self._lock = threading.Event(), threading.Lock()
        self._ended = False
        self.seconds = seconds
        self._thread: threading.Thread | None = None
        self._tell(running=True)

    def start(self) -> None:
        """Run for the first time, and follow from then on, in a thread."""
        self._thread = threading.Thread(target=self._follow, name="kleene-live", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop following; a run that is going on is given up."""
        self._ended = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self.board.close()

    def choose(self, text: str, edits: Sequence[str] | None = None) -> None:
        """Run on another input, as it was typed: words with spaces between. Without `edits`, those so far are kept."""
        if len(text) > LONGEST_INPUT:
            raise InputError(f"the input has {len(text):,} characters; at most {LONGEST_INPUT:,} can be typed")
        if len(edits or ()) > MOST_EDITS:
            raise EditError(f"there are {len(edits or ()):,} edits; at most {MOST_EDITS} can be made here")
        for edit in edits or ():
            Edit.parse(edit)
        with self._lock:
            self._chosen = text.split(), list(self.edits if edits is None else edits)
        self._wake.set()

    def state(self) -> dict[str, Any]:
        """What a page is told when it opens."""
        return self.board.since(0)[-1][1]

    def _follow(self) -> None:
        network = bool(self.options.get("compiled") or self.options.get("both"))
        processes = RunProcesses(self.seconds, network=network)
        try:
            marks = self._run(processes, self.words, self.edits)
            while not self._ended:
                self._wake.wait(self.pause)
                self._wake.clear()
                chosen = self._taken()
                if chosen is not None:
                    marks = self._run(processes, *chosen)
                elif not self._ended and marks_of(self._files) != marks:
                    time.sleep(SETTLE)
                    marks = self._run(processes, self.words, self.edits)
        finally:
            processes.close()

    def _taken(self) -> tuple[list[str], list[str]] | None:
        with self._lock:
            chosen, self._chosen = self._chosen, None
            return chosen

    def _run(self, processes: RunProcesses, words: list[str], edits: list[str]) -> Marks:
        """Run once and tell the page. Returns what the files were like when the run began."""
        marks = marks_of(self._files)
        self._tell(running=True, words=words)

        def should_stop() -> bool:
            return self._ended or self._chosen is not None or marks_of(self._files) != marks

        request = {"target": self.target, "words": words, "options": self.options | {"edits": edits}}
        try:
            found = processes.run(request, should_stop)
        except RunError as error:
            found = {"problem": {"of": "time", "message": str(error)}, "files": []}
        if found is None:
            return marks
        new = {*found["files"]} - self._files
        self._files |= new
        self._problem = found.get("problem")
        if self._problem is None:
            self.document, self.number, self.words, self.edits = found["document"], self.number + 1, words, edits
        elif self._problem["of"] == "program" or self.document is None:
            self.words = words  # the input is kept, because the fault may lie in the file
        self._tell(running=False, words=words)
        return marks | marks_of(new)

    def _tell(self, *, running: bool, words: Sequence[str] | None = None) -> None:
        typed = " ".join(self.words if words is None else words)
        told = {"running": running, "page": self.number, "input": typed, "problem": self._problem}
        self.board.publish(told | {"edits": self.edits})


def live_run(
    target: str, words: Sequence[str], *, port: int | None = None, **options: Any
) -> tuple[FollowedRun, LiveServer]:
    """A run that is followed, and the server of its page; neither is started. Options are those of `kleene.watch`."""
    check_installed()
    given = {name: value for name, value in options.items() if value is not None}
    if given.get("compiled") and given.get("both"):
        raise InputError("--compiled shows the network and --both shows it beside the program; give one of the two")
    Cut.read(given.get("channels"), given.get("positions"), given.get("steps"))
    file = file_of(target)
    if file is None:
        naming.find(target)  # a name that is not known is refused here, and a file that has faults by the page
    elif not os.path.isfile(file):
        raise InputError(f"there is no file {str(file)!r}; give FILE.py:NAME, or a program of the library")
    run = FollowedRun(target, words, given)

    def page() -> tuple[str, str]:
        state = run.state()  # before the document, so that a page never takes an old document for a new one
        return run_page(target, run.document, state)

    return run, LiveServer(run.board, page, run.choose, port=port)


def serve_live(target: str, words: Sequence[str], told: Callable[[str], None], **options: Any) -> None:
    """Serve until Ctrl-C; `told` gets the address first."""
    run, server = live_run(target, words, **options)
    told(server.url)
    run.start()
    try:
        server.serve()
    finally:
        run.close()
