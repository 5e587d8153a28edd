"""Put the runs in the pages of this folder into the page that Kleene writes today.

    python docs/pages/make.py

The runs themselves stay: docs/watching.md names the command that made each.
"""

from pathlib import Path

from kleene.watching.page import WatchPage, document_in


def renewed(page: Path) -> str:
    """The text of a page, as Kleene would write it today."""
    return WatchPage(document_in(page.read_text(encoding="utf-8"))).html


if __name__ == "__main__":
    for page in sorted(Path(__file__).parent.glob("*.html")):
        page.write_text(renewed(page), encoding="utf-8")
