"""The page's styles and scripts as one text each.

The scripts are modules that import each other by file name. A single file of HTML has no files to import from, so each
module becomes a function that returns what the module exports, and an import takes names from what another returned.
"""

import re
from functools import cache
from importlib.resources import files

IMPORT = re.compile(r'^import (\{[^}]*\}) from "(\./|\.\./)([\w/.-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:(?:async )?function|const|let|class) (\w+))", re.MULTILINE)


@cache
def text_of(name: str) -> str:
    """The text of a file of the folder `page`."""
    return (files("kleene.watching") / "page" / name).read_text(encoding="utf-8")


@cache
def script(name: str = "main.js") -> str:
    """The module of that name and all that it imports, as one script.

    >>> "import {" in script()
    False
    """
    return "\n".join(["const modules = {};", *(_wrapped(found) for found in modules(name))])


def modules(name: str) -> list[str]:
    """The modules that one needs, itself last."""
    found: list[str] = []

    def visit(module: str) -> None:
        for other in imported(module):
            if other not in found:
                visit(other)
        if module not in found:
            found.append(module)

    visit(name)
    return found


def imported(module: str) -> list[str]:
    """The modules that one imports, as paths in the folder `page`."""
    return [_place(module, up, name) for _, up, name in IMPORT.findall(text_of(module))]


def _place(module: str, up: str, name: str) -> str:
    folder = module.rpartition("/")[0]
    return f"{folder}/{name}" if folder and up == "./" else name


def _wrapped(module: str) -> str:
    """The module as a function, called once."""
    text = text_of(module)
    names = ", ".join(EXPORT.findall(text))
    body = IMPORT.sub(lambda found: f'const {found[1]} = modules["{_place(module, found[2], found[3])}"];\n', text)
    return f'modules["{module}"] = (() => {{\n{EXPORT.sub("", body)}return {{ {names} }};\n}})();'
