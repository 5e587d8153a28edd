"""An exercise as its folder holds it: `exercise.md` says what is asked, `reference.py` computes the right answers.

    ---
    title: A word backwards
    kind: RASP program
    level: easy
    learns: how a position reads another
    define: backwards
    alphabet: a b c
    longest: 8
    exhaustive: 4
    ---

    The statement.

    ## Stub

    (one block of code, which the student starts from)

    ## Hint

    (as many as there are hints, in the order in which they are given)

`define` is the name that a Python file has to define, and `alphabet` the tokens of inputs. All inputs of up to
`exhaustive` tokens are tried, and `samples` random ones of up to `longest` tokens. `ours: layers 2, heads 1` tells a
student who passed how large the solution of whoever wrote the exercise is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from kleene.errors import InputError, did_you_mean
from kleene.files import MOST_TEXT, read_bytes
from kleene.limits import read_count
from kleene.notation.console import typed_vocabulary

TEXT, REFERENCE = "exercise.md", "reference.py"
LEVELS = ("easy", "medium", "hard")
ENDINGS = {"python": ".py", "tm": ".tm", "nram": ".nram"}  # of the stub, by the language of its block
COMMENTS = {".py": "#", ".tm": "//", ".nram": "//", ".dot": "//", ".gv": "//"}
WORDS = ("automaton", "Turing machine")  # kinds whose inputs are words of symbols
KINDS = ("RASP program", "transformer program", *WORDS, "circuit")
BLOCK = re.compile(r"^(```|~~~)(\w*)\n(.*?)^\1", re.MULTILINE | re.DOTALL)
NEEDED = ("title", "kind", "level", "learns")
NUMBERS = {"longest": 8, "exhaustive": 4, "samples": 100, "seconds": 60}
OPTIONAL = ("define", "alphabet", "causal", "ours", *NUMBERS)


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """What a solution has to be: all of an exercise that the process which runs the solution is told."""

    kind: str
    define: str = ""  # the name that a Python file has to define
    alphabet: tuple = ()
    causal: bool = False
    longest: int = NUMBERS["longest"]

    @property
    def has_words(self) -> bool:
        """Whether inputs are words of symbols rather than lists of tokens."""
        return self.kind in WORDS

    @property
    def required(self) -> dict:
        """These facts alone."""
        return {one.name: getattr(self, one.name) for one in fields(Requirement)}


@dataclass(frozen=True, kw_only=True)
class Exercise(Requirement):
    """What is asked, the student's stub, the hints, and how large the inputs are that a solution is tried on."""

    name: str
    folder: Path
    title: str
    level: str
    learns: str
    statement: str
    stub: str
    ending: str  # of the stub's file
    hints: tuple[str, ...]
    exhaustive: int = NUMBERS["exhaustive"]
    samples: int = NUMBERS["samples"]
    seconds: int = NUMBERS["seconds"]  # that grading may take
    ours: Mapping[str, int] = field(default_factory=dict)  # figures of the solution of whoever wrote the exercise

    @property
    def reference(self) -> Path:
        """The file with the reference function."""
        return self.folder / REFERENCE

    def as_json(self) -> dict:
        """The row of a list."""
        shown = {"name": self.name, "title": self.title, "kind": self.kind, "level": self.level}
        return shown | {"learns": self.learns, "hints": len(self.hints)}

    @classmethod
    def load(cls, folder: Path, name: str = "") -> "Exercise":
        """The exercise in a folder; an InputError names the line that cannot be read."""
        file = folder / TEXT
        for needed in (file, folder / REFERENCE):
            if not needed.is_file():
                raise InputError(f"{str(folder)!r} is no exercise: it has no {needed.name}; see docs/exercises.md")
        try:
            text = read_bytes(file, MOST_TEXT).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{str(file)!r} is not a text in UTF-8") from None
        header, body = _halves(text, file)
        return cls(name=name or folder.name, folder=folder, **_header(header, file), **_sections(body, header, file))


def _halves(text: str, file: Path) -> tuple[dict[str, str], str]:
    """The lines `key: value` between two lines of dashes, and what follows them."""
    lines = text.splitlines()
    ends = [number for number, line in enumerate(lines) if line.strip() == "---"]
    if len(ends) < 2 or ends[0] != 0:
        raise InputError(f"{str(file)!r} begins without `key: value` lines between two lines of ---")
    found: dict[str, str] = {}
    for number, line in enumerate(lines[1 : ends[1]], start=2):
        key, colon, value = line.partition(":")
        if not line.strip():
            continue
        if not colon or key.strip() not in (*NEEDED, *OPTIONAL):
            known = did_you_mean(key.strip(), (*NEEDED, *OPTIONAL))
            raise InputError(f"{str(file)!r}, line {number}: there is no key {key.strip()!r}; {known}")
        found[key.strip()] = value.strip()
    return found, "\n".join(lines[ends[1] + 1 :])


def _header(given: Mapping[str, str], file: Path) -> dict:
    for key in NEEDED:
        if not given.get(key):
            raise InputError(f"{str(file)!r} has no line `{key}: …` between its lines of ---")
    for key, allowed in {"kind": KINDS, "level": LEVELS}.items():
        if given[key] not in allowed:
            raise InputError(f"{str(file)!r}: {key} is {given[key]!r}; {did_you_mean(given[key], allowed)}")
    found: dict = {key: given[key] for key in NEEDED} | {"define": given.get("define", "")}
    for key in NUMBERS:
        number = read_count(given.get(key, str(NUMBERS[key])), 5)
        if number is None:
            raise InputError(f"{str(file)!r}: {key} is {given[key]!r}; it is a whole number, 0 or more")
        found[key] = number
    if found["longest"] < found["exhaustive"]:
        raise InputError(f"{str(file)!r}: longest is {found['longest']}, less than exhaustive, {found['exhaustive']}")
    if given.get("causal", "no") not in ("yes", "no"):
        raise InputError(f"{str(file)!r}: causal is {given['causal']!r}; it is yes or no")
    tokens = typed_vocabulary(given["alphabet"]) if given.get("alphabet") else []
    if not tokens and given["kind"] != "circuit":
        raise InputError(f"{str(file)!r} has no line `alphabet: …`, which says what inputs are made of")
    symbols = map(str, tokens) if given["kind"] in WORDS else tokens
    found |= {"causal": given.get("causal") == "yes", "alphabet": tuple(symbols)}
    return found | {"ours": _figures(given.get("ours", ""), file)}


def _figures(text: str, file: Path) -> dict[str, int]:
    """The figures that a line such as `layers 2, hidden_units 33` gives."""
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = part.rpartition(" ")
        count = read_count(number)
        if not name or count is None:
            raise InputError(f"{str(file)!r}: ours has {part!r}; give figures such as `layers 2, hidden_units 33`")
        found[name] = count
    return found


def _sections(body: str, header: Mapping[str, str], file: Path) -> dict:
    """The statement, the stub with its ending, and the hints."""
    statement, *sections = re.split(r"^## ", body, flags=re.MULTILINE)
    parts = [section.partition("\n") for section in sections]
    odd = [title for title, _, _ in parts if not re.fullmatch(r"Stub|Hint( \d+)?", title.strip())]
    if odd:
        raise InputError(f"{str(file)!r} has a section {odd[0]!r}; there are one `## Stub` and several `## Hint`")
    stubs = [text for title, _, text in parts if title.strip() == "Stub"]
    blocks = BLOCK.findall(stubs[0]) if len(stubs) == 1 else []
    if len(blocks) != 1 or blocks[0][1] not in ENDINGS:
        raise InputError(
            f"{str(file)!r} needs one section `## Stub` with one block of code, whose first line is ``` and one of "
            f"{', '.join(ENDINGS)}"
        )
    _, language, stub = blocks[0]
    if language == "python" and not header.get("define", "").isidentifier():
        raise InputError(f"{str(file)!r} needs a line `define: NAME`: the name that the student's file has to define")
    hints = tuple(text.strip() for title, _, text in parts if title.strip() != "Stub")
    return {"statement": statement.strip(), "stub": stub, "ending": ENDINGS[language], "hints": hints}
