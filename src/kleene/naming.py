"""Find the program or network that a typed name means: a name on a shelf, a regular expression, or a file."""

import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kleene import kinds
from kleene.errors import InputError, KleeneError, did_you_mean, typed_option
from kleene.files import MOST_TEXT, check_source
from kleene.kinds import Kind
from kleene.notation.console import Entry
from kleene.users_code import users_code

load = kinds.late("kleene.machines.protocol:load")
_prefix_of_drawing = kinds.late("kleene.programs.jflap:prefix_of")


class Found(NamedTuple):
    """A program or network, its entry if it is on a shelf, and its kind."""

    subject: Any
    entry: Entry | None
    kind: Kind

    @property
    def is_program(self) -> bool:
        return self.kind.is_program(self.subject)


def find(name: str, adoption: Mapping[str, Any] | None = None) -> Found:
    """The program or network of that name; `adoption` says what else makes it a program, such as a vocabulary.

    - `NAME` is a transformer program or circuit of the shelf. `FILE.py:NAME` is a program in a file, or a function that
      makes one; `FILE.py` is the only program in it.
    - `dfa:NAME` is an automaton of the shelf; `dfa:FILE.json`, `dfa:FILE.dot` and `dfa:FILE.gv` are automata in files;
      `dfa:REGEX` is the automaton of a regular expression.
    - `tm:NAME` is a Turing machine of the shelf, and `tm:FILE.tm` one in a file. `circuit:FILE.nram` is a circuit in a
      file. `FILE.jff` is an automaton or a Turing machine in a JFLAP file, with the prefix or without.
    - `rasp:NAME` is a RASP program of the shelf; one in a file is `FILE.py:NAME` and needs a vocabulary and a length.
    - `rnn:NAME` is a network of the shelf, and `FILE.safetensors` one in a file.

    The error for an unknown name suggests similar names from every shelf.

    >>> find("dfa:(a|b)*abb").subject
    <DFA of 4 states over a b>
    """
    found, left = taken(name, adoption or {})
    check_taken(name, left)
    return found


def check_taken(name: str, left: Mapping[str, Any]) -> None:
    """Refuse options that say what makes a program of something that is one already."""
    for option, value in left.items():
        if value is not None:
            raise InputError(f"{typed_option(option)} has no meaning for {name!r}; it is for RASP programs")


def taken(given: Any, options: Mapping[str, Any]) -> tuple[Found, dict[str, Any]]:
    """What a verb was given as a name, an entry of a shelf, or itself; and the options that are left for the verb."""
    subject, entry = looked_up(given)
    subject, left = kinds.taken(subject, options)
    return Found(subject, entry, kinds.of(subject)), left


def looked_up(given: Any) -> tuple[Any, Entry | None]:
    """The subject that is meant, as it was written, and its entry if it is on a shelf."""
    if isinstance(given, Entry):
        return given.build(), given
    return _named(given) if isinstance(given, str) else (given, None)


def _named(name: str) -> tuple[Any, Entry | None]:
    prefix, colon, rest = name.partition(":")
    if name.endswith(".safetensors"):
        return load(name), None
    if prefix.endswith(".py"):
        return _in_file(name), None
    if name.endswith(".jff") and f"{prefix}:" not in {known for kind in kinds.known() for known in kind.prefixes}:
        name = _prefix_of_drawing(Path(name)) + name  # what is drawn in a file says which kind it is
        prefix, colon, rest = name.partition(":")
    typed, own = (f"{prefix}:", rest) if colon else ("", name)
    meant = [kind for kind in kinds.known() if typed in kind.prefixes]  # no other kind's shelf is loaded
    for kind in meant:
        entry = None if kind.shelf is None else kind.shelf().get(own)
        if entry is not None:
            return entry.build(), entry
    for kind in meant:
        subject = kind.spelled(rest) if colon and kind.spelled is not None else None
        if subject is not None:
            return subject, None
    raise InputError(f"no program {name!r} in the library; {did_you_mean(name, listed_names())}")


def listed_names() -> list[str]:
    """The names of all shelves, each once."""
    return [name for name, _, _ in shelves()]


def shelves() -> list[tuple[str, Entry, Kind]]:
    """Every entry with its name and its kind's record, in the order of the kinds."""
    with_shelf = [kind for kind in kinds.known() if kind.shelf is not None]
    return [(kind.prefixes[0] + name, entry, kind) for kind in with_shelf for name, entry in kind.shelf().items()]  # type: ignore[misc]


def find_program(name: str, kind: Kind) -> Found:
    """The program of that name and kind, or the one that a program of another kind is lowered to."""
    return of_kind(find(name), name, kind)


def of_kind(found: Found, name: str, kind: Kind) -> Found:
    """What was found, if it is a program of that kind or can be lowered to one."""
    if found.kind is not kind and found.is_program:
        below = kinds.lowered(found.subject)
        found = Found(below, found.entry, kinds.of(below))
    if found.kind is not kind or not found.is_program:
        raise InputError(f"{name!r} is a {type(found.subject).__name__}; this command takes a {kind.name}")
    return found


def subject_of(given: Any) -> Found:
    """The program or network that a verb was given as a name, an entry of a shelf, or itself."""
    return taken(given, {})[0]


def name_of(given: Any) -> str:
    """The name for messages: the name that was typed, the subject's own, or that of its kind."""
    if isinstance(given, str):
        return given
    return getattr(given, "name", None) or kinds.of(given).noun


def from_file(place: str) -> Any:
    """The program or network that `FILE.py:NAME` names, or the only one of `FILE.py`.

    The file is run as Python, as `python FILE.py` would.
    """
    return kinds.adopted(_in_file(place))


def _in_file(place: str) -> Any:
    """What a file has under a name, as it was written there."""
    path, _, name = place.partition(":")
    if not os.path.isfile(path):
        raise InputError(
            f"there is no file {path!r}; give FILE.py:NAME, NAME being a program or a function that makes one"
        )
    module = module_in(Path(path))
    name = name or _only_program(path, module)
    found = getattr(module, name, None)
    if found is None:
        raise InputError(f"{path!r} defines no {name!r}; give FILE.py:NAME with a name that the file defines")
    if callable(found) and kinds.find(found) is None:
        found = _called(found, name, path)
    if kinds.find(found) is None:
        raise InputError(
            f"{place!r} gave {type(found).__name__}, and a program was expected, such as alta.program_spec returns, "
            f"a kleene.DFA, a kleene.TuringMachine, a Circuit or an s-op of RASP"
        )
    return found


def _called(function: Callable[[], Any], name: str, path: str) -> Any:
    try:
        return function()
    except KleeneError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"calling {name}() in {path!r} raised {type(error).__name__}: {error}") from error


def _only_program(path: str, module: Any) -> str:
    """The name of a file's program: `program`, or the only one that there is."""
    found = {name: value for name, value in vars(module).items() if kinds.find(value) is not None}
    if hasattr(module, "program") or not found:
        return "program"
    if len({id(value) for value in found.values()}) > 1:
        names = ", ".join(f"{path}:{name}" for name in found)
        raise InputError(f"{path!r} has several programs; say which: {names}")
    return next(iter(found))


def function_in_file(place: str, option: str) -> Callable[..., Any]:
    """The function that `FILE.py:NAME` names. The file is run as Python."""
    found = defined_in_file(place, option, "function")
    if not callable(found):
        raise InputError(f"{option} is {place!r}, which is no function")
    return found


def defined_in_file(place: str, option: str, what: str) -> Any:
    """What `FILE.py:NAME` names, a `what` in errors. The file is run as Python."""
    path, colon, name = place.partition(":")
    if not colon or not name or not path.endswith(".py"):
        raise InputError(f"{option} is {place!r}; give FILE.py:NAME, NAME being a {what} in that file")
    if not os.path.isfile(path):
        raise InputError(f"{option} is {place!r}, and there is no file {path!r}")
    found = getattr(module_in(Path(path)), name, None)
    if found is None:
        raise InputError(f"{option} is {place!r}, and {path!r} defines no {what} {name!r}")
    return found


def inputs_in_file(place: str | None) -> Any:
    """The function, automaton or regular expression that `--inputs FILE.py:NAME` names; None where it is not given."""
    return None if place is None else defined_in_file(place, "--inputs", "function or grammar")


_beside: dict[str, set[str]] = {}  # the modules that files in a folder imported from that folder
_LOADING = threading.RLock()  # a file that is run finds the modules beside it by sys.path, which all threads share


def module_in(file: Path) -> Any:
    """The module of a Python file, which is run; whatever the file raises becomes an InputError."""
    check_source(file, MOST_TEXT)
    with _LOADING, users_code():
        return _module_in(file)


def _module_in(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"kleene_user_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # inspect finds the source of the functions through it
    folder = str(file.parent.resolve())
    for name in _beside.pop(folder, ()):  # so that a module that was changed since is not taken for the old
        sys.modules.pop(name, None)
    before = {*sys.modules}
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except KleeneError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{str(file)!r} could not be run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
        _beside[folder] = {name for name in {*sys.modules} - before if _is_in(sys.modules[name], folder)}
    return module


def _is_in(module: Any, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).resolve().is_relative_to(folder)
