"""A live page in a real browser: a file that is saved, a typed input, a fault and its mending."""

from importlib.util import find_spec

import pytest

from kleene.watching.live.following import live_run
from tests.browser.test_accessibility import axe as axe
from tests.browser.test_accessibility import violations

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not find_spec("starlette"), reason="starlette is not installed: pip install 'kleene[live]'"),
]
PROGRAM = """
from kleene import DFA
machine = DFA.from_regex("(a|b)*abb")
"""


class Address(str):
    """A URL where a tab expects a path."""

    def as_uri(self):
        return str(self)


@pytest.fixture
def live():
    """A function that serves a run and gives its address."""
    started = []

    def start(target, *words, **options):
        run, server = live_run(target, words, **options)
        run.pause = 0.05
        started.append((run, server))
        server.start()
        run.start()
        return run, Address(server.url)

    yield start
    for run, server in started:
        run.close()
        server.close()


def is_live(word):
    return f"return document.documentElement.dataset.live === '{word}'"


def shows(answer):
    return f"return document.querySelector('.says strong')?.textContent === '{answer}'"


def test_a_typed_input_is_run(tab, live):
    _, url = live("parity_relative", "10110")
    tab.open(url)
    tab.wait(shows("1 1 0 1 1"))
    tab.find("#live-input").clear()
    tab.find("#live-input").send_keys("111")
    tab.press("ENTER")
    tab.wait(shows("1 0 1"))
    assert tab.js("return document.querySelector('#live-input').value") == "111"
    tab.find("#live-input").clear()
    tab.find("#live-input").send_keys("12")
    tab.press("ENTER")
    tab.wait(is_live("input"))
    assert tab.text("#live-problem").startswith("'2' is none of the bits 0 and 1")
    assert tab.js("return document.querySelector('#live-input').getAttribute('aria-invalid')") == "true"
    assert tab.js(shows("1 0 1"))  # the last good run stays


def test_a_saved_file_is_run_again_and_the_step_stays(tab, live, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(PROGRAM)
    _, url = live(f"{file}:machine", "aabb")
    tab.open(url)
    tab.wait(shows("accept"))
    tab.press("ARROW_RIGHT", "ARROW_RIGHT")
    tab.wait("return location.hash.startsWith('#step=2')")
    file.write_text(PROGRAM.replace("abb", "aab"))
    tab.wait(shows("reject"))
    assert tab.text(".where").endswith(" 2 / 4")
    file.write_text(PROGRAM + "machine = (\n")
    tab.wait(is_live("program"))
    assert tab.text(".live-trouble strong") == "mine.py, line 4"
    assert tab.text(".live-message") == "SyntaxError: '(' was never closed"
    assert tab.text(".live-trouble code") == "machine = ("
    assert tab.js(shows("reject"))
    file.write_text(PROGRAM)
    tab.wait(shows("accept"))
    assert tab.js("return document.querySelector('.live-trouble').hidden")


def test_theme_filter_and_what_is_typed_outlive_a_save(tab, live, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from kleene.programs.alta.library import entries\nprogram = entries()['parity_relative'].build()\n"
    )
    _, url = live(f"{file}:program", "2", "1", "0", "1")
    tab.open(url)
    tab.js("document.querySelector('.tools button[aria-label^=Switch]').click()")
    theme = tab.js("return document.documentElement.dataset.theme")
    assert theme in ("dark", "light")
    tab.click("[aria-controls=filters]")
    tab.type("#filter-positions", "1-2")
    tab.type("#live-input", "11")
    file.write_text(file.read_text() + "\n")
    tab.wait("return JSON.parse(document.getElementById('live-data').textContent).page === 2")
    tab.wait("return document.querySelector('#filter-positions')?.value === '1-2'")
    assert tab.texts(".position .number") == ["1", "2"]
    assert tab.js("return document.documentElement.dataset.theme") == theme
    assert tab.js("return document.querySelector('#live-input').value") == "11"


def test_a_page_without_a_run_says_so_until_there_is_one(tab, live, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("raise ValueError('not yet')\n")
    _, url = live(f"{file}:machine", "aabb")
    tab.driver.get("about:blank")
    tab.driver.get(url)
    tab.wait(is_live("program"))
    assert tab.text(".live-message") == "ValueError: not yet"
    assert tab.text("#waiting") == "No run has succeeded yet."
    file.write_text(PROGRAM)
    tab.wait(shows("accept"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_in_a_live_page(tab, axe, live, dark):
    _, url = live("parity_relative", "10110")
    tab.open(url, size=(390, 844), dark=dark)
    assert violations(tab, axe) == []
    tab.type("#live-input", "12")
    tab.click(".live-form button")
    tab.wait(is_live("input"))
    assert violations(tab, axe) == []


def test_a_cell_is_clicked_a_value_chosen_and_what_changed_downstream_is_marked(tab, live):
    _, url = live("parity_relative", "10110", both=True)
    tab.open(url, "#step=3&position=3")
    tab.wait(shows("1 1 0 1 1"))
    assert tab.texts(".edit") == []
    tab.js("document.querySelector('.grid tbody tr td:nth-of-type(4)').click()")  # parity at position 3
    form = "return ['channel', 'step', 'position', 'value'].map((n) => document.getElementById('edit-' + n).value)"
    assert tab.js(form) == ["parity", "3", "3", "1"]
    tab.click("#edit-set")
    tab.wait(shows("1 1 1 0 0"))
    assert tab.texts(".edit code") == ["parity@3,3=1"]
    assert tab.text(".badge") == "✓ network equals program in every entry"
    note = tab.text("#edits-note")
    assert note.startswith("Without the edit it gives 1 1 0 1 1. program: 9 entries differ")
    assert "network: 9 entries differ" in note
    assert "the first after layer 3" in note
    moved = "return [...document.querySelectorAll('.grid .moved')].map((e) => [e.textContent, e.title])"
    assert tab.js(moved) == [["1\n1", "without the edits: 0"]]
    tab.js("document.querySelector('.tool[aria-label^=Last]').click()")
    tab.wait("return document.querySelectorAll('.grid .moved').length === 5")  # parity at 3, 4, 5; read at 4 and 5
    assert "edit=parity%403%2C3%3D1" in tab.js("return location.hash")
    tab.click(".edit button")
    tab.wait(shows("1 1 0 1 1"))
    assert tab.texts(".edit") == []
    assert "edit=" not in tab.js("return location.hash")
    assert tab.texts(".grid .moved") == []


def test_edits_are_made_by_keys_alone_and_a_bad_one_is_told(tab, live):
    _, url = live("parity_relative", "10110")
    tab.open(url)
    tab.press("ARROW_RIGHT", "ARROW_RIGHT", "ARROW_RIGHT", "e")
    assert tab.js("return document.activeElement.id") == "edit-value"
    tab.press("ENTER")
    tab.js("document.getElementById('edit-set').focus()")
    tab.press("ENTER")
    tab.wait("return document.querySelectorAll('.edit').length === 1")
    assert tab.js("return document.activeElement.id") == "edit-set"
    good = tab.texts(".edit code")
    tab.js("document.getElementById('edit-step').value = 99; document.getElementById('edit-step').max = 99")
    tab.click("#edit-set")
    tab.wait(is_live("edit"))
    assert "is for layer 99, and the run on input 0 ended after layer 5" in tab.text("#live-problem")
    assert tab.texts(".edit code") == good  # the last good run stays


def test_a_link_with_edits_makes_them(tab, live):
    _, url = live("tm:copy", "ab")
    tab.open(url)
    plain = tab.text(".says strong")
    tab.driver.get("about:blank")
    tab.driver.get(f"{url}#step=2&edit=state%402%3Ddone")
    tab.wait("return document.querySelector('.edit code')?.textContent === 'state@2=done'")
    assert tab.text(".says strong") != plain


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_in_a_live_page_with_edits(tab, axe, live, dark):
    _, url = live("parity_relative", "10110", both=True, edits=["parity@3,3=1"])
    tab.open(url, "#step=5&position=3", size=(390, 844), dark=dark)
    tab.wait("return document.querySelectorAll('.grid .moved').length > 0")
    assert violations(tab, axe) == []
