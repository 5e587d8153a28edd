"""The site, opened from disk: its search finds pages."""

import time
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "site"
RESULTS = """
const dialogs = [...document.querySelectorAll("*")].map((element) => element.shadowRoot).filter(Boolean);
return dialogs.flatMap((root) => [...root.querySelectorAll("[role=listbox] a")].map((link) => link.href));
"""

pytestmark = pytest.mark.browser


def test_the_search_of_the_site_works_without_a_server(chromium):
    page = SITE / "traces.html"
    if not page.is_file():
        pytest.skip("the site has not been built: make docs")
    chromium.get(page.as_uri())
    found: list[str] = []
    until = time.monotonic() + 20
    chromium.find_element("tag name", "body").send_keys("/")  # opens the search
    time.sleep(0.5)
    chromium.switch_to.active_element.send_keys("shapley")
    while not found and time.monotonic() < until:
        time.sleep(0.05)
        found = chromium.execute_script(RESULTS)
    assert any("/ground-truth.html" in address for address in found)
