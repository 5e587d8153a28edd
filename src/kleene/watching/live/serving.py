"""`kleene watch --live`: a page that follows a file and takes typed inputs, until Ctrl-C."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from kleene import naming
from kleene.errors import InputError
from kleene.watching.cutting import Cut
from kleene.watching.live.following import FollowedRun
from kleene.watching.live.saving import file_of
from kleene.watching.live.server import LiveServer, check_installed
from kleene.watching.live.shell import run_page


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
