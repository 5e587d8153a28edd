"""Finding the program that a person named: one of the library, or one in a file of their own."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from kleene.errors import InputError, KleeneError
from kleene.programs.alta.program import Program


def find(name: str) -> tuple[Program, Any]:
    """The program, and its library entry (None for a program from a file).

    `NAME` is a program of the library; `FILE.py:NAME` a program in a file, or a function there that makes one.
    """
    if name.partition(":")[0].endswith(".py"):
        return from_file(name), None
    from kleene.programs.alta.library import get

    entry = get(name)
    return entry.build(), entry


def from_file(place: str) -> Program:
    """The program that `FILE.py:NAME` names. The file is run as Python, as `python FILE.py` would."""
    path, _, name = place.partition(":")
    name, file = name or "program", Path(path)
    if not file.is_file():
        raise InputError(
            f"there is no file {path!r}; give FILE.py:NAME, NAME being a program or a function that makes one"
        )
    found = getattr(_module(file), name, None)
    if found is None:
        raise InputError(f"{path!r} defines no {name!r}; give FILE.py:NAME with a name that the file defines")
    if callable(found) and not isinstance(found, Program):
        try:
            found = found()
        except KleeneError:
            raise
        except (Exception, SystemExit) as error:
            raise InputError(f"calling {name}() in {path!r} raised {type(error).__name__}: {error}") from error
    if not isinstance(found, Program):
        raise InputError(
            f"{place!r} gave {type(found).__name__}, and a program was expected, such as alta.program_spec returns"
        )
    return found


def _module(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"kleene_user_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # inspect finds the source of the functions through it
    folder = str(file.parent.resolve())
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except KleeneError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{str(file)!r} could not be run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    return module
