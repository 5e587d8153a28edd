"""The site that `make docs` has built: every link leads somewhere, and nothing is loaded from elsewhere."""

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"

pytestmark = pytest.mark.site


class PageReader(HTMLParser):
    """The places that a page can be linked at (`anchors`), what it links to, and what it loads."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        loads = "src" in given or (tag == "link" and given.get("rel") not in ("canonical", "next", "prev"))
        (self.loaded if loads else self.links).extend(given[name] for name in ("href", "src") if given.get(name))


def read_pages(site: Path) -> dict[Path, PageReader]:
    """Every page of the site; those that Kleene exported have links that only their scripts make."""
    return {path: PageReader(path.read_text()) for path in site.rglob("*.html") if path.parent.name != "pages"}


def broken_links(site: Path) -> list[str]:
    """'PAGE: LINK' for each link to a file or an anchor of the site that is not there."""
    pages = read_pages(site)
    broken = []
    for path, page in pages.items():
        for link in (*page.links, *page.loaded):
            where = urlsplit(link)
            if where.scheme or where.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(where.path)).resolve() if where.path else path
            target = target / "index.html" if target.is_dir() else target
            anchored = target in pages and where.fragment not in ("", *pages[target].anchors)
            if not target.is_file() or (anchored and not where.fragment.startswith("__")):
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken


def loaded_from_elsewhere(site: Path) -> list[str]:
    """'PAGE: ADDRESS' for each script, style, font or picture that another server would have to send."""
    found = [
        f"{path.relative_to(site)}: {address}"
        for path, page in read_pages(site).items()
        for address in page.loaded
        if urlsplit(address).netloc
    ]
    for path in site.rglob("*.css"):
        addresses = re.findall(r"url\(['\"]?(https?:[^)]+)", path.read_text())
        found += [f"{path.relative_to(site)}: {address}" for address in addresses]
    return found


def pages_without_a_place(docs: Path, nav: list) -> list[str]:
    """The pages of `docs` that the navigation leaves out, and those in it that are not there (`NAME is missing`)."""
    named = set(entries(nav))
    there = {str(path.relative_to(docs)) for path in docs.rglob("*.md")}
    return sorted(there - named) + [f"{name} is missing" for name in sorted(named - there)]


def entries(nav: list) -> list[str]:
    found = []
    for entry in nav:
        for place in entry.values() if isinstance(entry, dict) else [entry]:
            found += entries(place) if isinstance(place, list) else [place]
    return found


def test_every_link_of_the_site_leads_somewhere():
    assert (SITE / "index.html").is_file(), "run `make docs`, which builds the site first"
    assert broken_links(SITE) == []


def test_the_site_loads_nothing_from_elsewhere():
    assert loaded_from_elsewhere(SITE) == []


def test_every_page_has_its_place_in_the_navigation():
    nav = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]
    assert pages_without_a_place(ROOT / "docs", nav) == [], "put the page into `nav` in zensical.toml"


def test_examples_of_docstrings_are_code_and_not_quotations():
    pages = [path.read_text() for path in (SITE / "api").glob("*.html")]
    assert any("pycon" in page for page in pages)
    assert not any("<blockquote>" in page for page in pages)


def test_broken_links_missing_anchors_and_foreign_scripts_are_found(tmp_path):
    (tmp_path / "index.html").write_text(
        '<a href="a.html#here"></a><a href="a.html#gone"></a><a href="b.html"></a><img src="c.svg">'
        '<a href="https://example.org"></a><script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "a.html").write_text('<h1 id="here"></h1><iframe src="pages/d.html"></iframe>')
    (tmp_path / "a.css").write_text("@import url('https://example.org/font.css')")
    assert sorted(broken_links(tmp_path)) == [
        "a.html: pages/d.html",
        "index.html: a.html#gone",
        "index.html: b.html",
        "index.html: c.svg",
    ]
    assert len(loaded_from_elsewhere(tmp_path)) == 2
    (tmp_path / "new.md").touch()
    assert pages_without_a_place(tmp_path, [{"A": ["old.md"]}]) == ["new.md", "old.md is missing"]
