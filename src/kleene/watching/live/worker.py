"""The process of one run: it reads a request from its input, runs the program, and prints the page's document.

What the program prints goes to stderr. The answer also lists the files that the run depends on, and says of an error
in which file and line it lies.
"""

import contextlib
import json
import linecache
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from kleene import naming
from kleene.errors import EditError, InputError, KleeneError
from kleene.files import encoded
from kleene.running import typed_input
from kleene.watching.live.saving import MOST_FILES, file_of
from kleene.watching.watch import watch_found

LONGEST = 4000  # characters of a message


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a run, or the problem; and the files that it depends on.

    >>> answer({"target": "parity_relative", "words": ["12"], "options": {}})["problem"]["of"]
    'input'
    """
    target, words, options = request["target"], request["words"], request["options"]
    found, file = None, file_of(target)
    try:
        found, options = naming.taken(target, options)
        if words:  # without any, the program draws an input
            typed_input(words, found.subject, found.entry)
        document = dict(watch_found(found, target, words, **options).document)
        return {"document": document, "files": _files(file, None)}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a user's file may raise anything
        place = _place(error, file)
        is_input = found is not None and isinstance(error, InputError) and place is None
        of = "program" if not is_input else "edit" if isinstance(error, EditError) else "input"
        problem = {"of": of, "message": _message(error)[:LONGEST]}
        return {"problem": problem | (place or {}), "files": _files(file, error)}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and its causes."""
    while error is not None:
        yield error
        error = error.__cause__


def _message(error: BaseException) -> str:
    first = list(_chain(error))[-1]
    if isinstance(first, SyntaxError):
        return f"{type(first).__name__}: {first.msg}"
    if isinstance(first, KleeneError):
        return str(error)
    return f"{type(first).__name__}: {first}" if str(first) else type(first).__name__


def _place(error: BaseException, file: Path | None) -> dict[str, Any] | None:
    """The file, the line and its text where the user's own code raised the error; None if it was not there."""
    if file is None:
        return None
    folder = file.resolve().parent
    for cause in reversed(list(_chain(error))):
        frames = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(cause.__traceback__)]
        if isinstance(cause, SyntaxError) and cause.filename:
            frames.append((cause.filename, cause.lineno or 0))
        own = [(name, line) for name, line in frames if _is_own(name, folder)]
        if own:
            name, line = own[-1]
            shown = Path(name).resolve().relative_to(folder)
            return {"file": str(shown), "line": line, "text": linecache.getline(name, line).rstrip()[:200]}
    return None


def _is_own(name: str, folder: Path) -> bool:
    path = Path(name).resolve()
    return path.is_relative_to(folder) and "site-packages" not in path.parts and not path.is_relative_to(_HOUSE)


_HOUSE = Path(naming.__file__).resolve().parent


def _files(file: Path | None, error: BaseException | None) -> list[str]:
    """The target's file, the modules beside it that it imported, and those that it could not import."""
    if file is None:
        return []
    folder = file.resolve().parent
    found = {str(file.resolve())}
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if isinstance(name, str) and _is_own(name, folder):
            found.add(str(Path(name).resolve()))
    for cause in _chain(error):
        if isinstance(cause, SyntaxError) and cause.filename and _is_own(cause.filename, folder):
            found.add(str(Path(cause.filename).resolve()))
        if isinstance(cause, ImportError) and cause.name:
            place = folder.joinpath(*cause.name.split("."))
            found |= {str(place.with_suffix(".py")), str(place / "__init__.py")}
        frames = traceback.extract_tb(cause.__traceback__)
        found |= {str(Path(frame.filename).resolve()) for frame in frames if _is_own(frame.filename, folder)}
    return sorted(found)[:MOST_FILES]


def main() -> None:
    """Answer one request. The process ends by itself a while after it was given up, whatever it does."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.dont_write_bytecode = True  # two saves within a second would look the same to the cache of bytecode
    if "--network" in sys.argv:
        import_module("jax")
    request = json.loads(sys.stdin.read() or "null")
    if request is None:  # nobody needs a run any more
        return
    if hasattr(signal, "alarm"):
        signal.alarm(max(1, round(float(sys.argv[1]))))
    found = answer(request)
    with answers, contextlib.suppress(BrokenPipeError):
        try:
            text = json.dumps(found, allow_nan=False, ensure_ascii=False)
            encoded(text)
        except ValueError as error:
            text = json.dumps({"problem": {"of": "program", "message": str(error)}, "files": found["files"]})
        answers.write(text)


if __name__ == "__main__":
    main()
