"""Finding the program that a person named: one of the library, or one in a file of their own."""

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kleene.errors import InputError, KleeneError, close_names, did_you_mean
from kleene.files import MOST_TEXT, check_source
from kleene.programs.alta.compat import Program as AltaProgram
from kleene.programs.alta.program import Program
from kleene.programs.automata import DFA
from kleene.programs.circuits import Circuit
from kleene.programs.turing import TuringMachine

KINDS = (Program, DFA, TuringMachine, Circuit)


def find(name: str, *, others: Iterable[str] = ()) -> tuple[Any, Any]:
    """The program, and its library entry (None for one that is not from a library).

    `NAME` is a transformer program of the library, `FILE.py:NAME` a program in a file or a function there that makes
    one, and `FILE.py` the only program in it. `dfa:NAME` is an automaton of the shelf, `dfa:FILE.json`, `dfa:FILE.dot`
    or `dfa:FILE.gv` one in a file, and `dfa:REGEX` that of any other text; `tm:NAME` is a Turing machine of the shelf,
    `tm:FILE.tm` one in a file; `circuit:NAME` is a circuit of the shelf, where `NAME` alone will do,
    `circuit:FILE.nram` one in a file.

    An error suggests what comes close, on any shelf or among the `others`.

    >>> find("dfa:(a|b)*abb")[0]
    <DFA of 4 states over a b>
    """
    prefix, colon, rest = name.partition(":")
    if colon and prefix == "dfa":
        return _automaton(rest)
    if prefix.endswith(".py"):
        return from_file(name), None
    if rest.endswith(".tm") and prefix == "tm":
        return TuringMachine.load(rest), None
    if rest.endswith(".nram") and prefix == "circuit":
        return Circuit.load(rest), None
    shelves = _shelves()
    if name not in shelves:
        known = [*(n for n in shelves if not n.startswith("circuit:")), *others]
        raise InputError(f"no program {name!r} in the library; {did_you_mean(name, known)}")
    return shelves[name].build(), shelves[name]


def _shelves() -> dict[str, Any]:
    """All entries of the libraries by the names that a person gives them."""
    from kleene.programs.alta import library as transformers
    from kleene.programs.automata import library as automata
    from kleene.programs.circuits import library as circuits
    from kleene.programs.turing import library as machines

    found = dict(transformers.entries())
    found |= {f"dfa:{name}": entry for name, entry in automata.entries().items()}
    found |= {f"tm:{name}": entry for name, entry in machines.entries().items()}
    found |= circuits.entries()  # no transformer program has the name of a circuit
    return found | {f"circuit:{name}": entry for name, entry in circuits.entries().items()}


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
    close = close_names(text, entries()) if len(text) > 3 and text.isidentifier() else []
    if close:  # hardly a language of one word
        told = " or ".join(f"dfa:{name}" for name in close)
        raise InputError(
            f"no automaton {text!r} in the library; did you mean {told}? If these letters are a regular expression, "
            f"put them into brackets: 'dfa:({text})'"
        )
    return DFA.from_regex(text), None


def from_file(place: str) -> Any:
    """The program that `FILE.py:NAME` names, or the only one of `FILE.py`.

    The file is run as Python, as `python FILE.py` would.
    """
    path, _, name = place.partition(":")
    file = Path(path)
    if not os.path.isfile(file):
        raise InputError(
            f"there is no file {path!r}; give FILE.py:NAME, NAME being a program or a function that makes one"
        )
    module = _module(file)
    name = name or _only_program(path, module)
    found = getattr(module, name, None)
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


def _only_program(path: str, module: Any) -> str:
    """The name of the program of a file: `program`, or the only one there is."""
    found = {name: value for name, value in vars(module).items() if isinstance(value, KINDS)}
    if hasattr(module, "program") or not found:
        return "program"
    if len({id(value) for value in found.values()}) > 1:
        names = ", ".join(f"{path}:{name}" for name in found)
        raise InputError(f"{path!r} has several programs; say which: {names}")
    return next(iter(found))


def function_in_file(place: str, option: str) -> Callable[..., Any]:
    """The function that `FILE.py:NAME` names. The file is run as Python."""
    path, colon, name = place.partition(":")
    if not colon or not name or not path.endswith(".py"):
        raise InputError(f"{option} is {place!r}; give FILE.py:NAME, NAME being a function in that file")
    if not os.path.isfile(path):
        raise InputError(f"{option} is {place!r}, and there is no file {path!r}")
    found = getattr(_module(Path(path)), name, None)
    if not callable(found):
        raise InputError(f"{option} is {place!r}, and {path!r} defines no function {name!r}")
    return found


def _module(file: Path) -> Any:
    check_source(file, MOST_TEXT)
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
