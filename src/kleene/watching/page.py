"""One self-contained file of HTML: the document, and the styles and scripts that show it.

The page loads nothing: its content security policy allows its own script and style, by their hashes, and no address.
The document is data in the page, in which `<` is written as an escape, so that no text in it can end the element.
"""

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.files import write_atomically
from kleene.watching.bundling import script, text_of

MARK = '<meta name="generator" content="kleene watch">'  # by which a page of ours is known
_DATA = re.compile(r'<script id="document" type="application/json">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, repr=False)
class WatchPage:
    """A page that steps through a run. In a notebook it shows itself; `save` writes it to a file."""

    document: Mapping[str, Any]

    @property
    def html(self) -> str:
        """The whole page."""
        style, code = text_of("page.css"), script()
        policy = f"default-src 'none'; img-src data:; style-src '{hash_of(style)}'; script-src '{hash_of(code)}'"
        title = f"{self.document['title']} {self.document['input']}".strip()
        parts = {
            "mark": MARK,
            "policy": html.escape(policy),
            "title": html.escape(f"{title} · Kleene"),
            "style": style,
            "script": code,
            "document": embedded(self.document),
        }
        return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text_of("page.html"))  # in one pass

    def save(self, path: Any, *, force: bool = False) -> Path:
        """Write the page and return the path. A file that is no such page is replaced only if you `force` it."""
        target = Path(path)
        if os.path.isfile(target) and not force and not is_page(target):
            raise InputError(f"{str(target)!r} exists and is no page of kleene watch; give another name with -o")
        return write_atomically(target, self.html)

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(repr(self))}" '
            f'style="width:100%;height:720px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<WatchPage of {self.document['title']}: {self.document['steps']} {self.document['step']}s>"

    def as_json(self) -> dict[str, Any]:
        return dict(self.document)


def embedded(document: Mapping[str, Any]) -> str:
    """The document as JSON that may stand in a page.

    >>> embedded({"title": "</script>"})
    '{"title":"\\\\u003c/script>"}'
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def document_in(page: str) -> dict[str, Any]:
    """The document in the text of a page."""
    found = _DATA.search(page)
    if found is None:
        raise InputError("this is no page of kleene watch: it has no document in it")
    return json.loads(found[1])


def is_page(path: Path) -> bool:
    """Whether the file begins as our pages do."""
    try:
        with open(path, "rb") as file:
            return MARK.encode() in file.read(1024)
    except OSError:
        return False


def hash_of(text: str) -> str:
    """The hash by which a content security policy allows a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
