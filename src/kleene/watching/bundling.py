"""The page's styles and scripts as one text each.

The scripts are modules that import each other by file name. A single file of HTML has no files to import from, so they
are put one after the other, each behind those that it imports, without the words `import` and `export`.
"""

import re
from functools import cache
from importlib.resources import files

IMPORT = re.compile(r'^import \{[^}]*\} from "(\./|\.\./)([\w/.-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)


@cache
def text_of(name: str) -> str:
    """The text of a file of the folder `page`."""
    return (files("kleene.watching") / "page" / name).read_text(encoding="utf-8")


@cache
def script(name: str = "main.js") -> str:
    """The module of that name and all that it imports, as one module without imports.

    >>> "import {" in script()
    False
    """
    return "\n".join(_plain(text_of(found)) for found in modules(name))


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
    folder = module.rpartition("/")[0]
    inside = f"{folder}/" if folder else ""
    return [name if up == "../" else inside + name for up, name in IMPORT.findall(text_of(module))]


def _plain(text: str) -> str:
    return EXPORT.sub("", IMPORT.sub("", text))
