"""Every program of the shelves has a page that opens, moves and fits its window."""

import pytest

import kleene
from kleene.naming import shelves

pytestmark = pytest.mark.browser
SHELF = {name: (entry, kind) for name, entry, kind in shelves() if name != "tm:universal"}  # its network takes seconds


@pytest.mark.parametrize("name", SHELF)
def test_the_page_of_a_program_opens_and_moves(tab, tmp_path, name):
    entry, kind = SHELF[name]
    page = kleene.watch(name, list(entry.example), both=kind.program is not None)
    tab.open(page.save(tmp_path / "page.html"))
    assert page.document["different"] is None
    tab.press("END")
    assert tab.text(".where") == f"{page.document['step']} {page.document['steps']} / {page.document['steps']}"
    assert tab.text(".says strong") == page.document["answer"]
    tab.press("p", "n", "HOME", "ARROW_RIGHT")
    assert tab.js("return document.documentElement.scrollWidth <= innerWidth")
