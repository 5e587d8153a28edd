"""The pages of a server as texts of HTML, each with its content security policy.

The page of a run is the one that `kleene watch` writes to a file, with a box for the input above it. It is loaded again
for every new document, and finds its step in its address.
"""

import html
import re
from collections.abc import Mapping
from typing import Any

from kleene.watching.bundling import script, text_of
from kleene.watching.page import MARK, embedded, hash_of


def run_page(target: str, document: Mapping[str, Any] | None, state: Mapping[str, Any]) -> tuple[str, str]:
    """The page of a run that is followed, and its policy; without a document it waits for the first."""
    scripts = [script("live/console.js")] + ([] if document is None else [script()])
    title = target if document is None else f"{document['title']} {document['input']}".strip()
    data = {"live-data": state} | ({} if document is None else {"document": document})
    return _page("live/run.html", title, data, scripts)


def teaching_page(title: str, plan: Mapping[str, Any]) -> tuple[str, str]:
    """The page of a plan that is being taught, and its policy."""
    return _page("live/teaching.html", title, {"live-data": plan}, [script("live/teaching.js")])


def _page(template: str, title: str, data: Mapping[str, Any], scripts: list[str]) -> tuple[str, str]:
    style = text_of("page.css") + text_of("live/live.css")
    hashes = " ".join(f"'{hash_of(code)}'" for code in scripts)
    policy = (
        f"default-src 'none'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        f"style-src '{hash_of(style)}'; script-src {hashes}"
    )
    elements = [
        f'<script id="{name}" type="application/json">{embedded(value)}</script>' for name, value in data.items()
    ]
    parts = {
        "mark": MARK,
        "title": html.escape(f"{title} · Kleene"),
        "style": style,
        "data": "\n".join(elements),
        "scripts": "\n".join(f'<script type="module">{code}</script>' for code in scripts),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text_of(template)), policy
