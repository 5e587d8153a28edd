"""Where a sweep was written: its content, the name of its file, and the lines on which its keys stand.

`tomllib` tells no lines, so `key_lines` scans the text once more, and only when there is an error to report. The text
has been read by `tomllib` by then, so the scanner need not judge it.
"""

import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, did_you_mean
from kleene.files import MOST_TEXT, read_bytes

KeyPath = tuple[str | int, ...]  # ("cells", 2, "hints") is the key `hints` of the third [[cells]]

TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}'  # strings of several lines end in up to two quotes of their own
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|\n|[\[\]{}=,.]|[^\s\[\]{}=,.#\"']+",
    re.DOTALL,
)


@dataclass(frozen=True)
class Source:
    """The content of a sweep, its name in errors, its folder, and its text, which a sweep given as a dict lacks."""

    name: str
    content: dict[str, Any]
    folder: Path
    text: str = ""

    def error(self, path: KeyPath, problem: str) -> InputError:
        """The error about the key at that path, with the line of the key, or of the nearest table around it.

        A dict has no lines, so its error names the path.
        """
        lines = key_lines(self.text)
        known = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in lines), None)
        inside = f", line {lines[known]}" if known else ", in " + ".".join(map(str, path)) if path and not lines else ""
        return InputError(f"{self.name}{inside}: {problem}")

    def unknown(self, path: KeyPath, what: str, known: Iterable[str]) -> InputError:
        """The error about a key that is not among the known ones: `what` has no such key, and similar ones."""
        return self.error(path, f"{what} {path[-1]!r}; {did_you_mean(str(path[-1]), known)}")


def load(source: str | os.PathLike | Mapping[str, Any]) -> Source:
    """The content of a TOML file, or of a dict of the same shape, whose files are those of the current folder."""
    name = "the sweep" if isinstance(source, Mapping) else str(Path(source))
    try:
        if isinstance(source, Mapping):
            return Source(name, _plain(source), Path.cwd())
        text = read_bytes(source, MOST_TEXT).decode("utf-8-sig").replace("\r\n", "\n")
        return Source(name, tomllib.loads(text), Path(source).absolute().parent, text)
    except UnicodeDecodeError:
        raise InputError(f"{name!r} is not a text in UTF-8; a sweep is a TOML file") from None
    except RecursionError:
        raise InputError(f"{name!r} has lists or tables that are nested too deeply; a sweep needs few") from None
    except ValueError as error:  # of tomllib, with line and column; or about a number with thousands of digits
        raise InputError(f"{name!r} is not TOML: {error}") from None


def _plain(value: Any) -> Any:
    """The value as a file would have it: tuples and arrays as lists, paths as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, from 1, of every table, every key and every element of a list in a TOML text.

    >>> key_lines("name = 'x'\\n[[cells]]\\nhints = 'read'\\n")
    {('name',): 1, ('cells',): 2, ('cells', 0): 2, ('cells', 0, 'hints'): 3}
    """
    found: dict[KeyPath, int] = {}
    lengths: Counter[KeyPath] = Counter()  # how many [[tables]] of a name, and elements of a list, there were so far
    table: KeyPath = ()  # whose keys are being read
    value: KeyPath = ()  # the path of the last key, or of the list around it
    around: list[tuple[str, KeyPath, KeyPath]] = []  # the open brackets, with the table and value outside of them
    state, parts, line = "key", [], 1

    def note(path: KeyPath) -> KeyPath:
        for end in range(1, len(path) + 1):
            found.setdefault(path[:end], line)
        return path

    for token in TOKEN.findall(text):
        in_list = bool(around) and around[-1][0] == "["
        if state == "value" and in_list and token not in ("\n", ",", "]") and token[0] != "#":
            note((*value, lengths[value]))
        if token[0] == "#" or (token == "." and state != "value"):
            pass
        elif token == "\n" and not around:
            state, parts = "key", []
        elif token == "[" and state != "value":
            state = "tables" if state == "header" else "header"
        elif token == "]" and state in ("header", "tables"):
            path = tuple(parts)
            table = note((*path, lengths[path]) if state == "tables" else path)
            lengths[path] += state == "tables"
            state = "value"
        elif token == "=" and state == "key":
            value, state, parts = note((*table, *parts)), "value", []
        elif token in ("[", "{"):
            around.append((token, table, value))
            value = (*value, lengths[value]) if in_list else value
            table, state, parts = (value, "key", []) if token == "{" else (table, "value", [])
        elif token in ("]", "}") and around:
            _, table, value = around.pop()
            state = "value"
        elif token == "," and in_list:
            lengths[value] += 1
        elif token == ",":
            state, parts = "key", []
        elif state != "value" and token != "\n":
            parts.append(tomllib.loads(f"key = {token}")["key"] if token[0] in "\"'" else token)
        line += token.count("\n")
    return found
