"""Finding the program that a person named: one of the library, or one in a file of their own."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from kleene.errors import InputError, KleeneError
from kleene.programs.alta.compat import Program as AltaProgram
from kleene.programs.alta.program import Program
from kleene.programs.automata import DFA
from kleene.programs.circuits import Circuit
from kleene.programs.turing import TuringMachine

KINDS = (Program, DFA, TuringMachine, Circuit)


def find(name: str) -> tuple[Any, Any]:
    """The program, and its library entry (None for one that is not from a library).

    `NAME` is a transformer program of the library, `FILE.py:NAME` a program in a file or a function there that makes
    one. `dfa:NAME` is an automaton of the shelf, `dfa:FILE.json`, `dfa:FILE.dot` or `dfa:FILE.gv` one in a file, and
    `dfa:REGEX` that of any other text; `tm:NAME` is a Turing machine of the shelf, `tm:FILE.tm` one in a file;
    `circuit:NAME` is a circuit of the shelf, where `NAME` alone will do, `circuit:FILE.nram` one in a file.

    >>> find("dfa:(a|b)*abb")[0]
    <DFA of 4 states over a b>
    """
    prefix, colon, rest = name.partition(":")
    if colon and prefix == "dfa":
        return _automaton(rest)
    if colon and prefix == "tm":
        return _machine(rest)
    if colon and prefix == "circuit":
        return _circuit(rest)
    if prefix.endswith(".py"):
        return from_file(name), None
    from kleene.programs.alta.library import get
    from kleene.programs.circuits.library import entries

    if name in entries():  # no transformer program has the name of a circuit
        return _circuit(name)

    entry = get(name)
    return entry.build(), entry


def find_transformer(name: str) -> tuple[Program, Any]:
    """The transformer program of that name; a program of another kind is refused."""
    program, entry = find(name)
    if not isinstance(program, Program):
        raise InputError(f"{name!r} is a {type(program).__name__}; this command takes a transformer program")
    return program, entry


def _automaton(text: str) -> tuple[DFA, Any]:
    from kleene.programs.automata.library import entries
    from kleene.programs.automata.storage import ENDINGS

    if text in entries():
        return entries()[text].build(), entries()[text]
    if text.endswith(ENDINGS):
        return DFA.load(text), None
    return DFA.from_regex(text), None


def _machine(text: str) -> tuple[TuringMachine, Any]:
    if text.endswith(".tm"):
        return TuringMachine.load(text), None
    from kleene.programs.turing.library import get

    entry = get(text)
    return entry.build(), entry


def _circuit(text: str) -> tuple[Circuit, Any]:
    if text.endswith(".nram"):
        return Circuit.load(text), None
    from kleene.programs.circuits.library import get

    entry = get(text)
    return entry.build(), entry


def from_file(place: str) -> Any:
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
    if callable(found) and not isinstance(found, (*KINDS, AltaProgram)):
        try:
            found = found()
        except KleeneError:
            raise
        except (Exception, SystemExit) as error:
            raise InputError(f"calling {name}() in {path!r} raised {type(error).__name__}: {error}") from error
    found = found.lowered if isinstance(found, AltaProgram) else found
    if not isinstance(found, KINDS):
        raise InputError(
            f"{place!r} gave {type(found).__name__}, and a program was expected, such as alta.program_spec returns, "
            f"or a kleene.DFA, a kleene.TuringMachine or a Circuit"
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
