"""A headless Chromium for the tests of pages; where there is none they are skipped, with the reason."""

import base64
import importlib.util
import shutil
import time

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium():
    """A driver of a headless browser, shared by all tests."""
    if importlib.util.find_spec("selenium") is None:
        pytest.skip("selenium is not installed: pip install 'kleene[browser]'")
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("there is no Chromium with its chromedriver here: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


class Tab:
    """A page in the browser, with the few things that the tests do to it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, link="", *, size=(1366, 850), dark=False):
        wide, tall = size
        metrics = {"width": wide, "height": tall, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(f"{path.as_uri()}{link}")
        self.wait("return document.documentElement.dataset.ready === 'true'")
        return self

    def js(self, script, *given):
        return self.driver.execute_script(script, *given)

    def wait(self, script, seconds=20.0):
        """Wait until the script gives something true."""
        until = time.monotonic() + seconds
        while not (found := self.js(script)):
            assert time.monotonic() < until, (script, self.problems())
            time.sleep(0.02)
        return found

    def press(self, *keys):
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            self.driver.switch_to.active_element.send_keys(getattr(Keys, key, key))

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def type(self, selector, words):
        script = """const field = document.querySelector(arguments[0]);
            field.value = arguments[1];
            field.dispatchEvent(new Event("input"))"""
        self.js(script, selector, words)

    def table(self):
        """The rows of the table by their names."""
        script = """const texts = (found) => [...found].map((one) => one.textContent);
            return [...document.querySelectorAll(".grid tbody tr:not(.divider)")].map((row) =>
                [row.querySelector("th span").textContent, texts(row.querySelectorAll("td"))])"""
        return dict(self.js(script))

    def problems(self):
        """Whatever the browser complained about since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def picture(self, path):
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": False})
        path.write_bytes(base64.b64decode(shot["data"]))


@pytest.fixture
def tab(chromium):
    """A page of its own; a test fails where the browser complained."""
    found = Tab(chromium)
    yield found
    assert not found.problems()
