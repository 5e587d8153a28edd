"""Pictures and tables as one page of HTML that needs no network: light and dark, the values on hover.

Every function that draws into a file takes a name that ends in .html as it takes .svg. What has tables too (`draw` of a
report) is decorated with `drawn_with_tables`.
"""

import functools
import re
import tempfile
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from kleene.files import write_atomically

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # no scripts, and nothing is loaded
STYLE = """
:root { color-scheme: light dark; --ink: #1f2937; --paper: #ffffff; --line: #d1d5db; --quiet: #4b5563; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e5e7eb; --paper: #111827; --line: #374151; --quiet: #9ca3af; }
}
body { margin: 2rem auto; padding: 0 1rem; max-width: 72rem; font: 16px/1.5 system-ui, sans-serif; }
body { color: var(--ink); background: var(--paper); }
h1 { font-size: 1.3rem; }
figure { margin: 1rem 0; padding: 0.5rem; overflow-x: auto; background: #ffffff; color: #1f2937; border-radius: 6px; }
figure svg, figure img { max-width: 100%; height: auto; }
section { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--quiet); }
th, td { padding: 0.15rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
pre { overflow-x: auto; white-space: pre-wrap; }
"""


def page(title: str, *parts: str, language: str = "en") -> str:
    """A page with a heading; the parts are HTML.

    >>> "<h1>a &lt; b</h1><p>c</p>" in page("a < b", "<p>c</p>")
    True
    """
    name = escape(title)
    return (
        f'<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{name} · Kleene</title>'
        f"<style>{STYLE}</style></head><body><main><h1>{name}</h1>{''.join(parts)}</main></body></html>\n"
    )


def inline(svg: str, title: str = "") -> str:
    """An SVG as part of a page, without what only a file of its own has."""
    start = svg.index("<svg")
    name = f' role="img" aria-label="{escape(title)}"' if title else ""
    return f"<figure>{re.sub('<svg', f'<svg{name}', svg[start:], count=1)}</figure>"


def figure_page(svg: str, title: str) -> str:
    """A picture alone as a page."""
    return page(title or "Picture", inline(svg, title))


def is_page(path: Any) -> bool:
    """Whether the name is that of a page rather than of a picture."""
    return Path(path).suffix.lower() == ".html"


def figure_of(draw: Callable[[Path], Any]) -> str:
    """The picture that a function which draws into a file writes, as part of a page, its values on hover."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.html"
        draw(path)
        text = path.read_text(encoding="utf-8")
    return text[text.index("<figure>") : text.index("</figure>")] + "</figure>"


def drawn_with_tables(draw: Callable[..., Path]) -> Callable[..., Path]:
    """A method `draw(path)` that writes a page with the object's `html_tables` too where the name ends in .html."""

    @functools.wraps(draw)
    def drawn(self: Any, path: Any, *more: Any, **options: Any) -> Path:
        if not is_page(path):
            return draw(self, path, *more, **options)
        figure = figure_of(lambda file: draw(self, file, *more, **options))
        return write_atomically(path, page(self.page_title, figure, f"<section>{self.html_tables()}</section>"))

    return drawn
